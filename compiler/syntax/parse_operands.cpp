// SPDX-License-Identifier: Apache-2.0
//
// Parsing operands: what stands between operators, with the calls, subscripts and members after
// it.
#include "compiler/diagnostics/messages/identifiers.hpp"
#include "compiler/syntax/parser_impl.hpp"

namespace daybreak::compiler {

namespace {

/// Words that C has and D does not, and what to write instead.
const char* missing_statement_hint(TokenKind kind) {
    switch (kind) {
    case TokenKind::kw_if:
        return "if is a statement: a value is condition ? a : b";
    case TokenKind::kw_else:
        return "else follows an if: if (condition) { ... } else { ... }";
    case TokenKind::kw_switch:
    case TokenKind::kw_case:
        return "D has no such statement: use if (...) else, or condition ? a : b";
    case TokenKind::kw_for:
    case TokenKind::kw_while:
    case TokenKind::kw_do:
        return "D has no loops";
    case TokenKind::kw_return:
    case TokenKind::kw_goto:
    case TokenKind::kw_break:
    case TokenKind::kw_continue:
        return "D has no jumps";
    default:
        return nullptr;
    }
}

} // namespace

/// Parses comma-separated expressions and the closing bracket.
bool Parser::arguments(TokenKind close, std::vector<ExprPtr>& arguments) {
    unsigned& open = close == TokenKind::paren_close ? open_parens_ : open_brackets_;
    open++;
    // f() has no arguments; x[] has no meaning.
    if (!peek().is(close) || close == TokenKind::bracket_close) {
        do {
            ExprPtr argument = assignment();
            if (!argument)
                return false;
            arguments.push_back(std::move(argument));
        } while (accept(TokenKind::comma));
    }
    if (!expect(close, close == TokenKind::paren_close ? "arguments end with )"
                                                       : "a subscript ends with ]"))
        return false;
    open--;
    return true;
}

ExprPtr Parser::postfix() {
    return postfix_rest(primary());
}

ExprPtr Parser::postfix_rest(ExprPtr base) {
    while (base) {
        switch (peek().kind) {
        case TokenKind::bracket_open: {
            Index node;
            take();
            if (!arguments(TokenKind::bracket_close, node.arguments))
                return nullptr;
            Span span = join(base->span, last_span_);
            node.base = std::move(base);
            base = make(span, std::move(node));
            break;
        }
        case TokenKind::paren_open: {
            Call node;
            if (!base->get_if<Identifier>()) {
                sink_.report(diagnosticf(Tag::D_FUNC_IDENT, base->span, "%s",
                                         messages::not_a_function_name().c_str()));
                return nullptr;
            }
            take();
            if (!arguments(TokenKind::paren_close, node.arguments))
                return nullptr;
            Span span = join(base->span, last_span_);
            node.function = std::move(base);
            base = make(span, std::move(node));
            break;
        }
        case TokenKind::dot:
        case TokenKind::arrow:
            base = member(std::move(base));
            break;
        case TokenKind::increment:
        case TokenKind::decrement: {
            UnaryOp op =
                peek().is(TokenKind::increment) ? UnaryOp::post_increment : UnaryOp::post_decrement;
            take();
            Span span = join(base->span, last_span_);
            base = make(span, Unary{op, std::move(base)});
            break;
        }
        default:
            return base;
        }
    }
    return base;
}

/// .name or ->name.  The kernel has members that are called like D's keywords.
ExprPtr Parser::member(ExprPtr base) {
    Member node;
    node.arrow = take().is(TokenKind::arrow);
    if (!peek().is(TokenKind::identifier) && !peek().is_keyword())
        return syntax_error(peek(), "a member's name is expected");
    Token name = take();
    node.member = name.text;
    node.member_span = name.span;
    Span span = join(base->span, name.span);
    node.base = std::move(base);
    return make(span, std::move(node));
}

ExprPtr Parser::primary() {
    switch (peek().kind) {
    case TokenKind::integer:
    case TokenKind::floating:
    case TokenKind::string:
        return literal();
    case TokenKind::identifier:
    case TokenKind::macro_variable: {
        Token token = take();
        Identifier node;
        node.scope = token.has_module ? VariableScope::kernel : VariableScope::global;
        node.name = token.text;
        node.module = token.module;
        return make(token.span, std::move(node));
    }
    case TokenKind::kw_self:
    case TokenKind::kw_this:
        return scoped_variable();
    case TokenKind::aggregation:
        return aggregation();
    case TokenKind::kw_offsetof:
        return offsetof_expression();
    case TokenKind::kw_xlate:
        return xlate_expression();
    case TokenKind::paren_open: {
        Span start = take().span;
        open_parens_++;
        ExprPtr inner = expression();
        if (!inner || !expect(TokenKind::paren_close, "missing )"))
            return nullptr;
        open_parens_--;
        inner->span = join(start, last_span_).reached_with(inner->span);
        return inner;
    }
    default: {
        const char* hint = missing_statement_hint(peek().kind);
        if (!hint && starts_type_keyword(peek()))
            hint = "declarations stand outside of clauses";
        return syntax_error(peek(), hint ? hint : "");
    }
    }
}

ExprPtr Parser::literal() {
    Token token = take();
    if (token.is(TokenKind::string))
        return make(token.span, StringLiteral{std::move(token.text)});
    if (token.is(TokenKind::floating))
        return make(token.span,
                    FloatLiteral{token.floating_value, token.suffix, std::move(token.text)});
    ExprPtr value = make(token.span, IntegerLiteral{token.value, token.integer_type,
                                                    token.is_character, std::move(token.text)});
    if (value && token.is_negative)
        value = make(token.span, Unary{UnaryOp::minus, std::move(value)});
    return value;
}

/// self->name, this->name; the bare words too, which sema judges.
ExprPtr Parser::scoped_variable() {
    Token scope = take();
    Identifier node;
    node.scope = scope.is(TokenKind::kw_self) ? VariableScope::thread : VariableScope::clause;
    if (!peek().is(TokenKind::arrow))
        return make(scope.span, std::move(node));
    take();
    if (!peek().is(TokenKind::identifier) && !peek().is_keyword())
        return syntax_error(peek(), "a variable's name is expected");
    Token name = take();
    node.name = name.text;
    return make(join(scope.span, name.span), std::move(node));
}

ExprPtr Parser::aggregation() {
    Token token = take();
    Aggregation node;
    node.name = token.text;
    while (peek().is(TokenKind::bracket_open)) {
        take();
        if (!arguments(TokenKind::bracket_close, node.keys))
            return nullptr;
        node.has_keys = true;
        node.dimensions++;
    }
    return make(join(token.span, last_span_), std::move(node));
}

/// offsetof(type, member)
ExprPtr Parser::offsetof_expression() {
    Offsetof node;
    Span start = take().span;
    if (!expect(TokenKind::paren_open, "offsetof(type, member)"))
        return nullptr;
    open_parens_++;
    node.type = type_name_pointer();
    if (!node.type || !expect(TokenKind::comma, "offsetof(type, member)"))
        return nullptr;
    if (!peek().is(TokenKind::identifier) && !peek().is_keyword())
        return syntax_error(peek(), "offsetof(type, member)");
    Token name = take();
    node.member = name.text;
    node.member_span = name.span;
    if (!expect(TokenKind::paren_close, "offsetof(type, member)"))
        return nullptr;
    open_parens_--;
    return make(join(start, last_span_), std::move(node));
}

/// xlate <type> (expression)
ExprPtr Parser::xlate_expression() {
    Xlate node;
    Span start = take().span;
    if (!expect(TokenKind::less, "xlate <type> (expression)"))
        return nullptr;
    node.type = type_name_pointer();
    if (!node.type || !expect(TokenKind::greater, "xlate <type> (expression)") ||
        !expect(TokenKind::paren_open, "xlate <type> (expression)"))
        return nullptr;
    open_parens_++;
    node.operand = expression();
    if (!node.operand || !expect(TokenKind::paren_close, "missing )"))
        return nullptr;
    open_parens_--;
    return make(join(start, last_span_), std::move(node));
}

} // namespace daybreak::compiler
