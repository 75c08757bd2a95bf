// SPDX-License-Identifier: Apache-2.0
//
// Parsing declarators: names with their pointers, dimensions, keys and parameters; type names.
#include "compiler/syntax/parser_impl.hpp"

#include <algorithm>
#include <iterator>

namespace daybreak::compiler {

std::optional<Declarator> Parser::declarator() {
    Nesting nesting(*this);
    if (!nesting.ok())
        return std::nullopt;
    Declarator declarator;
    declarator.span = peek().span;
    declarator.span.length = 0;
    std::vector<Derivation> pointers;
    while (accept(TokenKind::star)) {
        PointerDerivation pointer;
        for (; is_qualifier(peek()); take()) {
            pointer.is_const |= peek().is(TokenKind::kw_const);
            pointer.is_volatile |= peek().is(TokenKind::kw_volatile);
            pointer.is_restrict |= peek().is(TokenKind::kw_restrict);
        }
        pointers.emplace_back(pointer);
    }
    std::vector<Derivation> suffixes;
    if (!direct_declarator(declarator, suffixes) || !attributes())
        return std::nullopt;
    // Suffixes bind tighter than stars, and of the stars the one nearest to the name comes first.
    std::move(suffixes.begin(), suffixes.end(), std::back_inserter(declarator.derivations));
    std::move(pointers.rbegin(), pointers.rend(), std::back_inserter(declarator.derivations));
    if (last_span_.end() > declarator.span.offset)
        declarator.span = join(declarator.span, last_span_);
    reach_ahead(declarator);
    return declarator;
}

/// A declarator is understood when the word after it is seen.
void Parser::reach_ahead(Declarator& declarator) {
    declarator.span.reached = declarator.name_span.reached = line_ahead();
}

/// Whether the parenthesis ahead holds a declarator and not parameters.
bool Parser::nested_declarator_ahead() {
    const Token& inner = peek(1);
    return inner.is(TokenKind::star) || inner.is(TokenKind::paren_open) ||
           inner.is(TokenKind::bracket_open) ||
           (inner.is(TokenKind::identifier) &&
            (peek(2).is(TokenKind::paren_close) || peek(2).is(TokenKind::paren_open) ||
             peek(2).is(TokenKind::bracket_open)) &&
            !is_known_type(inner));
}

/// The name or a declarator in parentheses, then the suffixes.
bool Parser::direct_declarator(Declarator& declarator, std::vector<Derivation>& suffixes) {
    if (peek().is(TokenKind::paren_open) && nested_declarator_ahead()) {
        take();
        open_parens_++;
        auto inner = this->declarator();
        if (!inner || !expect(TokenKind::paren_close, "missing )"))
            return false;
        open_parens_--;
        Span span = declarator.span;
        declarator = std::move(*inner);
        declarator.span = span;
    } else if (peek().is(TokenKind::identifier)) {
        Token name = take();
        declarator.name = name.text;
        declarator.name_span = name.span;
        if (name.has_module)
            declarator.module = name.module + "`";
    }
    for (;;) {
        Nesting nesting(*this);
        if (suffixes.size() >= kNestingMax) {
            sink_.report(diagnosticf(Tag::D_SYNTAX, peek().span,
                                     "more than %u derivations in one declarator", kNestingMax));
            return false;
        }
        if (peek().is(TokenKind::bracket_open)) {
            if (!array_suffix(suffixes))
                return false;
        } else if (peek().is(TokenKind::paren_open)) {
            if (!function_suffix(suffixes))
                return false;
        } else {
            return true;
        }
    }
}

bool Parser::array_suffix(std::vector<Derivation>& suffixes) {
    ArrayDerivation array;
    Span start = take().span;
    open_brackets_++;
    if (peek().is(TokenKind::bracket_close)) {
        take();
    } else if (type_in_brackets()) {
        if (!parameters(TokenKind::bracket_close, array.keys, array.variadic))
            return false;
    } else {
        array.size = conditional();
        if (!array.size || !expect(TokenKind::bracket_close, "a dimension ends with ]"))
            return false;
    }
    open_brackets_--;
    array.span = join(start, last_span_);
    suffixes.emplace_back(std::move(array));
    return true;
}

bool Parser::function_suffix(std::vector<Derivation>& suffixes) {
    FunctionDerivation function;
    Span start = take().span;
    open_parens_++;
    if (!accept(TokenKind::paren_close) &&
        !parameters(TokenKind::paren_close, function.parameters, function.variadic))
        return false;
    open_parens_--;
    function.span = join(start, last_span_);
    suffixes.emplace_back(std::move(function));
    return true;
}

/// Comma-separated parameters up to and over the closing bracket.
bool Parser::parameters(TokenKind close, std::vector<ParameterSyntax>& parameters, bool& variadic) {
    do {
        if (accept(TokenKind::ellipsis)) {
            variadic = true;
            break;
        }
        auto parsed = parameter();
        if (!parsed)
            return false;
        parameters.push_back(std::move(*parsed));
    } while (accept(TokenKind::comma));
    return expect(close, close == TokenKind::paren_close ? "parameters end with )"
                                                         : "key types end with ]");
}

std::optional<ParameterSyntax> Parser::parameter() {
    Nesting nesting(*this);
    if (!nesting.ok())
        return std::nullopt;
    ParameterSyntax parameter;
    auto parsed = specifiers();
    if (!parsed)
        return std::nullopt;
    parameter.specifiers = std::move(*parsed);
    auto name = declarator();
    if (!name)
        return std::nullopt;
    parameter.declarator = std::move(*name);
    parameter.span = join(parameter.specifiers.span, last_span_);
    return parameter;
}

std::optional<TypeName> Parser::type_name() {
    auto parsed = parameter();
    if (!parsed)
        return std::nullopt;
    if (!parsed->declarator.name.empty()) {
        Token name;
        name.kind = TokenKind::identifier;
        name.span = parsed->declarator.name_span;
        syntax_error(name, "a type alone is expected here");
        return std::nullopt;
    }
    TypeName type;
    type.span = parsed->span;
    type.specifiers = std::move(parsed->specifiers);
    type.declarator = std::move(parsed->declarator);
    return type;
}

TypeNamePtr Parser::type_name_pointer() {
    auto type = type_name();
    return type ? std::make_unique<TypeName>(std::move(*type)) : nullptr;
}

} // namespace daybreak::compiler
