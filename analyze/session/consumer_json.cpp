// SPDX-License-Identifier: Apache-2.0
//
// Consumer: records and aggregations as lines of JSON.
#include "analyze/session/consumer.hpp"

#include "analyze/aggregate/sort.hpp"
#include "analyze/print/format_print.hpp"
#include "analyze/print/json_print.hpp"
#include "base/json.hpp"

namespace daybreak::analyze {

void Consumer::begin_json(base::JsonObject& object, const char* kind) const {
    object.put("kind", kind);
    object.put("ring", ring_->info.name);
}

/// Prints the record as one object, after what its statements do to aggregations and options.
void Consumer::consume_json(EcbPlan& plan, const MergedRecord& merged) {
    std::string text;
    JsonValues values;
    for (Statement& statement : plan.statements) {
        bool is_printed = statement.kind == StatementKind::trace ||
                          statement.kind == StatementKind::printf ||
                          statement.kind == StatementKind::print;
        if (!is_printed || !statement.problem.empty()) {
            if (statement.kind != StatementKind::aggregate)
                carry_out(plan, statement, merged.record.bytes);
            continue;
        }
        std::vector<Value> recorded = checked_values(statement, merged.record.bytes);
        for (const Value& value : recorded)
            values.append(value, context_);
        if (statement.kind == StatementKind::printf)
            if (auto done = print_formatted(text, *statement.format, recorded, {}, context_);
                !done.ok())
                problem(plan, &statement, done.error().message());
    }
    // As in text, where a quiet program's clause that prints nothing has no line.
    if (!plan.is_line || (options_.quiet && values.empty() && text.empty()))
        return;
    const formats::ClockModel& clock = ring_->clock;
    uint64_t mono_ns = clock.mono_ns(merged.record.ticks);
    base::JsonObject object(shared_.out);
    begin_json(object, "record");
    object.put("boot_ns", clock.boot_ns(mono_ns));
    object.put("wall_ns", clock.wall_ns(mono_ns));
    object.put("cpu", merged.cpu);
    if (const formats::ProbeInfo* probe = plan.probe)
        object.put("probe", probe->provider + ":" + probe->module + ":" + probe->function + ":" +
                                probe->name);
    values.put_into(object, "values");
    if (!text.empty())
        object.put("text", text);
    object.end();
    shared_.out += '\n';
}

void Consumer::put_json(const AggregationEntry& entry) {
    const AggregationLayout& layout = table_.layout_of(entry);
    base::JsonObject object(shared_.out);
    begin_json(object, "aggregation");
    object.put("name", "@" + program_.aggregation_name(layout.variable));
    object.put("function", aggregation_function_name(layout.function.kind));
    JsonValues key;
    for (const Value& member : table_.members_of(entry))
        key.append(member, context_);
    key.put_into(object, "key");
    append_json_aggregated(object.key("value"), table_.view_of(entry));
    object.end();
    shared_.out += '\n';
}

void Consumer::put_json(std::span<const uint32_t> variables) {
    for (uint32_t variable : variables)
        for (const AggregationEntry* entry : sorted_entries(table_, variable, options_)) {
            table_.mark_printed(entry->source);
            put_json(*entry);
        }
}

void Consumer::put_unprinted_json() {
    for (const AggregationEntry* entry : sorted_entries(table_, std::nullopt, options_))
        if (!table_.is_printed(entry->source))
            put_json(*entry);
}

} // namespace daybreak::analyze
