// SPDX-License-Identifier: Apache-2.0
//
// Aggregations: @name[keys] = function(value, parameters), and the actions upon them.
#include "compiler/sema/planner.hpp"

#include "compiler/diagnostics/messages/identifiers.hpp"
#include "compiler/diagnostics/messages/operators.hpp"
#include "compiler/diagnostics/messages/prototypes.hpp"
#include "compiler/syntax/print.hpp"
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
    if (!info.has_keys_known) {
        info.has_keys_known = true;
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
            return refuse(Tag::D_FUNC_UNDEF, call->function->span,
                          messages::unknown_function(function->name));
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

std::optional<uint64_t> ClausePlanner::quantize_parameters(const Expr& expression, const Call& call,
                                                           uint32_t kind,
                                                           const AggregationInfo& info) {
    switch (kind) {
    case DTRACEAGG_COUNT:
        if (!count_arguments(expression, call, 0, 0))
            return std::nullopt;
        return 0;
    case DTRACEAGG_QUANTIZE:
        if (!count_arguments(expression, call, 1, 2))
            return std::nullopt;
        return 0;
    case DTRACEAGG_LQUANTIZE:
        return lquantize(expression, call, info);
    case DTRACEAGG_LLQUANTIZE:
        return llquantize(expression, call, info);
    default:
        if (!count_arguments(expression, call, 1, 1))
            return std::nullopt;
        return 0;
    }
}

std::optional<int64_t>
ClausePlanner::quantize_constant(const Call& call, Tag tag,
                                 const messages::QuantizeParameter& parameter) {
    const Expr& argument = *call.arguments[parameter.number];
    TypedPtr value = checker_.check(argument);
    if (!value)
        return std::nullopt;
    if (value->is_constant() && types_.is_integer(value->type))
        return static_cast<int64_t>(value->value);
    // base and limit have a type by prototype, before they have a value.
    bool has_type = parameter.function == "llquantize" || parameter.what != "step";
    if (has_type && !types_.is_integer(value->type))
        wrong_argument(call, parameter.number, "int32_t", value);
    else if (has_type)
        refuse(tag, argument.span, messages::parameter_not_constant(parameter));
    else
        refuse(tag, argument.span, messages::parameter_not_positive(parameter));
    return std::nullopt;
}

std::optional<uint64_t> ClausePlanner::mismatch(const Span& span, Tag tag, std::string text) {
    refuse(tag, span, std::move(text));
    return std::nullopt;
}

namespace {

constexpr messages::QuantizeParameter kBase = {"lquantize", "base", 1};
constexpr messages::QuantizeParameter kLimit = {"lquantize", "limit", 2};
constexpr messages::QuantizeParameter kStep = {"lquantize", "step", 3};

bool is_32_bits(int64_t value) {
    return value >= INT32_MIN && value <= INT32_MAX;
}

} // namespace

std::optional<uint64_t> ClausePlanner::lquantize(const Expr& expression, const Call& call,
                                                 const AggregationInfo& info) {
    if (!count_arguments(expression, call, 3, 5))
        return std::nullopt;
    const Span& span = expression.span;
    auto base = quantize_constant(call, Tag::D_LQUANT_BASETYPE, kBase);
    if (!base)
        return std::nullopt;
    if (!is_32_bits(*base))
        return mismatch(span, Tag::D_LQUANT_BASEVAL, messages::parameter_bits(kBase, "a 32-bit"));
    auto limit = quantize_constant(call, Tag::D_LQUANT_LIMTYPE, kLimit);
    if (!limit)
        return std::nullopt;
    if (!is_32_bits(*limit))
        return mismatch(span, Tag::D_LQUANT_LIMVAL, messages::parameter_bits(kLimit, "a 32-bit"));
    if (*limit <= *base)
        return mismatch(span, Tag::D_LQUANT_MISMATCH, messages::base_above_limit());
    int64_t step = 1;
    if (call.arguments.size() > 3) {
        auto given = quantize_constant(call, Tag::D_LQUANT_STEPTYPE, kStep);
        if (!given)
            return std::nullopt;
        step = *given;
        if (step < 0)
            return mismatch(span, Tag::D_LQUANT_STEPTYPE, messages::parameter_not_positive(kStep));
        if (step < 1 || step > UINT16_MAX)
            return mismatch(span, Tag::D_LQUANT_STEPVAL,
                            messages::parameter_bits(kStep, "a 16-bit"));
    }
    if (step > *limit - *base)
        return mismatch(span, Tag::D_LQUANT_STEPLARGE, messages::step_too_large());
    int64_t levels = (*limit - *base) / step;
    if (levels > UINT16_MAX)
        return mismatch(span, Tag::D_LQUANT_STEPSMALL, messages::step_too_small());
    uint64_t arg = static_cast<uint64_t>(step) << 48 | static_cast<uint64_t>(levels) << 32 |
                   static_cast<uint32_t>(*base);
    if (info.kind == DTRACEAGG_LQUANTIZE && info.arg != arg) {
        int64_t old_base = DTRACE_LQUANTIZE_BASE(info.arg);
        int64_t old_step = DTRACE_LQUANTIZE_STEP(info.arg);
        int64_t old_limit = old_base + int64_t{DTRACE_LQUANTIZE_LEVELS(info.arg)} * old_step;
        if (old_base != *base)
            return mismatch(span, Tag::D_LQUANT_MATCHBASE,
                            messages::parameter_differs(kBase, old_base, *base));
        if (old_limit != *base + levels * step)
            return mismatch(span, Tag::D_LQUANT_MATCHLIM,
                            messages::parameter_differs(kLimit, old_limit, *limit));
        return mismatch(span, Tag::D_LQUANT_MATCHSTEP,
                        messages::parameter_differs(kStep, old_step, step));
    }
    return arg;
}

namespace {

struct LogParameter {
    Tag type, value, match;
    messages::QuantizeParameter name;
};

// In the order of the call and, from the lowest 16 bits up, of the action's argument.
constexpr LogParameter kLogParameters[] = {
    {Tag::D_LLQUANT_FACTORTYPE,
     Tag::D_LLQUANT_FACTORVAL,
     Tag::D_LLQUANT_MATCHFACTOR,
     {"llquantize", "factor", 1}},
    {Tag::D_LLQUANT_LMAGTYPE,
     Tag::D_LLQUANT_LMAGVAL,
     Tag::D_LLQUANT_MATCHLMAG,
     {"llquantize", "low magnitude", 2}},
    {Tag::D_LLQUANT_HMAGTYPE,
     Tag::D_LLQUANT_HMAGVAL,
     Tag::D_LLQUANT_MATCHHMAG,
     {"llquantize", "high magnitude", 3}},
    {Tag::D_LLQUANT_STEPTYPE,
     Tag::D_LLQUANT_STEPVAL,
     Tag::D_LLQUANT_MATCHSTEPS,
     {"llquantize", "steps", 4}},
};

} // namespace

/// Whether the buckets of llquantize() can be; reports when not.
bool ClausePlanner::llquantize_fits(const Span& span, const uint64_t (&values)[4]) {
    auto [factor, low, high, steps] = values;
    auto fail = [&](size_t parameter, Tag tag, std::string_view rule) {
        refuse(tag, span, messages::parameter_must(kLogParameters[parameter].name, rule));
        return false;
    };
    if (high < low)
        return fail(2, Tag::D_LLQUANT_HMAGVAL, "be at least the low magnitude (argument #2)");
    __uint128_t power = 1;
    for (uint64_t i = 0; i <= high; i++) {
        power *= factor;
        if (power > UINT64_MAX)
            return fail(2, Tag::D_LLQUANT_HMAGVAL, "not cause factor to overflow 64 bits");
    }
    uint64_t multiple = factor;
    while (multiple < steps)
        multiple *= factor;
    if (steps < factor ? factor % steps != 0 : steps % factor != 0)
        return fail(0, Tag::D_LLQUANT_FACTORVAL,
                    "be a multiple of steps (argument #4), or the other way round");
    if (multiple % steps != 0)
        return fail(3, Tag::D_LLQUANT_STEPVAL, "divide a power of factor (argument #1) evenly");
    return true;
}

std::optional<uint64_t> ClausePlanner::llquantize(const Expr& expression, const Call& call,
                                                  const AggregationInfo& info) {
    if (!count_arguments(expression, call, 5, 6))
        return std::nullopt;
    uint64_t values[4], arg = 0;
    for (size_t i = 0; i < 4; i++) {
        const LogParameter& parameter = kLogParameters[i];
        auto value = quantize_constant(call, parameter.type, parameter.name);
        if (!value)
            return std::nullopt;
        int64_t least = i == 0 ? 2 : i == 3 ? 1 : 0;
        if (*value < least || *value > UINT16_MAX)
            return mismatch(call.arguments[i + 1]->span, parameter.value,
                            i == 0 && *value >= 0 && *value < least
                                ? messages::parameter_must(parameter.name, "be two or more")
                                : messages::parameter_bits(parameter.name, "an unsigned 16-bit"));
        values[i] = static_cast<uint64_t>(*value);
        arg |= values[i] << (16 * i);
    }
    if (!llquantize_fits(expression.span, values))
        return std::nullopt;
    for (size_t i = 0; i < 4 && info.kind == DTRACEAGG_LLQUANTIZE; i++) {
        uint64_t before = info.arg >> (16 * i) & 0xffff;
        if (before != values[i])
            return mismatch(expression.span, kLogParameters[i].match,
                            messages::parameter_differs(kLogParameters[i].name,
                                                        static_cast<int64_t>(before),
                                                        static_cast<int64_t>(values[i])));
    }
    return arg;
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
