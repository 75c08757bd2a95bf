// SPDX-License-Identifier: Apache-2.0
//
// Answer: an aggregation as data.
#include "analyze/session/answer.hpp"

#include "analyze/print/default_print.hpp"
#include "analyze/print/format_print.hpp"
#include "analyze/print/json_print.hpp"
#include "base/json.hpp"

#include <algorithm>

namespace daybreak::analyze {

namespace {

/// The frames of a stack on one line.  How they were found is not part of a key: two boots may have
/// found a stack in two ways.
std::string frames_text(const Value& value, const PrintContext& context) {
    std::string text;
    for (const std::string& frame : stack_text(value, context).frames)
        text += (text.empty() ? "" : " < ") + frame;
    return text;
}

std::string member_text(const Value& value, const PrintContext& context) {
    if (value.type.kind == ValueKind::string)
        return escaped(value.text());
    if (value.type.is_stack())
        return frames_text(value, context);
    std::string text;
    append_json_value(text, value, context);
    bool is_quoted = text.size() >= 2 && text.front() == '"';
    return is_quoted ? text.substr(1, text.size() - 2) : text;
}

AnswerRow row_of(const AggregationTable& table, const AggregationEntry& entry,
                 const PrintContext& context) {
    AnswerRow row;
    base::JsonArray json(row.key_json);
    for (const Value& member : table.members_of(entry)) {
        row.key.push_back(member_text(member, context));
        append_json_value(json.next(), member, context);
    }
    json.end();
    std::span<const uint64_t> cells = table.cells_of(entry);
    row.cells.assign(cells.begin(), cells.end());
    row.normal = entry.normal;
    return row;
}

} // namespace

void add_answers(std::vector<Answer>& answers, const AggregationTable& table,
                 const PrintContext& context,
                 const std::function<std::string(uint32_t variable)>& name_of) {
    std::vector<size_t> places; // of each layout, its answer + 1
    for (const AggregationEntry& entry : table.entries()) {
        if (entry.layout >= places.size())
            places.resize(entry.layout + 1);
        if (places[entry.layout] == 0) {
            const AggregationLayout& layout = table.layout_of(entry);
            std::string name = "@" + name_of(layout.variable);
            auto known = std::ranges::find_if(answers, [&](const Answer& answer) {
                return answer.name == name && answer.function == layout.function;
            });
            if (known == answers.end())
                known = answers.insert(known, Answer{name, layout.function, {}});
            places[entry.layout] = static_cast<size_t>(known - answers.begin()) + 1;
        }
        answers[places[entry.layout] - 1].rows.push_back(row_of(table, entry, context));
    }
}

} // namespace daybreak::analyze
