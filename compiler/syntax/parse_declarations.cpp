// SPDX-License-Identifier: Apache-2.0
//
// Parsing declarations, inlines, translators and providers.
#include "compiler/syntax/parser_impl.hpp"

#include <algorithm>

namespace daybreak::compiler {

std::optional<Declaration> Parser::declaration() {
    Declaration declaration;
    word_mode_ = false;
    auto parsed = specifiers();
    if (!parsed)
        return std::nullopt;
    declaration.specifiers = std::move(*parsed);
    if (!peek().is(TokenKind::semicolon)) {
        do {
            auto name = declarator();
            if (!name)
                return std::nullopt;
            if (name->name.empty()) {
                syntax_error(peek(), "a name is expected");
                return std::nullopt;
            }
            declaration.declarators.push_back(std::move(*name));
        } while (accept(TokenKind::comma));
    }
    const char* hint = peek().is(TokenKind::assign)
                           ? "D declarations have no initial value: assign it in a BEGIN clause"
                           : "a declaration ends with ;";
    if (!expect(TokenKind::semicolon, hint))
        return std::nullopt;
    declaration.span = join(declaration.specifiers.span, last_span_);
    auto& words = declaration.specifiers.words;
    if (word_mode_)
        words.push_back({SpecifierWord::long_, declaration.specifiers.span});
    if (std::any_of(words.begin(), words.end(), [](const Specifier& specifier) {
            return specifier.word == SpecifierWord::typedef_;
        }))
        for (const Declarator& name : declaration.declarators)
            typedefs_.insert(name.name);
    return declaration;
}

/// inline type name = value;   inline type name[type a, type b] = value;
std::optional<Inline> Parser::inline_definition() {
    Inline definition;
    Span start = take().span;
    auto parsed = specifiers();
    if (!parsed)
        return std::nullopt;
    definition.specifiers = std::move(*parsed);
    auto name = declarator();
    if (!name)
        return std::nullopt;
    definition.declarator = std::move(*name);
    if (definition.declarator.name.empty()) {
        syntax_error(peek(), "inline type name = expression;");
        return std::nullopt;
    }
    if (!expect(TokenKind::assign, "inline type name = expression;"))
        return std::nullopt;
    bool has_parameters = !definition.declarator.derivations.empty();
    definition.value = has_parameters ? unfolded_assignment() : assignment();
    if (!definition.value || !expect(TokenKind::semicolon, "an inline definition ends with ;"))
        return std::nullopt;
    definition.span = join(start, last_span_);
    return definition;
}

/// translator output < input name > { member = value; };
std::optional<Translator> Parser::translator() {
    Translator translator;
    Span start = take().span;
    auto output = type_name();
    if (!output || !expect(TokenKind::less, "translator output < input name > { ... };"))
        return std::nullopt;
    translator.output = std::move(*output);
    auto input = parameter();
    if (!input)
        return std::nullopt;
    translator.input = std::move(*input);
    if (translator.input.declarator.name.empty()) {
        syntax_error(peek(), "the input needs a name");
        return std::nullopt;
    }
    if (!expect(TokenKind::greater, "translator output < input name > { ... };") ||
        !expect(TokenKind::brace_open, "a translator's body starts with {"))
        return std::nullopt;
    while (!peek().is(TokenKind::brace_close)) {
        TranslatorMember member;
        Token name = peek();
        // Output members may be called like D's keywords, as kernel members are.
        if (!name.is(TokenKind::identifier) && !name.is_keyword()) {
            syntax_error(name, "member = expression;");
            return std::nullopt;
        }
        take();
        member.name = name.text;
        if (!expect(TokenKind::assign, "member = expression;"))
            return std::nullopt;
        member.value = unfolded_assignment();
        if (!member.value || !expect(TokenKind::semicolon, "member = expression;"))
            return std::nullopt;
        member.span = join(name.span, last_span_);
        translator.members.push_back(std::move(member));
    }
    translator.end_line = take().span.line;
    if (!expect(TokenKind::semicolon, "a translator ends with };"))
        return std::nullopt;
    translator.span = join(start, last_span_);
    return translator;
}

/// provider name { probe name(types) : (types); };
std::optional<Provider> Parser::provider() {
    Provider provider;
    Token name;
    Span start = take().span;
    if (!expect_identifier(name, "provider name { probe ...; };") ||
        !expect(TokenKind::brace_open, "provider name { probe ...; };"))
        return std::nullopt;
    provider.name = name.text;
    while (!peek().is(TokenKind::brace_close)) {
        auto probe = provider_probe();
        if (!probe)
            return std::nullopt;
        provider.probes.push_back(std::move(*probe));
    }
    take();
    if (!expect(TokenKind::semicolon, "a provider ends with };"))
        return std::nullopt;
    provider.span = join(start, last_span_);
    return provider;
}

std::optional<ProviderProbe> Parser::provider_probe() {
    ProviderProbe probe;
    Token name;
    Span start = peek().span;
    bool variadic = false;
    auto list = [&](std::vector<ParameterSyntax>& into) {
        return expect(TokenKind::paren_open, "probe name(types);") &&
               (accept(TokenKind::paren_close) ||
                parameters(TokenKind::paren_close, into, variadic));
    };
    if (!expect(TokenKind::kw_probe, "probe name(types);"))
        return std::nullopt;
    // A probe may be called so, and those of functions are.
    if (peek().is(TokenKind::kw_return))
        name = take();
    else if (!expect_identifier(name, "probe name(types);"))
        return std::nullopt;
    probe.name = name.text;
    if (peek().is(TokenKind::paren_open) && !list(probe.arguments))
        return std::nullopt;
    if (accept(TokenKind::colon)) {
        probe.has_translated = true;
        if (!list(probe.translated))
            return std::nullopt;
    }
    if (variadic) {
        sink_.report(diagnosticf(Tag::D_DECL_PROTO_VARARGS, name.span,
                                 "probe prototype may not use a variable-length argument list"));
        return std::nullopt;
    }
    if (!expect(TokenKind::semicolon, "probe name(types);"))
        return std::nullopt;
    probe.span = join(start, last_span_);
    return probe;
}

} // namespace daybreak::compiler
