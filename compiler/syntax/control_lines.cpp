// SPDX-License-Identifier: Apache-2.0
//
// Control lines: #pragma D ..., #line and what cpp leaves.
#include "compiler/syntax/attributes.hpp"
#include "compiler/syntax/lexer.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace daybreak::compiler {

namespace {

template <size_t N>
bool is_one_of(const std::string_view (&names)[N], std::string_view name) {
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

bool is_preprocessor_word(std::string_view word) {
    static constexpr std::string_view kWords[] = {"define", "include", "if",    "ifdef", "ifndef",
                                                  "else",   "endif",   "undef", "elif"};
    return is_one_of(kWords, word);
}

} // namespace

void Lexer::control_error(Tag tag, const Span& span, std::string text, std::string hint) {
    Diagnostic diagnostic;
    diagnostic.tag = tag;
    diagnostic.span = span;
    diagnostic.text = std::move(text);
    if (!hint.empty())
        diagnostic.hints.push_back(std::move(hint));
    sink_.report(std::move(diagnostic));
}

/// Reads the next word of a control line, quotes taken off; false at the end of the line.
bool Lexer::control_word(Word& word) {
    for (;;) {
        if (at() == '\\' && at(1) == '\n')
            advance(2);
        else if (at() == '/' && at(1) == '*')
            skip_comment();
        else if (!at_end() && at() != '\n' && (at() <= ' ' && at() > 0))
            advance();
        else
            break;
    }
    word.text.clear();
    Mark start = mark();
    while (!at_end() && static_cast<unsigned char>(at()) > ' ' && !(at() == '/' && at(1) == '*')) {
        if (at() == '"') {
            if (!quoted_bytes('"', Tag::D_STR_NL, "string literal", start, word.text))
                return false;
        } else {
            word.text += at();
            advance();
        }
    }
    word.span = span_from(start);
    return word.span.length > 0;
}

std::vector<Lexer::Word> Lexer::rest_of_words() {
    std::vector<Word> words;
    Word word;
    while (control_word(word))
        words.push_back(word);
    return words;
}

/// What an error directive says: its words, with a blank after each.
std::string Lexer::error_text() {
    std::string text = "#error: ";
    for (const Word& word : rest_of_words())
        text += word.text + " ";
    return text;
}

void Lexer::control_line() {
    Mark start = mark();
    advance();
    Word directive;
    if (control_word(directive)) {
        const std::string& name = directive.text;
        Word word;
        if (name == "line") {
            control_word(word);
            line_control(word);
        } else if (name[0] >= '0' && name[0] <= '9') {
            line_control(directive);
        } else if (name == "pragma") {
            // Pragmas that are not D's are other compilers' and mean nothing here.
            if (control_word(word) && word.text == "D")
                pragma_d(span_from(start));
        } else if (name == "error") {
            Span span = span_from(start);
            control_error(Tag::D_PRAGERR, span, error_text());
        } else if (name != "ident" && name != "sccs") {
            control_error(Tag::D_PRAGCTL_INVAL, directive.span,
                          "invalid control directive: #" + name,
                          is_preprocessor_word(name) ? "-C runs the C preprocessor first" : "");
        }
    }
    while (!at_end() && at() != '\n')
        advance();
    if (at_end())
        control_error(Tag::D_SYNTAX, span_from(start),
                      "end-of-file encountered before end of control line",
                      "a control line ends with a newline");
}

/// # 12 "file": the line after this one is line 12 of that file.
void Lexer::line_control(const Word& number) {
    uint32_t line = 0;
    const char* end = number.text.data() + number.text.size();
    auto [parsed_end, error] = std::from_chars(number.text.data(), end, line);
    if (number.text.empty() || error != std::errc() || parsed_end != end || line > INT32_MAX) {
        control_error(Tag::D_PRAGCTL_INVAL, number.span.valid() ? number.span : here(),
                      "expected a line number in #line, got \"" + number.text + "\"");
        return;
    }
    Word file;
    bool has_file = control_word(file);
    while (!at_end() && at() != '\n')
        advance();
    if (has_file)
        file_ = sources_.intern_file(file.text);
    // The newline that follows counts one up.
    line_ = std::max<uint32_t>(line, 1) - 1;
    if (line_ == 0 && at_end())
        line_ = 1;
}

void Lexer::add_pragma(PragmaKind kind, const Span& directive, std::vector<Word> words) {
    Pragma pragma;
    pragma.span = directive;
    pragma.kind = kind;
    for (Word& word : words) {
        pragma.span = join(pragma.span, word.span);
        pragma.argument_spans.push_back(word.span);
        pragma.arguments.push_back(kind == PragmaKind::option ? replace_macros(word.text, word.span)
                                                              : std::move(word.text));
    }
    pragmas_.push_back(std::move(pragma));
}

bool Lexer::check_attributes(const Span& directive, const std::vector<Word>& words) {
    // Either attributes and an identifier, or attributes, "provider", its name, and which of its
    // five attributes is meant.
    bool of_provider = words.size() == 4 && words[1].text == "provider";
    if (words.size() != 2 && !of_provider) {
        control_error(Tag::D_PRAGMA_MALFORM, directive,
                      "malformed #pragma attributes <attributes> <ident>",
                      "example: #pragma D attributes Stable/Evolving/Common name");
        return false;
    }
    if (!parse_attributes(words[0].text)) {
        control_error(Tag::D_PRAGMA_INVAL, words[0].span,
                      "invalid attributes specified by #pragma attributes",
                      "example: Stable/Evolving/Common");
        return false;
    }
    return true;
}

/// What follows "#pragma D".
void Lexer::pragma_d(const Span& directive) {
    Word name;
    if (!control_word(name)) {
        control_error(Tag::D_PRAGMA_MALFORM, directive, "missing name after #pragma D");
        return;
    }
    Span span = join(directive, name.span);
    if (name.text == "error") {
        control_error(Tag::D_PRAGERR, span, error_text());
        return;
    }
    if (name.text == "ident")
        return;
    if (name.text == "line") {
        Word number;
        control_word(number);
        line_control(number);
        return;
    }
    std::vector<Word> words = rest_of_words();
    if (name.text == "option") {
        if (words.size() == 1)
            add_pragma(PragmaKind::option, span, std::move(words));
        else
            control_error(Tag::D_PRAGMA_MALFORM, words.empty() ? span : words[1].span,
                          words.empty() ? "missing argument for #pragma option"
                                        : "superfluous arguments specified for #pragma option",
                          "write one option per line, without blanks: name or name=value");
    } else if (name.text == "attributes") {
        if (check_attributes(span, words))
            add_pragma(PragmaKind::attributes, span, std::move(words));
    } else if (name.text == "binding") {
        if (words.size() != 2)
            control_error(Tag::D_PRAGMA_MALFORM, span,
                          "malformed #pragma binding \"version\" <ident>");
        else if (!parse_version(words[0].text))
            control_error(Tag::D_PRAGMA_INVAL, words[0].span,
                          "invalid version specified by #pragma binding");
        else
            add_pragma(PragmaKind::binding, span, std::move(words));
    } else if (name.text == "depends_on") {
        static constexpr std::string_view kWhat[] = {"provider", "module", "library"};
        if (words.size() != 2)
            control_error(Tag::D_PRAGMA_MALFORM, span,
                          "malformed #pragma depends_on <class> <name>");
        else if (!is_one_of(kWhat, words[0].text))
            control_error(Tag::D_PRAGMA_INVAL, words[0].span,
                          "invalid class specified by #pragma depends_on",
                          "provider, module or library");
        else
            add_pragma(PragmaKind::depends_on, span, std::move(words));
    } else {
        control_error(Tag::D_PRAGMA_INVAL, name.span, "invalid #pragma D " + name.text,
                      "option, attributes, binding, depends_on, error");
    }
}

} // namespace daybreak::compiler
