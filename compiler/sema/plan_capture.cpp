// SPDX-License-Identifier: Apache-2.0
//
// capture(), and option context: values that a record holds for a replay, and nothing prints.
#include "compiler/sema/planner.hpp"

#include "compiler/diagnostics/messages/actions.hpp"
#include "compiler/syntax/print.hpp"
#include "formats/abi/dof.h"

#include <algorithm>

namespace daybreak::compiler {

namespace {

/// What capture() without arguments stores of the thread; its probe's arguments come after it.
constexpr const char* kStandardContext[] = {"pid", "tid", "ppid", "uid", "execname"};
constexpr size_t kArgumentsMax = 6; // arg0 to arg5: what a probe can bring along

Expr variable_named(std::string name, const Span& span) {
    Expr expression;
    expression.span = span;
    Identifier identifier;
    identifier.name = std::move(name);
    expression.node = std::move(identifier);
    return expression;
}

/// Actions whose field is the value of their expression, as it is.
bool stores_value(const PlannedAction& action) {
    switch (action.kind) {
    case DTRACEACT_DIFEXPR:
    case DTRACEACT_PRINTF:
    case DTRACEACT_STACK:
    case DTRACEACT_USTACK:
        return action.form == ResultForm::value && !action.capture.empty();
    default:
        return DBK_ACT_IS_CAPTURE(action.kind);
    }
}

/// Whether the action is in the tuple of an aggregating one: it makes a key.
bool is_in_tuple(const std::vector<PlannedAction>& actions, size_t at) {
    for (size_t i = at + 1; i < actions.size(); i++)
        if (DTRACEACT_IS_AGG(actions[i].kind))
            return at + actions[i].tuple_count >= i;
    return false;
}

} // namespace

void ClausePlanner::capture(const Expr& expression, const Call& call) {
    if (call.arguments.empty())
        return capture_standard(expression);
    for (const ExprPtr& argument : call.arguments)
        capture_value(*argument, false);
}

void ClausePlanner::capture_standard(const Expr& expression) {
    for (const char* name : kStandardContext)
        capture_value(variable_named(name, expression.span), true);
    context_.saw_args = true; // probes of one clause may have more arguments, and less
    size_t count = checker_.argument_count(*context_.probe).value_or(kArgumentsMax);
    for (size_t i = 0; i < std::min(count, kArgumentsMax); i++)
        capture_value(variable_named("arg" + std::to_string(i), expression.span), true);
}

bool ClausePlanner::capture_stack(const Expr& source, const Call& call, ActionName action,
                                  PlannedAction& planned) {
    if (!stack_argument(source, call, action, planned))
        return false;
    planned.kind = action == ActionName::stack ? DBK_ACT_CAPTURE_STACK : DBK_ACT_CAPTURE_USTACK;
    return true;
}

bool ClausePlanner::capture_value(const Expr& source, bool once) {
    PlannedAction planned;
    const auto* call = source.get_if<Call>();
    const auto* name = call ? call->function->get_if<Identifier>() : nullptr;
    ActionName action;
    bool is_action =
        name && name->scope == VariableScope::global && find_action(name->name, action);
    if (is_action && (action == ActionName::stack || action == ActionName::ustack)) {
        if (!capture_stack(source, *call, action, planned))
            return false;
    } else if (source.get_if<Aggregation>()) {
        refuse(Tag::D_CAPTURE_TYPE, source.span, messages::capture_of("an aggregation"),
               "its keys and values are recorded where it is assigned");
        return false;
    } else {
        TypedPtr value = checker_.check(source);
        if (!value)
            return false;
        TypeId type = value->type;
        bool is_value =
            types_.is_integer(type) || types_.is_pointer(type) || types_.is_string(type);
        if (!is_value || value->op == TypedOp::translated) {
            std::string text = expression_text(source), hint;
            if (types_.is_char_array(type))
                hint = "stringof(" + text + ") is its text";
            else if (types_.is_array(type))
                hint = "name a member of it, as " + text + "[0]";
            else if (types_.is_struct_or_union(type) || value->op == TypedOp::translated)
                hint = "name a member of it";
            else
                hint = "integers, pointers, strings, stack() and ustack() can be captured";
            refuse(Tag::D_CAPTURE_TYPE, source.span,
                   messages::capture_of("a value of type \"" + checker_.type_name(value) + "\""),
                   std::move(hint));
            return false;
        }
        planned = recorded(DBK_ACT_CAPTURE, std::move(value), source);
    }
    if (!once || !is_recorded(planned))
        add(std::move(planned));
    return true;
}

/// Whether the record holds the value already.
bool ClausePlanner::is_recorded(const PlannedAction& wanted) const {
    const std::vector<PlannedAction>& actions = clause_->actions;
    for (size_t i = 0; i < actions.size(); i++)
        if (stores_value(actions[i]) && actions[i].capture == wanted.capture &&
            actions[i].capture_type == wanted.capture_type && !is_in_tuple(actions, i))
            return true;
    return false;
}

/// Whether the clause stores anything when it fires, without what option context adds.
bool ClausePlanner::leaves_record() const {
    const std::vector<PlannedAction>& actions = clause_->actions;
    if (actions.empty() || (actions.size() == 1 && actions[0].kind == DTRACEACT_SPECULATE))
        return true;
    bool with_aggregations = context_.context && context_.context->with_aggregations;
    for (size_t i = 0; i < actions.size(); i++) {
        bool aggregates = DTRACEACT_IS_AGG(actions[i].kind) || is_in_tuple(actions, i);
        if (aggregates ? with_aggregations : is_recording(actions[i]))
            return true;
    }
    return false;
}

void ClausePlanner::add_context() {
    ContextOption* option = context_.context;
    if (!option)
        return;
    OptionScope scope(context_.sink, option->place);
    option->is_checked = true;
    statement_ = 0; // of no statement
    for (const ExprPtr& one : option->expressions)
        if (!capture_value(*one, true))
            return;
}

void ClausePlanner::check_context() {
    PlannedClause none;
    clause_ = &none;
    add_context();
    clause_ = nullptr;
}

} // namespace daybreak::compiler
