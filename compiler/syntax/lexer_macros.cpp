// SPDX-License-Identifier: Apache-2.0
//
// Macro arguments and variables: $1, $$1, $0, $target.
#include "compiler/syntax/lexer.hpp"

#include "base/counted.hpp"
#include "base/result.hpp"

#include <algorithm>
#include <charconv>

namespace daybreak::compiler {

namespace {

/// Macros of the process that traces.
constexpr std::string_view kOfTracer[] = {"pid", "ppid", "uid",  "euid",
                                          "gid", "egid", "pgid", "sid"};

/// Returns the length of the macro name at the start of `text`: all digits, or an identifier; 0.
size_t name_length(std::string_view text) {
    size_t length = 0;
    if (!text.empty() && is_digit(text[0])) {
        while (length < text.size() && is_digit(text[length]))
            length++;
    } else {
        while (length < text.size() && is_identifier_letter(text[length]))
            length++;
    }
    return length;
}

} // namespace

/// Returns what a macro stands for; nothing when that was reported to be undefined.
std::optional<std::string> Lexer::macro_text(std::string_view name, const Span& span,
                                             bool as_string) {
    std::string shown(name);
    if (!is_digit(name[0])) {
        auto found = options_.macros.find(name);
        if (found != options_.macros.end())
            return std::to_string(found->second);
        Diagnostic diagnostic = diagnosticf(Tag::D_MACRO_UNDEF, span,
                                            "macro variable $%s is not defined", shown.c_str());
        if (name == "target")
            diagnostic.hints.push_back(options_.target_hint.empty()
                                           ? "dtrace has it with -c COMMAND and -p PID"
                                           : options_.target_hint);
        else if (std::ranges::find(kOfTracer, name) != std::end(kOfTracer))
            diagnostic.hints.push_back("it is of the process that traced, which is not known here");
        else
            diagnostic.hints.push_back("a variable of D has no $: " + shown + ", this->" + shown);
        std::string known;
        for (const auto& [macro, value] : options_.macros)
            known += (known.empty() ? "$" : " $") + macro;
        if (!known.empty())
            diagnostic.hints.push_back("defined here are " + known);
        sink_.report(std::move(diagnostic));
        return std::nullopt;
    }
    size_t index = SIZE_MAX;
    std::from_chars(name.data(), name.data() + name.size(), index);
    if (index == 0)
        return options_.script_name;
    if (index <= options_.arguments.size()) {
        arguments_used_[index - 1] = true;
        return options_.arguments[index - 1];
    }
    if (options_.default_arguments)
        return as_string ? "" : "0";
    Diagnostic diagnostic =
        diagnosticf(Tag::D_MACRO_UNDEF, span, "macro argument $%s is not defined", shown.c_str());
    diagnostic.hints.push_back(
        base::counted(options_.arguments.size(), "argument was", "arguments were") +
        " given; -x defaultargs makes missing ones 0 or \"\"");
    sink_.report(std::move(diagnostic));
    return std::nullopt;
}

Token Lexer::macro() {
    Mark start = mark();
    Token token;
    advance();
    bool as_string = at() == '$';
    if (as_string)
        advance();
    std::string name(text_.substr(offset_, name_length(text_.substr(offset_))));
    advance(name.size());
    if (name.empty())
        return fail(
            token, start,
            diagnosticf(Tag::D_SYNTAX, {}, "syntax error near \"%s\"", as_string ? "$$" : "$"));
    token.span = span_from(start);
    if (is_variable(name) && !as_string) {
        token.kind = TokenKind::macro_variable;
        token.text = "$" + name;
        return token;
    }
    std::optional<std::string> value = macro_text(name, token.span, as_string);
    if (!value) {
        token.kind = TokenKind::invalid;
        return token;
    }
    if (as_string) {
        token.kind = TokenKind::string;
        token.text = *value;
        return token;
    }
    return macro_value(std::move(token), *value, name);
}

/// Makes the token that a macro's text is: an integer, an identifier, or a string.
Token Lexer::macro_value(Token token, const std::string& value, const std::string& name) {
    std::string_view digits = value;
    if (digits.starts_with('-') || digits.starts_with('+'))
        digits.remove_prefix(1);
    if (!digits.empty() && is_digit(digits[0]))
        return macro_integer(std::move(token), value, name);
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
        token.kind = TokenKind::string;
        token.text = value.substr(1, value.size() - 2);
        return token;
    }
    if (!value.empty() && is_identifier_start(value[0]) &&
        std::all_of(value.begin(), value.end(), is_identifier_letter)) {
        token.kind = keyword_kind(value);
        token.text = value;
        return token;
    }
    // Anything else, such as the path $0, can only be meant as a string.
    token.kind = TokenKind::string;
    token.text = value;
    return token;
}

Token Lexer::macro_integer(Token token, const std::string& value, const std::string& name) {
    std::string_view digits = value;
    token.is_negative = digits[0] == '-';
    if (digits[0] == '-' || digits[0] == '+')
        digits.remove_prefix(1);
    int base = 10;
    if (digits.starts_with("0x") || digits.starts_with("0X"))
        base = 16;
    else if (digits.size() > 1 && digits[0] == '0')
        base = 8;
    if (base == 16)
        digits.remove_prefix(2);
    auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), token.value, base);
    token.kind = TokenKind::integer;
    if (error == std::errc::result_out_of_range) {
        token.kind = TokenKind::invalid;
        sink_.report(diagnosticf(Tag::D_MACRO_OFLOW, token.span,
                                 "macro argument $%s constant %s results in integer overflow",
                                 name.c_str(), value.c_str()));
    } else if (error != std::errc() || end != digits.data() + digits.size()) {
        token.kind = TokenKind::invalid;
        Diagnostic diagnostic =
            diagnosticf(Tag::D_SYNTAX, token.span, "macro argument $%s is not an integer: %s",
                        name.c_str(), value.c_str());
        diagnostic.hints.push_back("write $$" + name + " to use it as a string");
        sink_.report(std::move(diagnostic));
    }
    token.integer_type = integer_type_of(token.value, base == 10, false, 0);
    token.text = integer_spelling(token.value, token.integer_type);
    return token;
}

/// Returns a probe description word with its macros replaced: pid$target, profile-$1.
std::string Lexer::replace_macros(std::string_view word, const Span& span) {
    std::string result;
    while (!word.empty()) {
        if (word[0] != '$') {
            result += word[0];
            word.remove_prefix(1);
            continue;
        }
        size_t dollars = word.starts_with("$$") ? 2 : 1;
        size_t length = name_length(word.substr(dollars));
        if (length == 0) {
            sink_.report(diagnosticf(Tag::D_SYNTAX, span, "syntax error near \"$\""));
            return result;
        }
        std::string_view name = word.substr(dollars, length);
        result +=
            is_variable(name) ? "$" + std::string(name) : macro_text(name, span, true).value_or("");
        word.remove_prefix(dollars + length);
    }
    return result;
}

std::vector<size_t> Lexer::unused_arguments() const {
    std::vector<size_t> unused;
    for (size_t i = 0; i < arguments_used_.size(); i++)
        if (!arguments_used_[i])
            unused.push_back(i);
    return unused;
}

void Lexer::report_unused_arguments() {
    for (size_t i = arguments_used_.size(); i-- > 0;) { // dtrace(1) names the last one
        if (arguments_used_[i])
            continue;
        Span span;
        span.source = source_;
        sink_.report(diagnosticf(Tag::D_MACRO_UNUSED, span,
                                 "extraneous argument '%s' ($%zu is not referenced)",
                                 options_.arguments[i].c_str(), i + 1));
    }
}

} // namespace daybreak::compiler
