// SPDX-License-Identifier: Apache-2.0
//
// Destructive actions, and print().
#include "compiler/sema/describe_type.hpp"
#include "compiler/sema/planner.hpp"

#include "compiler/syntax/print.hpp"
#include "formats/abi/dof.h"

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
