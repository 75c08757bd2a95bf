// SPDX-License-Identifier: Apache-2.0
//
// Lexing constants: numbers, characters, strings.
#include "compiler/syntax/lexer.hpp"

#include "base/result.hpp"

#include <cstdlib>

namespace daybreak::compiler {

namespace {

/// Returns the value of a digit up to base 36, or 99.
unsigned digit_value(char c) {
    if (is_digit(c))
        return static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'z')
        return static_cast<unsigned>(c - 'a') + 10;
    if (c >= 'A' && c <= 'Z')
        return static_cast<unsigned>(c - 'A') + 10;
    return 99;
}

std::string escaped_byte(unsigned char byte) {
    switch (byte) {
    case '\n':
        return "\\n";
    case '\t':
        return "\\t";
    case '\\':
        return "\\\\";
    case '\'':
        return "\\047"; // \' would be two characters
    default:
        return byte >= 0x20 && byte < 0x7f ? std::string(1, static_cast<char>(byte))
                                           : base::strprintf("\\%03o", byte);
    }
}

} // namespace

IntegerType integer_type_of(uint64_t value, bool is_decimal, bool is_unsigned, unsigned longs) {
    if (longs == 0 && !is_unsigned && value <= INT32_MAX)
        return IntegerType::int_;
    if (longs == 0 && (is_unsigned || !is_decimal) && value <= UINT32_MAX)
        return IntegerType::unsigned_int;
    bool fits_signed = !is_unsigned && value <= INT64_MAX;
    if (longs == 2)
        return fits_signed ? IntegerType::long_long : IntegerType::unsigned_long_long;
    return fits_signed ? IntegerType::long_ : IntegerType::unsigned_long;
}

std::string integer_spelling(uint64_t value, IntegerType type) {
    std::string text = std::to_string(value);
    if (type == integer_type_of(value, true, false, 0))
        return text;
    switch (type) {
    case IntegerType::int_:
        return text;
    case IntegerType::unsigned_int:
        return text + "U";
    case IntegerType::long_:
        return text + "L";
    case IntegerType::unsigned_long:
        return text + "UL";
    case IntegerType::long_long:
        return text + "LL";
    case IntegerType::unsigned_long_long:
        return text + "ULL";
    }
    return text;
}

std::string character_spelling(uint64_t value) {
    std::string text;
    for (int shift = 56; shift >= 0; shift -= 8) {
        auto byte = static_cast<unsigned char>(value >> shift);
        if (byte || !text.empty() || shift == 0)
            text += escaped_byte(byte);
    }
    return "'" + text + "'";
}

Token Lexer::number() {
    Mark start = mark();
    Token token;
    token.kind = TokenKind::integer;
    bool is_hex = at() == '0' && (at(1) == 'x' || at(1) == 'X');
    if (!is_hex) {
        size_t digits = 0;
        while (is_digit(at(digits)))
            digits++;
        char c = at(digits);
        bool has_exponent =
            (c == 'e' || c == 'E') &&
            (is_digit(at(digits + 1)) ||
             ((at(digits + 1) == '+' || at(digits + 1) == '-') && is_digit(at(digits + 2))));
        if ((c == '.' && at(digits + 1) != '.') || has_exponent)
            return floating(std::move(token), start);
    }
    bool is_binary =
        at() == '0' && (at(1) == 'b' || at(1) == 'B') && (at(2) == '0' || at(2) == '1');
    unsigned base = is_hex ? 16 : is_binary ? 2 : at() == '0' && is_digit(at(1)) ? 8 : 10;
    if (is_hex || is_binary)
        advance(2);
    Mark first_digit = mark();
    while (is_digit(at()) || (is_hex && digit_value(at()) < 16))
        advance();
    std::string_view digits = text_from(first_digit);
    bool is_unsigned = false;
    unsigned longs = 0;
    for (;; advance()) {
        if ((at() == 'u' || at() == 'U') && !is_unsigned)
            is_unsigned = true;
        else if ((at() == 'l' || at() == 'L') && longs < 2)
            longs++;
        else
            break;
    }
    token.span = span_from(start);
    integer_value(token, digits, base);
    token.integer_type = integer_type_of(token.value, base == 10, is_unsigned, longs);
    token.text = integer_spelling(token.value, token.integer_type);
    return token;
}

/// Sets the value of an integer constant; reports what is wrong with its digits.
void Lexer::integer_value(Token& token, std::string_view digits, unsigned base) {
    std::string shown(sources_.text(token.span));
    bool overflow = false;
    for (char c : digits) {
        unsigned digit = digit_value(c);
        if (digit >= base) {
            token.kind = TokenKind::invalid;
            sink_.report(diagnosticf(Tag::D_INT_DIGIT, token.span,
                                     "constant %s contains invalid digit %c", shown.c_str(), c));
            return;
        }
        overflow |= __builtin_mul_overflow(token.value, uint64_t{base}, &token.value);
        overflow |= __builtin_add_overflow(token.value, uint64_t{digit}, &token.value);
    }
    if (!digits.empty() && !overflow)
        return;
    token.kind = TokenKind::invalid;
    sink_.report(overflow ? diagnosticf(Tag::D_INT_OFLOW, token.span,
                                        "constant %s results in integer overflow", shown.c_str())
                          : diagnosticf(Tag::D_INT_DIGIT, token.span, "constant %s has no digits",
                                        shown.c_str()));
}

Token Lexer::floating(Token token, const Mark& start) {
    auto digits = [this] {
        while (is_digit(at()))
            advance();
    };
    digits();
    if (at() == '.') {
        advance();
        digits();
    }
    if (at() == 'e' || at() == 'E') {
        size_t sign = at(1) == '+' || at(1) == '-' ? 1 : 0;
        if (is_digit(at(1 + sign))) {
            advance(1 + sign);
            digits();
        }
    }
    std::string spelling(text_from(start));
    token.kind = TokenKind::floating;
    token.floating_value = std::strtod(spelling.c_str(), nullptr);
    char c = at();
    if (c == 'f' || c == 'F' || c == 'l' || c == 'L') {
        token.suffix = c == 'f' || c == 'F' ? 'f' : 'l';
        advance();
    }
    token.text = spelling + (token.suffix ? std::string(1, token.suffix) : "");
    if (is_identifier_letter(at())) {
        while (is_identifier_letter(at()))
            advance();
        return fail(token, start,
                    diagnosticf(Tag::D_SYNTAX, {}, "syntax error near \"%s\"",
                                std::string(text_from(start)).c_str()));
    }
    return finish(token, start);
}

/// Reads one escape sequence, the backslash of which has been passed.  False at the end of the
/// text.
bool Lexer::escape(std::string& value) {
    if (at_end() || at() == '\n')
        return false;
    char c = at();
    advance();
    if (c >= '0' && c <= '7') {
        unsigned code = static_cast<unsigned>(c - '0');
        for (int i = 0; i < 2 && at() >= '0' && at() <= '7'; i++) {
            code = code * 8 + static_cast<unsigned>(at() - '0');
            advance();
        }
        value += static_cast<char>(code);
        return true;
    }
    if (c == 'x' && digit_value(at()) < 16) {
        unsigned code = 0;
        for (int i = 0; i < 2 && digit_value(at()) < 16; i++) {
            code = code * 16 + digit_value(at());
            advance();
        }
        value += static_cast<char>(code);
        return true;
    }
    // As in every D compiler, what is not an escape keeps its backslash, \? and \' among it.
    static constexpr std::string_view kLetters = "abfnrtv\"\\";
    static constexpr std::string_view kValues = "\a\b\f\n\r\t\v\"\\";
    size_t found = kLetters.find(c);
    if (found == std::string_view::npos)
        value += '\\';
    value += found == std::string_view::npos ? c : kValues[found];
    return true;
}

/// Reads up to and over the closing quote; false when it reported that there is none.
bool Lexer::quoted_bytes(char quote, Tag newline_tag, const char* what, const Mark& start,
                         std::string& value) {
    advance();
    while (!at_end() && at() != '\n') {
        char c = at();
        advance();
        if (c == quote)
            return true;
        if (c != '\\')
            value += c;
        else if (!escape(value))
            break;
    }
    Diagnostic diagnostic = diagnosticf(newline_tag, span_from(start), "%s encountered in %s",
                                        at_end() ? "end of input" : "newline", what);
    if (!at_end())
        diagnostic.span.reached = line_ + 1; // the newline was read
    diagnostic.hints.push_back(base::strprintf("close it with %c in the same line", quote));
    sink_.report(std::move(diagnostic));
    return false;
}

Token Lexer::string() {
    Mark start = mark();
    Token token;
    token.kind = TokenKind::string;
    if (!quoted_bytes('"', Tag::D_STR_NL, "string literal", start, token.text))
        token.kind = TokenKind::invalid;
    return finish(token, start);
}

Token Lexer::character() {
    Mark start = mark();
    Token token;
    token.kind = TokenKind::integer;
    token.is_character = true;
    std::string bytes;
    if (!quoted_bytes('\'', Tag::D_CHR_NL, "character constant", start, bytes)) {
        token.kind = TokenKind::invalid;
        return finish(token, start);
    }
    if (bytes.empty())
        return fail(token, start, diagnosticf(Tag::D_CHR_NULL, {}, "empty character constant"));
    if (bytes.size() > sizeof(token.value))
        return fail(token, start,
                    diagnosticf(Tag::D_CHR_OFLOW, {}, "character constant is too long"));
    // The first character is the most significant byte, whatever the order in memory.
    for (char c : bytes)
        token.value = token.value << 8 | static_cast<unsigned char>(c);
    token.integer_type =
        bytes.size() <= 4 && token.value <= INT32_MAX ? IntegerType::int_ : IntegerType::long_;
    token.text = character_spelling(token.value);
    return finish(token, start);
}

} // namespace daybreak::compiler
