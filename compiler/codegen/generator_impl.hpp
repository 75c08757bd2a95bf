// SPDX-License-Identifier: Apache-2.0
//
// The generator's inside, shared by its files.
#pragma once

#include "compiler/codegen/generator.hpp"

namespace daybreak::compiler {

class Generator {
public:
    Generator(const TypeTable& types, DiagnosticSink& sink)
        : types_(types), sink_(sink), builder_(types) {}

    std::optional<GeneratedDifo> run(const TypedExpr& expression, const dif_type& result,
                                     ValueUse use);

private:
    /// A register that holds a value; owned: it is ours to overwrite and must be given back.
    struct Value {
        uint32_t reg = DIF_REG_R0;
        bool owned = false;
    };

    // generator.cpp: values
    Value value(const TypedExpr& node);     ///< extended as its type says
    Value raw_value(const TypedExpr& node); ///< what lies above a narrow type's bytes is undefined
    Value leaf(const TypedExpr& node);
    Value constant(uint64_t number);
    Value spelled_out(const TypedExpr& node);
    Value variable(const TypedExpr& node);
    Value builtin_array(const TypedExpr& node);
    Value load(const TypedExpr& node);
    Value convert(const TypedExpr& node);
    Value extend(Value from, TypeId type);
    Value negate(const TypedExpr& node);
    Value arithmetic(const TypedExpr& node);
    Value with_old(const TypedExpr& node);
    Value effect_then_value(const TypedExpr& node);
    Value let(const TypedExpr& node);
    Value scratch(const TypedExpr& node);
    void effect(const TypedExpr& node);

    // generate_tuple.cpp: what uses the tuple stack
    Value element(const TypedExpr& node);
    Value assign(const TypedExpr& node);
    Value store(const TypedExpr& node);
    void store_data(const TypedExpr& node, Value address, Value data);
    Value fault_in(const TypedExpr& node);
    Value call(const TypedExpr& node);
    void push_all(const std::vector<TypedPtr>& operands, size_t count);
    void push(const TypedExpr& node, Value operand, bool with_size);
    bool fits_registers(const std::vector<TypedPtr>& operands, size_t count);
    bool uses_tuple(const TypedExpr& node);

    // generate_branch.cpp: conditions
    void branch(const TypedExpr& node, DifoBuilder::Label label, bool jump_if);
    void branch_compare(const TypedExpr& node, DifoBuilder::Label label, bool jump_if);
    Value truth(const TypedExpr& node);
    Value conditional(const TypedExpr& node);
    void return_value(const TypedExpr& node, ValueUse use);
    static bool is_condition(const TypedExpr& node);

    Value allocate();
    void release(Value operand);
    /// Returns a register for a result: that of an operand when it is ours, else a new one.
    Value reuse(Value operand);
    Value reuse(Value left, Value right);
    std::pair<Value, Value> pair(const TypedExpr& left, const TypedExpr& right, bool raw);
    unsigned need(const TypedExpr& node);
    bool is_pure(const TypedExpr& node);
    bool is_dirty(const TypedExpr& node) const;

    const TypeTable& types_;
    DiagnosticSink& sink_;
    DifoBuilder builder_;
    uint32_t used_ = 0; ///< bit i: %ri is taken
    bool out_of_registers_ = false;
    const TypedExpr* action_ = nullptr;         ///< found where a value is needed
    const TypedExpr* translated_ = nullptr;     ///< the same, of translated data
    std::unordered_map<uint64_t, Value> bound_; ///< registers of `let` values, by number
    bool tuple_used_ = false;                   ///< something may lie on the tuple stack
    std::vector<Value> old_;
    std::unordered_map<const TypedExpr*, unsigned> need_;
    std::unordered_map<const TypedExpr*, bool> pure_, tuple_;
};

} // namespace daybreak::compiler
