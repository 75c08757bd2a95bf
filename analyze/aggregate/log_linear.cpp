// SPDX-License-Identifier: Apache-2.0
//
// llquantize(): the bins of a log-linear quantization.
//
// For each order of magnitude m from low to high, the values factor^m .. factor^(m+1) - 1 are
// divided as if factor^(m+1) were cut into `steps` equal pieces; those below factor^m belong to the
// magnitude before.  Negative values mirror positive ones.
#include "analyze/aggregate/function.hpp"

#include <algorithm>

namespace daybreak::analyze {

namespace {

using U128 = unsigned __int128;

/// No 64-bit value reaches it, and steps times it still fits into 128 bits.
constexpr U128 kPowerMax = U128{1} << 100;

U128 power(uint32_t factor, uint32_t exponent) {
    U128 result = 1;
    for (uint32_t i = 0; i < exponent && result < kPowerMax; i++)
        result *= factor;
    return std::min(result, kPowerMax);
}

} // namespace

std::optional<LogLinear> LogLinear::parse(uint64_t argument) {
    LogLinear shape{static_cast<uint16_t>(argument), static_cast<uint16_t>(argument >> 16),
                    static_cast<uint16_t>(argument >> 32), static_cast<uint16_t>(argument >> 48)};
    if (shape.factor < 2 || shape.steps == 0 || shape.high < shape.low)
        return std::nullopt;
    if (uint64_t{shape.high - shape.low + 1} * shape.bins_per_range() > kCellsMax / 2 - 2)
        return std::nullopt;
    return shape;
}

U128 LogLinear::bound(size_t distance) const {
    size_t range = (distance - 1) / bins_per_range(), bin = (distance - 1) % bins_per_range();
    auto exponent = static_cast<uint32_t>(low + range);
    U128 floor = power(factor, exponent);
    U128 step = bin + steps / factor;
    return std::max(floor, step * power(factor, exponent + 1) / steps);
}

bool LogLinear::is_ghost(size_t distance) const {
    if (distance > bins_per_side())
        return false;
    size_t range = (distance - 1) / bins_per_range(), bin = (distance - 1) % bins_per_range();
    U128 ceiling = power(factor, static_cast<uint32_t>(low + range) + 1);
    return ceiling < steps && (bin + steps / factor) * ceiling % steps != 0;
}

} // namespace daybreak::analyze
