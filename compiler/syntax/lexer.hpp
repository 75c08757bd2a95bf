// SPDX-License-Identifier: Apache-2.0
//
// The lexer: from the characters of a D text to tokens.
//
// D has two alphabets.  Outside of clauses, a word may be a probe description, in which `*`, `:`,
// `-`, `[` and `.` are letters; the parser, which knows where it is, asks for a probe_word() there.
// Everywhere else it asks for next().  A '/' divides, except in a predicate: there it closes the
// predicate when end of text, ';', '{' or another '/' follows.
//
// Comments, control lines (`#pragma`, `# 12 "file"`) and macro arguments are dealt with here and
// never seen by the parser, except that pragmas are handed over by take_pragmas().
#pragma once

#include "compiler/syntax/parser.hpp"
#include "compiler/syntax/token.hpp"

#include <utility>

namespace daybreak::compiler {

constexpr bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

class Lexer {
public:
    Lexer(SourceId source, const ParseOptions& options, SourceManager& sources,
          DiagnosticSink& sink);

    /// Returns the next token.  What is wrong with it has been reported, as TokenKind::invalid.
    Token next();

    /// Skips blanks, comments and control lines, then returns the character there; 0 at the end.
    char skip_to_character();

    /// Returns the probe description word at the current place: `text` with its macros replaced,
    /// `end` at a character that is none of its letters.
    Token probe_word();

    /// A look at a word without taking it: as written, and the first character that follows it,
    /// blanks and comments skipped.
    struct WordAhead {
        std::string_view word;
        char follower = 0;
    };
    WordAhead probe_word_ahead() const;

    /// Whether the '/' now met may close a predicate.
    void set_in_predicate(bool in_predicate) { in_predicate_ = in_predicate; }

    /// Returns the pragmas met since the last call, in order.
    std::vector<Pragma> take_pragmas() { return std::exchange(pragmas_, {}); }

    /// Goes back to the start of a token that was read ahead.
    void rewind(const Span& token);

    /// Returns an empty span at the current place.
    Span here() const;
    /// Reports every macro argument that was never used.
    void report_unused_arguments();
    /// Returns the indexes of the arguments that the text does not mention, ascending.
    std::vector<size_t> unused_arguments() const;

private:
    struct Mark {
        uint32_t offset, line, column, file;
    };

    // characters
    char at(size_t distance = 0) const {
        return offset_ + distance < text_.size() ? text_[offset_ + distance] : '\0';
    }
    bool at_end() const { return offset_ >= text_.size(); }
    void advance(size_t count = 1);
    Mark mark() const { return {static_cast<uint32_t>(offset_), line_, column(), file_}; }
    Span span_from(const Mark& mark) const;
    uint32_t column() const { return static_cast<uint32_t>(offset_ - line_begin_ + 1); }
    std::string_view text_from(const Mark& mark) const {
        return text_.substr(mark.offset, offset_ - mark.offset);
    }

    // blanks
    void skip_space();
    void skip_comment();
    bool is_first_in_line() const;
    size_t after_blanks(size_t from) const;
    size_t probe_word_end() const;

    // control lines, see control_lines.cpp
    struct Word {
        std::string text;
        Span span;
    };
    void control_line();
    bool control_word(Word& word);
    std::string error_text();
    std::vector<Word> rest_of_words();
    void line_control(const Word& number);
    void pragma_d(const Span& directive);
    void add_pragma(PragmaKind kind, const Span& directive, std::vector<Word> words);
    bool check_attributes(const Span& directive, const std::vector<Word>& words);
    void control_error(Tag tag, const Span& span, std::string text, std::string hint = {});

    // literals, see lexer_literals.cpp
    Token number();
    Token floating(Token token, const Mark& start);
    void integer_value(Token& token, std::string_view digits, unsigned base);
    Token character();
    Token string();
    bool escape(std::string& value);
    bool quoted_bytes(char quote, Tag newline_tag, const char* what, const Mark& start,
                      std::string& value);

    // macros, see lexer_macros.cpp
    Token macro();
    Token macro_value(Token token, const std::string& value, const std::string& name);
    Token macro_integer(Token token, const std::string& value, const std::string& name);
    std::optional<std::string> macro_text(std::string_view name, const Span& span, bool as_string);
    /// Whether $name is a variable instead.
    bool is_variable(std::string_view name) const {
        return options_.target_is_variable && name == "target";
    }
    std::string replace_macros(std::string_view word, const Span& span);

    Token word();
    Token punctuation();
    bool closes_predicate() const;
    Token finish(Token token, const Mark& start);
    Token fail(Token token, const Mark& start, Diagnostic diagnostic);

    SourceId source_;
    std::string_view text_;
    const ParseOptions& options_;
    SourceManager& sources_;
    DiagnosticSink& sink_;
    size_t offset_ = 0, line_begin_ = 0;
    uint32_t line_ = 1, file_;
    bool in_predicate_ = false;
    std::vector<Pragma> pragmas_;
    std::vector<bool> arguments_used_;
};

/// Returns the integer type a constant has: the first of C's list that holds the value.
IntegerType integer_type_of(uint64_t value, bool is_decimal, bool is_unsigned, unsigned longs);

/// Returns canonical text of an integer constant: decimal, with the suffix its type needs.
std::string integer_spelling(uint64_t value, IntegerType type);

/// Returns canonical text of a character constant.
std::string character_spelling(uint64_t value);

bool is_identifier_start(char c);
bool is_identifier_letter(char c);

} // namespace daybreak::compiler
