// SPDX-License-Identifier: Apache-2.0
//
// Statements, and which action a call is.  How each is laid out as actions of DOF:
// formats/abi/dof.md.
#include "compiler/sema/planner.hpp"

#include "compiler/diagnostics/messages/actions.hpp"
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
    if (const auto* assign = expression.get_if<Assign>()) {
        const auto* name = assign->left->get_if<Identifier>();
        return !name || name->name[0] != kConditionPrefix || assigns(*assign->right);
    }
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
    // The condition of an `if` is a part of the body.
    bool is_if = clause.has_body && clause.predicate->span.offset >= clause.body_span.offset;
    RegionScope region(context_.sink, is_if ? Region::action_list : Region::predicate);
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
    // gives a variable its type.  What is wrong with the predicate is reported first.
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
    if (!context_.sink.has_errors() && leaves_record())
        add_context();
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

void ClausePlanner::change_aggregation(const Expr& expression, const Call& call,
                                       ActionName action) {
    switch (action) {
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
    default: // ActionName::trunc
        return library_aggregation(
            expression, call, DT_ACT_TRUNC, true, Tag::D_TRUNC_SCALAR,
            {"trunc", Tag::D_TRUNC_PROTO, Tag::D_TRUNC_AGGARG, Tag::D_TRUNC_AGGBAD});
    }
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
    case ActionName::denormalize:
    case ActionName::normalize:
    case ActionName::trunc:
        return change_aggregation(expression, call, action);
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
    case ActionName::capture:
        return capture(expression, call);
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

} // namespace daybreak::compiler
