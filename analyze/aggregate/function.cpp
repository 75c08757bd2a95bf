// SPDX-License-Identifier: Apache-2.0
//
// Aggregating functions: cells, updates, merging and comparing.
#include "analyze/aggregate/function.hpp"

#include <algorithm>
#include <bit>

namespace daybreak::analyze {

namespace {

using U128 = unsigned __int128;

uint64_t magnitude(int64_t value) {
    return value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

/// The largest n with n * n <= value.
uint64_t integer_root(U128 value) {
    U128 root = 0;
    for (U128 bit = U128{1} << 63; bit != 0; bit >>= 1) {
        U128 candidate = root | bit;
        if (candidate * candidate <= value)
            root = candidate;
    }
    return static_cast<uint64_t>(root);
}

struct Linear {
    int64_t base, step, levels;

    explicit Linear(uint64_t argument)
        : base(DTRACE_LQUANTIZE_BASE(argument)), step(DTRACE_LQUANTIZE_STEP(argument)),
          levels(DTRACE_LQUANTIZE_LEVELS(argument)) {}
    int64_t limit() const { return base + levels * step; }
    /// What a bin counts as when distributions are compared.
    int64_t weight(size_t bin) const {
        if (bin == 0)
            return base - 1;
        if (bin == static_cast<size_t>(levels) + 1)
            return limit() + 1;
        return base + (static_cast<int64_t>(bin) - 1) * step;
    }
};

int compare_signed(int64_t a, int64_t b) {
    return a < b ? -1 : a > b;
}

/// long double, as other consumers compare: sums pass 64 bits, and the last places do not matter.
struct Weighed {
    long double total = 0;
    int64_t at_zero = 0;
};

Weighed weigh(const AggregationFunction& function, std::span<const uint64_t> cells) {
    Weighed result;
    auto add = [&](uint64_t count, long double value) {
        result.total += static_cast<long double>(static_cast<int64_t>(count)) * value;
    };
    if (function.kind == DTRACEAGG_QUANTIZE) {
        for (size_t i = 0; i < cells.size(); i++)
            add(cells[i], static_cast<long double>(quantize_bucket_value(i)));
        result.at_zero = static_cast<int64_t>(cells[DTRACE_QUANTIZE_ZERO]);
    } else if (function.kind == DTRACEAGG_LQUANTIZE) {
        Linear linear(function.argument);
        for (size_t i = 1; i < cells.size(); i++)
            add(cells[i], static_cast<long double>(linear.weight(i - 1)));
        result.at_zero =
            static_cast<int64_t>(cells[dbk_lquantize_bucket(function.argument, 0) + 1]);
    } else if (auto shape = LogLinear::parse(function.argument)) {
        size_t centre = shape->centre();
        for (size_t distance = 1; distance <= centre; distance++) {
            auto bound = static_cast<long double>(shape->bound(distance));
            add(cells[1 + centre + distance], bound);
            add(cells[1 + centre - distance], -bound);
        }
        result.at_zero = static_cast<int64_t>(cells[1 + centre]);
    }
    return result;
}

} // namespace

int64_t quantize_bucket_value(size_t bucket) {
    if (bucket < DTRACE_QUANTIZE_ZERO)
        return -(int64_t{1} << (DTRACE_QUANTIZE_ZERO - 1 - bucket));
    return bucket == DTRACE_QUANTIZE_ZERO ? 0 : int64_t{1} << (bucket - DTRACE_QUANTIZE_ZERO - 1);
}

std::optional<size_t> AggregationFunction::cell_count() const {
    switch (kind) {
    case DTRACEAGG_COUNT:
    case DTRACEAGG_MIN:
    case DTRACEAGG_MAX:
    case DTRACEAGG_SUM:
        return 1;
    case DTRACEAGG_AVG:
        return 2;
    case DTRACEAGG_STDDEV:
        return 4;
    case DTRACEAGG_QUANTIZE:
        return DTRACE_QUANTIZE_CELLS;
    case DTRACEAGG_LQUANTIZE:
        if (DTRACE_LQUANTIZE_STEP(argument) == 0 || DTRACE_LQUANTIZE_LEVELS(argument) == 0)
            return std::nullopt;
        return size_t{DTRACE_LQUANTIZE_LEVELS(argument)} + 3;
    case DTRACEAGG_LLQUANTIZE:
        if (auto shape = LogLinear::parse(argument))
            return shape->bins() + 1;
        return std::nullopt;
    default:
        return std::nullopt;
    }
}

void AggregationFunction::merge(std::span<uint64_t> into, std::span<const uint64_t> from) const {
    if (kind == DTRACEAGG_MIN || kind == DTRACEAGG_MAX) {
        update(into, static_cast<int64_t>(from[0]), 1);
        return;
    }
    if (kind == DTRACEAGG_STDDEV) {
        U128 sum = (U128{into[3]} << 64 | into[2]) + (U128{from[3]} << 64 | from[2]);
        into[0] += from[0];
        into[1] += from[1];
        into[2] = static_cast<uint64_t>(sum);
        into[3] = static_cast<uint64_t>(sum >> 64);
        return;
    }
    bool has_argument = kind == DTRACEAGG_LQUANTIZE || kind == DTRACEAGG_LLQUANTIZE;
    for (size_t i = has_argument ? 1 : 0; i < into.size(); i++)
        into[i] += from[i];
}

int64_t normalized(int64_t value, uint64_t normal) {
    // In 128 bits INT64_MIN / -1 is a number like any other.
    auto divisor = static_cast<int64_t>(normal);
    return divisor == 0 ? 0 : static_cast<int64_t>(static_cast<__int128>(value) / divisor);
}

int64_t average_of(std::span<const uint64_t> cells, uint64_t normal) {
    auto count = static_cast<int64_t>(cells[0]), sum = static_cast<int64_t>(cells[1]);
    auto divisor = static_cast<int64_t>(normal);
    if (count == 0 || divisor == 0)
        return 0;
    // In 128 bits INT64_MIN / -1 is a number like any other.
    return static_cast<int64_t>(static_cast<__int128>(sum) / divisor / count);
}

uint64_t stddev_of(std::span<const uint64_t> cells, uint64_t normal) {
    if (cells[0] == 0 || normal == 0)
        return 0;
    U128 squares = (U128{cells[3]} << 64 | cells[2]) / normal / cells[0];
    uint64_t average = magnitude(average_of(cells, normal));
    U128 square = U128{average} * average;
    return squares > square ? integer_root(squares - square) : 0;
}

int compare_values(const AggregationFunction& function, std::span<const uint64_t> a,
                   std::span<const uint64_t> b) {
    switch (function.kind) {
    case DTRACEAGG_AVG:
        return compare_signed(average_of(a, 1), average_of(b, 1));
    case DTRACEAGG_STDDEV: {
        uint64_t left = stddev_of(a, 1), right = stddev_of(b, 1);
        return left < right ? -1 : left > right;
    }
    case DTRACEAGG_QUANTIZE:
    case DTRACEAGG_LQUANTIZE:
    case DTRACEAGG_LLQUANTIZE: {
        Weighed left = weigh(function, a), right = weigh(function, b);
        if (left.total != right.total)
            return left.total < right.total ? -1 : 1;
        return compare_signed(left.at_zero, right.at_zero);
    }
    default:
        return compare_signed(static_cast<int64_t>(a[0]), static_cast<int64_t>(b[0]));
    }
}

} // namespace daybreak::analyze
