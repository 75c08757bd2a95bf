// SPDX-License-Identifier: Apache-2.0
//
// Variables, loads, conversions and arithmetic.
#include "compiler/codegen/generator_impl.hpp"

namespace daybreak::compiler {

Generator::Value Generator::variable(const TypedExpr& node) {
    Value result = allocate();
    builder_.use(*node.variable, DIFV_F_REF);
    uint32_t op = node.variable->storage == VariableStorage::thread   ? DIF_OP_LDTS
                  : node.variable->storage == VariableStorage::clause ? DIF_OP_LDLS
                                                                      : DIF_OP_LDGS;
    builder_.emit_index(op, node.variable->id, result.reg);
    return result;
}

Generator::Value Generator::builtin_array(const TypedExpr& node) {
    Value index = value(*node.operands[0]);
    Value result = reuse(index);
    builder_.use(*node.variable, DIFV_F_REF);
    builder_.emit(DIF_OP_LDGA, static_cast<uint32_t>(node.value), index.reg, result.reg);
    return result;
}

Generator::Value Generator::load(const TypedExpr& node) {
    Value address = spelled_out(*node.operands[0]);
    if (types_.is_by_reference(node.type))
        return address;
    bool is_signed = types_.is_signed(node.type);
    uint32_t op = DIF_OP_LDX;
    switch (types_.size_of(node.type).value_or(8)) {
    case 1:
        op = is_signed ? DIF_OP_LDSB : DIF_OP_LDUB;
        break;
    case 2:
        op = is_signed ? DIF_OP_LDSH : DIF_OP_LDUH;
        break;
    case 4:
        op = is_signed ? DIF_OP_LDSW : DIF_OP_LDUW;
        break;
    default:
        break;
    }
    Value result = reuse(address);
    builder_.emit(op, address.reg, 0, result.reg);
    return result;
}

/// Extends the low bytes of a register as a type says.
Generator::Value Generator::extend(Value from, TypeId type) {
    uint64_t bytes = types_.size_of(type).value_or(8);
    if (bytes >= 8)
        return from;
    bool is_signed = types_.is_signed(type);
    Value number = constant(is_signed ? 64 - 8 * bytes : (1ull << (8 * bytes)) - 1);
    Value result = from.owned ? from : allocate();
    if (is_signed) {
        builder_.emit(DIF_OP_SLL, from.reg, number.reg, result.reg);
        builder_.emit(DIF_OP_SRA, result.reg, number.reg, result.reg);
    } else {
        builder_.emit(DIF_OP_AND, from.reg, number.reg, result.reg);
    }
    release(number);
    return result;
}

Generator::Value Generator::convert(const TypedExpr& node) {
    const TypedExpr& operand = *node.operands[0];
    uint64_t from_bytes = types_.size_of(operand.type).value_or(8);
    uint64_t to_bytes = types_.size_of(node.type).value_or(8);
    bool narrows = to_bytes <= from_bytes;
    return extend(narrows ? raw_value(operand) : value(operand), node.type);
}

Generator::Value Generator::negate(const TypedExpr& node) {
    Value operand = raw_value(*node.operands[0]);
    Value result = reuse(operand);
    if (node.op == TypedOp::negate)
        builder_.emit(DIF_OP_SUB, DIF_REG_R0, operand.reg, result.reg);
    else
        builder_.emit(DIF_OP_NOT, operand.reg, 0, result.reg);
    return result;
}

/// Computes both operands; the one that needs more registers first when the order cannot be seen.
std::pair<Generator::Value, Generator::Value> Generator::pair(const TypedExpr& left,
                                                              const TypedExpr& right, bool raw) {
    auto compute = [&](const TypedExpr& node) { return raw ? raw_value(node) : value(node); };
    if (need(right) > need(left) && is_pure(left) && is_pure(right)) {
        Value second = compute(right);
        Value first = compute(left);
        return {first, second};
    }
    Value first = compute(left);
    Value second = compute(right);
    return {first, second};
}

Generator::Value Generator::arithmetic(const TypedExpr& node) {
    uint32_t op = DIF_OP_ADD;
    bool raw = true; // the low bytes of the result depend on the low bytes of the operands only
    switch (node.op) {
    case TypedOp::multiply:
        op = DIF_OP_MUL;
        break;
    case TypedOp::subtract:
        op = DIF_OP_SUB;
        break;
    case TypedOp::bit_and:
        op = DIF_OP_AND;
        break;
    case TypedOp::bit_or:
        op = DIF_OP_OR;
        break;
    case TypedOp::bit_xor:
        op = DIF_OP_XOR;
        break;
    case TypedOp::shift_left:
        op = DIF_OP_SLL;
        break;
    case TypedOp::divide:
        op = node.is_unsigned ? DIF_OP_UDIV : DIF_OP_SDIV;
        raw = false;
        break;
    case TypedOp::remainder:
        op = node.is_unsigned ? DIF_OP_UREM : DIF_OP_SREM;
        raw = false;
        break;
    case TypedOp::shift_right:
        op = node.is_unsigned ? DIF_OP_SRL : DIF_OP_SRA;
        raw = false;
        break;
    default:
        break;
    }
    auto [left, right] = pair(*node.operands[0], *node.operands[1], raw);
    Value result = reuse(left, right);
    builder_.emit(op, left.reg, right.reg, result.reg);
    return result;
}

} // namespace daybreak::compiler
