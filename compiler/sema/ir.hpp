// SPDX-License-Identifier: Apache-2.0
//
// Typed expressions: what sema makes of the syntax tree, and codegen makes DIF of.
//
// Everything implicit in D is explicit here: conversions, the scaling of pointer arithmetic, loads,
// inlines put in place, constants folded.  Codegen knows no names and asks for no types but size,
// sign and "by reference".  Nodes are immutable and may be shared.
//
// Every value fits a register.  A value of integer type is held extended to 64 bits as its type
// says. Of a type that is by reference (string, struct, union, array) the register holds the
// address.
#pragma once

#include "compiler/diagnostics/source.hpp"
#include "compiler/types/type.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace daybreak::compiler {

enum class TypedOp : uint8_t {
    constant,      // value
    string,        // text
    variable,      // variable, a scalar
    element,       // variable, an associative array; operands: keys
    builtin_array, // variable id in value; operand: index
    load,          // operand: address; what lies there, or the address itself when by reference
    convert,       // operand, to an integer type of less range
    reinterpret,   // operand, same bits under another type
    negate,
    complement,
    logical_not,
    multiply,
    divide,
    remainder,
    add,
    subtract,
    shift_left,
    shift_right,
    bit_and,
    bit_xor,
    bit_or,
    less,
    less_equal,
    greater,
    greater_equal,
    equal,
    not_equal,
    logical_and,
    logical_xor,
    logical_or,
    conditional, // operands: condition, if true, if false
    sequence,    // operands: evaluated for effect, value
    assign,      // variable; operands: keys of an element, then the value
    store,       // operands: address, value; stores as many bytes as the type has
    with_old,   // operands: value to keep, an update that may use it through `old`; value: the kept
    old,        // the value kept by the with_old around it
    fault_in,   // operand, a variable's data; zeroed scratch memory when it has none yet
    call,       // subroutine in value; operands: arguments
    action,     // an action or aggregation where a value should be: has none, D_CG_EXPR
    let,        // operands: a value, an expression that uses it through `bound` of the same `value`
    bound,      // the value that the `let` around it computed; `value` says which one
    scratch,    // scratch memory for an object of the type, all zeros
    symbol,     // text, a kernel symbol: its address, plus `value`
    translated, // xlate of operands[0] by `translator`: only its members have values, else D_CG_DYN
};

enum class VariableStorage : uint8_t { global, thread, clause };

/// A D variable, or an associative array of them.
struct Variable {
    VariableStorage storage = VariableStorage::global;
    std::string name;
    uint32_t id = 0;
    TypeId type = TypeId::none; ///< none: named, but never given a type yet
    bool builtin = false;
    bool is_array = false; ///< associative, or a built-in array
    std::vector<TypeId> keys;

    /// Returns "x", "self->x", "this->x".
    std::string text() const;
};

/// Where in its unit of memory a bit-field lies.
struct BitRange {
    uint8_t low = 0, width = 0, unit_bytes = 0;
};

struct TypedExpr;
struct TranslatorInfo;
using TypedPtr = std::shared_ptr<const TypedExpr>;

struct TypedExpr {
    TypedOp op = TypedOp::constant;
    TypeId type = TypeId::none;
    Span span;
    uint64_t value = 0;
    std::string text;
    const Variable* variable = nullptr;
    const TranslatorInfo* translator = nullptr;
    std::vector<TypedPtr> operands;
    bool is_unsigned = false; ///< how the operands of a comparison, division or right shift compare
    bool is_bitfield = false; ///< bits out of a unit: operands[1] is its address, `bits` which
    BitRange bits;
    bool is_strings = false; ///< a comparison of strings
    bool is_widened = false; ///< a constant that was an int, and has 8 bytes now

    bool is_constant() const { return op == TypedOp::constant; }
};

/// How the value of a DIF object is returned, when not as its type is.
enum class ResultForm : uint8_t {
    value,  ///< as the expression's type
    effect, ///< size 0: evaluated for its effect
    bytes,  ///< `result_bytes` bytes at the address that is the value
};

/// One action of a clause, before codegen.
struct PlannedAction {
    uint32_t kind = 0;
    uint32_t tuple_count = 0;
    uint64_t arg = 0;
    bool has_text = false;
    std::string text;
    uint32_t statement = 0; ///< from 1
    TypedPtr value;         ///< null: no DIF object
    ResultForm form = ResultForm::value;
    uint64_t result_bytes = 0;
    std::string capture;      ///< D text of a recorded value; empty: not one
    std::string capture_type; ///< its D type
};

} // namespace daybreak::compiler
