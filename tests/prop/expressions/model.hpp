// SPDX-License-Identifier: Apache-2.0
//
// D expressions as the property test sees them: types, places, a tree, and a world of values
//
// Nothing here knows the compiler.  A world has places (variables of every scope, associative
// arrays, members of structs) with values; an expression reads and changes them.  generate() makes
// expressions that are well typed and whose order of evaluation cannot be seen; evaluate() says
// what they are by D's rules; print() writes them as D.
//
// D's rules where they are not C's: registers have 64 bits, and an operator on signed operands
// keeps all of them; a value is cut to its type when it is converted to another type of the same
// or a smaller size, when it is unsigned, and when it is read from memory.  Shift counts are taken
// modulo 64.  Of a conditional whose condition is literal only the chosen operand is there, with
// its own type.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace daybreak::prop {

constexpr size_t kStringMax = 256; ///< strsize: characters of a string, its NUL not among them

/// An integer type, or the string type.
struct Type {
    const char* name;
    unsigned bytes; ///< 0: string
    bool is_signed;
    unsigned rank; ///< C's conversion rank; int is 3

    bool is_string() const { return bytes == 0; }
};

extern const Type kString, kInt, kUnsignedInt, kLong, kUnsignedLong;
/// All integer types, typedef names and the enum among them.
extern const std::vector<const Type*> kIntegers;

struct Value {
    uint64_t number = 0;
    std::string text;

    bool operator<(const Value& other) const {
        return number != other.number ? number < other.number : text < other.text;
    }
};

/// Something that can be assigned to.
struct Place {
    std::string name; ///< as D names it: g1, self->s2, gm.f3
    const Type* type;
    std::vector<const Type*> keys; ///< of an associative array
    unsigned elements = 0;         ///< of a member that is an array: a power of two
    unsigned bits = 0;             ///< width of a bit-field
    bool in_memory = false;        ///< cut to its type when stored
    bool is_scratch = false;       ///< after this->p: only in clauses that make it
};

enum class Op {
    literal,    ///< number, text: as written
    string,     ///< text
    variable,   ///< place, operands: keys
    negate,     ///< unary, in C's order
    complement, //
    logical_not,
    plus,
    cast, ///< to `type`; text: the type's name
    multiply,
    divide,
    remainder,
    add,
    subtract,
    shift_left,
    shift_right,
    less,
    less_equal,
    greater,
    greater_equal,
    equal,
    not_equal,
    bit_and,
    bit_xor,
    bit_or,
    logical_and,
    logical_xor,
    logical_or,
    conditional,
    comma,
    assign,        ///< place, operands: keys, then the value
    assign_op,     ///< the same; `inner` says which operator
    pre_increment, ///< place, operands: keys
    pre_decrement,
    post_increment,
    post_decrement,
    size_of, ///< operand, or of the type named `text`
    call,    ///< text: the subroutine
};

struct Expr;
using ExprPtr = std::shared_ptr<const Expr>;

struct Expr {
    Op op;
    const Type* type;
    uint64_t number = 0;
    std::string text;
    unsigned place = 0;
    Op inner = Op::literal;
    std::vector<ExprPtr> operands;
    bool parenthesized = false; ///< printed so even where D does not need it
    // What generate() and evaluate() need to know, by make().
    ExprPtr chosen;                 ///< of a conditional with a literal condition
    uint64_t reads = 0, writes = 0; ///< places, a bit each
    bool is_constant = false;       ///< the compiler folds it
};

/// Finishes a node: what it reads and writes, whether it is constant, what was chosen.
ExprPtr make(Expr node);

/// The type of an integer operand after C's promotion, by C's rule for bit-fields too.
const Type* promoted(const Expr& operand, const std::vector<Place>& places);
const Type* common(const Type* left, const Type* right); ///< of promoted types

struct World {
    std::vector<Place> places; ///< at most 64
    /// By place; arrays by their keys, everything else with none.
    std::vector<std::map<std::vector<Value>, Value>> values;

    Value load(unsigned place, const std::vector<Value>& keys) const;
    void store(unsigned place, const std::vector<Value>& keys, const Value& value);
};

/// What the compiler, the engine or evaluate() makes of an expression.
struct Outcome {
    bool faults = false; ///< division by zero
    Value value;         ///< cut to the expression's type

    bool operator==(const Outcome& other) const {
        return faults == other.faults &&
               (faults || (value.number == other.value.number && value.text == other.value.text));
    }
};

/// One clause of a program: `trace(expression)`, or a predicate.
struct Clause {
    ExprPtr expression;
    bool is_predicate = false;
    std::vector<Value> scratch; ///< what members after this->p begin with; empty: none are used
};

using Random = std::mt19937_64;

/// The same places in each world, with random values.
World make_world(Random& random);
Clause make_clause(Random& random, const World& world);
/// Evaluates, changing the world.
Outcome evaluate(const Clause& clause, World& world);
/// Value of a constant expression, cut to the type that it is used as.
Value evaluate_constant(const ExprPtr& expression, const std::vector<Place>& places);
uint64_t cut(uint64_t value, const Type& type);
uint64_t convert(uint64_t value, const Type& from, const Type& to);

std::string print(const Expr& expression, const std::vector<Place>& places);
/// A constant of that type and value.
std::string print_value(const Value& value, const Type& type);
/// The program: declarations and values in the lines up to `first_line` - 1, then a clause a line.
std::string print_program(const World& world, const std::vector<Clause>& clauses,
                          unsigned* first_line_ret);

} // namespace daybreak::prop
