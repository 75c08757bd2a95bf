// SPDX-License-Identifier: Apache-2.0
//
// Destructive actions, snapshot(), and print().
#include "compiler/sema/describe_type.hpp"
#include "compiler/sema/planner.hpp"

#include "compiler/syntax/print.hpp"
#include "formats/abi/dof.h"

#include <algorithm>

namespace daybreak::compiler {

namespace {

uint32_t kind_of(ActionName action) {
    switch (action) {
    case ActionName::raise:
        return DTRACEACT_RAISE;
    case ActionName::chill:
        return DTRACEACT_CHILL;
    case ActionName::stop:
        return DTRACEACT_STOP;
    case ActionName::breakpoint:
        return DTRACEACT_BREAKPOINT;
    default:
        return DTRACEACT_PANIC;
    }
}

/// The engine has the same rule.
bool is_snapshot_name(std::string_view name) {
    return !name.empty() && name.size() <= DBK_SNAPSHOT_NAME_MAX && name[0] != '.' &&
           std::all_of(name.begin(), name.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '-' || c == '_' || c == '.';
           });
}

} // namespace

/// raise(signal), chill(ns), stop(), breakpoint(), panic(): nothing of them is recorded.
void ClausePlanner::destructive(const Expr& expression, const Call& call, ActionName action) {
    ActionArity arity = action_arity(action);
    if (!count_arguments(expression, call, arity.least, arity.most))
        return;
    PlannedAction planned;
    planned.kind = kind_of(action);
    if (arity.most == 1) {
        TypedPtr value = checker_.check(*call.arguments[0]);
        if (!value)
            return;
        if (!types_.is_integer(value->type))
            return error(Tag::D_PROTO_ARG, call.arguments[0]->span,
                         "%s( ) argument #1 is incompatible with prototype:\n\tprototype: int\n\t "
                         "argument: %s",
                         expression_text(*call.function).c_str(), types_.name(value->type).c_str());
        planned.value = checker_.convert(value, types_.int_type());
    }
    add(std::move(planned));
}

/// ftruncate(): a record that says when.
void ClausePlanner::ftruncate(const Expr& expression, const Call& call) {
    if (!count_arguments(expression, call, 0, 0))
        return;
    PlannedAction planned;
    planned.kind = DTRACEACT_LIBACT;
    planned.arg = DT_ACT_BASE + DT_ACT_FTRUNCATE;
    planned.value = checker_.make_constant(0, types_.int_type(), expression.span);
    add(std::move(planned));
}

/// snapshot("name"): the name beside it; the engine stores the number of what it entered.
void ClausePlanner::snapshot(const Expr& expression, const Call& call) {
    if (!count_arguments(expression, call, 1, 1))
        return;
    const auto* literal = call.arguments[0]->get_if<StringLiteral>();
    if (!literal) {
        if (TypedPtr value = checker_.check(*call.arguments[0]))
            wrong_argument(call, 0, "string constant", value);
        return;
    }
    if (!is_snapshot_name(literal->value))
        return refuse(Tag::D_SNAPSHOT_NAME, call.arguments[0]->span,
                      messages::snapshot_name(literal->value),
                      "it becomes part of a file's name");
    PlannedAction planned;
    planned.kind = DBK_ACT_SNAPSHOT;
    planned.value = checker_.make_constant(0, types_.uint64_type(), expression.span);
    planned.has_text = true;
    planned.text = literal->value;
    add(std::move(planned));
}

/// print(value): the value, and its type as text beside it.
void ClausePlanner::print(const Expr& expression, const Call& call) {
    if (!count_arguments(expression, call, 1, 1))
        return;
    const Expr& argument = *call.arguments[0];
    if (const auto* aggregation = argument.get_if<Aggregation>();
        aggregation && symbols_.find_aggregation(aggregation->name))
        return error(Tag::D_PRINT_AGG, argument.span,
                     "print( ) may not be applied to an aggregation");
    TypedPtr value = checker_.check(argument);
    if (!value)
        return;
    if (types_.is_void(value->type))
        return error(Tag::D_PRINT_VOID, argument.span,
                     "print( ) may not be applied to a void expression");
    if (types_.is_dynamic(value->type) || !types_.is_complete(value->type) ||
        types_.size_of(value->type) == 0)
        return error(Tag::D_PRINT_DYN, argument.span,
                     "print( ) may not be applied to a dynamic expression");
    PlannedAction planned = recorded(DTRACEACT_PRINT, value, argument);
    planned.has_text = true;
    planned.text = describe_type(types_, value->type);
    add(std::move(planned));
}

} // namespace daybreak::compiler
