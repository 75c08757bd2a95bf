// SPDX-License-Identifier: Apache-2.0
//
// Parameters of quantize(), lquantize() and llquantize(): constants, packed into the action's
// argument.
#include "compiler/sema/planner.hpp"

#include "compiler/diagnostics/messages/actions.hpp"
#include "formats/abi/dof.h"

namespace daybreak::compiler {

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

} // namespace daybreak::compiler
