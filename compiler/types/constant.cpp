// SPDX-License-Identifier: Apache-2.0
//
// Integer constant expressions: dimensions, widths of bit-fields, enumerators.
#include "compiler/types/declare.hpp"

namespace daybreak::compiler {

namespace {

/// Computes in 64 bits, wrapping around as the engine does; nothing for a division by zero.
std::optional<int64_t> apply(BinaryOp op, int64_t left, int64_t right) {
    auto a = static_cast<uint64_t>(left), b = static_cast<uint64_t>(right);
    switch (op) {
    case BinaryOp::multiply:
        return static_cast<int64_t>(a * b);
    case BinaryOp::add:
        return static_cast<int64_t>(a + b);
    case BinaryOp::subtract:
        return static_cast<int64_t>(a - b);
    case BinaryOp::divide:
    case BinaryOp::remainder:
        // INT64_MIN / -1 does not fit.
        if (right == 0 || (right == -1 && left == INT64_MIN))
            return std::nullopt;
        return op == BinaryOp::divide ? left / right : left % right;
    case BinaryOp::shift_left:
        return static_cast<int64_t>(a << (b & 63));
    case BinaryOp::shift_right:
        return left >> (b & 63);
    case BinaryOp::less:
        return left < right;
    case BinaryOp::less_equal:
        return left <= right;
    case BinaryOp::greater:
        return left > right;
    case BinaryOp::greater_equal:
        return left >= right;
    case BinaryOp::equal:
        return left == right;
    case BinaryOp::not_equal:
        return left != right;
    case BinaryOp::bit_and:
        return left & right;
    case BinaryOp::bit_xor:
        return left ^ right;
    case BinaryOp::bit_or:
        return left | right;
    case BinaryOp::logical_and:
        return left && right;
    case BinaryOp::logical_xor:
        return !left != !right;
    case BinaryOp::logical_or:
        return left || right;
    case BinaryOp::comma:
        return std::nullopt;
    }
    return std::nullopt;
}

std::optional<int64_t> apply(UnaryOp op, int64_t operand) {
    switch (op) {
    case UnaryOp::plus:
        return operand;
    case UnaryOp::minus:
        return static_cast<int64_t>(-static_cast<uint64_t>(operand));
    case UnaryOp::complement:
        return ~operand;
    case UnaryOp::logical_not:
        return !operand;
    default:
        return std::nullopt;
    }
}

/// Cuts a value to an integer type, as a cast does.
int64_t truncated(int64_t value, uint64_t bytes, bool is_signed) {
    if (bytes >= 8)
        return value;
    unsigned shift = static_cast<unsigned>(64 - bytes * 8);
    auto shifted = static_cast<uint64_t>(value) << shift;
    return is_signed ? static_cast<int64_t>(shifted) >> shift
                     : static_cast<int64_t>(shifted >> shift);
}

} // namespace

std::optional<int64_t> Declarer::constant(const Expr& expression) {
    if (const auto* node = expression.get_if<IntegerLiteral>())
        return static_cast<int64_t>(node->value);
    if (const auto* node = expression.get_if<Unary>()) {
        auto operand = constant(*node->operand);
        return operand ? apply(node->op, *operand) : std::nullopt;
    }
    if (const auto* node = expression.get_if<Binary>()) {
        auto left = constant(*node->left);
        auto right = left ? constant(*node->right) : std::nullopt;
        return right ? apply(node->op, *left, *right) : std::nullopt;
    }
    if (const auto* node = expression.get_if<Conditional>()) {
        auto condition = constant(*node->condition);
        if (!condition)
            return std::nullopt;
        return constant(*condition ? *node->if_true : *node->if_false);
    }
    if (const auto* node = expression.get_if<Cast>()) {
        TypeId type = type_of(*node->type);
        auto operand = types_.is_integer(type) ? constant(*node->operand) : std::nullopt;
        if (!operand)
            return std::nullopt;
        return truncated(*operand, *types_.size_of(type), types_.is_signed(type));
    }
    if (const auto* node = expression.get_if<SizeofType>()) {
        auto size = types_.size_of(types_.complete(type_of(*node->type)));
        return size ? std::optional<int64_t>(static_cast<int64_t>(*size)) : std::nullopt;
    }
    if (const auto* node = expression.get_if<Offsetof>()) {
        auto member = types_.find_member(type_of(*node->type), node->member);
        if (!member || member->bitfield_bits)
            return std::nullopt;
        return static_cast<int64_t>(member->offset_bits / 8);
    }
    const auto* node = expression.get_if<Identifier>();
    if (node && node->scope == VariableScope::global && open_enumerators_)
        for (const TypeEnumerator& enumerator : *open_enumerators_)
            if (enumerator.name == node->name)
                return enumerator.value;
    if (node && node->scope == VariableScope::global)
        if (auto own = types_.find_own_enumerator(node->name))
            return own->value;
    if (hook_)
        if (auto value = hook_(expression))
            return value;
    if (node && node->scope == VariableScope::global)
        if (auto enumerator = types_.find_enumerator(node->name))
            return enumerator->value;
    return std::nullopt;
}

} // namespace daybreak::compiler
