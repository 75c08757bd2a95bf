// SPDX-License-Identifier: Apache-2.0
//
// Aggregations: @name[keys] = function(value, parameters), and the actions upon them.
#include "compiler/sema/planner.hpp"

#include "compiler/diagnostics/messages/actions.hpp"
#include "compiler/diagnostics/messages/identifiers.hpp"
#include "compiler/diagnostics/messages/operators.hpp"
#include "compiler/diagnostics/messages/prototypes.hpp"
#include "formats/abi/dof.h"

namespace daybreak::compiler {

PlannedAction ClausePlanner::aggregation_id(const AggregationInfo& info, const Span& span) {
    PlannedAction planned;
    planned.kind = DTRACEACT_DIFEXPR;
    planned.value = checker_.make_constant(info.id, types_.uint64_type(), span);
    return planned;
}

/// Plans one member of a key; actions that have a value (stack(), sym()) may be one.
bool ClausePlanner::aggregation_key(const Expr& key, PlannedAction& planned, TypeId& type) {
    type = types_.uint64_type();
    if (const auto* call = key.get_if<Call>()) {
        const auto* name = call->function->get_if<Identifier>();
        ActionName action;
        if (name && find_action(name->name, action)) {
            if (action == ActionName::stack || action == ActionName::ustack ||
                action == ActionName::jstack)
                return stack_argument(key, *call, action, planned);
            if (action == ActionName::sym || action == ActionName::mod ||
                action == ActionName::usym || action == ActionName::umod ||
                action == ActionName::uaddr)
                return symbol_argument(key, *call, action, planned);
        }
    }
    TypedPtr value = checker_.check(key);
    if (!value)
        return false;
    if (types_.is_char_array(value->type))
        value = checker_.convert(value, types_.string_type());
    if (!checker_.is_key_type(value->type)) {
        refuse(Tag::D_KEY_TYPE, key.span, messages::invalid_key(checker_.type_name(value)));
        return false;
    }
    type = value->type;
    planned = recorded(DTRACEACT_DIFEXPR, value, key);
    return true;
}

/// Remembers the keys of an aggregation's first use; reports later ones that differ.
bool ClausePlanner::match_aggregation(const Aggregation& target, const Span& span,
                                      AggregationInfo& info, std::vector<PlannedAction>& keys,
                                      const std::vector<TypeId>& types) {
    if (!info.has_keys_known || info.has_open_keys) {
        info.has_keys_known = true;
        info.has_open_keys = false;
        info.keys.clear();
        info.stack_keys.clear();
        for (size_t i = 0; i < keys.size(); i++) {
            info.keys.push_back(types_.unqualified(types[i]));
            info.stack_keys.push_back(!keys[i].value);
        }
        return true;
    }
    const std::string shown = "@" + target.name;
    if (keys.size() != info.keys.size()) {
        refuse(Tag::D_PROTO_LEN, span,
               messages::prototype_length({shown, true}, keys.size(), info.keys.size(),
                                          info.keys.size()));
        return false;
    }
    for (size_t i = 0; i < keys.size(); i++) {
        bool stack = !keys[i].value;
        bool plain = keys[i].kind == DTRACEACT_DIFEXPR;
        if (stack != info.stack_keys[i] || (!stack && !types_.assignable(info.keys[i], types[i]))) {
            refuse(Tag::D_PROTO_ARG, target.keys[i]->span,
                   messages::prototype_argument({shown, true}, i + 1, key_type_name(info, i),
                                                stack ? "stack" : types_.name(types[i])));
            return false;
        }
        if (plain)
            keys[i].value = checker_.convert(keys[i].value, info.keys[i]);
    }
    return true;
}

/// Plans the increment of the quantize kinds, if one is given; false after reporting.
bool ClausePlanner::increment(const Call& call, uint32_t kind,
                              std::optional<PlannedAction>& weight) {
    size_t plain = kind == DTRACEAGG_LQUANTIZE ? 4 : kind == DTRACEAGG_LLQUANTIZE ? 5 : 1;
    if (call.arguments.size() <= plain)
        return true;
    const Expr& argument = *call.arguments[plain];
    TypedPtr value = checker_.check(argument);
    if (!value)
        return false;
    if (!types_.is_integer(value->type)) {
        refuse(Tag::D_PROTO_ARG, argument.span,
               messages::increment_not_scalar(aggregating_name(kind), plain + 1));
        return false;
    }
    weight = recorded(DTRACEACT_DIFEXPR, value, argument);
    weight->form = ResultForm::effect;
    return true;
}

void ClausePlanner::aggregate(const Expr& expression, const Assign& assign) {
    const auto& target = *assign.left->get_if<Aggregation>();
    const auto* call = assign.right->get_if<Call>();
    const auto* function = call ? call->function->get_if<Identifier>() : nullptr;
    uint32_t kind = function ? find_aggregating(function->name) : 0;
    if (call && !assign.op && kind == 0) {
        if (!function)
            return refuse(Tag::D_FUNC_IDENT, call->function->span, messages::not_a_function_name());
        ActionName action;
        if (!find_subroutine(function->name) && !find_action(function->name, action))
            return static_cast<void>(
                checker_.undefined_function(call->function->span, function->name));
    }
    if (assign.op || kind == 0)
        return refuse(Tag::D_AGG_FUNC, assign.right->span, messages::not_aggregating(target.name),
                      "aggregating functions are count, sum, avg, min, max, stddev, quantize, "
                      "lquantize and llquantize");
    if (target.dimensions > 1)
        return refuse(Tag::D_AGG_MDIM, assign.left->span, messages::multidimensional(target.name),
                      "write all keys into one []: @" + target.name + "[a, b]");
    std::vector<PlannedAction> keys(target.keys.size());
    std::vector<TypeId> types(target.keys.size());
    for (size_t i = 0; i < keys.size(); i++)
        if (!aggregation_key(*target.keys[i], keys[i], types[i]))
            return;
    AggregationInfo* info = symbols_.find_aggregation(target.name);
    if (!info)
        info = &symbols_.add_aggregation(target.name, assign.left->span);
    if (info->kind != 0 && info->kind != kind)
        return refuse(Tag::D_AGG_REDEF, expression.span,
                      messages::aggregation_redefined(target.name, function->name,
                                                      aggregating_name(info->kind),
                                                      info->first_use.line));
    auto parameters = quantize_parameters(expression, *call, kind, *info);
    if (!parameters)
        return;
    PlannedAction aggregating;
    if (!call->arguments.empty()) {
        const Expr& argument = *call->arguments[0];
        TypedPtr value = checker_.decay(checker_.check(argument));
        if (!value)
            return;
        if (!types_.is_scalar(value->type) || types_.is_float(value->type))
            return refuse(Tag::D_AGG_SCALAR, argument.span,
                          messages::argument_not_scalar(function->name, 1),
                          "its value is \"" + checker_.type_name(value) + "\"");
        aggregating = recorded(kind, value, argument);
    }
    std::optional<PlannedAction> weight;
    if (!increment(*call, kind, weight))
        return;
    if (!match_aggregation(target, assign.left->span, *info, keys, types))
        return;
    info->kind = kind;
    info->arg = *parameters;
    add(aggregation_id(*info, assign.left->span));
    for (PlannedAction& key : keys)
        add(std::move(key));
    if (weight)
        add(*weight);
    aggregating.kind = kind;
    aggregating.tuple_count = static_cast<uint32_t>(1 + keys.size() + (weight ? 1 : 0));
    aggregating.arg = *parameters;
    add(std::move(aggregating));
}

std::optional<PlannedClause> ClausePlanner::plan_empty(const Statement& statement) {
    const auto* assign = statement.expression->get_if<Assign>();
    const auto* target = assign && !assign->op ? assign->left->get_if<Aggregation>() : nullptr;
    const auto* call = target ? assign->right->get_if<Call>() : nullptr;
    const auto* function = call ? call->function->get_if<Identifier>() : nullptr;
    uint32_t kind = function ? find_aggregating(function->name) : 0;
    AggregationInfo* info = target ? symbols_.find_aggregation(target->name) : nullptr;
    if (kind == 0 || (info && info->kind != 0))
        return std::nullopt;
    const Span& span = assign->left->span;
    if (!info)
        info = &symbols_.add_aggregation(target->name, span);
    auto parameters = quantize_parameters(*statement.expression, *call, kind, *info);
    if (!parameters)
        return std::nullopt;
    info->kind = kind;
    info->arg = *parameters;
    info->has_keys_known = info->has_open_keys = true;
    info->keys.assign(target->keys.size(), types_.uint64_type());
    info->stack_keys.assign(target->keys.size(), false);
    PlannedAction zero;
    zero.kind = DTRACEACT_DIFEXPR;
    zero.value = checker_.make_constant(0, types_.uint64_type(), span);
    PlannedClause planned;
    planned.actions.push_back(aggregation_id(*info, span));
    planned.actions.insert(planned.actions.end(), target->keys.size(), zero);
    PlannedAction aggregating;
    if (!call->arguments.empty())
        aggregating = zero;
    aggregating.kind = kind;
    aggregating.tuple_count = static_cast<uint32_t>(planned.actions.size());
    aggregating.arg = *parameters;
    planned.actions.push_back(std::move(aggregating));
    return planned;
}

AggregationInfo* ClausePlanner::aggregation_argument(const Call& call, size_t index,
                                                     const AggregationTags& tags) {
    const Expr& argument = *call.arguments[index];
    const auto* aggregation = argument.get_if<Aggregation>();
    if (!aggregation) {
        const auto* inner = argument.get_if<Call>();
        const auto* function = inner ? inner->function->get_if<Identifier>() : nullptr;
        if (function && find_aggregating(function->name))
            refuse(tags.argument, argument.span,
                   messages::prototype_argument({tags.name}, index + 1, "aggregation", "void"));
        else if (TypedPtr value = checker_.check(argument))
            wrong_argument(call, index, "aggregation", value, tags.argument);
        return nullptr;
    }
    if (aggregation->has_keys) {
        refuse(tags.argument, argument.span,
               messages::prototype_argument({tags.name}, index + 1, "aggregation",
                                            "element of an aggregation"),
               "@" + aggregation->name + " stands for all its keys; leave out []");
        return nullptr;
    }
    AggregationInfo* info = symbols_.find_aggregation(aggregation->name);
    if (!info || info->kind == 0) {
        refuse(tags.undefined, argument.span, messages::undefined_aggregation(aggregation->name));
        return nullptr;
    }
    info->is_read = true;
    return info;
}

void ClausePlanner::library_aggregation(const Expr& expression, const Call& call,
                                        uint32_t library_action, bool takes_value, Tag scalar_tag,
                                        const AggregationTags& tags) {
    bool optional_value = library_action == DT_ACT_TRUNC;
    size_t given = call.arguments.size();
    size_t least = takes_value && !optional_value ? 2 : 1, most = takes_value ? 2 : 1;
    if (messages::wrong_length(given, least, most))
        return refuse(tags.length, expression.span,
                      messages::action_length(tags.name, given,
                                              least == most   ? std::to_string(least)
                                              : given < least ? "at least 1"
                                                              : "no more than 2"));
    AggregationInfo* info = aggregation_argument(call, 0, tags);
    if (!info)
        return;
    PlannedAction id = aggregation_id(*info, call.arguments[0]->span);
    id.kind = DTRACEACT_LIBACT;
    id.arg = DT_ACT_BASE + library_action;
    PlannedAction number;
    if (takes_value) {
        number.value = checker_.make_constant(0, types_.uint64_type(), expression.span);
        if (call.arguments.size() == 2) {
            const Expr& argument = *call.arguments[1];
            TypedPtr value = checker_.check(argument);
            if (!value)
                return;
            if (!types_.is_scalar(value->type) || types_.is_float(value->type))
                return refuse(scalar_tag, argument.span,
                              messages::argument_not_scalar(tags.name, 2),
                              "its value is \"" + checker_.type_name(value) + "\"");
            if (library_action == DT_ACT_NORMALIZE && ExprChecker::is_zero(value))
                return refuse(Tag::D_DIV_ZERO, argument.span, messages::division_by_zero());
            number.value = value;
        }
        number.kind = DTRACEACT_LIBACT;
        number.arg = id.arg;
    }
    add(std::move(id));
    if (takes_value)
        add(std::move(number));
}

} // namespace daybreak::compiler
