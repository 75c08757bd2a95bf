// SPDX-License-Identifier: Apache-2.0
//
// Statements and the plain actions.  How each is laid out as actions of DOF: formats/abi/dof.md.
#include "compiler/sema/planner.hpp"

#include "compiler/syntax/print.hpp"
#include "formats/abi/dof.h"

#include <cstdarg>

namespace daybreak::compiler {

void ClausePlanner::error(Tag tag, const Span& span, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char text[512];
    std::vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    checker_.error(tag, span, "%s", text);
}

namespace {

/// Whether evaluating the expression changes a variable.
bool assigns(const Expr& expression) {
    auto any = [](const std::vector<ExprPtr>& list) {
        for (const ExprPtr& one : list)
            if (assigns(*one))
                return true;
        return false;
    };
    if (expression.get_if<Assign>())
        return true;
    if (const auto* unary = expression.get_if<Unary>())
        return unary->op >= UnaryOp::pre_increment || assigns(*unary->operand);
    if (const auto* binary = expression.get_if<Binary>())
        return assigns(*binary->left) || assigns(*binary->right);
    if (const auto* conditional = expression.get_if<Conditional>())
        return assigns(*conditional->condition) || assigns(*conditional->if_true) ||
               assigns(*conditional->if_false);
    if (const auto* cast = expression.get_if<Cast>())
        return assigns(*cast->operand);
    if (const auto* index = expression.get_if<Index>())
        return assigns(*index->base) || any(index->arguments);
    if (const auto* call = expression.get_if<Call>())
        return any(call->arguments);
    return false;
}

} // namespace

void ClausePlanner::predicate(const Clause& clause) {
    RegionScope region(context_.sink, Region::predicate);
    clause_->predicate =
        checker_.check_scalar(*clause.predicate, Tag::D_PRED_SCALAR, "a predicate");
}

PlannedClause ClausePlanner::plan(const Clause& clause) {
    PlannedClause planned;
    clause_ = &planned;
    statement_ = 0;
    // A predicate that assigns is checked first, any other last: either side may be the one that
    // gives a variable its type.
    bool first = clause.predicate && assigns(*clause.predicate);
    if (first)
        predicate(clause);
    {
        RegionScope region(context_.sink, Region::action_list);
        for (const Statement& one : clause.statements) {
            statement_++;
            statement(one);
        }
    }
    if (clause.predicate && !first)
        predicate(clause);
    clause_ = nullptr;
    return planned;
}

void ClausePlanner::add(PlannedAction planned) {
    planned.statement = statement_;
    clause_->actions.push_back(std::move(planned));
}

PlannedAction ClausePlanner::recorded(uint32_t kind, TypedPtr value, const Expr& source) {
    PlannedAction planned;
    planned.kind = kind;
    planned.capture = expression_text(source);
    planned.capture_type = types_.name(value->type);
    planned.value = std::move(value);
    return planned;
}

void ClausePlanner::statement(const Statement& statement) {
    const Expr& expression = *statement.expression;
    if (const auto* call = expression.get_if<Call>()) {
        const auto* name = call->function->get_if<Identifier>();
        ActionName known;
        if (name && name->scope == VariableScope::global && find_action(name->name, known))
            return action(expression, *call, known);
        if (name && find_aggregating(name->name))
            return error(Tag::D_AGG_NULL, expression.span, "%s() needs an aggregation to go to",
                         name->name.c_str());
    }
    if (const auto* assign = expression.get_if<Assign>())
        if (assign->left->get_if<Aggregation>())
            return aggregate(expression, *assign);
    if (const auto* aggregation = expression.get_if<Aggregation>();
        aggregation && (aggregation->has_keys || symbols_.find_aggregation(aggregation->name)))
        return error(Tag::D_AGG_NULL, expression.span, "@%s has no aggregating function here",
                     aggregation->name.c_str());
    TypedPtr value = checker_.check_effect(expression);
    if (!value)
        return;
    PlannedAction planned;
    planned.kind = DTRACEACT_DIFEXPR;
    planned.value = std::move(value);
    planned.form = ResultForm::effect;
    add(std::move(planned));
}

bool ClausePlanner::count_arguments(const Expr& expression, const Call& call, size_t least,
                                    size_t most, Tag tag) {
    size_t given = call.arguments.size();
    if (given >= least && given <= most)
        return true;
    std::string name = expression_text(*call.function);
    if (least == most)
        error(tag, expression.span, "%s(): %zu arguments given, %zu expected", name.c_str(), given,
              least);
    else
        error(tag, expression.span, "%s(): %zu arguments given, %zu to %zu expected", name.c_str(),
              given, least, most);
    return false;
}

void ClausePlanner::action(const Expr& expression, const Call& call, ActionName action) {
    PlannedAction planned;
    switch (action) {
    case ActionName::trace:
        return trace(expression, call);
    case ActionName::exit:
        return exit(expression, call);
    case ActionName::tracemem:
        return tracemem(expression, call);
    case ActionName::setopt:
        return setopt(expression, call);
    case ActionName::printf:
        return printf(expression, call, DTRACEACT_PRINTF, "printf");
    case ActionName::system:
        return printf(expression, call, DTRACEACT_SYSTEM, "system");
    case ActionName::freopen:
        return printf(expression, call, DTRACEACT_FREOPEN, "freopen");
    case ActionName::printa:
        return printa(expression, call);
    case ActionName::stack:
    case ActionName::ustack:
    case ActionName::jstack:
        if (stack_argument(expression, call, action, planned))
            add(std::move(planned));
        return;
    case ActionName::sym:
    case ActionName::mod:
    case ActionName::usym:
    case ActionName::umod:
    case ActionName::uaddr:
        if (symbol_argument(expression, call, action, planned))
            add(std::move(planned));
        return;
    case ActionName::clear:
        return library_aggregation(
            expression, call, DT_ACT_CLEAR, false, Tag::D_UNKNOWN,
            {"clear", Tag::D_CLEAR_PROTO, Tag::D_CLEAR_AGGARG, Tag::D_CLEAR_AGGBAD});
    case ActionName::denormalize:
        return library_aggregation(expression, call, DT_ACT_DENORMALIZE, false, Tag::D_UNKNOWN,
                                   {"denormalize", Tag::D_NORMALIZE_PROTO, Tag::D_NORMALIZE_AGGARG,
                                    Tag::D_NORMALIZE_AGGBAD});
    case ActionName::normalize:
        return library_aggregation(expression, call, DT_ACT_NORMALIZE, true,
                                   Tag::D_NORMALIZE_SCALAR,
                                   {"normalize", Tag::D_NORMALIZE_PROTO, Tag::D_NORMALIZE_AGGARG,
                                    Tag::D_NORMALIZE_AGGBAD});
    case ActionName::trunc:
        return library_aggregation(
            expression, call, DT_ACT_TRUNC, true, Tag::D_TRUNC_SCALAR,
            {"trunc", Tag::D_TRUNC_PROTO, Tag::D_TRUNC_AGGARG, Tag::D_TRUNC_AGGBAD});
    default:
        return unsupported(expression, call, action);
    }
}

/// Checks the arguments of an action, then says that it is not there yet.
void ClausePlanner::unsupported(const Expr& expression, const Call& call, ActionName action) {
    ActionArity arity = action_arity(action);
    if (!count_arguments(expression, call, arity.least, arity.most))
        return;
    for (const ExprPtr& argument : call.arguments) {
        TypedPtr value = checker_.check(*argument);
        if (!value)
            return;
        if (arity.most == 1 && action != ActionName::print && !types_.is_integer(value->type))
            return error(Tag::D_PROTO_ARG, argument->span,
                         "%s(): the argument is \"%s\", expected \"int\"",
                         expression_text(*call.function).c_str(), types_.name(value->type).c_str());
    }
    error(Tag::D_UNKNOWN, expression.span, "%s() is not supported yet",
          expression_text(*call.function).c_str());
}

void ClausePlanner::trace(const Expr& expression, const Call& call) {
    if (!count_arguments(expression, call, 1, 1))
        return;
    const Expr& argument = *call.arguments[0];
    if (const auto* aggregation = argument.get_if<Aggregation>();
        aggregation && symbols_.find_aggregation(aggregation->name))
        return error(Tag::D_TRACE_AGG, argument.span,
                     "an aggregation is printed with printa(), not trace()");
    TypedPtr value = checker_.check(argument);
    if (!value)
        return;
    if (types_.is_void(value->type))
        return error(Tag::D_TRACE_VOID, argument.span, "trace(): the value is void");
    if (types_.is_dynamic(value->type))
        return error(Tag::D_TRACE_DYN, argument.span, "trace(): the value has no fixed type");
    if (!types_.is_complete(value->type) || types_.size_of(value->type) == 0)
        return error(Tag::D_TRACE_DYN, argument.span, "trace(): \"%s\" has no size",
                     types_.name(value->type).c_str());
    add(recorded(DTRACEACT_DIFEXPR, value, argument));
}

void ClausePlanner::exit(const Expr& expression, const Call& call) {
    if (!count_arguments(expression, call, 1, 1))
        return;
    TypedPtr value = checker_.check(*call.arguments[0]);
    if (!value)
        return;
    if (!types_.is_integer(value->type))
        return error(Tag::D_PROTO_ARG, call.arguments[0]->span,
                     "exit(): the status is \"%s\", expected \"int\"",
                     types_.name(value->type).c_str());
    value = checker_.convert(value, types_.int_type());
    add(recorded(DTRACEACT_EXIT, value, *call.arguments[0]));
}

std::optional<uint64_t> ClausePlanner::positive_constant(const Expr& argument, Tag tag,
                                                         const char* what, uint64_t most) {
    TypedPtr value = checker_.check(argument);
    if (!value)
        return std::nullopt;
    if (!types_.is_integer(value->type)) {
        error(tag == Tag::D_TRACEMEM_SIZE ? Tag::D_PROTO_ARG : tag, argument.span,
              "%s is \"%s\", expected an integer", what, types_.name(value->type).c_str());
        return std::nullopt;
    }
    bool positive = value->is_constant() && types_.is_integer(value->type) &&
                    static_cast<int64_t>(value->value) > 0 && value->value <= most;
    if (!positive) {
        error(tag, argument.span, "%s must be a positive integer constant, at most %llu", what,
              static_cast<unsigned long long>(most));
        return std::nullopt;
    }
    return value->value;
}

bool ClausePlanner::stack_argument(const Expr& expression, const Call& call, ActionName action,
                                   PlannedAction& planned) {
    constexpr uint64_t kFramesMax = 512;   // engine/engine.h: DBK_STACKFRAMES_MAX
    constexpr uint64_t kStrsizeMax = 8192; // DBK_STRSIZE_MAX
    bool user = action != ActionName::stack;
    planned.kind = action == ActionName::stack    ? DTRACEACT_STACK
                   : action == ActionName::ustack ? DTRACEACT_USTACK
                                                  : DTRACEACT_JSTACK;
    if (!count_arguments(expression, call, 0, user ? 2 : 1,
                         user ? Tag::D_USTACK_PROTO : Tag::D_STACK_PROTO))
        return false;
    if (!call.arguments.empty()) {
        auto frames =
            positive_constant(*call.arguments[0], user ? Tag::D_USTACK_FRAMES : Tag::D_STACK_SIZE,
                              "the depth of a stack", kFramesMax);
        if (!frames)
            return false;
        planned.arg = *frames;
    }
    if (call.arguments.size() == 2) {
        auto bytes = positive_constant(*call.arguments[1], Tag::D_USTACK_STRSIZE,
                                       "the string size of a stack", kStrsizeMax);
        if (!bytes)
            return false;
        planned.arg |= *bytes << 32;
    }
    planned.capture = expression_text(expression);
    planned.capture_type = "stack";
    return true;
}

void ClausePlanner::tracemem(const Expr& expression, const Call& call) {
    constexpr uint64_t kBytesMax = 16384; // one segment
    if (!count_arguments(expression, call, 2, 3))
        return;
    TypedPtr address = checker_.decay(checker_.check(*call.arguments[0]));
    if (!address)
        return;
    if (!types_.is_pointer(address->type) && !types_.is_integer(address->type))
        return error(Tag::D_TRACEMEM_ADDR, call.arguments[0]->span,
                     "tracemem(): the address is \"%s\", expected a pointer",
                     types_.name(address->type).c_str());
    auto bytes = positive_constant(*call.arguments[1], Tag::D_TRACEMEM_SIZE,
                                   "the size of tracemem()", kBytesMax);
    if (!bytes)
        return;
    bool dynamic = call.arguments.size() == 3;
    PlannedAction data = recorded(DTRACEACT_TRACEMEM, address, *call.arguments[0]);
    data.form = ResultForm::bytes;
    data.result_bytes = *bytes;
    data.arg = dynamic ? 2 : 1;
    PlannedAction size;
    if (dynamic) {
        TypedPtr value = checker_.check(*call.arguments[2]);
        if (!value)
            return;
        if (!types_.is_integer(value->type))
            return error(Tag::D_TRACEMEM_DYNSIZE, call.arguments[2]->span,
                         "tracemem(): the run-time size is \"%s\", expected an integer",
                         types_.name(value->type).c_str());
        size = recorded(DTRACEACT_TRACEMEM, value, *call.arguments[2]);
        size.arg = types_.is_signed(value->type) ? 4 : 3;
    }
    add(std::move(data));
    if (dynamic)
        add(std::move(size));
}

bool ClausePlanner::symbol_argument(const Expr& expression, const Call& call, ActionName action,
                                    PlannedAction& planned) {
    if (!count_arguments(expression, call, 1, 1))
        return false;
    TypedPtr address = checker_.decay(checker_.check(*call.arguments[0]));
    if (!address)
        return false;
    if (!types_.is_scalar(address->type)) {
        error(Tag::D_PROTO_ARG, call.arguments[0]->span, "%s: the address is \"%s\"",
              expression_text(*call.function).c_str(), types_.name(address->type).c_str());
        return false;
    }
    switch (action) {
    case ActionName::sym:
        planned.kind = DTRACEACT_SYM;
        break;
    case ActionName::mod:
        planned.kind = DTRACEACT_MOD;
        break;
    case ActionName::usym:
        planned.kind = DTRACEACT_USYM;
        break;
    case ActionName::umod:
        planned.kind = DTRACEACT_UMOD;
        break;
    default:
        planned.kind = DTRACEACT_UADDR;
        break;
    }
    planned.value = checker_.convert(address, types_.uint64_type());
    planned.capture = expression_text(expression);
    planned.capture_type = "uint64_t";
    return true;
}

void ClausePlanner::setopt(const Expr& expression, const Call& call) {
    if (!count_arguments(expression, call, 1, 2))
        return;
    PlannedAction parts[2];
    for (size_t i = 0; i < call.arguments.size(); i++) {
        TypedPtr value = checker_.check(*call.arguments[i]);
        if (!value)
            return;
        if (!types_.is_string_like(value->type))
            return error(Tag::D_PROTO_ARG, call.arguments[i]->span,
                         "setopt(): argument %zu is \"%s\", expected a string", i + 1,
                         types_.name(value->type).c_str());
        parts[i].value = checker_.convert(value, types_.string_type());
    }
    if (!parts[1].value)
        parts[1].value = checker_.make_constant(0, types_.uint64_type(), expression.span);
    for (PlannedAction& part : parts) {
        part.kind = DTRACEACT_LIBACT;
        part.arg = DT_ACT_BASE + DT_ACT_SETOPT;
        add(std::move(part));
    }
}

} // namespace daybreak::compiler
