// SPDX-License-Identifier: Apache-2.0
#include "compiler/sema/format.hpp"

#include "compiler/diagnostics/messages/formats.hpp"

#include <cctype>

namespace daybreak::compiler {

FormatArgument format_argument(char kind) {
    switch (kind) {
    case 'd':
    case 'i':
    case 'o':
    case 'u':
    case 'c':
    case 'C':
    case 'Y':
    case 'T':
        return FormatArgument::integer;
    case 'x':
    case 'X':
    case 'p':
    case 'a':
    case 'A':
        return FormatArgument::scalar;
    case 's':
    case 'S':
        return FormatArgument::string;
    case 'e':
    case 'E':
    case 'f':
    case 'g':
    case 'G':
        return FormatArgument::floating;
    case 'k':
        return FormatArgument::stack;
    default:
        return FormatArgument::unknown;
    }
}

namespace {

/// Reads what follows a %; returns the index after it, or npos with `format.error` set.
size_t parse_conversion(std::string_view text, size_t at, FormatConversion& conversion,
                        Format& format) {
    auto peek = [&](size_t i) { return i < text.size() ? text[i] : '\0'; };
    const size_t number = format.conversions.size() + 1;
    while (peek(at) != '\0' &&
           std::string_view("@#0-+ '").find(peek(at)) != std::string_view::npos) {
        if (text[at] == '@')
            conversion.aggregation = true;
        else
            conversion.flags += text[at];
        at++;
    }
    if (peek(at) == '?') {
        conversion.width = "16"; // hex digits of an address, LP64
        at++;
    } else if (peek(at) == '*') {
        conversion.width_argument = true;
        at++;
    } else {
        while (std::isdigit(static_cast<unsigned char>(peek(at))))
            conversion.width += text[at++];
    }
    if (peek(at) == '.') {
        conversion.has_precision = true;
        at++;
        if (peek(at) == '*') {
            conversion.precision_argument = true;
            at++;
        } else {
            while (std::isdigit(static_cast<unsigned char>(peek(at))))
                conversion.precision += text[at++];
        }
    }
    if (peek(at) == '@') {
        conversion.aggregation = true;
        at++;
    }
    if (peek(at) == '$') {
        format.error = messages::positional_conversion(number);
        return std::string_view::npos;
    }
    while (peek(at) != '\0' && std::string_view("hlLw").find(peek(at)) != std::string_view::npos)
        conversion.size += text[at++];
    conversion.kind = peek(at);
    if (conversion.kind == '\0') {
        format.error = messages::unfinished_conversion(number);
        return std::string_view::npos;
    }
    if (format_argument(conversion.kind) == FormatArgument::unknown) {
        format.error = messages::unknown_conversion(number, conversion.name());
        return std::string_view::npos;
    }
    constexpr size_t kDigitsMax = 8; // analyze/values/options.hpp: kFieldWidthMax cuts what is wider
    if (conversion.width.size() > kDigitsMax || conversion.precision.size() > kDigitsMax) {
        format.error = messages::field_too_large(number);
        return std::string_view::npos;
    }
    return at + 1;
}

} // namespace

Format parse_format(std::string_view text) {
    Format format;
    std::string literal;
    size_t at = 0;
    while (at < text.size()) {
        if (text[at] != '%') {
            literal += text[at++];
            continue;
        }
        if (text.substr(at, 2) == "%%") {
            literal += "%%";
            at += 2;
            continue;
        }
        FormatConversion conversion;
        conversion.before = std::move(literal);
        literal.clear();
        at = parse_conversion(text, at + 1, conversion, format);
        if (at == std::string_view::npos)
            return format;
        format.conversions.push_back(std::move(conversion));
    }
    format.after = std::move(literal);
    return format;
}

std::vector<std::string_view> FormatConversion::stars() const {
    std::vector<std::string_view> stars;
    if (width_argument)
        stars.push_back("*");
    if (precision_argument)
        stars.push_back(".*");
    return stars;
}

std::string Format::text() const {
    std::string out;
    for (const FormatConversion& conversion : conversions) {
        out += conversion.before + (conversion.aggregation ? "%@" : "%") + conversion.flags;
        out += conversion.width_argument ? "*" : conversion.width;
        if (conversion.has_precision)
            out += conversion.precision_argument ? ".*" : "." + conversion.precision;
        out += conversion.size;
        out += conversion.kind;
    }
    return out + after;
}

} // namespace daybreak::compiler
