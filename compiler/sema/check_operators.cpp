// SPDX-License-Identifier: Apache-2.0
//
// Operators: C's conversions, pointer arithmetic, comparison of strings, constant folding.
#include "compiler/diagnostics/messages/operators.hpp"
#include "compiler/sema/checker.hpp"
#include "compiler/syntax/print.hpp"

#include <algorithm>

namespace daybreak::compiler {

namespace {

TypedOp typed_op(BinaryOp op) {
    switch (op) {
    case BinaryOp::multiply:
        return TypedOp::multiply;
    case BinaryOp::divide:
        return TypedOp::divide;
    case BinaryOp::remainder:
        return TypedOp::remainder;
    case BinaryOp::add:
        return TypedOp::add;
    case BinaryOp::subtract:
        return TypedOp::subtract;
    case BinaryOp::shift_left:
        return TypedOp::shift_left;
    case BinaryOp::shift_right:
        return TypedOp::shift_right;
    case BinaryOp::less:
        return TypedOp::less;
    case BinaryOp::less_equal:
        return TypedOp::less_equal;
    case BinaryOp::greater:
        return TypedOp::greater;
    case BinaryOp::greater_equal:
        return TypedOp::greater_equal;
    case BinaryOp::equal:
        return TypedOp::equal;
    case BinaryOp::not_equal:
        return TypedOp::not_equal;
    case BinaryOp::bit_and:
        return TypedOp::bit_and;
    case BinaryOp::bit_xor:
        return TypedOp::bit_xor;
    case BinaryOp::bit_or:
        return TypedOp::bit_or;
    case BinaryOp::logical_and:
        return TypedOp::logical_and;
    case BinaryOp::logical_xor:
        return TypedOp::logical_xor;
    case BinaryOp::logical_or:
        return TypedOp::logical_or;
    case BinaryOp::comma:
        break;
    }
    return TypedOp::sequence;
}

/// Computes with 64 bits; the caller has excluded a zero divisor.
uint64_t compute(TypedOp op, bool is_unsigned, uint64_t a, uint64_t b) {
    int64_t x = static_cast<int64_t>(a), y = static_cast<int64_t>(b);
    switch (op) {
    case TypedOp::multiply:
        return a * b;
    case TypedOp::divide:
        return is_unsigned ? a / b : y == -1 ? 0 - a : static_cast<uint64_t>(x / y);
    case TypedOp::remainder:
        return is_unsigned ? a % b : y == -1 ? 0 : static_cast<uint64_t>(x % y);
    case TypedOp::add:
        return a + b;
    case TypedOp::subtract:
        return a - b;
    case TypedOp::shift_left:
        return a << (b & 63);
    case TypedOp::shift_right:
        return is_unsigned ? a >> (b & 63) : static_cast<uint64_t>(x >> (b & 63));
    case TypedOp::less:
        return is_unsigned ? a < b : x < y;
    case TypedOp::less_equal:
        return is_unsigned ? a <= b : x <= y;
    case TypedOp::greater:
        return is_unsigned ? a > b : x > y;
    case TypedOp::greater_equal:
        return is_unsigned ? a >= b : x >= y;
    case TypedOp::equal:
        return a == b;
    case TypedOp::not_equal:
        return a != b;
    case TypedOp::bit_and:
        return a & b;
    case TypedOp::bit_xor:
        return a ^ b;
    case TypedOp::bit_or:
        return a | b;
    case TypedOp::logical_and:
        return a && b;
    case TypedOp::logical_xor:
        return !a != !b;
    case TypedOp::logical_or:
        return a || b;
    default:
        return 0;
    }
}

} // namespace

/// Unsigned results wrap as C says; signed ones stay as 64 bits computed them, as D always did.
TypedPtr ExprChecker::make_folded(uint64_t value, TypeId type, const Span& span) const {
    if (!types_.is_signed(type))
        return make_constant(value, type, span);
    auto node = std::make_shared<TypedExpr>();
    node->type = type;
    node->span = span;
    node->value = value;
    return node;
}

TypedPtr ExprChecker::fold(TypedOp op, TypeId type, bool is_unsigned, const TypedPtr& left,
                           const TypedPtr& right, const Span& span) {
    bool divides = op == TypedOp::divide || op == TypedOp::remainder;
    if (divides && is_zero(right))
        return refuse(Tag::D_DIV_ZERO, span, messages::division_by_zero());
    if (left->is_constant() && right->is_constant())
        return make_folded(compute(op, is_unsigned, left->value, right->value), type, span);
    auto node = std::make_shared<TypedExpr>();
    node->op = op;
    node->type = type;
    node->span = span;
    node->is_unsigned = is_unsigned;
    node->operands = {left, right};
    return node;
}

TypedPtr ExprChecker::check_node(const Expr& expression, const Binary& node) {
    if (node.op == BinaryOp::comma) {
        TypedPtr first = check_effect(*node.left), second = check(*node.right);
        if (!first || !second)
            return nullptr;
        return make(TypedOp::sequence, second->type, expression.span, {first, second});
    }
    TypedPtr left = check(*node.left), right = check(*node.right);
    if (!left || !right)
        return nullptr;
    return binary({node.op}, left, right, expression.span);
}

std::string ExprChecker::Written::text() const {
    return std::string(operator_text(op)) + (is_assignment ? "=" : "");
}

TypedPtr ExprChecker::incompatible(const Written& op, const TypedPtr& left, const TypedPtr& right,
                                   const Span& span) {
    return refuse(Tag::D_OP_INCOMPAT, span,
                  messages::incompatible(type_name(left), op.text(), type_name(right)));
}

TypedPtr ExprChecker::binary(const Written& written, TypedPtr left, TypedPtr right,
                             const Span& span) {
    BinaryOp op = written.op;
    for (const TypedPtr& side : {left, right}) {
        if (types_.is_float(side->type))
            return refuse(Tag::D_OP_INT, side->span, messages::requires_integral(written.text()),
                          "D computes with integers only");
        if (types_.is_dynamic(side->type))
            return refuse(Tag::D_OP_DYN, side->span, messages::dynamic_operand(written.text()));
    }
    if (op >= BinaryOp::less && op <= BinaryOp::not_equal)
        return compare(op, left, right, span);
    if (op >= BinaryOp::logical_and && op <= BinaryOp::logical_or)
        return logical(op, left, right, span);
    if (op == BinaryOp::add || op == BinaryOp::subtract) {
        // Where none can be a pointer, a message calls a string what it is.
        bool texts =
            types_.is_string(right->type) &&
            (written.is_assignment || (op == BinaryOp::add && types_.is_string(left->type)));
        TypedPtr a = texts ? decay(left) : as_pointer(left);
        TypedPtr b = texts ? right : as_pointer(right);
        if (types_.is_pointer(a->type) || types_.is_pointer(b->type))
            return pointer_arithmetic(written, a, b, span);
    }
    return arithmetic(written, decay(left), decay(right), span);
}

/// A bit-field narrower than int becomes an int where it is computed with: all its values fit.
TypedPtr ExprChecker::promote_bits(TypedPtr value) const {
    constexpr unsigned kIntBits = 32;
    if (value->bits.width == 0 || value->bits.width >= kIntBits)
        return value;
    return make(TypedOp::reinterpret, types_.int_type(), value->span, {value});
}

TypedPtr ExprChecker::arithmetic(const Written& written, TypedPtr left, TypedPtr right,
                                 const Span& span) {
    BinaryOp op = written.op;
    for (const TypedPtr& side : {left, right})
        if (!types_.is_integer(side->type)) {
            if (op == BinaryOp::add || op == BinaryOp::subtract)
                return incompatible(written, left, right, span);
            std::string hint = "one operand is \"" + type_name(side) + "\"";
            if (op == BinaryOp::multiply || op == BinaryOp::divide)
                return refuse(Tag::D_OP_ARITH, span, messages::requires_arithmetic(written.text()),
                              std::move(hint));
            return refuse(Tag::D_OP_INT, span, messages::requires_integral(written.text()),
                          std::move(hint));
        }
    left = promote_bits(left);
    right = promote_bits(right);
    bool shift = op == BinaryOp::shift_left || op == BinaryOp::shift_right;
    TypeId type =
        shift ? types_.promoted(left->type) : types_.usual_arithmetic(left->type, right->type);
    left = convert(left, type);
    if (!shift)
        right = convert(right, type);
    return fold(typed_op(op), type, !types_.is_signed(type), left, right, span);
}

TypedPtr ExprChecker::pointer_arithmetic(const Written& written, TypedPtr left, TypedPtr right,
                                         const Span& span) {
    BinaryOp op = written.op;
    bool left_pointer = types_.is_pointer(left->type),
         right_pointer = types_.is_pointer(right->type);
    TypeId type = left_pointer ? left->type : right->type;
    TypeId target = types_.complete(types_.element_of(type));
    if (types_.is_void(target) || types_.is_function(target))
        return written.is_assignment
                   ? refuse(Tag::D_OP_VFPTR, span,
                            messages::assignment_requires_size(written.text()),
                            "\"" + types_.name(type) + "\" points to nothing of a size")
                   : incompatible(written, left, right, span);
    auto bytes = types_.size_of(target);
    if (!bytes || *bytes == 0)
        return refuse_incomplete(Tag::D_OP_INCOMPLETE, span, target,
                                 messages::forward_declared(written.text(), types_.name(target)));
    TypeId word = types_.long_type();
    TypedPtr scale = make_constant(*bytes, word, span);
    if (left_pointer && right_pointer) {
        if (op != BinaryOp::subtract || !types_.pointers_compatible(left->type, right->type))
            return incompatible(written, left, right, span);
        TypedPtr gap = fold(TypedOp::subtract, word, false, left, right, span);
        return *bytes == 1 ? gap : fold(TypedOp::divide, word, false, gap, scale, span);
    }
    TypedPtr index = left_pointer ? right : left, pointer = left_pointer ? left : right;
    if (!types_.is_integer(index->type) || (op == BinaryOp::subtract && !left_pointer))
        return incompatible(written, left, right, span);
    index = convert(index, word);
    if (*bytes != 1)
        index = fold(TypedOp::multiply, word, false, index, scale, span);
    if (op == BinaryOp::add && index->is_constant()) {
        TypedPtr sum = pointer->is_constant()
                           ? make_constant(pointer->value + index->value, type, span)
                           : add_offset(pointer, index->value);
        return make(TypedOp::reinterpret, type, span, {sum});
    }
    return fold(typed_op(op), type, true, pointer, index, span);
}

TypedPtr ExprChecker::compare(BinaryOp op, TypedPtr left, TypedPtr right, const Span& span) {
    TypeId result = types_.int_type();
    bool strings = types_.is_string(left->type) || types_.is_string(right->type) ||
                   (types_.is_char_array(left->type) && types_.is_char_array(right->type));
    if (strings && types_.is_string_like(left->type) && types_.is_string_like(right->type)) {
        if (left->op == TypedOp::string && right->op == TypedOp::string) {
            const uint64_t most = types_.string_bytes(); // as the engine compares them
            int order = left->text.compare(0, most, right->text, 0, most);
            uint64_t sign = static_cast<uint64_t>(static_cast<int64_t>((order > 0) - (order < 0)));
            return make_constant(compute(typed_op(op), false, sign, 0), result, span);
        }
        auto node = std::make_shared<TypedExpr>();
        node->op = typed_op(op);
        node->type = result;
        node->span = span;
        node->is_strings = true;
        node->operands = {left, right};
        return node;
    }
    // A string compared with NULL: whether there is one.
    if ((types_.is_string(left->type) && is_zero(right)) ||
        (types_.is_string(right->type) && is_zero(left)))
        return fold(typed_op(op), result, true, left, right, span);
    left = decay(left);
    right = decay(right);
    if (types_.is_integer(left->type) && types_.is_integer(right->type)) {
        left = promote_bits(left);
        right = promote_bits(right);
        TypeId type = types_.usual_arithmetic(left->type, right->type);
        return fold(typed_op(op), result, !types_.is_signed(type), convert(left, type),
                    convert(right, type), span);
    }
    bool left_pointer = types_.is_pointer(left->type),
         right_pointer = types_.is_pointer(right->type);
    bool fits = left_pointer && right_pointer
                    ? types_.pointers_compatible(left->type, right->type)
                    : (left_pointer && types_.is_integer(right->type)) ||
                          (right_pointer && types_.is_integer(left->type));
    if (!fits)
        return incompatible({op}, left, right, span);
    return fold(typed_op(op), result, true, left, right, span);
}

TypedPtr ExprChecker::logical(BinaryOp op, TypedPtr left, TypedPtr right, const Span& span) {
    left = decay(left);
    right = decay(right);
    for (const TypedPtr& side : {left, right})
        if (!types_.is_scalar(side->type))
            return refuse(Tag::D_OP_SCALAR, span, messages::requires_scalar(operator_text(op)),
                          "one operand is \"" + type_name(side) + "\"");
    return fold(typed_op(op), types_.int_type(), false, left, right, span);
}

TypedPtr ExprChecker::check_node(const Expr& expression, const Unary& node) {
    const Span& span = expression.span;
    if (node.op >= UnaryOp::pre_increment)
        return check_step(expression, node, true);
    if (!define_operand(*node.operand))
        return nullptr;
    if (node.op == UnaryOp::address_of)
        return check_address_of(expression, *node.operand);
    TypedPtr value = check(*node.operand);
    if (!value)
        return nullptr;
    if (node.op == UnaryOp::dereference)
        return dereference(as_pointer(value), span);
    if (node.op == UnaryOp::logical_not) {
        value = decay(value);
        if (!types_.is_scalar(value->type) || types_.is_float(value->type))
            return refuse(Tag::D_OP_SCALAR, span, messages::requires_scalar_operand("!"),
                          "the operand is \"" + type_name(value) + "\"");
        if (value->is_constant())
            return make_constant(!value->value, types_.int_type(), span);
        return make(TypedOp::logical_not, types_.int_type(), span, {value});
    }
    if (!types_.is_integer(value->type)) {
        std::string hint = "the operand is \"" + type_name(value) + "\"";
        if (node.op == UnaryOp::complement)
            return refuse(Tag::D_OP_INT, span, messages::requires_integral_operand("~"),
                          std::move(hint));
        return refuse(Tag::D_OP_ARITH, span,
                      messages::requires_arithmetic_operand(node.op == UnaryOp::minus ? "-" : "+"),
                      std::move(hint));
    }
    value = promote_bits(value);
    TypeId type = types_.promoted(value->type);
    value = convert(value, type);
    if (node.op == UnaryOp::plus) // no lvalue any more
        return value->is_constant() ? value : make(TypedOp::reinterpret, type, span, {value});
    if (value->is_constant())
        return make_folded(node.op == UnaryOp::minus ? 0 - value->value : ~value->value, type,
                           span);
    return make(node.op == UnaryOp::minus ? TypedOp::negate : TypedOp::complement, type, span,
                {value});
}

TypedPtr ExprChecker::check_node(const Expr& expression, const Conditional& node) {
    TypedPtr condition = decay(check(*node.condition));
    TypedPtr left = check(*node.if_true), right = check(*node.if_false);
    if (!condition || !left || !right)
        return nullptr;
    if (!types_.is_scalar(condition->type))
        return refuse(Tag::D_OP_SCALAR, expression.span, messages::condition_requires_scalar(),
                      "the condition is \"" + type_name(condition) + "\"");
    if (left->op == TypedOp::action || right->op == TypedOp::action)
        return refuse(Tag::D_OP_ACT, expression.span, messages::action_in_condition(),
                      "write two clauses with opposite predicates");
    bool strings = types_.is_string(left->type) || types_.is_string(right->type) ||
                   types_.is_char_array(left->type);
    TypeId type = TypeId::none;
    if (types_.is_integer(left->type) && types_.is_integer(right->type)) {
        left = promote_bits(left);
        right = promote_bits(right);
        type = types_.usual_arithmetic(left->type, right->type);
    } else if (strings && types_.is_string_like(left->type) && types_.is_string_like(right->type)) {
        type = types_.string_type();
    } else if ((types_.is_string(left->type) && is_zero(right)) ||
               (types_.is_string(right->type) && is_zero(left))) {
        type = types_.string_type();
    } else if (types_.is_struct_or_union(left->type) &&
               types_.compatible(left->type, right->type)) {
        type = left->type;
    } else {
        left = decay(left);
        right = decay(right);
        bool left_pointer = types_.is_pointer(left->type);
        if (left_pointer && (is_zero(right) || types_.pointers_compatible(left->type, right->type)))
            type = left->type;
        else if (types_.is_pointer(right->type) && is_zero(left))
            type = right->type;
    }
    if (type == TypeId::none)
        return refuse(Tag::D_OP_INCOMPAT, expression.span, messages::condition_incompatible(),
                      "they are \"" + type_name(left) + "\" and \"" + type_name(right) + "\"");
    left = is_zero(left) && types_.is_string(type) ? left : convert(left, type);
    right = is_zero(right) && types_.is_string(type) ? right : convert(right, type);
    if (condition->is_constant()) {
        TypedPtr chosen = condition->value ? left : right;
        // What was a bit-field is a value now.
        return chosen->is_bitfield
                   ? make(TypedOp::reinterpret, type, expression.span, {std::move(chosen)})
                   : chosen;
    }
    return make(TypedOp::conditional, type, expression.span, {condition, left, right});
}

} // namespace daybreak::compiler
