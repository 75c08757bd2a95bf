// SPDX-License-Identifier: Apache-2.0
//
// Statements and the plain actions.  How each is laid out as actions of DOF: formats/abi/dof.md.
#include "compiler/sema/planner.hpp"

#include "compiler/diagnostics/messages/actions.hpp"
#include "compiler/diagnostics/messages/formats.hpp"
#include "compiler/diagnostics/messages/prototypes.hpp"
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

void ClausePlanner::refuse(Tag tag, const Span& span, std::string text, std::string hint) {
    checker_.refuse(tag, span, std::move(text), std::move(hint));
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
    TypedPtr value = checker_.check(*clause.predicate);
    if (!value)
        return;
    if (types_.is_float(value->type) || !types_.is_scalar(value->type))
        return refuse(Tag::D_PRED_SCALAR, clause.predicate->span.reached_with(clause.span),
                      messages::predicate_not_scalar(),
                      "its value is \"" + checker_.type_name(value) + "\"");
    clause_->predicate = std::move(value);
}

PlannedClause ClausePlanner::plan(const Clause& clause) {
    PlannedClause planned;
    clause_ = &planned;
    statement_ = 0;
    // A predicate that assigns is checked first, any other last: either side may be the one that
    // gives a variable its type.  What is wrong with the predicate is told first.
    bool first = clause.predicate && assigns(*clause.predicate);
    if (first)
        predicate(clause);
    size_t before_actions = context_.sink.diagnostics().size();
    {
        RegionScope region(context_.sink, Region::action_list);
        for (const Statement& one : clause.statements) {
            statement_++;
            size_t first = planned.actions.size();
            statement(one);
            check_order(first, one.expression->span);
        }
    }
    size_t after_actions = context_.sink.diagnostics().size();
    if (clause.predicate && !first)
        predicate(clause);
    context_.sink.put_first(before_actions, after_actions);
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
            return static_cast<void>(checker_.check(expression)); // reports it
    }
    if (const auto* assign = expression.get_if<Assign>())
        if (assign->left->get_if<Aggregation>())
            return aggregate(expression, *assign);
    if (const auto* aggregation = expression.get_if<Aggregation>();
        aggregation && (aggregation->has_keys || symbols_.find_aggregation(aggregation->name)))
        return refuse(Tag::D_AGG_NULL, expression.span, messages::null_effect(aggregation->name),
                      "@" + aggregation->name + " has no aggregating function here");
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
                                    size_t most) {
    size_t given = call.arguments.size();
    if (!messages::wrong_length(given, least, most))
        return true;
    std::string name = expression_text(*call.function);
    refuse(Tag::D_PROTO_LEN, expression.span,
           messages::prototype_length({name}, given, least, most));
    return false;
}

void ClausePlanner::wrong_argument(const Call& call, size_t index, std::string_view prototype,
                                   const TypedPtr& value, Tag tag) {
    refuse(tag, call.arguments[index]->span,
           messages::prototype_argument({expression_text(*call.function)}, index + 1, prototype,
                                        checker_.type_name(value)));
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
    case ActionName::raise:
    case ActionName::chill:
    case ActionName::stop:
    case ActionName::breakpoint:
    case ActionName::panic:
        return destructive(expression, call, action);
    case ActionName::print:
        return print(expression, call);
    case ActionName::ftruncate:
        return ftruncate(expression, call);
    case ActionName::snapshot:
        return snapshot(expression, call);
    case ActionName::speculate:
    case ActionName::commit:
    case ActionName::discard:
        return speculative(expression, call, action);
    default: // ActionName::pcap
        return pcap(expression, call);
    }
}

/// A name of D that Daybreak does not offer: its arguments are checked, and then it is refused.
void ClausePlanner::pcap(const Expr& expression, const Call& call) {
    ActionArity arity = action_arity(ActionName::pcap);
    if (!count_arguments(expression, call, arity.least, arity.most))
        return;
    for (const ExprPtr& argument : call.arguments)
        if (!checker_.check(*argument))
            return;
    refuse(Tag::D_UNKNOWN, expression.span, "pcap() is not offered: no probe here has a packet",
           "tracemem() shows the bytes at an address");
}

void ClausePlanner::trace(const Expr& expression, const Call& call) {
    if (!count_arguments(expression, call, 1, 1))
        return;
    const Expr& argument = *call.arguments[0];
    if (const auto* aggregation = argument.get_if<Aggregation>();
        aggregation && symbols_.find_aggregation(aggregation->name))
        return refuse(Tag::D_TRACE_DYN, argument.span, messages::trace_dynamic("trace"),
                      "an aggregation is printed with printa(), not trace()");
    TypedPtr value = checker_.check(argument);
    if (!value)
        return;
    if (types_.is_void(value->type))
        return refuse(Tag::D_TRACE_VOID, argument.span, messages::trace_void("trace"));
    if (types_.is_dynamic(value->type) || !types_.is_complete(value->type) ||
        types_.size_of(value->type) == 0)
        return refuse(Tag::D_TRACE_DYN, argument.span, messages::trace_dynamic("trace"),
                      "the value is \"" + checker_.type_name(value) + "\"");
    add(recorded(DTRACEACT_DIFEXPR, value, argument));
}

void ClausePlanner::exit(const Expr& expression, const Call& call) {
    if (!count_arguments(expression, call, 1, 1))
        return;
    TypedPtr value = checker_.check(*call.arguments[0]);
    if (!value)
        return;
    if (!types_.is_integer(value->type))
        return wrong_argument(call, 0, "int", value);
    value = checker_.convert(value, types_.int_type());
    add(recorded(DTRACEACT_EXIT, value, *call.arguments[0]));
}

/// Returns the value of a constant from `least` to `most`, or nothing after reporting `text`.
std::optional<uint64_t> ClausePlanner::positive_constant(const Expr& argument, Tag tag,
                                                         std::string text, uint64_t least,
                                                         uint64_t most) {
    TypedPtr value = checker_.check(argument);
    if (!value)
        return std::nullopt;
    if (value->is_constant() && types_.is_integer(value->type) &&
        static_cast<int64_t>(value->value) >= static_cast<int64_t>(least) && value->value <= most)
        return value->value;
    refuse(tag, argument.span, std::move(text),
           base::strprintf("an integer constant from %llu to %llu",
                           static_cast<unsigned long long>(least),
                           static_cast<unsigned long long>(most)));
    return std::nullopt;
}

bool ClausePlanner::stack_argument(const Expr& expression, const Call& call, ActionName action,
                                   PlannedAction& planned) {
    constexpr uint64_t kFramesMax = 512;   // engine/engine.h: DBK_STACKFRAMES_MAX
    constexpr uint64_t kStrsizeMax = 8192; // DBK_STRSIZE_MAX
    bool user = action != ActionName::stack;
    planned.kind = action == ActionName::stack    ? DTRACEACT_STACK
                   : action == ActionName::ustack ? DTRACEACT_USTACK
                                                  : DTRACEACT_JSTACK;
    if (call.arguments.size() > (user ? 2 : 1)) {
        refuse(user ? Tag::D_USTACK_PROTO : Tag::D_STACK_PROTO, expression.span,
               messages::too_many_arguments(user ? "ustack" : "stack"));
        return false;
    }
    if (!call.arguments.empty()) {
        auto frames = positive_constant(
            *call.arguments[0], user ? Tag::D_USTACK_FRAMES : Tag::D_STACK_SIZE,
            user ? messages::ustack_frames() : messages::stack_size(), 1, kFramesMax);
        if (!frames)
            return false;
        planned.arg = *frames;
    }
    if (call.arguments.size() == 2) {
        auto bytes = positive_constant(*call.arguments[1], Tag::D_USTACK_STRSIZE,
                                       messages::ustack_string_size(), 0, kStrsizeMax);
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
        return wrong_argument(call, 0, "pointer or integer", address, Tag::D_TRACEMEM_ADDR);
    TypedPtr size_value = checker_.check(*call.arguments[1]);
    if (!size_value)
        return;
    if (!types_.is_integer(size_value->type))
        return wrong_argument(call, 1, "size_t", size_value);
    auto bytes = positive_constant(*call.arguments[1], Tag::D_TRACEMEM_SIZE,
                                   messages::tracemem_size(), 1, kBytesMax);
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
            return wrong_argument(call, 2, "size_t", value);
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
        wrong_argument(call, 0,
                       action == ActionName::sym || action == ActionName::mod
                           ? "uintptr_t"
                           : "pointer or integer",
                       address);
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
            return wrong_argument(call, i, "const char *", value);
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
