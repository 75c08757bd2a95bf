// SPDX-License-Identifier: Apache-2.0
//
// JSON printing.
#include "analyze/print/json_print.hpp"

#include "analyze/print/bytes.hpp"
#include "analyze/print/default_print.hpp"
#include "analyze/print/distribution.hpp"
#include "analyze/print/text.hpp"

namespace daybreak::analyze {

namespace {

void append_stack(std::string& out, const Value& value, const PrintContext& context,
                  std::string* note_ret) {
    StackText stack = stack_text(value, context);
    base::JsonArray frames(out);
    for (const std::string& frame : stack.frames)
        base::append_json_string(frames.next(), frame);
    frames.end();
    if (note_ret)
        *note_ret = std::move(stack.note);
}

void append_hex(std::string& out, base::ByteView bytes) {
    base::JsonObject object(out);
    std::string& text = object.key("hex") += '"';
    for (std::byte byte : bytes)
        appendf(text, "%02x", std::to_integer<unsigned>(byte));
    text += '"';
    object.end();
}

} // namespace

void append_json_value(std::string& out, const Value& value, const PrintContext& context,
                       std::string* note_ret) {
    switch (value.type.kind) {
    case ValueKind::integer:
        out += std::to_string(value.signed_integer());
        break;
    case ValueKind::string:
        base::append_json_string(out, value.text());
        break;
    case ValueKind::stack:
    case ValueKind::ustack:
        append_stack(out, value, context, note_ret);
        break;
    case ValueKind::bytes: // as in text, an array of char is a string
        if (!value.data.empty() && value.data[0] != std::byte{0} &&
            is_printable_string(value.data)) {
            base::append_json_string(out, value.text().substr(0, value.text().find('\0')));
            break;
        }
        [[fallthrough]];
    case ValueKind::memory:
        append_hex(out, value.data);
        break;
    default:
        base::append_json_string(out, symbolic_text(value, context));
    }
}

void JsonValues::append(const Value& value, const PrintContext& context) {
    const char* comma = values_.empty() ? "" : ",";
    std::string note;
    append_json_value(values_ += comma, value, context, &note);
    notes_ += comma;
    if (note.empty())
        notes_ += "null";
    else
        base::append_json_string(notes_, note);
    has_note_ |= !note.empty();
}

void JsonValues::put_into(base::JsonObject& object, std::string_view name) const {
    object.key(name) += '[' + values_ + ']';
    if (has_note_)
        object.key("notes") += '[' + notes_ + ']';
}

void append_json_aggregated(std::string& out, const AggregationView& view) {
    if (!view.function.is_distribution()) {
        // One number, as it is printed.
        std::string text;
        print_aggregated(text, view);
        out += text.substr(std::min(text.find_first_not_of(' '), text.size()));
        return;
    }
    base::JsonArray rows(out);
    for (const DistributionRow& row : distribution_rows(view.function, view.cells, view.normal)) {
        base::JsonObject object(rows.next());
        object.put("value", row.value);
        object.put("count", row.count);
        object.end();
    }
    rows.end();
}

const char* aggregation_function_name(uint32_t kind) {
    switch (kind) {
#define DAYBREAK_NAME(name, number, text, cells)                                                   \
    case number:                                                                                   \
        return text;
        DBK_DTRACE_AGGS(DAYBREAK_NAME)
#undef DAYBREAK_NAME
    }
    return "unknown";
}

} // namespace daybreak::analyze
