// SPDX-License-Identifier: Apache-2.0
//
// Default printing: values without a format.
#include "analyze/print/default_print.hpp"

#include "analyze/print/bytes.hpp"
#include "analyze/print/distribution.hpp"
#include "analyze/print/text.hpp"
#include "analyze/print/user_stack.hpp"
#include "formats/segment/record.hpp"

#include <algorithm>
#include <cinttypes>

namespace daybreak::analyze {

namespace {

// The widths of DTrace's default output.
constexpr int kTracedStringWidth = 33;
constexpr int kKeyStringWidth = 50;
constexpr int kSymbolWidth = 50;

int integer_width(size_t bytes) {
    return bytes == 8 ? 16 : bytes == 4 ? 8 : bytes == 2 ? 5 : 3;
}

void print_integer(std::string& out, const Value& value, bool bare) {
    if (bare)
        appendf(out, "%" PRId64, value.signed_integer());
    else
        appendf(out, " %*" PRId64, integer_width(value.data.size()), value.signed_integer());
}

uint64_t last_word(const Value& value) {
    size_t words = value.data.size() / sizeof(uint64_t);
    return words == 0 ? value.unsigned_integer() : formats::StackView(value.data)[words - 1];
}

/// uaddr(), usym(), umod(): a process id and an address in it.
std::string user_text(const Value& value, const PrintContext& context) {
    uint64_t address = last_word(value);
    bool has_pid = value.data.size() >= 2 * sizeof(uint64_t);
    uint64_t pid = has_pid ? formats::StackView(value.data)[0] : 0;
    if (value.type.kind == ValueKind::umodule)
        return context.names.user_module(pid, address);
    if (context.options.noresolve)
        return context.names.user_unresolved(pid, address);
    return value.type.kind == ValueKind::usymbol ? context.names.user_symbol(pid, address)
                                                 : context.names.user_location(pid, address);
}

void print_symbolic(std::string& out, const Value& value, const PrintContext& context) {
    appendf(out, "  %-*s", kSymbolWidth, symbolic_text(value, context).c_str());
}

void print_value(std::string& out, const Value& value, const PrintContext& context, bool quiet,
                 int string_width) {
    switch (value.type.kind) {
    case ValueKind::stack:
    case ValueKind::ustack:
        print_stack(out, value, context, {.indent = context.options.stackindent});
        break;
    case ValueKind::symbol:
    case ValueKind::module:
    case ValueKind::uaddress:
    case ValueKind::usymbol:
    case ValueKind::umodule:
        print_symbolic(out, value, context);
        break;
    case ValueKind::memory:
        print_hex_dump(out, value.data);
        break;
    case ValueKind::integer:
        print_integer(out, value, quiet);
        break;
    case ValueKind::string:
    case ValueKind::bytes:
        if (context.options.rawbytes) {
            base::Bytes padded(value.data.begin(), value.data.end());
            padded.resize(std::max<size_t>(padded.size(), value.type.bytes));
            print_hex_dump(out, padded);
        } else {
            print_string_or_dump(out, value.data, value.type.bytes, string_width, quiet);
        }
        break;
    }
}

} // namespace

std::string symbolic_text(const Value& value, const PrintContext& context) {
    if (value.type.kind == ValueKind::symbol)
        return context.names.symbol(value.unsigned_integer());
    if (value.type.kind == ValueKind::module)
        return context.names.module(value.unsigned_integer());
    return user_text(value, context);
}

void print_field(std::string& out, std::string_view text, int width, int precision, bool left) {
    if (precision > 0)
        text = text.substr(0, static_cast<size_t>(precision));
    size_t padding = width > 0 ? static_cast<size_t>(width) : 0;
    padding -= std::min(padding, text.size());
    if (!left)
        out.append(padding, ' ');
    out.append(text);
    if (left)
        out.append(padding, ' ');
}

StackText stack_text(const Value& value, const PrintContext& context) {
    formats::StackView recorded(value.data);
    bool is_user = value.type.kind == ValueKind::ustack;
    uint64_t pid = is_user && !recorded.empty() ? recorded[0] : 0;
    FoundStack stack =
        is_user ? user_stack_of(value, context) : FoundStack{frames_of(recorded, 0), "", {}};
    StackText text{{}, std::move(stack.note)};
    for (size_t i = 0; i < stack.frames.size(); i++)
        text.frames.push_back(
            !is_user ? context.names.location(stack.frames[i])
            : context.options.noresolve
                ? context.names.user_unresolved(pid, stack.frames[i])
                : context.names.user_location(pid, stack.frames[i], stack.is_return(i)));
    return text;
}

void print_stack(std::string& out, const Value& value, const PrintContext& context,
                 const StackLayout& layout) {
    out += '\n';
    StackText stack = stack_text(value, context);
    if (!stack.note.empty())
        stack.frames.push_back("(" + stack.note + ")");
    for (const std::string& line : stack.frames) {
        out.append(static_cast<size_t>(std::max(layout.indent, 0)), ' ');
        print_field(out, line, layout.width, layout.precision, layout.left);
        out += '\n';
    }
}

void print_traced(std::string& out, const Value& value, const PrintContext& context) {
    print_value(out, value, context, context.options.quiet, kTracedStringWidth);
}

void print_key(std::string& out, const Value& value, const PrintContext& context) {
    print_value(out, value, context, false, kKeyStringWidth);
}

void print_aggregated(std::string& out, const AggregationView& view) {
    uint64_t normal = view.normal == 0 ? 1 : view.normal;
    if (view.function.is_distribution()) {
        print_distribution(out, view.function, view.cells, normal);
        return;
    }
    if (view.function.kind == DTRACEAGG_AVG)
        appendf(out, " %16" PRId64, average_of(view.cells, normal));
    else if (view.function.kind == DTRACEAGG_STDDEV)
        appendf(out, " %16" PRIu64, stddev_of(view.cells, normal));
    else
        appendf(out, " %16" PRId64, normalized(static_cast<int64_t>(view.cells[0]), normal));
}

} // namespace daybreak::analyze
