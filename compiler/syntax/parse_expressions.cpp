// SPDX-License-Identifier: Apache-2.0
//
// Parsing expressions, with C's precedences and D's own operands.
#include "compiler/diagnostics/messages/identifiers.hpp"
#include "compiler/syntax/parser_impl.hpp"

#include <algorithm>

namespace daybreak::compiler {

namespace {

struct BinaryRow {
    TokenKind token;
    BinaryOp op;
    unsigned precedence; ///< higher binds tighter
};

constexpr BinaryRow kBinaries[] = {
    {TokenKind::logical_or, BinaryOp::logical_or, 1},
    {TokenKind::logical_xor, BinaryOp::logical_xor, 2},
    {TokenKind::logical_and, BinaryOp::logical_and, 3},
    {TokenKind::pipe, BinaryOp::bit_or, 4},
    {TokenKind::caret, BinaryOp::bit_xor, 5},
    {TokenKind::ampersand, BinaryOp::bit_and, 6},
    {TokenKind::equal, BinaryOp::equal, 7},
    {TokenKind::not_equal, BinaryOp::not_equal, 7},
    {TokenKind::less, BinaryOp::less, 8},
    {TokenKind::less_equal, BinaryOp::less_equal, 8},
    {TokenKind::greater, BinaryOp::greater, 8},
    {TokenKind::greater_equal, BinaryOp::greater_equal, 8},
    {TokenKind::shift_left, BinaryOp::shift_left, 9},
    {TokenKind::shift_right, BinaryOp::shift_right, 9},
    {TokenKind::plus, BinaryOp::add, 10},
    {TokenKind::minus, BinaryOp::subtract, 10},
    {TokenKind::star, BinaryOp::multiply, 11},
    {TokenKind::slash, BinaryOp::divide, 11},
    {TokenKind::percent, BinaryOp::remainder, 11},
};

struct AssignRow {
    TokenKind token;
    std::optional<BinaryOp> op;
};

constexpr AssignRow kAssigns[] = {
    {TokenKind::assign, std::nullopt},
    {TokenKind::add_assign, BinaryOp::add},
    {TokenKind::subtract_assign, BinaryOp::subtract},
    {TokenKind::multiply_assign, BinaryOp::multiply},
    {TokenKind::divide_assign, BinaryOp::divide},
    {TokenKind::remainder_assign, BinaryOp::remainder},
    {TokenKind::and_assign, BinaryOp::bit_and},
    {TokenKind::xor_assign, BinaryOp::bit_xor},
    {TokenKind::or_assign, BinaryOp::bit_or},
    {TokenKind::shift_left_assign, BinaryOp::shift_left},
    {TokenKind::shift_right_assign, BinaryOp::shift_right},
};

const BinaryRow* find_binary(TokenKind token) {
    for (const BinaryRow& row : kBinaries)
        if (row.token == token)
            return &row;
    return nullptr;
}

const AssignRow* find_assign(TokenKind token) {
    for (const AssignRow& row : kAssigns)
        if (row.token == token)
            return &row;
    return nullptr;
}

uint32_t depth_of(const ExprPtr& expression) {
    return expression ? expression->depth : 0;
}

uint32_t depth_of(const std::vector<ExprPtr>& expressions) {
    uint32_t depth = 0;
    for (const ExprPtr& expression : expressions)
        depth = std::max(depth, expression->depth);
    return depth;
}

/// The depth of a node's deepest child.
struct ChildDepth {
    uint32_t operator()(const Aggregation& node) { return depth_of(node.keys); }
    uint32_t operator()(const Index& node) {
        return std::max(depth_of(node.base), depth_of(node.arguments));
    }
    uint32_t operator()(const Call& node) {
        return std::max(depth_of(node.function), depth_of(node.arguments));
    }
    uint32_t operator()(const Member& node) { return depth_of(node.base); }
    uint32_t operator()(const Binary& node) {
        return std::max(depth_of(node.left), depth_of(node.right));
    }
    uint32_t operator()(const Assign& node) {
        return std::max(depth_of(node.left), depth_of(node.right));
    }
    uint32_t operator()(const Conditional& node) {
        return std::max(
            {depth_of(node.condition), depth_of(node.if_true), depth_of(node.if_false)});
    }
    template <typename T>
    uint32_t operator()(const T& node) {
        if constexpr (requires { node.operand; })
            return depth_of(node.operand);
        else
            return 0;
    }
};

/// Words that C has and D does not, and what to write instead.
const char* missing_statement_hint(TokenKind kind) {
    switch (kind) {
    case TokenKind::kw_if:
    case TokenKind::kw_else:
    case TokenKind::kw_switch:
    case TokenKind::kw_case:
        return "D has no such statement: use a predicate, or condition ? a : b";
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

/// Whether an expression is understood only when the word behind it is seen: `a + b` could go on as
/// `a + b * c`, while nothing can become of `f(x)` but a call.
struct ReadsAhead {
    bool operator()(const Binary&) const { return true; }
    bool operator()(const Assign&) const { return true; }
    bool operator()(const Conditional&) const { return true; }
    bool operator()(const Cast&) const { return true; }
    bool operator()(const SizeofExpr&) const { return true; }
    bool operator()(const Stringof&) const { return true; }
    bool operator()(const Unary& node) const {
        return node.op != UnaryOp::post_increment && node.op != UnaryOp::post_decrement;
    }
    template <typename T>
    bool operator()(const T&) const {
        return false;
    }
};

} // namespace

/// Makes a node; null, and reported, when the tree would become too deep.
ExprPtr Parser::make(const Span& span, ExprNode node) {
    auto made = std::make_unique<Expr>();
    made->span = span;
    made->span.reached = std::visit(ReadsAhead(), node) ? line_ahead() : last_span_.line_reached();
    made->depth = 1 + std::visit(ChildDepth(), node);
    made->node = std::move(node);
    if (made->depth > kExprDepthMax) {
        sink_.report(
            diagnosticf(Tag::D_SYNTAX, span, "expression has more than %u levels", kExprDepthMax));
        return nullptr;
    }
    made->id = next_id_++;
    return made;
}

ExprPtr Parser::expression() {
    ExprPtr left = assignment();
    while (left && accept(TokenKind::comma)) {
        ExprPtr right = assignment();
        if (!right)
            return nullptr;
        Span span = join(left->span, right->span);
        left = make(span, Binary{BinaryOp::comma, std::move(left), std::move(right)});
    }
    return left;
}

ExprPtr Parser::assignment() {
    Nesting nesting(*this);
    if (!nesting.ok())
        return nullptr;
    // Only a unary expression may stand left of an assignment: `a + b = c` is no D.
    ExprPtr left = cast();
    if (!left)
        return nullptr;
    if (const AssignRow* row = find_assign(peek().kind)) {
        take();
        ExprPtr right = assignment();
        if (!right)
            return nullptr;
        Span span = join(left->span, right->span);
        return make(span, Assign{row->op, std::move(left), std::move(right)});
    }
    return conditional_rest(binary_rest(std::move(left), 1));
}

ExprPtr Parser::conditional() {
    Nesting nesting(*this);
    return nesting.ok() ? conditional_rest(binary(1)) : nullptr;
}

ExprPtr Parser::conditional_rest(ExprPtr condition) {
    if (!condition || !accept(TokenKind::question))
        return condition;
    ExprPtr if_true = expression();
    if (!if_true || !expect(TokenKind::colon, "? needs a :"))
        return nullptr;
    ExprPtr if_false = conditional();
    if (!if_false)
        return nullptr;
    Span span = join(condition->span, if_false->span);
    return make(span, Conditional{std::move(condition), std::move(if_true), std::move(if_false)});
}

ExprPtr Parser::binary(unsigned min_precedence) {
    return binary_rest(cast(), min_precedence);
}

ExprPtr Parser::binary_rest(ExprPtr left, unsigned min_precedence) {
    while (left) {
        const BinaryRow* row = find_binary(peek().kind);
        if (!row || row->precedence < min_precedence)
            break;
        take();
        ExprPtr right = binary(row->precedence + 1);
        if (!right)
            return nullptr;
        Span span = join(left->span, right->span);
        left = make(span, Binary{row->op, std::move(left), std::move(right)});
    }
    return left;
}

ExprPtr Parser::cast() {
    Nesting nesting(*this);
    if (!nesting.ok())
        return nullptr;
    if (!peek().is(TokenKind::paren_open) || !type_in_parentheses(false))
        return unary();
    Cast node;
    Span start = peek().span;
    node.type = parenthesized_type();
    if (!node.type)
        return nullptr;
    node.operand = cast();
    if (!node.operand)
        return nullptr;
    Span span = join(start, node.operand->span);
    return make(span, std::move(node));
}

TypeNamePtr Parser::parenthesized_type() {
    take();
    open_parens_++;
    TypeNamePtr type = type_name_pointer();
    if (!type || !expect(TokenKind::paren_close, "a type in parentheses ends with )"))
        return nullptr;
    open_parens_--;
    return type;
}

ExprPtr Parser::prefix(UnaryOp op, bool operand_is_unary) {
    Span start = take().span;
    ExprPtr operand = operand_is_unary ? unary() : cast();
    if (!operand)
        return nullptr;
    Span span = join(start, operand->span);
    return make(span, Unary{op, std::move(operand)});
}

ExprPtr Parser::unary() {
    Nesting nesting(*this);
    if (!nesting.ok())
        return nullptr;
    switch (peek().kind) {
    case TokenKind::plus:
        return prefix(UnaryOp::plus, false);
    case TokenKind::minus:
        return prefix(UnaryOp::minus, false);
    case TokenKind::tilde:
        return prefix(UnaryOp::complement, false);
    case TokenKind::exclamation:
        return prefix(UnaryOp::logical_not, false);
    case TokenKind::star:
        return prefix(UnaryOp::dereference, false);
    case TokenKind::ampersand:
        return prefix(UnaryOp::address_of, false);
    case TokenKind::increment:
        return prefix(UnaryOp::pre_increment, true);
    case TokenKind::decrement:
        return prefix(UnaryOp::pre_decrement, true);
    case TokenKind::kw_sizeof:
        return sizeof_expression();
    case TokenKind::kw_stringof: {
        Stringof node;
        Span start = take().span;
        node.operand = unary();
        if (!node.operand)
            return nullptr;
        Span span = join(start, last_span_);
        return make(span, std::move(node));
    }
    default:
        return postfix();
    }
}

ExprPtr Parser::sizeof_expression() {
    Span start = take().span;
    if (peek().is(TokenKind::paren_open) && type_in_parentheses(true)) {
        SizeofType node;
        node.type = parenthesized_type();
        if (!node.type)
            return nullptr;
        return make(join(start, last_span_), std::move(node));
    }
    SizeofExpr node;
    node.operand = unary();
    if (!node.operand)
        return nullptr;
    return make(join(start, last_span_), std::move(node));
}

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
    case TokenKind::identifier: {
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
