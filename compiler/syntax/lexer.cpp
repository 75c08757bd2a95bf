// SPDX-License-Identifier: Apache-2.0
//
// The lexer's core: blanks, words, punctuation, probe description words.
#include "compiler/syntax/lexer.hpp"

#include "base/result.hpp"

#include <algorithm>
#include <iterator>

namespace daybreak::compiler {

bool is_identifier_start(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_identifier_letter(char c) {
    return is_identifier_start(c) || (c >= '0' && c <= '9');
}

namespace {

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

bool is_probe_letter(char c) {
    return is_identifier_letter(c) ||
           (c != '\0' && std::string_view("-+$:.?*\\[]!`").find(c) != std::string_view::npos);
}

struct Punctuator {
    TokenKind kind;
    std::string_view spelling;
};

#define DBK_PUNCTUATOR_ROW(kind, spelling) {TokenKind::kind, spelling},
constexpr Punctuator kPunctuators[] = {DBK_PUNCTUATORS(DBK_PUNCTUATOR_ROW)};
#undef DBK_PUNCTUATOR_ROW

} // namespace

Lexer::Lexer(SourceId source, const ParseOptions& options, SourceManager& sources,
             DiagnosticSink& sink)
    : source_(source), text_(sources.text(source)), options_(options), sources_(sources),
      sink_(sink), file_(sources.main_file(source)), arguments_used_(options.arguments.size()) {
    if (text_.starts_with("#!")) {
        while (!at_end() && at() != '\n')
            advance();
    }
}

void Lexer::advance(size_t count) {
    for (; count > 0 && !at_end(); count--) {
        if (text_[offset_++] == '\n') {
            line_++;
            line_begin_ = offset_;
        }
    }
}

Span Lexer::span_from(const Mark& mark) const {
    return {source_,   mark.offset, static_cast<uint32_t>(offset_) - mark.offset,
            mark.line, mark.column, mark.file};
}

void Lexer::rewind(const Span& token) {
    offset_ = token.offset;
    line_ = token.line;
    line_begin_ = token.offset - (token.column - 1);
    file_ = token.file;
}

Span Lexer::here() const {
    return span_from(mark());
}

bool Lexer::is_first_in_line() const {
    for (size_t i = offset_; i > line_begin_; i--)
        if (!is_blank(text_[i - 1]))
            return false;
    return true;
}

void Lexer::skip_space() {
    while (!at_end()) {
        if (is_blank(at()))
            advance();
        else if (at() == '/' && at(1) == '*')
            skip_comment();
        else if (at() == '#' && is_first_in_line())
            control_line();
        else if (at() == '\\' && at(1) == '\n')
            advance(2);
        else
            break;
    }
}

void Lexer::skip_comment() {
    Mark start = mark();
    advance(2);
    while (!at_end() && !(at() == '*' && at(1) == '/')) {
        if (at() == '/' && at(1) == '*') {
            Mark inner = mark();
            advance(2);
            sink_.report(
                diagnosticf(Tag::D_SYNTAX, span_from(inner), "/* encountered inside a comment"));
            continue;
        }
        advance();
    }
    if (at_end()) {
        Span span = span_from(start);
        span.length = 2;
        span.reached = line_; // the whole rest was read for it
        sink_.report(
            diagnosticf(Tag::D_SYNTAX, span, "end-of-file encountered before matching */"));
    }
    advance(2);
}

/// Returns the offset of the first character from `from` on that is neither blank nor comment.
size_t Lexer::after_blanks(size_t from) const {
    while (from < text_.size()) {
        if (is_blank(text_[from])) {
            from++;
        } else if (text_.substr(from, 2) == "/*") {
            size_t end = text_.find("*/", from + 2);
            from = end == std::string_view::npos ? text_.size() : end + 2;
        } else {
            break;
        }
    }
    return from;
}

char Lexer::skip_to_character() {
    skip_space();
    return at();
}

/// Of "pid*:/usr/bin/prog:main:entry" a path is the second part: no other part has a slash, with
/// which a predicate begins.  A colon of a predicate comes after a question mark.
size_t Lexer::probe_word_end() const {
    size_t end = offset_;
    auto skip_letters = [&] {
        while (end < text_.size() && is_probe_letter(text_[end]))
            end++;
    };
    skip_letters();
    std::string_view word = text_.substr(offset_, end - offset_);
    if (word.empty() || word.find(':') != word.size() - 1 || !text_.substr(end).starts_with('/'))
        return end;
    size_t path_end = text_.find_first_of(":? \t\n\"{};,", end);
    if (path_end == std::string_view::npos || text_[path_end] != ':')
        return end;
    end = path_end;
    skip_letters();
    return end;
}

Lexer::WordAhead Lexer::probe_word_ahead() const {
    size_t end = probe_word_end();
    size_t follower = after_blanks(end);
    return {text_.substr(offset_, end - offset_), follower < text_.size() ? text_[follower] : '\0'};
}

Token Lexer::probe_word() {
    skip_space();
    Mark start = mark();
    // A word that begins with a digit is a probe's id and ends with its digits.
    bool is_id = !at_end() && at() >= '0' && at() <= '9';
    size_t end = probe_word_end();
    while (offset_ < end && (!is_id || (at() >= '0' && at() <= '9')))
        advance();
    Token token;
    token.kind = TokenKind::identifier;
    if (text_from(start).empty())
        token.kind = TokenKind::end;
    token.span = span_from(start);
    token.text = replace_macros(text_from(start), token.span);
    return token;
}

Token Lexer::finish(Token token, const Mark& start) {
    token.span = span_from(start);
    return token;
}

Token Lexer::fail(Token token, const Mark& start, Diagnostic diagnostic) {
    token.span = span_from(start);
    token.kind = TokenKind::invalid;
    if (!diagnostic.span.valid())
        diagnostic.span = token.span;
    sink_.report(std::move(diagnostic));
    return token;
}

Token Lexer::next() {
    skip_space();
    Mark start = mark();
    char c = at();
    if (at_end())
        return finish({}, start);
    if (is_identifier_start(c) || c == '`')
        return word();
    if ((c >= '0' && c <= '9') || (c == '.' && at(1) >= '0' && at(1) <= '9'))
        return number();
    if (c == '"')
        return string();
    if (c == '\'')
        return character();
    if (c == '$')
        return macro();
    if (c == '@') {
        advance();
        Mark name = mark();
        while (is_identifier_letter(at()))
            advance();
        Token token;
        token.kind = TokenKind::aggregation;
        token.text = text_from(name);
        return finish(token, start);
    }
    return punctuation();
}

/// An identifier or keyword, perhaps after a scope: name, int, ext4`inode, vmlinux`struct.
Token Lexer::word() {
    Mark start = mark();
    size_t backquote = std::string_view::npos;
    while (is_identifier_letter(at()) || at() == '`') {
        if (at() == '`')
            backquote = offset_;
        advance();
    }
    Token token;
    std::string_view text = text_from(start);
    if (backquote != std::string_view::npos) {
        token.has_module = true;
        token.module = text.substr(0, backquote - start.offset);
        text = text.substr(backquote - start.offset + 1);
    }
    if (text.empty() || !is_identifier_start(text[0]))
        return fail(token, start,
                    diagnosticf(Tag::D_SYNTAX, {}, "syntax error near \"%s\"",
                                std::string(text_from(start)).c_str()));
    token.text = text;
    token.kind = keyword_kind(text);
    return finish(token, start);
}

bool Lexer::closes_predicate() const {
    size_t follower = after_blanks(offset_ + 1);
    return follower >= text_.size() || text_[follower] == ';' || text_[follower] == '{' ||
           text_[follower] == '/';
}

Token Lexer::punctuation() {
    Mark start = mark();
    Token token;
    if (at() == '/' && in_predicate_ && closes_predicate()) {
        advance();
        token.kind = TokenKind::predicate_end;
        token.text = "/";
        token = finish(token, start);
        // What follows was looked at to see that this is not a division.
        auto skipped = text_.substr(offset_, after_blanks(offset_) - offset_);
        token.span.reached =
            line_ + static_cast<uint32_t>(std::count(skipped.begin(), skipped.end(), '\n'));
        return token;
    }
    for (const Punctuator& punctuator : kPunctuators) {
        if (at() == punctuator.spelling[0] &&
            text_.substr(offset_).starts_with(punctuator.spelling)) {
            advance(punctuator.spelling.size());
            token.kind = punctuator.kind;
            token.text = punctuator.spelling;
            return finish(token, start);
        }
    }
    auto byte = static_cast<unsigned char>(at());
    advance();
    while (!at_end() && (static_cast<unsigned char>(at()) & 0xc0) == 0x80)
        advance();
    std::string shown = byte >= 0x20 && byte != 0x7f ? std::string(text_from(start))
                                                     : base::strprintf("\\x%02x", byte);
    Diagnostic diagnostic =
        diagnosticf(Tag::D_SYNTAX, {}, "syntax error near \"%s\"", shown.c_str());
    if (byte == '#')
        diagnostic.hints.push_back("a control line starts with # as the line's first character");
    return fail(token, start, std::move(diagnostic));
}

} // namespace daybreak::compiler
