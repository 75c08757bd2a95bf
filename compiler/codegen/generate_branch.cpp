// SPDX-License-Identifier: Apache-2.0
//
// Conditions: comparisons and logic as branches, ?:, and how an object returns.
#include "compiler/codegen/generator_impl.hpp"

namespace daybreak::compiler {

bool Generator::is_condition(const TypedExpr& node) {
    return node.op == TypedOp::logical_not ||
           (node.op >= TypedOp::less && node.op <= TypedOp::logical_or);
}

namespace {

uint32_t branch_op(TypedOp op, bool is_unsigned) {
    switch (op) {
    case TypedOp::less:
        return is_unsigned ? DIF_OP_BLU : DIF_OP_BL;
    case TypedOp::less_equal:
        return is_unsigned ? DIF_OP_BLEU : DIF_OP_BLE;
    case TypedOp::greater:
        return is_unsigned ? DIF_OP_BGU : DIF_OP_BG;
    case TypedOp::greater_equal:
        return is_unsigned ? DIF_OP_BGEU : DIF_OP_BGE;
    case TypedOp::equal:
        return DIF_OP_BE;
    default:
        return DIF_OP_BNE;
    }
}

TypedOp inverse(TypedOp op) {
    switch (op) {
    case TypedOp::less:
        return TypedOp::greater_equal;
    case TypedOp::less_equal:
        return TypedOp::greater;
    case TypedOp::greater:
        return TypedOp::less_equal;
    case TypedOp::greater_equal:
        return TypedOp::less;
    case TypedOp::equal:
        return TypedOp::not_equal;
    default:
        return TypedOp::equal;
    }
}

} // namespace

void Generator::branch_compare(const TypedExpr& node, DifoBuilder::Label label, bool jump_if) {
    const TypedExpr& left = *node.operands[0];
    const TypedExpr& right = *node.operands[1];
    if (!node.is_strings && right.is_constant() && right.value == 0) {
        Value operand = value(left);
        builder_.emit(DIF_OP_TST, operand.reg, 0, 0);
        release(operand);
    } else {
        auto [first, second] = pair(left, right, false);
        builder_.emit(node.is_strings ? DIF_OP_SCMP : DIF_OP_CMP, first.reg, second.reg, 0);
        release(first);
        release(second);
    }
    builder_.branch(branch_op(jump_if ? node.op : inverse(node.op), node.is_unsigned), label);
}

/// Jumps to `label` if the truth of the node is `jump_if`, and goes on otherwise.
void Generator::branch(const TypedExpr& node, DifoBuilder::Label label, bool jump_if) {
    if (builder_.overflowed() || out_of_registers_)
        return;
    builder_.set_span(node.span);
    switch (node.op) {
    case TypedOp::constant:
        if ((node.value != 0) == jump_if)
            builder_.branch(DIF_OP_BA, label);
        return;
    case TypedOp::logical_not:
        return branch(*node.operands[0], label, !jump_if);
    case TypedOp::logical_and:
    case TypedOp::logical_or: {
        bool decides = node.op == TypedOp::logical_or; // the value that makes the other not matter
        if (jump_if == decides) {
            branch(*node.operands[0], label, jump_if);
            branch(*node.operands[1], label, jump_if);
            return;
        }
        DifoBuilder::Label skip = builder_.new_label();
        branch(*node.operands[0], skip, decides);
        branch(*node.operands[1], label, jump_if);
        builder_.bind(skip);
        return;
    }
    case TypedOp::logical_xor: {
        Value left = truth(*node.operands[0]), right = truth(*node.operands[1]);
        builder_.emit(DIF_OP_CMP, left.reg, right.reg, 0);
        release(left);
        release(right);
        builder_.branch(jump_if ? DIF_OP_BNE : DIF_OP_BE, label);
        return;
    }
    default:
        break;
    }
    if (is_condition(node))
        return branch_compare(node, label, jump_if);
    Value operand = value(node);
    builder_.emit(DIF_OP_TST, operand.reg, 0, 0);
    release(operand);
    builder_.branch(jump_if ? DIF_OP_BNE : DIF_OP_BE, label);
}

/// Returns 1 or 0.
Generator::Value Generator::truth(const TypedExpr& node) {
    DifoBuilder::Label no = builder_.new_label(), end = builder_.new_label();
    branch(node, no, false);
    Value result = allocate();
    builder_.setx(1, result.reg);
    builder_.branch(DIF_OP_BA, end);
    builder_.bind(no);
    builder_.emit(DIF_OP_MOV, DIF_REG_R0, 0, result.reg);
    builder_.bind(end);
    return result;
}

Generator::Value Generator::conditional(const TypedExpr& node) {
    DifoBuilder::Label otherwise = builder_.new_label(), end = builder_.new_label();
    branch(*node.operands[0], otherwise, false);
    Value first = value(*node.operands[1]);
    if (!first.owned) {
        Value own = allocate();
        builder_.emit(DIF_OP_MOV, first.reg, 0, own.reg);
        first = own;
    }
    builder_.branch(DIF_OP_BA, end);
    builder_.bind(otherwise);
    // The register is free while the other value is computed: it will mostly land there by itself.
    release(first);
    Value second = value(*node.operands[2]);
    if (second.reg != first.reg || !second.owned)
        builder_.emit(DIF_OP_MOV, second.reg, 0, first.reg);
    release(second);
    used_ |= 1u << first.reg;
    builder_.bind(end);
    return first;
}

void Generator::return_value(const TypedExpr& node, ValueUse use) {
    const TypedExpr* inner = &node;
    if (use == ValueUse::recorded)
        while (inner->op == TypedOp::convert && inner->type == node.type &&
               types_.size_of(inner->operands[0]->type).value_or(0) >=
                   types_.size_of(node.type).value_or(8))
            inner = inner->operands[0].get();
    if (inner->op == TypedOp::conditional) {
        DifoBuilder::Label otherwise = builder_.new_label();
        branch(*inner->operands[0], otherwise, false);
        return_value(*inner->operands[1], use);
        builder_.bind(otherwise);
        return return_value(*inner->operands[2], use);
    }
    if (is_condition(*inner)) {
        DifoBuilder::Label no = builder_.new_label();
        branch(*inner, no, false);
        builder_.setx(1, 1);
        builder_.emit(DIF_OP_RET, 0, 0, 1);
        builder_.bind(no);
        builder_.emit(DIF_OP_RET, 0, 0, DIF_REG_R0);
        return;
    }
    Value result = use == ValueUse::recorded ? raw_value(*inner) : value(*inner);
    builder_.emit(DIF_OP_RET, 0, 0, result.reg);
    release(result);
}

} // namespace daybreak::compiler
