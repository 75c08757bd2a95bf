// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/difo_builder.hpp"

namespace daybreak::compiler {

namespace {

/// 16-bit indexes, and 256 KiB for all tables together: this many instructions leave room.
constexpr size_t kInstructionsMax = 32768;
constexpr size_t kTableBytesMax = 60000;

uint8_t ckind_of(TypeKind kind) {
    switch (kind) {
    case TypeKind::integer:
        return DIF_CK_INTEGER;
    case TypeKind::floating:
        return DIF_CK_FLOAT;
    case TypeKind::pointer:
        return DIF_CK_POINTER;
    case TypeKind::array:
        return DIF_CK_ARRAY;
    case TypeKind::function:
        return DIF_CK_FUNCTION;
    case TypeKind::struct_:
        return DIF_CK_STRUCT;
    case TypeKind::union_:
        return DIF_CK_UNION;
    case TypeKind::enum_:
        return DIF_CK_ENUM;
    case TypeKind::forward:
        return DIF_CK_FORWARD;
    default:
        return DIF_CK_UNKNOWN;
    }
}

uint8_t scope_of(VariableStorage storage) {
    switch (storage) {
    case VariableStorage::thread:
        return DIFV_SCOPE_THREAD;
    case VariableStorage::clause:
        return DIFV_SCOPE_LOCAL;
    default:
        return DIFV_SCOPE_GLOBAL;
    }
}

} // namespace

dif_type dif_type_of(const TypeTable& types, TypeId type) {
    dif_type result{};
    if (types.is_string(type)) {
        result.kind = DIF_TYPE_STRING;
        result.flags = DIF_TF_BYREF;
        result.size = static_cast<uint32_t>(types.string_bytes());
        return result;
    }
    result.kind = DIF_TYPE_CTF;
    result.ckind = ckind_of(types.kind(type));
    result.flags = types.is_by_reference(type) ? DIF_TF_BYREF : 0;
    result.size = static_cast<uint32_t>(types.size_of(type).value_or(0));
    return result;
}

void DifoBuilder::emit_word(uint32_t word) {
    if (out_.difo.text.size() >= kInstructionsMax) {
        overflowed_ = true;
        return;
    }
    auto index = static_cast<uint32_t>(out_.difo.text.size());
    bool moved = out_.lines.empty() || out_.lines.back().second.line != span_.line ||
                 out_.lines.back().second.column != span_.column ||
                 out_.lines.back().second.file != span_.file;
    if (span_.valid() && moved)
        out_.lines.emplace_back(index, span_);
    out_.difo.text.push_back(word);
}

DifoBuilder::Label DifoBuilder::new_label() {
    label_targets_.push_back(0);
    return label_targets_.size() - 1;
}

void DifoBuilder::branch(uint32_t op, Label label) {
    fixups_.emplace_back(out_.difo.text.size(), label);
    emit_word(DIF_INSTR_BRANCH(op, 0));
}

void DifoBuilder::bind(Label label) {
    label_targets_[label] = static_cast<uint32_t>(out_.difo.text.size());
}

void DifoBuilder::setx(uint64_t value, uint32_t rd) {
    auto [entry, inserted] =
        integers_.emplace(value, static_cast<uint32_t>(out_.difo.integers.size()));
    if (inserted) {
        if (out_.difo.integers.size() * sizeof(uint64_t) >= kTableBytesMax)
            overflowed_ = true;
        out_.difo.integers.push_back(value);
    }
    emit_index(DIF_OP_SETX, entry->second, rd);
}

void DifoBuilder::set_symbol(const std::string& name, uint64_t addend, uint32_t rd) {
    auto index = static_cast<uint32_t>(out_.difo.integers.size());
    auto [entry, inserted] = symbols_.emplace(std::pair(name, addend), index);
    if (inserted) {
        if (out_.difo.integers.size() * sizeof(uint64_t) >= kTableBytesMax)
            overflowed_ = true;
        out_.difo.integers.push_back(0);
        out_.difo.symbols.push_back({name, index, addend});
    }
    emit_index(DIF_OP_SETX, entry->second, rd);
}

void DifoBuilder::sets(const std::string& text, uint32_t rd) {
    std::string& table = out_.difo.strings;
    if (table.empty())
        table.assign(1, '\0');
    uint32_t offset = 0;
    if (!text.empty()) {
        auto [entry, inserted] = strings_.emplace(text, static_cast<uint32_t>(table.size()));
        if (inserted) {
            table += text;
            table += '\0';
            if (table.size() > kTableBytesMax)
                overflowed_ = true;
        }
        offset = entry->second;
    }
    emit_index(DIF_OP_SETS, offset, rd);
}

void DifoBuilder::use(const Variable& variable, uint16_t flags) {
    std::pair key{scope_of(variable.storage), variable.id};
    auto [entry, inserted] = variables_.emplace(key, out_.difo.variables.size());
    if (inserted) {
        formats::DifVariable listed;
        listed.name = variable.name;
        listed.id = variable.id;
        listed.kind = variable.is_array ? DIFV_KIND_ARRAY : DIFV_KIND_SCALAR;
        listed.scope = key.first;
        listed.type = dif_type_of(types_, variable.type);
        out_.difo.variables.push_back(std::move(listed));
    }
    out_.difo.variables[entry->second].flags |= flags;
}

GeneratedDifo DifoBuilder::finish(const dif_type& result) {
    for (const auto& [index, label] : fixups_)
        if (index < out_.difo.text.size())
            out_.difo.text[index] |= label_targets_[label] & 0xffffff;
    out_.difo.type = result;
    return std::move(out_);
}

} // namespace daybreak::compiler
