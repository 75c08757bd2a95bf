// SPDX-License-Identifier: Apache-2.0
//
// Distributions: rows, their labels and their bars.
#include "analyze/print/distribution.hpp"

#include "analyze/print/text.hpp"

#include <cinttypes>
#include <cmath>
#include <functional>
#include <vector>

namespace daybreak::analyze {

namespace {

constexpr int kBarWidth = 40;

/// The buckets of a distribution in ascending order, without those that no value can fall into.
struct Buckets {
    std::vector<int64_t> counts;
    size_t empty_first = 0, empty_last = 0; ///< what is shown when nothing was counted
    std::function<void(std::string&, size_t index, size_t first)> label;
};

struct Range {
    size_t first, last; ///< both shown
};

Range shown_range(const Buckets& buckets) {
    size_t end = buckets.counts.size(), first = 0, last = end - 1;
    while (first < end && buckets.counts[first] == 0)
        first++;
    if (first == end)
        return {buckets.empty_first, std::min(buckets.empty_last, end - 1)};
    while (buckets.counts[last] == 0)
        last--;
    return {first > 0 ? first - 1 : 0, last + 1 < end ? last + 1 : last};
}

int bar_depth(int64_t count, long double total, int width) {
    if (total == 0)
        return 0;
    return static_cast<int>(std::fabs(static_cast<long double>(count)) * width / total + 0.5L);
}

/// "|@@@   ", "   @@@|", or both halves when counts of both signs are shown.
void print_bar(std::string& out, int64_t count, long double total, bool positives, bool negatives) {
    if (positives && negatives) {
        int half = kBarWidth / 2, depth = bar_depth(count, total, half);
        bool left = count <= 0;
        out.append(static_cast<size_t>(left ? half - depth : half), ' ');
        if (left)
            out.append(static_cast<size_t>(depth), '@');
        out += '|';
        if (!left)
            out.append(static_cast<size_t>(depth), '@');
        out.append(static_cast<size_t>(left ? half : half - depth), ' ');
        return;
    }
    int depth = bar_depth(count, total, kBarWidth);
    if (!negatives)
        out += '|';
    else
        out.append(static_cast<size_t>(kBarWidth - depth), ' ');
    out.append(static_cast<size_t>(depth), '@');
    if (!negatives)
        out.append(static_cast<size_t>(kBarWidth - depth), ' ');
    else
        out += '|';
}

void print_buckets(std::string& out, const Buckets& buckets, uint64_t normal) {
    appendf(out, "\n%16s %41s %-9s\n", "value", "------------- Distribution -------------",
            "count");
    Range range = shown_range(buckets);
    bool positives = false, negatives = false;
    long double total = 0;
    for (size_t i = range.first; i <= range.last; i++) {
        positives |= buckets.counts[i] > 0;
        negatives |= buckets.counts[i] < 0;
        total += std::fabs(static_cast<long double>(buckets.counts[i]));
    }
    for (size_t i = range.first; i <= range.last; i++) {
        buckets.label(out, i, range.first);
        out += ' ';
        print_bar(out, buckets.counts[i], total, positives, negatives);
        appendf(out, " %-9" PRId64 "\n", normalized(buckets.counts[i], normal));
    }
}

Buckets power_of_two_buckets(std::span<const uint64_t> cells) {
    Buckets buckets;
    buckets.counts.assign(cells.begin(), cells.end());
    buckets.empty_first = DTRACE_QUANTIZE_ZERO - 1;
    buckets.empty_last = DTRACE_QUANTIZE_ZERO + 1;
    buckets.label = [](std::string& out, size_t index, size_t) {
        appendf(out, "%16" PRId64, quantize_bucket_value(index));
    };
    return buckets;
}

Buckets linear_buckets(uint64_t argument, std::span<const uint64_t> cells) {
    Buckets buckets;
    buckets.counts.assign(cells.begin() + 1, cells.end());
    buckets.empty_last = 2;
    int64_t base = DTRACE_LQUANTIZE_BASE(argument), step = DTRACE_LQUANTIZE_STEP(argument);
    auto above = static_cast<size_t>(DTRACE_LQUANTIZE_LEVELS(argument)) + 1;
    buckets.label = [=](std::string& out, size_t index, size_t) {
        int64_t bound = base + (static_cast<int64_t>(index) - 1) * step;
        std::string text;
        if (index == 0)
            appendf(text, "< %" PRId64, base);
        else
            appendf(text, "%s%" PRId64, index == above ? ">= " : "", bound);
        appendf(out, "%16s", text.c_str());
    };
    return buckets;
}

Buckets log_linear_buckets(const LogLinear& shape, std::span<const uint64_t> cells) {
    Buckets buckets;
    std::vector<int64_t> distances; // from the centre, signed, of the rows that can be shown
    auto centre = static_cast<int64_t>(shape.centre());
    size_t centre_row = 0;
    for (int64_t distance = -centre; distance <= centre; distance++) {
        auto size = static_cast<size_t>(distance < 0 ? -distance : distance);
        if (distance != 0 && shape.is_ghost(size))
            continue;
        if (distance == 0)
            centre_row = distances.size();
        distances.push_back(distance);
        buckets.counts.push_back(
            static_cast<int64_t>(cells[static_cast<size_t>(1 + centre + distance)]));
    }
    buckets.empty_first = centre_row;
    buckets.empty_last = centre_row + 2;
    buckets.label = [=](std::string& out, size_t index, size_t first) {
        int64_t distance = distances[index];
        std::string text;
        if (distance == 0 && shape.low == 0) {
            text += '0';
        } else if (distance == 0) {
            appendf(text, "%s< %" PRIu64, first < index ? "abs() " : "",
                    static_cast<uint64_t>(shape.bound(1)));
        } else {
            auto bound =
                static_cast<uint64_t>(shape.bound(static_cast<size_t>(std::abs(distance))));
            const char* relation = distance == -centre ? "<= " : distance == centre ? ">= " : "";
            appendf(text, "%s%s%" PRIu64, relation, distance < 0 ? "-" : "", bound);
        }
        appendf(out, "%16s", text.c_str());
    };
    return buckets;
}

/// Returns no bucket for a function that is not a distribution.
Buckets buckets_of(const AggregationFunction& function, std::span<const uint64_t> cells) {
    if (function.kind == DTRACEAGG_QUANTIZE)
        return power_of_two_buckets(cells);
    if (function.kind == DTRACEAGG_LQUANTIZE)
        return linear_buckets(function.argument, cells);
    if (auto shape = LogLinear::parse(function.argument))
        return log_linear_buckets(*shape, cells);
    return {};
}

} // namespace

void print_distribution(std::string& out, const AggregationFunction& function,
                        std::span<const uint64_t> cells, uint64_t normal) {
    Buckets buckets = buckets_of(function, cells);
    if (!buckets.counts.empty())
        print_buckets(out, buckets, normal);
}

std::vector<DistributionRow> distribution_rows(const AggregationFunction& function,
                                               std::span<const uint64_t> cells, uint64_t normal) {
    Buckets buckets = buckets_of(function, cells);
    std::vector<DistributionRow> rows;
    for (size_t i = 0; i < buckets.counts.size(); i++) {
        if (buckets.counts[i] == 0)
            continue;
        std::string label;
        buckets.label(label, i, 0);
        rows.push_back(
            {label.substr(label.find_first_not_of(' ')), normalized(buckets.counts[i], normal)});
    }
    return rows;
}

} // namespace daybreak::analyze
