// SPDX-License-Identifier: Apache-2.0
//
// Tokens of D.
#pragma once

#include "compiler/syntax/ast.hpp"

namespace daybreak::compiler {

// X(kind, spelling): punctuation, longest first where one is the beginning of another
#define DBK_PUNCTUATORS(X)                                                                         \
    X(ellipsis, "...")                                                                             \
    X(shift_left_assign, "<<=")                                                                    \
    X(shift_right_assign, ">>=")                                                                   \
    X(arrow, "->")                                                                                 \
    X(increment, "++")                                                                             \
    X(decrement, "--")                                                                             \
    X(shift_left, "<<")                                                                            \
    X(shift_right, ">>")                                                                           \
    X(less_equal, "<=")                                                                            \
    X(greater_equal, ">=")                                                                         \
    X(equal, "==")                                                                                 \
    X(not_equal, "!=")                                                                             \
    X(logical_and, "&&")                                                                           \
    X(logical_or, "||")                                                                            \
    X(logical_xor, "^^")                                                                           \
    X(multiply_assign, "*=")                                                                       \
    X(divide_assign, "/=")                                                                         \
    X(remainder_assign, "%=")                                                                      \
    X(add_assign, "+=")                                                                            \
    X(subtract_assign, "-=")                                                                       \
    X(and_assign, "&=")                                                                            \
    X(xor_assign, "^=")                                                                            \
    X(or_assign, "|=")                                                                             \
    X(brace_open, "{")                                                                             \
    X(brace_close, "}")                                                                            \
    X(paren_open, "(")                                                                             \
    X(paren_close, ")")                                                                            \
    X(bracket_open, "[")                                                                           \
    X(bracket_close, "]")                                                                          \
    X(semicolon, ";")                                                                              \
    X(colon, ":")                                                                                  \
    X(comma, ",")                                                                                  \
    X(dot, ".")                                                                                    \
    X(question, "?")                                                                               \
    X(assign, "=")                                                                                 \
    X(less, "<")                                                                                   \
    X(greater, ">")                                                                                \
    X(plus, "+")                                                                                   \
    X(minus, "-")                                                                                  \
    X(star, "*")                                                                                   \
    X(slash, "/")                                                                                  \
    X(percent, "%")                                                                                \
    X(ampersand, "&")                                                                              \
    X(pipe, "|")                                                                                   \
    X(caret, "^")                                                                                  \
    X(tilde, "~")                                                                                  \
    X(exclamation, "!")

// X(word): keywords, those that D only reserves included
#define DBK_KEYWORDS(X)                                                                            \
    X(auto)                                                                                        \
    X(break)                                                                                       \
    X(case)                                                                                        \
    X(char)                                                                                        \
    X(const)                                                                                       \
    X(continue)                                                                                    \
    X(counter)                                                                                     \
    X(default)                                                                                     \
    X(do)                                                                                          \
    X(double)                                                                                      \
    X(else)                                                                                        \
    X(enum)                                                                                        \
    X(extern)                                                                                      \
    X(float)                                                                                       \
    X(for)                                                                                         \
    X(goto)                                                                                        \
    X(if)                                                                                          \
    X(import)                                                                                      \
    X(inline)                                                                                      \
    X(int)                                                                                         \
    X(long)                                                                                        \
    X(offsetof)                                                                                    \
    X(probe)                                                                                       \
    X(provider)                                                                                    \
    X(register)                                                                                    \
    X(restrict)                                                                                    \
    X(return )                                                                                     \
    X(self)                                                                                        \
    X(short)                                                                                       \
    X(signed)                                                                                      \
    X(sizeof)                                                                                      \
    X(static)                                                                                      \
    X(string)                                                                                      \
    X(stringof)                                                                                    \
    X(struct)                                                                                      \
    X(switch)                                                                                      \
    X(this)                                                                                        \
    X(translator)                                                                                  \
    X(typedef)                                                                                     \
    X(union)                                                                                       \
    X(unsigned)                                                                                    \
    X(userland)                                                                                    \
    X(void)                                                                                        \
    X(volatile)                                                                                    \
    X(while)                                                                                       \
    X(xlate)

enum class TokenKind : uint8_t {
    end,     ///< end of the text
    invalid, ///< already reported by the lexer; the parser stays silent about it
    identifier,
    aggregation,    ///< @name; text is the name
    macro_variable, ///< $target of a replay of several processes; text is that
    integer,
    floating,
    string,
    predicate_end, ///< the '/' that closes a predicate
#define DBK_TOKEN_ENUM(kind, spelling) kind,
    DBK_PUNCTUATORS(DBK_TOKEN_ENUM)
#undef DBK_TOKEN_ENUM
#define DBK_TOKEN_ENUM(word) kw_##word,
        DBK_KEYWORDS(DBK_TOKEN_ENUM)
#undef DBK_TOKEN_ENUM
};

struct Token {
    TokenKind kind = TokenKind::end;
    Span span;
    std::string text;   ///< identifier, aggregation, string: its value; else as written
    std::string module; ///< identifier, keyword: what stood before a backquote
    bool has_module = false;
    uint64_t value = 0; ///< integer
    IntegerType integer_type = IntegerType::int_;
    bool is_character = false;
    bool is_negative = false; ///< integer from a macro argument: the value is to be negated
    double floating_value = 0;
    char suffix = 0;

    bool is(TokenKind other) const { return kind == other; }
    bool is_keyword() const { return kind >= TokenKind::kw_auto; }
};

/// Returns the keyword a word is, or TokenKind::identifier.
TokenKind keyword_kind(std::string_view word);

/// Returns how a kind of punctuation or keyword is written.
std::string_view token_spelling(TokenKind kind);

} // namespace daybreak::compiler
