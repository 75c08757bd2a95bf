// SPDX-License-Identifier: Apache-2.0
//
// Answer print: an aggregation in a few lines, and as JSON.
#include "analyze/diff/answer_print.hpp"

#include "analyze/print/distribution.hpp"
#include "analyze/print/json_print.hpp"
#include "analyze/print/text.hpp"
#include "base/counted.hpp"
#include "base/json.hpp"

#include <algorithm>

namespace daybreak::analyze {

namespace {

constexpr size_t kKeyBytes = 100; // longer ones, of stacks, are cut

std::string short_key(const AnswerRow& row) {
    std::string text = key_text(row.key);
    if (text.size() > kKeyBytes) {
        size_t end = kKeyBytes;
        while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
            end--; // not within a character
        text = text.substr(0, end) + "...";
    }
    return text;
}

/// The label of the bucket up to which `part` of the values lie.
std::string bucket_of(const std::vector<DistributionRow>& rows, long double total,
                      long double part) {
    long double sum = 0;
    for (const DistributionRow& row : rows) {
        sum += static_cast<long double>(row.count);
        if (sum >= total * part)
            return row.value;
    }
    return rows.back().value;
}

std::string distribution_text(const Answer& answer, const AnswerRow& row) {
    std::vector<DistributionRow> rows = distribution_rows(answer.function, row.cells, row.normal);
    long double total = 0;
    bool has_negative = false; // quantize(x, -1) takes values away
    for (const DistributionRow& bucket : rows) {
        total += static_cast<long double>(bucket.count);
        has_negative |= bucket.count < 0;
    }
    std::string text;
    appendf(text, "  %9.0Lf  %s", total, short_key(row).c_str());
    if (!has_negative && total > 0)
        text += ": half up to bucket " + bucket_of(rows, total, 0.5L) + ", 99 % up to bucket " +
                bucket_of(rows, total, 0.99L);
    return text + "\n";
}

} // namespace

std::string key_text(std::span<const std::string> key) {
    std::string text;
    for (size_t i = 0; i < key.size(); i++)
        text += (i == 0 ? "" : "  ") + key[i];
    return key.empty() ? "(all)" : text;
}

void print_answer(std::string& out, const Answer& answer, size_t rows_max) {
    std::vector<const AnswerRow*> rows;
    for (const AnswerRow& row : answer.rows)
        if (answer.function.kind != DTRACEAGG_SUM || row.cells[0] != 0)
            rows.push_back(&row);
    std::ranges::stable_sort(rows, [&](const AnswerRow* a, const AnswerRow* b) {
        int order = compare_values(answer.function, a->cells, b->cells);
        return answer.function.kind == DTRACEAGG_MIN ? order < 0 : order > 0;
    });
    if (rows.size() == rows_max + 1) // a line that says "and 1 more" has room for it
        rows_max++;
    for (size_t i = 0; i < std::min(rows_max, rows.size()); i++) {
        if (answer.function.is_distribution()) {
            out += distribution_text(answer, *rows[i]);
            continue;
        }
        std::string value;
        append_json_aggregated(value, answer.view_of(*rows[i]));
        appendf(out, "  %9s  %s\n", value.c_str(), short_key(*rows[i]).c_str());
    }
    if (rows.size() > rows_max)
        appendf(out, "  and %s\n", base::counted(rows.size() - rows_max, "more", "more").c_str());
}

void append_json_answer(std::string& out, const Answer& answer) {
    base::JsonObject object(out);
    object.put("name", answer.name);
    object.put("function", aggregation_function_name(answer.function.kind));
    base::JsonArray rows(object.key("rows"));
    for (const AnswerRow& row : answer.rows) {
        base::JsonObject one(rows.next());
        one.key("key") += row.key_json;
        append_json_aggregated(one.key("value"), answer.view_of(row));
        one.end();
    }
    rows.end();
    object.end();
}

} // namespace daybreak::analyze
