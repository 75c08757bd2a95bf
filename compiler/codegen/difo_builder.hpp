// SPDX-License-Identifier: Apache-2.0
//
// Building one DIF object: instructions with labels, the tables beside them, the line table.
#pragma once

#include "compiler/sema/ir.hpp"
#include "formats/dof/dof_program.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace daybreak::compiler {

/// A finished object, and from which instruction on the text came from where.
struct GeneratedDifo {
    formats::Difo difo;
    std::vector<std::pair<uint32_t, Span>> lines;
};

/// Returns how DIF describes a value of a type.  A string's size is the one of option strsize.
dif_type dif_type_of(const TypeTable& types, TypeId type);

class DifoBuilder {
public:
    using Label = size_t;

    explicit DifoBuilder(const TypeTable& types) : types_(types) {}

    void set_span(const Span& span) { span_ = span; }
    const Span& span() const { return span_; }

    void emit(uint32_t op, uint32_t r1, uint32_t r2, uint32_t rd) {
        emit_word(DIF_INSTR_FMT(op, r1, r2, rd));
    }
    void emit_index(uint32_t op, uint32_t index, uint32_t rd) {
        emit_word(DIF_INSTR_INDEX(op, index, rd));
    }
    Label new_label();
    void branch(uint32_t op, Label label);
    void bind(Label label);

    void setx(uint64_t value, uint32_t rd);
    /// The address of a kernel symbol, "name" or "module`name", where the program is loaded.
    void set_symbol(const std::string& name, uint64_t addend, uint32_t rd);
    void sets(const std::string& text, uint32_t rd);
    /// Notes that the object reads (DIFV_F_REF) or writes (DIFV_F_MOD) a variable.
    void use(const Variable& variable, uint16_t flags);

    /// Whether it grew beyond what a DIF object may hold; instructions are dropped from there on.
    bool overflowed() const { return overflowed_; }

    GeneratedDifo finish(const dif_type& result);

private:
    void emit_word(uint32_t word);

    const TypeTable& types_;
    Span span_;
    GeneratedDifo out_;
    std::vector<uint32_t> label_targets_;
    std::vector<std::pair<size_t, Label>> fixups_;
    std::map<uint64_t, uint32_t> integers_;
    std::map<std::string, uint32_t> strings_;
    std::map<std::pair<std::string, uint64_t>, uint32_t> symbols_;
    std::map<std::pair<uint8_t, uint32_t>, size_t> variables_;
    bool overflowed_ = false;
};

} // namespace daybreak::compiler
