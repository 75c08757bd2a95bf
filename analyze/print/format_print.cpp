// SPDX-License-Identifier: Apache-2.0
//
// Formatted printing: a parsed format and its values into text.
#include "analyze/print/format_print.hpp"

#include "analyze/print/default_print.hpp"
#include "analyze/print/distribution.hpp"
#include "analyze/print/text.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace daybreak::analyze {

namespace {

constexpr uint64_t kNanosecondsPerSecond = 1'000'000'000;
// "yyyy Mon dd hh:mm:ss", and RFC 822's order with the week's year, as DTrace has it.
constexpr const char* kTimestampFormat = "%Y %b %e %T";
constexpr const char* kMailFormat = "%a, %d %b %G %T %Z";

/// A conversion whose width and precision are numbers now.
struct Field {
    const Conversion& spec;
    int width = 0, precision = 0;
    bool left = false;
};

/// Returns "%" with flags, width and precision, ready for a length and a conversion.
std::string host_spec(const Field& field) {
    std::string spec = "%";
    if (field.spec.alternate)
        spec += '#';
    if (field.spec.zeros)
        spec += '0';
    if (field.left)
        spec += '-';
    if (field.spec.plus)
        spec += '+';
    if (field.spec.group)
        spec += '\'';
    if (field.spec.space)
        spec += ' ';
    if (field.width > 0)
        spec += std::to_string(field.width);
    if (field.precision > 0)
        spec += "." + std::to_string(field.precision);
    return spec;
}

template <typename T>
void append_host(std::string& out, const std::string& spec, T value) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    appendf(out, spec.c_str(), value); // made by host_spec(): its one conversion is of type T
#pragma GCC diagnostic pop
}

void print_integer(std::string& out, const Field& field, uint64_t bits) {
    char conversion = field.spec.conversion == 'p' ? 'x' : field.spec.conversion;
    std::string spec = host_spec(field) + "ll" + conversion;
    append_host(out, spec, static_cast<unsigned long long>(bits));
}

void print_floating(std::string& out, const Field& field, const Value& value) {
    auto load = [&](auto number) {
        std::memcpy(&number, value.data.data(), sizeof(number));
        return number;
    };
    std::string spec = host_spec(field);
    if (value.data.size() == sizeof(float))
        append_host(out, spec + field.spec.conversion, static_cast<double>(load(float{})));
    else if (value.data.size() == sizeof(double))
        append_host(out, spec + field.spec.conversion, load(double{}));
    else if (value.data.size() == sizeof(long double))
        append_host(out, spec + "L" + field.spec.conversion, load((long double){}));
}

void append_utf8(std::string& out, uint64_t c) {
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        c = 0xfffd;
    if (c < 0x80) {
        out += static_cast<char>(c);
        return;
    }
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    constexpr unsigned char kLead[] = {0, 0xc0, 0xe0, 0xf0};
    out += static_cast<char>(kLead[more] | (c >> (6 * more)));
    while (more-- > 0)
        out += static_cast<char>(0x80 | (c >> (6 * more) & 0x3f));
}

std::string characters_of(const Field& field, const Value& value) {
    std::string text;
    if (field.spec.conversion == 'c' || field.spec.conversion == 'C') {
        if (field.spec.wide)
            append_utf8(text, value.unsigned_integer());
        else
            text = static_cast<char>(value.unsigned_integer());
    } else if (field.spec.wide) {
        for (size_t i = 0; i + 4 <= value.data.size(); i += 4) {
            uint32_t c = 0;
            std::memcpy(&c, &value.data[i], sizeof(c));
            if (c == 0)
                break;
            append_utf8(text, c);
        }
    } else {
        text = value.text().substr(0, value.text().find('\0'));
    }
    bool escape = field.spec.conversion == 'C' || field.spec.conversion == 'S';
    return escape ? escaped(text) : text;
}

std::string time_text(uint64_t wall_ns, const char* format) {
    auto seconds = static_cast<time_t>(wall_ns / kNanosecondsPerSecond);
    struct tm local {};
    char text[64] = "";
    if (localtime_r(&seconds, &local))
        std::strftime(text, sizeof(text), format, &local);
    return text;
}

void print_stack_field(std::string& out, const Field& field, const Value& value,
                       const PrintContext& context) {
    // Left-aligned: the width is the indentation.  Else each frame has a field of that width.
    StackLayout layout{.indent = field.left ? field.width : 0,
                       .width = field.left ? 0 : field.width,
                       .left = field.left,
                       .precision = field.precision};
    print_stack(out, value, context, layout);
}

/// Of uaddr() and its kin the process is known, of an integer it is the only target.
std::string user_address_text(const Value& value, const PrintContext& context) {
    bool has_process = value.type.kind == ValueKind::uaddress ||
                       value.type.kind == ValueKind::usymbol ||
                       value.type.kind == ValueKind::umodule;
    if (has_process)
        return symbolic_text(value, context);
    const uint64_t address = value.unsigned_integer();
    return context.target_pid != 0
               ? context.names.user_location(context.target_pid, address)
               : base::strprintf("0x%llx", static_cast<unsigned long long>(address));
}

void print_value(std::string& out, const Field& field, const Value& value,
                 const PrintContext& context) {
    auto text = [&](std::string_view shown) {
        print_field(out, shown, field.width, field.precision, field.left);
    };
    switch (field.spec.conversion) {
    case 'd':
    case 'i':
        print_integer(out, field, static_cast<uint64_t>(value.signed_integer()));
        break;
    case 'o':
    case 'u':
    case 'x':
    case 'X':
    case 'p':
        print_integer(out, field, value.unsigned_integer());
        break;
    case 'e':
    case 'E':
    case 'f':
    case 'g':
    case 'G':
        print_floating(out, field, value);
        break;
    case 'a':
        text(context.names.location(value.unsigned_integer()));
        break;
    case 'A':
        text(user_address_text(value, context));
        break;
    case 'Y':
        text(time_text(value.unsigned_integer(), kTimestampFormat));
        break;
    case 'T':
        text(time_text(value.unsigned_integer(), kMailFormat));
        break;
    case 'k':
        print_stack_field(out, field, value, context);
        break;
    default:
        text(characters_of(field, value));
        break;
    }
}

void print_aggregation(std::string& out, const Field& field, const AggregationView& view) {
    uint64_t normal = view.normal == 0 ? 1 : view.normal;
    if (view.function.is_distribution()) {
        print_distribution(out, view.function, view.cells, normal);
        return;
    }
    bool is_signed = field.spec.conversion == 'd' || field.spec.conversion == 'i';
    uint64_t bits = view.cells[0] / normal;
    if (view.function.kind == DTRACEAGG_AVG)
        bits = static_cast<uint64_t>(average_of(view.cells, normal));
    else if (view.function.kind == DTRACEAGG_STDDEV)
        bits = stddev_of(view.cells, normal);
    else if (is_signed)
        bits = static_cast<uint64_t>(normalized(static_cast<int64_t>(view.cells[0]), normal));
    char conversion = field.spec.conversion;
    if (std::string_view("diouxXp").find(conversion) != std::string_view::npos)
        print_integer(out, field, bits);
    else if (conversion == 'Y' || conversion == 'T')
        print_field(out, time_text(bits, conversion == 'Y' ? kTimestampFormat : kMailFormat),
                    field.width, field.precision, field.left);
    else
        appendf(out, "%lld", static_cast<long long>(bits));
}

} // namespace

std::string escaped(std::string_view text) {
    static constexpr std::string_view kPlain = "\a\b\f\n\r\t\v\"\\", kLetters = "abfnrtv\"\\";
    std::string out;
    for (char c : text) {
        size_t known = kPlain.find(c);
        if (c == '\0')
            out += "\\0";
        else if (known != std::string_view::npos)
            (out += '\\') += kLetters[known];
        else if (c < ' ' || c > '~')
            appendf(out, "\\%03o", static_cast<unsigned>(static_cast<unsigned char>(c)));
        else
            out += c;
    }
    return out;
}

base::Result<void> print_formatted(std::string& out, const Format& format,
                                   std::span<const Value> values,
                                   std::span<const AggregationView> aggregations,
                                   const PrintContext& context) {
    size_t next_value = 0, next_aggregation = 0;
    auto missing = [&](const Conversion& spec) {
        return base::errorf(base::ErrorCode::invalid, "conversion %%%c has no value",
                            spec.conversion);
    };
    int limit = context.options.field_width_max;
    for (const Conversion& spec : format) {
        out += spec.literal;
        if (spec.conversion == '\0')
            continue;
        Field field{spec, spec.width, spec.precision, spec.left};
        for (auto [is_value, number] : {std::pair{spec.width_is_value, &field.width},
                                        {spec.precision_is_value, &field.precision}}) {
            if (!is_value)
                continue;
            if (next_value >= values.size())
                return missing(spec);
            *number = static_cast<int32_t>(values[next_value++].signed_integer());
        }
        field.left |= field.width < 0;
        int64_t width = std::abs(int64_t{field.width});
        if (context.field_was_cut && (width > limit || field.precision > limit))
            *context.field_was_cut = true;
        field.width = static_cast<int>(std::min<int64_t>(width, limit));
        field.precision = std::min(field.precision, limit);
        if (spec.aggregation) {
            if (aggregations.empty())
                return missing(spec);
            print_aggregation(out, field, aggregations[next_aggregation]);
            if (next_aggregation + 1 < aggregations.size())
                next_aggregation++;
        } else {
            if (next_value >= values.size())
                return missing(spec);
            print_value(out, field, values[next_value++], context);
        }
    }
    return {};
}

} // namespace daybreak::analyze
