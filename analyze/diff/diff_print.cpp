// SPDX-License-Identifier: Apache-2.0
//
// Diff print: a comparison as text and as JSON.
#include "analyze/diff/diff_print.hpp"

#include "analyze/diff/answer_print.hpp"
#include "analyze/print/distribution.hpp"
#include "analyze/print/json_print.hpp"
#include "analyze/print/text.hpp"
#include "base/counted.hpp"
#include "base/json.hpp"

#include <algorithm>
#include <cinttypes>
#include <cmath>

namespace daybreak::analyze {

namespace {

constexpr int kBarWidth = 20;    // of one side of a distribution

/// A bucket, and what of it each side has.
struct PairedRow {
    std::string value;
    int64_t before = 0, after = 0;
};

bool is_set(const DiffLayout& layout) {
    return layout.boots_before + layout.boots_after > 2;
}

/// A median: whole, or with its half.
std::string number_text(std::optional<long double> number, bool with_sign = false) {
    if (!number)
        return "-";
    bool is_whole = *number == std::floor(*number);
    std::string text;
    appendf(text, with_sign ? "%+.*Lf" : "%.*Lf", is_whole ? 0 : 1, *number);
    return text;
}

std::optional<long double> change_of(const ComparedRow& row) {
    std::optional<long double> before = median(row.before), after = median(row.after);
    return before && after ? std::optional(*after - *before) : std::nullopt;
}

/// "+12.5 %", or what is true where a percentage would not be.
std::string percent_text(const ComparedRow& row) {
    if (row.is_new || row.is_gone)
        return row.is_new ? "new" : "gone";
    std::optional<long double> before = median(row.before), change = change_of(row);
    if (!change || *before == 0)
        return "";
    std::string text;
    appendf(text, "%+.1Lf %%", *change * 100 / std::fabs(*before));
    return text;
}

/// The key last: it may have any length.
void print_number(std::string& out, const ComparedRow& row, bool is_set) {
    std::optional<long double> change = change_of(row);
    appendf(out, "  %12s %12s %12s %10s", number_text(median(row.before)).c_str(),
            number_text(median(row.after)).c_str(),
            change ? number_text(change, true).c_str() : "", percent_text(row).c_str());
    if (is_set) {
        std::optional<RankTest> test = test_of(row);
        std::string p;
        appendf(p, "%.3f", test ? test->p : 1.0);
        appendf(out, " %6s", test ? p.c_str() : "");
    }
    appendf(out, "  %s\n", key_text(row.key).c_str());
}

/// Both sides' buckets, ascending: those in which either has something.
std::vector<PairedRow> paired_rows(const ComparedAnswer& answer, const ComparedRow& row) {
    std::vector<uint64_t> either = row.cells_before;
    bool has_argument = answer.function.kind != DTRACEAGG_QUANTIZE;
    for (size_t i = has_argument ? 1 : 0; i < either.size(); i++)
        either[i] = row.cells_before[i] != 0 || row.cells_after[i] != 0;
    auto count_of = [](const std::vector<DistributionRow>& rows, const std::string& value) {
        auto found = std::ranges::find(rows, value, &DistributionRow::value);
        return found == rows.end() ? 0 : found->count;
    };
    auto before = distribution_rows(answer.function, row.cells_before, row.normal);
    auto after = distribution_rows(answer.function, row.cells_after, row.normal);
    std::vector<PairedRow> paired;
    for (const DistributionRow& bucket : distribution_rows(answer.function, either, 1))
        paired.push_back(
            {bucket.value, count_of(before, bucket.value), count_of(after, bucket.value)});
    return paired;
}

std::string bar(int64_t count, long double total) {
    auto length = total <= 0 || count <= 0
                      ? 0
                      : static_cast<size_t>(static_cast<long double>(count) * kBarWidth / total + 0.5L);
    return std::string(std::min<size_t>(length, kBarWidth), '@');
}

void print_distributions(std::string& out, const ComparedAnswer& answer, const ComparedRow& row) {
    std::vector<PairedRow> rows = paired_rows(answer, row);
    long double before = 0, after = 0;
    for (const PairedRow& bucket : rows) {
        before += static_cast<long double>(std::max<int64_t>(bucket.before, 0));
        after += static_cast<long double>(std::max<int64_t>(bucket.after, 0));
    }
    appendf(out, "  %s\n  %16s  %-*s %9s  %-*s %9s\n", key_text(row.key).c_str(), "value", kBarWidth,
            "before", "count", kBarWidth, "after", "count");
    for (const PairedRow& bucket : rows)
        appendf(out, "  %16s |%-*s %9" PRId64 " |%-*s %9" PRId64 "\n", bucket.value.c_str(),
                kBarWidth, bar(bucket.before, before).c_str(), bucket.before, kBarWidth,
                bar(bucket.after, after).c_str(), bucket.after);
}

void append_number(std::string& out, std::optional<long double> number) {
    out += number ? number_text(number) : "null";
}

void append_values(std::string& out, const std::vector<std::optional<int64_t>>& values) {
    base::JsonArray array(out);
    for (const std::optional<int64_t>& value : values)
        array.next() += value ? std::to_string(*value) : "null";
    array.end();
}

void put_number(base::JsonObject& object, const ComparedRow& row, bool is_set) {
    append_values(object.key("values_before"), row.before);
    append_values(object.key("values_after"), row.after);
    append_number(object.key("before"), median(row.before));
    append_number(object.key("after"), median(row.after));
    append_number(object.key("change"), change_of(row));
    if (std::optional<RankTest> test = is_set ? test_of(row) : std::nullopt) {
        appendf(object.key("p"), "%.6g", test->p);
        object.put("p_is_exact", test->is_exact);
    }
}

} // namespace

void print_comparison(std::string& out, const ComparedAnswer& answer, const DiffLayout& layout) {
    std::vector<const ComparedRow*> changed;
    for (const ComparedRow& row : answer.rows)
        if (size_of_change(answer, row, layout.boots_before, layout.boots_after) != 0.0L)
            changed.push_back(&row);
    size_t shown = layout.rows_max == 0 ? changed.size() : std::min(layout.rows_max, changed.size());
    if (changed.empty()) {
        appendf(out, "  %s: no change in %s\n", answer.name.c_str(),
                base::counted(answer.rows.size(), "key").c_str());
        return;
    }
    if (answer.function.is_distribution())
        appendf(out, "  %s, %s\n", answer.name.c_str(),
                aggregation_function_name(answer.function.kind));
    else
        appendf(out, "  %12s %12s %12s %10s%s  %s, %s\n", "BEFORE", "AFTER", "CHANGE", "",
                is_set(layout) ? "      P" : "", answer.name.c_str(),
                aggregation_function_name(answer.function.kind));
    for (size_t i = 0; i < shown; i++)
        if (answer.function.is_distribution())
            print_distributions(out, answer, *changed[i]);
        else
            print_number(out, *changed[i], is_set(layout));
    if (shown < changed.size())
        appendf(out, "  and %s that changed less\n",
                base::counted(changed.size() - shown, "key").c_str());
}

void append_json_comparison(std::string& out, const ComparedAnswer& answer,
                            const DiffLayout& layout) {
    base::JsonObject object(out);
    object.put("name", answer.name);
    object.put("function", aggregation_function_name(answer.function.kind));
    base::JsonArray rows(object.key("rows"));
    for (const ComparedRow& row : answer.rows) {
        base::JsonObject one(rows.next());
        one.key("key") += row.key_json;
        if (answer.function.is_distribution()) {
            append_json_aggregated(one.key("before"),
                                   {answer.function, row.cells_before, row.normal});
            append_json_aggregated(one.key("after"), {answer.function, row.cells_after, row.normal});
        } else {
            put_number(one, row, is_set(layout));
        }
        one.end();
    }
    rows.end();
    object.end();
}

} // namespace daybreak::analyze
