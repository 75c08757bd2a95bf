// SPDX-License-Identifier: Apache-2.0
//
// What goes over the tuple stack: subroutine calls, associative arrays; and stores.
#include "compiler/codegen/generator_impl.hpp"

#include <algorithm>

namespace daybreak::compiler {

bool Generator::uses_tuple(const TypedExpr& node) {
    auto [known, inserted] = tuple_.emplace(&node, false);
    if (!inserted)
        return known->second;
    bool copies = node.op == TypedOp::store && types_.is_string(node.type);
    bool uses = copies || node.op == TypedOp::call || node.op == TypedOp::element ||
                (node.op == TypedOp::assign && node.operands.size() > 1);
    for (const TypedPtr& operand : node.operands)
        uses = uses || uses_tuple(*operand);
    return tuple_[&node] = uses;
}

/// The size of a string or an integer is only for other engines; ours knows it.
void Generator::push(const TypedExpr& node, Value operand, bool with_size) {
    Value bytes;
    bool is_string = types_.is_string(node.type), by_reference = types_.is_by_reference(node.type);
    if (with_size || (by_reference && !is_string))
        bytes = constant(is_string ? types_.string_bytes() : types_.size_of(node.type).value_or(8));
    builder_.emit(by_reference ? DIF_OP_PUSHTR : DIF_OP_PUSHTV,
                  is_string ? DIF_TYPE_STRING : DIF_TYPE_CTF, bytes.reg, operand.reg);
    release(bytes);
    release(operand);
}

/// Whether all operands can be held at once, and the size of one.
bool Generator::fits_registers(const std::vector<TypedPtr>& operands, size_t count) {
    unsigned free = 0, most = static_cast<unsigned>(count) + 1;
    for (uint32_t reg = 1; reg < DIF_DIR_NREGS; reg++)
        free += (used_ & (1u << reg)) == 0;
    for (size_t i = 0; i < count; i++)
        most = std::max(most, static_cast<unsigned>(i) + need(*operands[i]) + 1);
    return most <= free;
}

/// Leaves the first `count` operands, and nothing else, on the tuple stack.
void Generator::push_all(const std::vector<TypedPtr>& operands, size_t count) {
    // As other D compilers do, so that faults are where people know them: all operands, then the
    // pushes, each with a size.  With many operands one after the other.
    bool all = fits_registers(operands, count);
    size_t early = all ? count : 0; // these are computed before the first push
    for (size_t i = 0; i < count; i++)
        if (uses_tuple(*operands[i]))
            early = std::max(early, i + 1);
    std::vector<Value> values;
    for (size_t i = 0; i < early; i++)
        values.push_back(all ? spelled_out(*operands[i]) : value(*operands[i]));
    if (all || tuple_used_)
        builder_.emit(DIF_OP_FLUSHTS, 0, 0, 0);
    tuple_used_ = true;
    for (size_t i = 0; i < count; i++)
        push(*operands[i], i < early ? values[i] : value(*operands[i]), all);
}

Generator::Value Generator::element(const TypedExpr& node) {
    push_all(node.operands, node.operands.size());
    Value result = allocate();
    builder_.use(*node.variable, DIFV_F_REF);
    bool thread = node.variable->storage == VariableStorage::thread;
    builder_.emit_index(thread ? DIF_OP_LDTAA : DIF_OP_LDGAA, node.variable->id, result.reg);
    return result;
}

Generator::Value Generator::assign(const TypedExpr& node) {
    const Variable& variable = *node.variable;
    Value result = value(*node.operands.back());
    bool thread = variable.storage == VariableStorage::thread;
    uint32_t op = thread                                        ? DIF_OP_STTS
                  : variable.storage == VariableStorage::clause ? DIF_OP_STLS
                                                                : DIF_OP_STGS;
    if (node.operands.size() > 1) {
        push_all(node.operands, node.operands.size() - 1);
        op = thread ? DIF_OP_STTAA : DIF_OP_STGAA;
    }
    builder_.use(variable, DIFV_F_MOD);
    builder_.emit_index(op, variable.id, result.reg);
    return result;
}

Generator::Value Generator::store(const TypedExpr& node) {
    auto [address, result] = pair(*node.operands[0], *node.operands[1], false);
    if (types_.is_by_reference(node.type)) {
        store_data(node, address, result);
        release(address);
        return result;
    }
    uint32_t op = DIF_OP_STX;
    switch (types_.size_of(node.type).value_or(8)) {
    case 1:
        op = DIF_OP_STB;
        break;
    case 2:
        op = DIF_OP_STH;
        break;
    case 4:
        op = DIF_OP_STW;
        break;
    default:
        break;
    }
    builder_.emit(op, result.reg, 0, address.reg);
    release(address);
    return result;
}

/// Copies what is by reference: a string as far as it goes, anything else by its size.
void Generator::store_data(const TypedExpr& node, Value address, Value data) {
    Value bytes;
    if (types_.is_string(node.type)) {
        if (tuple_used_)
            builder_.emit(DIF_OP_FLUSHTS, 0, 0, 0);
        tuple_used_ = true;
        push(*node.operands[1], {data.reg, false}, false);
        bytes = allocate();
        builder_.emit_index(DIF_OP_CALL, DIF_SUBR_STRLEN, bytes.reg);
        Value one = constant(1);
        builder_.emit(DIF_OP_ADD, bytes.reg, one.reg, bytes.reg);
        release(one);
        // A string that fills its room has no NUL: what lies after is another member's.
        Value room = constant(types_.string_bytes());
        DifoBuilder::Label fits = builder_.new_label();
        builder_.emit(DIF_OP_CMP, bytes.reg, room.reg, 0);
        builder_.branch(DIF_OP_BLE, fits);
        builder_.emit(DIF_OP_MOV, room.reg, 0, bytes.reg);
        builder_.bind(fits);
        release(room);
    } else {
        bytes = constant(types_.size_of(node.type).value_or(0));
    }
    builder_.emit(DIF_OP_COPYS, data.reg, bytes.reg, address.reg);
    release(bytes);
}

/// Returns where the data of a variable lies, or zeroed scratch memory when it has none yet.
Generator::Value Generator::fault_in(const TypedExpr& node) {
    Value data = value(*node.operands[0]);
    DifoBuilder::Label there = builder_.new_label();
    builder_.emit(DIF_OP_TST, data.reg, 0, 0);
    builder_.branch(DIF_OP_BNE, there);
    builder_.setx(types_.size_of(node.type).value_or(0), data.reg);
    builder_.emit(DIF_OP_ALLOCS, data.reg, 0, data.reg);
    builder_.bind(there);
    return data;
}

Generator::Value Generator::call(const TypedExpr& node) {
    push_all(node.operands, node.operands.size());
    Value result = allocate();
    builder_.emit_index(DIF_OP_CALL, static_cast<uint32_t>(node.value), result.reg);
    return result;
}

} // namespace daybreak::compiler
