// SPDX-License-Identifier: Apache-2.0
//
// Control lines: #pragma D ..., #line and what cpp leaves behind.
#include "compiler/syntax/lexer.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace daybreak::compiler {

namespace {

// Names of stabilities and dependency classes, in the order of their published numbers.
constexpr std::string_view kStabilities[] = {"Internal", "Private",  "Obsolete", "External",
                                             "Unstable", "Evolving", "Stable",   "Standard"};
constexpr std::string_view kClasses[] = {"Unknown", "CPU", "Platform", "Group", "ISA", "Common"};

template <size_t N>
bool is_one_of(const std::string_view (&names)[N], std::string_view name) {
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

/// Whether a word is "Stable/Evolving/Common".
bool is_attributes(std::string_view word) {
    size_t first = word.find('/');
    size_t second = first == std::string_view::npos ? first : word.find('/', first + 1);
    return second != std::string_view::npos && is_one_of(kStabilities, word.substr(0, first)) &&
           is_one_of(kStabilities, word.substr(first + 1, second - first - 1)) &&
           is_one_of(kClasses, word.substr(second + 1));
}

/// Whether a word is "1.2" or "1.2.3".
bool is_version(std::string_view word) {
    unsigned parts = 0;
    while (!word.empty()) {
        unsigned number;
        auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
        if (error != std::errc())
            return false;
        parts++;
        word.remove_prefix(static_cast<size_t>(end - word.data()));
        if (word.empty())
            return parts == 2 || parts == 3;
        if (word[0] != '.')
            return false;
        word.remove_prefix(1);
    }
    return false;
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

/// Returns the rest of the line as written.
std::string Lexer::rest_of_line() {
    while (at() == ' ' || at() == '\t')
        advance();
    Mark start = mark();
    while (!at_end() && at() != '\n')
        advance();
    return std::string(text_from(start));
}

std::vector<Lexer::Word> Lexer::rest_of_words() {
    std::vector<Word> words;
    Word word;
    while (control_word(word))
        words.push_back(word);
    return words;
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
            control_error(Tag::D_PRAGERR, span_from(start), "#error: " + rest_of_line());
        } else if (name != "ident" && name != "sccs") {
            control_error(Tag::D_PRAGCTL_INVAL, directive.span,
                          "invalid control directive: #" + name,
                          is_preprocessor_word(name) ? "-C runs the C preprocessor first" : "");
        }
    }
    while (!at_end() && at() != '\n')
        advance();
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
    if (!is_attributes(words[0].text)) {
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
        std::string text = "#error:";
        for (const Word& word : rest_of_words())
            text += " " + word.text;
        control_error(Tag::D_PRAGERR, span, std::move(text));
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
        else if (!is_version(words[0].text))
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
