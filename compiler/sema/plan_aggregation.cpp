// SPDX-License-Identifier: Apache-2.0
//
// Aggregations: @name[keys] = function(value, parameters), and the actions upon them.
#include "compiler/sema/planner.hpp"

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
        error(Tag::D_KEY_TYPE, key.span, "a value of \"%s\" cannot be a key",
              types_.name(value->type).c_str());
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
    if (keys.size() != info.keys.size()) {
        error(Tag::D_PROTO_LEN, span, "@%s[]: %zu keys given, %zu expected", target.name.c_str(),
              keys.size(), info.keys.size());
        return false;
    }
    for (size_t i = 0; i < keys.size(); i++) {
        bool stack = !keys[i].value;
        bool plain = keys[i].kind == DTRACEACT_DIFEXPR;
        if (stack != info.stack_keys[i] || (!stack && !types_.assignable(info.keys[i], types[i]))) {
            error(Tag::D_PROTO_ARG, target.keys[i]->span,
                  "@%s[]: key %zu is \"%s\", expected \"%s\"", target.name.c_str(), i + 1,
                  stack ? "stack" : types_.name(types[i]).c_str(),
                  info.stack_keys[i] ? "stack" : types_.name(info.keys[i]).c_str());
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
        error(Tag::D_PROTO_ARG, argument.span, "the increment is \"%s\", expected an integer",
              types_.name(value->type).c_str());
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
            return error(Tag::D_FUNC_IDENT, call->function->span,
                         "only a function's name can be called");
        ActionName action;
        if (!find_subroutine(function->name) && !find_action(function->name, action))
            return error(Tag::D_FUNC_UNDEF, call->function->span,
                         "unknown aggregating function \"%s\"", function->name.c_str());
    }
    if (assign.op || kind == 0)
        return error(Tag::D_AGG_FUNC, assign.right->span,
                     "@%s is given by = and an aggregating function: count(), sum(), avg(), min(), "
                     "max(), stddev(), quantize(), lquantize(), llquantize()",
                     target.name.c_str());
    if (target.dimensions > 1)
        return error(Tag::D_AGG_MDIM, assign.left->span,
                     "@%s has more than one [] behind it; write its keys into one",
                     target.name.c_str());
    std::vector<PlannedAction> keys(target.keys.size());
    std::vector<TypeId> types(target.keys.size());
    for (size_t i = 0; i < keys.size(); i++)
        if (!aggregation_key(*target.keys[i], keys[i], types[i]))
            return;
    AggregationInfo* info = symbols_.find_aggregation(target.name);
    if (!info)
        info = &symbols_.add_aggregation(target.name, assign.left->span);
    if (info->kind != 0 && info->kind != kind)
        return error(Tag::D_AGG_REDEF, expression.span, "@%s is %s() elsewhere, not %s()",
                     target.name.c_str(), std::string(aggregating_name(info->kind)).c_str(),
                     function->name.c_str());
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
            return error(Tag::D_AGG_SCALAR, argument.span, "%s(): the value is \"%s\", no scalar",
                         function->name.c_str(), types_.name(value->type).c_str());
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

std::optional<int64_t> ClausePlanner::quantize_constant(const Expr& argument, Tag tag,
                                                        const char* what) {
    TypedPtr value = checker_.check(argument);
    if (!value)
        return std::nullopt;
    if (!value->is_constant() || !types_.is_integer(value->type)) {
        bool plain = tag == Tag::D_LQUANT_BASETYPE || tag == Tag::D_LQUANT_LIMTYPE;
        bool wrong_type = plain && !types_.is_integer(value->type);
        error(wrong_type ? Tag::D_PROTO_ARG : tag, argument.span, "%s must be an integer constant",
              what);
        return std::nullopt;
    }
    return static_cast<int64_t>(value->value);
}

std::optional<uint64_t> ClausePlanner::mismatch(const Span& span, Tag tag, const char* what) {
    error(tag, span, "%s", what);
    return std::nullopt;
}

std::optional<uint64_t> ClausePlanner::lquantize(const Expr& expression, const Call& call,
                                                 const AggregationInfo& info) {
    if (!count_arguments(expression, call, 3, 5))
        return std::nullopt;
    const Span& span = expression.span;
    auto base = quantize_constant(*call.arguments[1], Tag::D_LQUANT_BASETYPE, "lquantize(): base");
    if (!base)
        return std::nullopt;
    if (*base < INT32_MIN || *base > INT32_MAX)
        return mismatch(span, Tag::D_LQUANT_BASEVAL, "lquantize(): base has more than 32 bits");
    auto limit = quantize_constant(*call.arguments[2], Tag::D_LQUANT_LIMTYPE, "lquantize(): limit");
    if (!limit)
        return std::nullopt;
    if (*limit < INT32_MIN || *limit > INT32_MAX)
        return mismatch(span, Tag::D_LQUANT_LIMVAL, "lquantize(): limit has more than 32 bits");
    if (*limit <= *base)
        return mismatch(span, Tag::D_LQUANT_MISMATCH, "lquantize(): limit must lie above base");
    int64_t step = 1;
    if (call.arguments.size() > 3) {
        auto given =
            quantize_constant(*call.arguments[3], Tag::D_LQUANT_STEPTYPE, "lquantize(): step");
        if (!given)
            return std::nullopt;
        step = *given;
        if (step < 0)
            return mismatch(span, Tag::D_LQUANT_STEPTYPE, "lquantize(): step must be positive");
        if (step < 1 || step > UINT16_MAX)
            return mismatch(span, Tag::D_LQUANT_STEPVAL, "lquantize(): step must be 1 to 65535");
    }
    if (step > *limit - *base)
        return mismatch(span, Tag::D_LQUANT_STEPLARGE,
                        "lquantize(): step is larger than the range");
    int64_t levels = (*limit - *base) / step;
    if (levels > UINT16_MAX)
        return mismatch(span, Tag::D_LQUANT_STEPSMALL,
                        "lquantize(): step is too small: there would be more than 65535 levels");
    uint64_t arg = static_cast<uint64_t>(step) << 48 | static_cast<uint64_t>(levels) << 32 |
                   static_cast<uint32_t>(*base);
    if (info.kind == DTRACEAGG_LQUANTIZE && info.arg != arg) {
        if (DTRACE_LQUANTIZE_BASE(info.arg) != static_cast<int32_t>(*base))
            return mismatch(span, Tag::D_LQUANT_MATCHBASE, "lquantize(): base differs from before");
        int64_t before =
            DTRACE_LQUANTIZE_BASE(info.arg) +
            int64_t{DTRACE_LQUANTIZE_LEVELS(info.arg)} * DTRACE_LQUANTIZE_STEP(info.arg);
        if (before != *base + levels * step)
            return mismatch(span, Tag::D_LQUANT_MATCHLIM, "lquantize(): limit differs from before");
        return mismatch(span, Tag::D_LQUANT_MATCHSTEP, "lquantize(): step differs from before");
    }
    return arg;
}

std::optional<uint64_t> ClausePlanner::llquantize(const Expr& expression, const Call& call,
                                                  const AggregationInfo& info) {
    if (!count_arguments(expression, call, 5, 6))
        return std::nullopt;
    static const struct {
        Tag type, value, match;
        const char* name;
        const char* different;
    } parameters[] = {
        {Tag::D_LLQUANT_FACTORTYPE, Tag::D_LLQUANT_FACTORVAL, Tag::D_LLQUANT_MATCHFACTOR,
         "llquantize(): factor", "llquantize(): factor differs from before"},
        {Tag::D_LLQUANT_LMAGTYPE, Tag::D_LLQUANT_LMAGVAL, Tag::D_LLQUANT_MATCHLMAG,
         "llquantize(): low magnitude", "llquantize(): low magnitude differs from before"},
        {Tag::D_LLQUANT_HMAGTYPE, Tag::D_LLQUANT_HMAGVAL, Tag::D_LLQUANT_MATCHHMAG,
         "llquantize(): high magnitude", "llquantize(): high magnitude differs from before"},
        {Tag::D_LLQUANT_STEPTYPE, Tag::D_LLQUANT_STEPVAL, Tag::D_LLQUANT_MATCHSTEPS,
         "llquantize(): steps", "llquantize(): steps differ from before"},
    };
    uint64_t values[4], arg = 0;
    for (size_t i = 0; i < 4; i++) {
        auto value =
            quantize_constant(*call.arguments[i + 1], parameters[i].type, parameters[i].name);
        if (!value)
            return std::nullopt;
        int64_t least = i == 0 ? 2 : i == 3 ? 1 : 0;
        if (*value < least || *value > UINT16_MAX) {
            error(parameters[i].value, call.arguments[i + 1]->span, "%s must be %d to 65535",
                  parameters[i].name, static_cast<int>(least));
            return std::nullopt;
        }
        values[i] = static_cast<uint64_t>(*value);
        arg |= values[i] << (16 * i);
    }
    auto [factor, low, high, steps] = values;
    if (high < low)
        return mismatch(expression.span, Tag::D_LLQUANT_HMAGVAL,
                        "llquantize(): the high magnitude lies below the low one");
    __uint128_t power = 1;
    for (uint64_t i = 0; i <= high; i++) {
        power *= factor;
        if (power > UINT64_MAX)
            return mismatch(expression.span, Tag::D_LLQUANT_HMAGVAL,
                            "llquantize(): the high magnitude's values do not fit into 64 bits");
    }
    uint64_t multiple = factor;
    while (multiple < steps)
        multiple *= factor;
    if (steps < factor ? factor % steps != 0 : steps % factor != 0)
        return mismatch(expression.span, Tag::D_LLQUANT_FACTORVAL,
                        "llquantize(): one of factor and steps must be a multiple of the other");
    if (multiple % steps != 0)
        return mismatch(expression.span, Tag::D_LLQUANT_STEPVAL,
                        "llquantize(): steps must divide a power of the factor");
    for (size_t i = 0; i < 4; i++)
        if (info.kind == DTRACEAGG_LLQUANTIZE && ((info.arg ^ arg) >> (16 * i) & 0xffff) != 0)
            return mismatch(expression.span, parameters[i].match, parameters[i].different);
    return arg;
}

AggregationInfo* ClausePlanner::aggregation_argument(const Expr& argument,
                                                     const AggregationTags& tags) {
    const auto* aggregation = argument.get_if<Aggregation>();
    if (!aggregation) {
        error(tags.argument, argument.span, "%s(): the argument is no aggregation", tags.name);
        return nullptr;
    }
    if (aggregation->has_keys) {
        error(tags.argument, argument.span, "%s(): @%s stands for all its keys; leave out []",
              tags.name, aggregation->name.c_str());
        return nullptr;
    }
    AggregationInfo* info = symbols_.find_aggregation(aggregation->name);
    if (!info || info->kind == 0) {
        error(tags.undefined, argument.span, "%s(): @%s is not defined before this", tags.name,
              aggregation->name.c_str());
        return nullptr;
    }
    return info;
}

void ClausePlanner::library_aggregation(const Expr& expression, const Call& call,
                                        uint32_t library_action, bool takes_value, Tag scalar_tag,
                                        const AggregationTags& tags) {
    bool optional_value = library_action == DT_ACT_TRUNC;
    if (!count_arguments(expression, call, takes_value && !optional_value ? 2 : 1,
                         takes_value ? 2 : 1, tags.length))
        return;
    AggregationInfo* info = aggregation_argument(*call.arguments[0], tags);
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
                return error(scalar_tag, argument.span, "%s(): \"%s\" is no scalar", tags.name,
                             types_.name(value->type).c_str());
            if (library_action == DT_ACT_NORMALIZE && ExprChecker::is_zero(value))
                return error(Tag::D_DIV_ZERO, argument.span,
                             "normalize(): division by the constant 0");
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
