// SPDX-License-Identifier: Apache-2.0
//
// Parsing expressions: operators with C's precedences.  Operands are in parse_operands.cpp.
#include "compiler/syntax/parser_impl.hpp"

#include <algorithm>
#include <utility>

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

/// Whether an expression is understood only when the word after it is seen: `a + b` could go on as
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
    Span read = span;
    read.reached = std::visit(ReadsAhead(), node) ? line_ahead() : last_span_.line_reached();
    return make_unread(read, std::move(node));
}

ExprPtr Parser::make_unread(const Span& span, ExprNode node) {
    auto made = std::make_unique<Expr>();
    made->span = span;
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
    // Only a unary expression may stand left of an assignment: `a + b = c` is not D.
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
    // What is chosen may be an action or an aggregation, which no operand can be.
    if (folding_ && options_.literal_value && !failed())
        if (auto value = options_.literal_value(*condition))
            return *value != 0 ? std::move(if_true) : std::move(if_false);
    Span span = join(condition->span, if_false->span);
    return make(span, Conditional{std::move(condition), std::move(if_true), std::move(if_false)});
}

/// Parses a value that has names of its own, which may hide those of constants.
ExprPtr Parser::unfolded_assignment() {
    bool outer = std::exchange(folding_, false);
    ExprPtr value = assignment();
    folding_ = outer;
    return value;
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

} // namespace daybreak::compiler
