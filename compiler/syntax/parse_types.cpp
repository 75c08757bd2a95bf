// SPDX-License-Identifier: Apache-2.0
//
// Parsing types: specifiers, and telling a type from an expression.  Declarators are in
// parse_declarators.cpp.
#include "compiler/syntax/parser_impl.hpp"

#include <algorithm>

namespace daybreak::compiler {

namespace {

struct WordRow {
    TokenKind token;
    SpecifierWord word;
};

constexpr WordRow kWords[] = {
    {TokenKind::kw_typedef, SpecifierWord::typedef_},
    {TokenKind::kw_extern, SpecifierWord::extern_},
    {TokenKind::kw_static, SpecifierWord::static_},
    {TokenKind::kw_auto, SpecifierWord::auto_},
    {TokenKind::kw_register, SpecifierWord::register_},
    {TokenKind::kw_self, SpecifierWord::self_},
    {TokenKind::kw_this, SpecifierWord::this_},
    {TokenKind::kw_const, SpecifierWord::const_},
    {TokenKind::kw_volatile, SpecifierWord::volatile_},
    {TokenKind::kw_restrict, SpecifierWord::restrict_},
    {TokenKind::kw_void, SpecifierWord::void_},
    {TokenKind::kw_char, SpecifierWord::char_},
    {TokenKind::kw_short, SpecifierWord::short_},
    {TokenKind::kw_int, SpecifierWord::int_},
    {TokenKind::kw_long, SpecifierWord::long_},
    {TokenKind::kw_float, SpecifierWord::float_},
    {TokenKind::kw_double, SpecifierWord::double_},
    {TokenKind::kw_signed, SpecifierWord::signed_},
    {TokenKind::kw_unsigned, SpecifierWord::unsigned_},
    {TokenKind::kw_string, SpecifierWord::string_},
    {TokenKind::kw_userland, SpecifierWord::userland_},
};

const WordRow* find_word(TokenKind token) {
    for (const WordRow& row : kWords)
        if (row.token == token)
            return &row;
    return nullptr;
}

bool is_base_word(SpecifierWord word) {
    return word >= SpecifierWord::void_;
}
bool is_storage_word(SpecifierWord word) {
    return word <= SpecifierWord::this_;
}

bool has_type(const Specifiers& specifiers) {
    return !specifiers.named.empty() ||
           std::any_of(specifiers.words.begin(), specifiers.words.end(),
                       [](const Specifier& specifier) {
                           return is_base_word(specifier.word) &&
                                  specifier.word != SpecifierWord::userland_;
                       });
}

/// GCC's attributes that say nothing of how memory is laid out: what the system's headers say of
/// functions.
constexpr std::string_view kAttributesIgnored[] = {
    "access",     "alloc_align",   "alloc_size",    "always_inline",   "artificial",
    "cold",       "const",         "copy",          "deprecated",      "error",
    "format",     "format_arg",    "gnu_inline",    "hot",             "leaf",
    "malloc",     "may_alias",     "noinline",      "nonnull",         "noreturn",
    "nothrow",    "pure",          "returns_twice", "returns_nonnull", "sentinel",
    "unused",     "used",          "visibility",    "warning",         "warn_unused_result",
    "weak"};

/// Returns an attribute's name without the underscores it may have on both sides.
std::string_view attribute_name(std::string_view word) {
    if (word.size() > 4 && word.starts_with("__") && word.ends_with("__"))
        word = word.substr(2, word.size() - 4);
    return word;
}

} // namespace

// --- Attributes ---------------------------------------------------------------------------------

bool Parser::at_attribute() {
    return peek().is(TokenKind::identifier) &&
           (peek().text == "__attribute__" || peek().text == "__attribute");
}

/// __attribute__((name, name(...))): passed over when memory is the same without.  The word that
/// <sys/types.h> says register_t is, mode(word), is remembered.
bool Parser::attributes() {
    constexpr const char* kForm = "__attribute__((name))";
    while (at_attribute()) {
        take();
        if (!expect(TokenKind::paren_open, kForm) || !expect(TokenKind::paren_open, kForm))
            return false;
        do {
            Token name = take();
            bool is_word = attribute_name(name.text) == "mode" &&
                           attribute_name(peek(1).text) == "word";
            word_mode_ |= is_word;
            if (!is_word && std::ranges::find(kAttributesIgnored, attribute_name(name.text)) ==
                                std::end(kAttributesIgnored)) {
                syntax_error(name, "D has no attribute that changes how memory is laid out");
                return false;
            }
            if (!skip_parentheses())
                return false;
        } while (accept(TokenKind::comma));
        if (!expect(TokenKind::paren_close, kForm) || !expect(TokenKind::paren_close, kForm))
            return false;
    }
    return true;
}

/// Passes over what stands in parentheses, if any follow.
bool Parser::skip_parentheses() {
    if (!peek().is(TokenKind::paren_open))
        return true;
    size_t depth = 0;
    do {
        Token token = take();
        if (token.is(TokenKind::end)) {
            syntax_error(token, "missing )");
            return false;
        }
        depth += token.is(TokenKind::paren_open);
        depth -= token.is(TokenKind::paren_close);
    } while (depth != 0);
    return true;
}

// --- Is it a type? ------------------------------------------------------------------------------

/// Whether a token can only begin a type.
bool Parser::starts_type_keyword(const Token& token) const {
    if (token.is(TokenKind::kw_struct) || token.is(TokenKind::kw_union) ||
        token.is(TokenKind::kw_enum))
        return true;
    const WordRow* row = find_word(token.kind);
    return row && !is_storage_word(row->word);
}

bool Parser::is_known_type(const Token& token) {
    // The scope D is this program's own.
    if ((!token.has_module || token.module == "D") && typedefs_.count(token.text))
        return true;
    if (!options_.is_type_name)
        return false;
    return options_.is_type_name(token.has_module ? token.module + "`" + token.text : token.text);
}

/// Decides `(name)` by what follows it.
bool Parser::type_before_close(TokenKind follower, const Token& name) {
    switch (follower) {
    // Nothing of these can follow an operand in parentheses: it is a cast.
    case TokenKind::identifier:
    case TokenKind::macro_variable:
    case TokenKind::integer:
    case TokenKind::floating:
    case TokenKind::string:
    case TokenKind::aggregation:
    case TokenKind::tilde:
    case TokenKind::exclamation:
    case TokenKind::kw_self:
    case TokenKind::kw_this:
    case TokenKind::kw_sizeof:
    case TokenKind::kw_stringof:
    case TokenKind::kw_offsetof:
    case TokenKind::kw_xlate:
        return true;
    // `(x) - 1` depends on what x is.
    case TokenKind::paren_open:
    case TokenKind::star:
    case TokenKind::ampersand:
    case TokenKind::plus:
    case TokenKind::minus:
    case TokenKind::increment:
    case TokenKind::decrement:
        return is_known_type(name);
    default:
        return false;
    }
}

/// Whether the parenthesis ahead holds a type, as in a cast or sizeof.
bool Parser::type_in_parentheses(bool for_sizeof) {
    const Token& first = peek(1);
    if (starts_type_keyword(first))
        return true;
    if (!first.is(TokenKind::identifier))
        return false;
    const Token& second = peek(2);
    if (is_qualifier(second))
        return true;
    if (second.is(TokenKind::paren_close))
        return for_sizeof ? is_known_type(peek(1)) : type_before_close(peek(3).kind, peek(1));
    if (second.is(TokenKind::paren_open)) // name (*)(...)
        return peek(3).is(TokenKind::star) && peek(4).is(TokenKind::paren_close);
    // name * ... ) is not an expression.
    size_t index = 2;
    while (index < kNestingMax && (peek(index).is(TokenKind::star) || is_qualifier(peek(index))))
        index++;
    if (index == 2)
        return second.is(TokenKind::bracket_open) && for_sizeof && is_known_type(peek(1));
    return peek(index).is(TokenKind::paren_close);
}

/// Whether a bracket that was just opened holds key types and not a dimension.
bool Parser::type_in_brackets() {
    const Token& first = peek();
    if (starts_type_keyword(first) || first.is(TokenKind::ellipsis))
        return true;
    // A storage class is not part of a key, but surely meant as one.
    if (find_word(first.kind) && !peek(1).is(TokenKind::arrow))
        return true;
    if (!first.is(TokenKind::identifier))
        return false;
    const Token& second = peek(1);
    if (second.is(TokenKind::comma) || second.is(TokenKind::identifier) || is_qualifier(second))
        return true;
    if (second.is(TokenKind::star) &&
        (peek(2).is(TokenKind::star) || peek(2).is(TokenKind::comma) ||
         peek(2).is(TokenKind::bracket_close)))
        return true;
    return is_known_type(peek());
}

// --- Specifiers ---------------------------------------------------------------------------------

std::optional<Specifiers> Parser::specifiers() {
    Specifiers specifiers;
    specifiers.span = peek().span;
    specifiers.span.length = 0;
    for (;;) {
        const Token& token = peek();
        uint32_t reached = 0;
        if (const WordRow* row = find_word(token.kind);
            row && !(token.has_module && is_storage_word(row->word))) {
            specifiers.words.push_back({row->word, token.span});
            take();
        } else if (at_attribute()) {
            if (!attributes())
                return std::nullopt;
        } else if (token.is(TokenKind::kw_struct) || token.is(TokenKind::kw_union) ||
                   token.is(TokenKind::kw_enum)) {
            if (!named_specifier(specifiers))
                return std::nullopt;
            reached = specifiers.named.back().span.line_reached();
        } else if (token.is(TokenKind::identifier) && !has_type(specifiers) &&
                   !implicit_int_ahead(specifiers) && !unknown_type_ahead(specifiers)) {
            if (!typedef_specifier(specifiers))
                return std::nullopt;
        } else {
            break;
        }
        specifiers.span = join(specifiers.span, last_span_);
        specifiers.span.reached = reached ? reached : last_span_.line_reached();
    }
    if (specifiers.words.empty() && specifiers.named.empty()) {
        syntax_error(peek(), "a type is expected");
        return std::nullopt;
    }
    return specifiers;
}

/// Whether the name ahead is what is declared, and its type is left out: `self x;`.
bool Parser::implicit_int_ahead(const Specifiers& specifiers) {
    if (specifiers.words.empty())
        return false;
    switch (peek(1).kind) {
    case TokenKind::semicolon:
    case TokenKind::comma:
    case TokenKind::assign:
    case TokenKind::bracket_open:
        return !is_known_type(peek());
    default:
        return false;
    }
}

/// Whether the name ahead is not a type, so that what it is the name of is an int: remembered, for if
/// it was meant to be a type, what follows it cannot be understood.
bool Parser::unknown_type_ahead(const Specifiers& specifiers) {
    if (specifiers.words.empty() || !options_.is_type_name || is_known_type(peek()))
        return false;
    unknown_type_ = peek().text;
    return true;
}

/// A name where a type has to be.
bool Parser::typedef_specifier(Specifiers& specifiers) {
    const Token& token = peek();
    if (options_.is_type_name && !is_known_type(token)) {
        syntax_error(token, "no type is called " + token.text);
        return false;
    }
    Token name = take();
    NamedType named;
    named.span = name.span;
    named.kind = NamedKind::typedef_;
    named.name = name.text;
    named.module = name.module;
    named.has_module = name.has_module;
    specifiers.named.push_back(std::move(named));
    return true;
}

/// struct, union or enum, with a name, a body, or both.
bool Parser::named_specifier(Specifiers& specifiers) {
    Nesting nesting(*this);
    if (!nesting.ok())
        return false;
    Token keyword = take();
    NamedType named;
    named.kind = keyword.is(TokenKind::kw_struct)  ? NamedKind::struct_
                 : keyword.is(TokenKind::kw_union) ? NamedKind::union_
                                                   : NamedKind::enum_;
    named.module = keyword.module;
    named.has_module = keyword.has_module;
    if (peek().is(TokenKind::identifier)) {
        Token name = take();
        named.name = name.text;
        if (name.has_module) {
            named.module = name.module;
            named.has_module = true;
        }
    }
    uint32_t reached = line_ahead();
    if (peek().is(TokenKind::brace_open)) {
        named.has_body = true;
        bool ok = named.kind == NamedKind::enum_ ? enum_body(named) : struct_body(named);
        if (!ok)
            return false;
    } else if (named.name.empty()) {
        syntax_error(peek(), "a tag or { is expected");
        return false;
    }
    named.span = join(keyword.span, last_span_);
    named.span.reached = reached;
    specifiers.named.push_back(std::move(named));
    return true;
}

bool Parser::struct_body(NamedType& named) {
    Span open = take().span;
    if (!named.name.empty() && options_.is_defined_tag &&
        options_.is_defined_tag(named.kind, named.name)) {
        Diagnostic diagnostic =
            diagnosticf(Tag::D_DECL_TYPERED, join(named.span, open), "type redeclared: %s %s",
                        named.kind == NamedKind::union_ ? "union" : "struct", named.name.c_str());
        diagnostic.span.reached = open.line;
        sink_.report(std::move(diagnostic));
        return false;
    }
    do {
        Declaration member;
        auto parsed = specifiers();
        if (!parsed)
            return false;
        member.specifiers = std::move(*parsed);
        while (!peek().is(TokenKind::semicolon)) {
            auto name = declarator();
            if (!name)
                return false;
            if (accept(TokenKind::colon) && !(name->bits = conditional()))
                return false;
            name->span = join(name->span, last_span_);
            reach_ahead(*name);
            member.declarators.push_back(std::move(*name));
            if (!accept(TokenKind::comma))
                break;
        }
        if (!expect(TokenKind::semicolon, "a member ends with ;"))
            return false;
        member.span = join(member.specifiers.span, last_span_);
        named.members.push_back(std::move(member));
    } while (!peek().is(TokenKind::brace_close));
    take();
    return true;
}

bool Parser::enum_body(NamedType& named) {
    take();
    do {
        Token name;
        if (!expect_identifier(name, "an enumerator's name is expected"))
            return false;
        EnumeratorSyntax enumerator;
        enumerator.name = name.text;
        if (accept(TokenKind::assign) && !(enumerator.value = conditional()))
            return false;
        enumerator.span = join(name.span, last_span_);
        enumerator.span.reached = line_ahead();
        named.enumerators.push_back(std::move(enumerator));
    } while (accept(TokenKind::comma));
    return expect(TokenKind::brace_close, "an enum's body ends with }");
}

} // namespace daybreak::compiler
