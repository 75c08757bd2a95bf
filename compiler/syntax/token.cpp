// SPDX-License-Identifier: Apache-2.0
//
// Keywords and spellings of tokens.
#include "compiler/syntax/token.hpp"

#include <algorithm>
#include <iterator>

namespace daybreak::compiler {

namespace {

#define DBK_KEYWORD_NAME(word) #word,
constexpr std::string_view kKeywords[] = {DBK_KEYWORDS(DBK_KEYWORD_NAME)};
#undef DBK_KEYWORD_NAME
static_assert(std::is_sorted(std::begin(kKeywords), std::end(kKeywords)));

#define DBK_PUNCTUATOR_NAME(kind, spelling) spelling,
constexpr std::string_view kPunctuatorNames[] = {DBK_PUNCTUATORS(DBK_PUNCTUATOR_NAME)};
#undef DBK_PUNCTUATOR_NAME

constexpr size_t kFirstKeyword = static_cast<size_t>(TokenKind::kw_auto);
constexpr size_t kFirstPunctuator = static_cast<size_t>(TokenKind::ellipsis);

} // namespace

TokenKind keyword_kind(std::string_view word) {
    const auto* found = std::lower_bound(std::begin(kKeywords), std::end(kKeywords), word);
    if (found == std::end(kKeywords) || *found != word)
        return TokenKind::identifier;
    return static_cast<TokenKind>(kFirstKeyword +
                                  static_cast<size_t>(found - std::begin(kKeywords)));
}

std::string_view token_spelling(TokenKind kind) {
    auto index = static_cast<size_t>(kind);
    if (kind == TokenKind::predicate_end)
        return "/";
    if (index >= kFirstKeyword)
        return kKeywords[index - kFirstKeyword];
    return index >= kFirstPunctuator ? kPunctuatorNames[index - kFirstPunctuator] : "";
}

} // namespace daybreak::compiler
