// SPDX-License-Identifier: Apache-2.0
//
// The syntax tree of D: expressions, and what a program is made of.
//
// The parser makes it, nothing changes it afterwards.  An expression is an Expr whose `node` variant
// says what it is; std::visit or std::get_if reads it.  Later passes keep what they find out in
// tables indexed by Expr::id, which is dense and unique within a Program.  Declarations and type
// names are in ast_types.hpp.
//
// Macro arguments ($1, $$1, $target) are already replaced by their values.
#pragma once

#include "compiler/diagnostics/source.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace daybreak::compiler {

struct Expr;
struct TypeName;
using ExprPtr = std::unique_ptr<Expr>;
using TypeNamePtr = std::unique_ptr<TypeName>;

/// Dense number of an expression, from 0.
using NodeId = uint32_t;

/// No expression is nested deeper than this; the parser refuses it, so passes may recurse.
constexpr uint32_t kExprDepthMax = 400;

// --- Expressions --------------------------------------------------------------------------------

/// The C type an integer constant has by its value, base and suffix.
enum class IntegerType : uint8_t {
    int_,
    unsigned_int,
    long_,
    unsigned_long,
    long_long,
    unsigned_long_long,
};

/// 42, 0x2a, 052, 42ULL, 'a', 'abcd'.
struct IntegerLiteral {
    uint64_t value = 0;
    IntegerType type = IntegerType::int_;
    bool is_character = false;
    std::string spelling; ///< as canonical text prints it
};

/// 1.5, 2e3f.  D can only hand it to printf.
struct FloatLiteral {
    double value = 0;
    char suffix = 0; ///< 'f', 'l' or 0
    std::string spelling;
};

struct StringLiteral {
    std::string value; ///< escapes resolved; may hold NUL bytes
};

enum class VariableScope : uint8_t {
    global, ///< x, or any other identifier: function, built-in, enumerator, inline
    thread, ///< self->x
    clause, ///< this->x
    kernel, ///< module`symbol; `symbol
};

/// A name.  The bare words `self` and `this` have an empty name with their scope.
struct Identifier {
    VariableScope scope = VariableScope::global;
    std::string name;
    std::string module; ///< scope kernel: text before the backquote, "" when bare
};

/// @name, or @name[keys].  The anonymous aggregation has the empty name.
struct Aggregation {
    std::string name;
    bool has_keys = false;
    std::vector<ExprPtr> keys;
    unsigned dimensions = 0; ///< bracket pairs written; more than one is D_AGG_MDIM
};

/// base[a, b]: an associative array's element, or C's subscript.
struct Index {
    ExprPtr base;
    std::vector<ExprPtr> arguments;
};

struct Call {
    ExprPtr function; ///< not an Identifier: D_FUNC_IDENT
    std::vector<ExprPtr> arguments;
};

/// base.member, base->member.
struct Member {
    ExprPtr base;
    std::string member;
    bool arrow = false;
    Span member_span;
};

enum class UnaryOp : uint8_t {
    plus,
    minus,
    complement,  // ~
    logical_not, // !
    dereference,
    address_of,
    pre_increment,
    pre_decrement,
    post_increment,
    post_decrement,
};

struct Unary {
    UnaryOp op;
    ExprPtr operand;
};

enum class BinaryOp : uint8_t {
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
    logical_xor, // ^^
    logical_or,
    comma,
};

struct Binary {
    BinaryOp op;
    ExprPtr left, right;
};

/// left = right, or left op= right.  @a[k] = f(...) is one, with an Aggregation at its left.
struct Assign {
    std::optional<BinaryOp> op; ///< set for op=
    ExprPtr left, right;
};

struct Conditional {
    ExprPtr condition, if_true, if_false;
};

struct Cast {
    TypeNamePtr type;
    ExprPtr operand;
};

struct SizeofType {
    TypeNamePtr type;
};

struct SizeofExpr {
    ExprPtr operand;
};

/// offsetof(type, member)
struct Offsetof {
    TypeNamePtr type;
    std::string member;
    Span member_span;
};

/// stringof(x), stringof x
struct Stringof {
    ExprPtr operand;
};

/// xlate <type> (x)
struct Xlate {
    TypeNamePtr type;
    ExprPtr operand;
};

using ExprNode = std::variant<IntegerLiteral, FloatLiteral, StringLiteral, Identifier, Aggregation,
                              Index, Call, Member, Unary, Binary, Assign, Conditional, Cast,
                              SizeofType, SizeofExpr, Offsetof, Stringof, Xlate>;

struct Expr {
    Span span;
    NodeId id = 0;
    uint32_t depth = 1; ///< of the tree below, itself included; at most kExprDepthMax
    ExprNode node;

    template <typename T>
    const T* get_if() const {
        return std::get_if<T>(&node);
    }
};

// --- Clauses ------------------------------------------------------------------------------------

/// What a clause enables.  Empty parts match anything; parts may hold the globs * ? [ ] and \.
struct ProbeDescription {
    Span span;
    std::string text; ///< as written, macros replaced
    std::string provider, module, function, name;
    std::optional<uint32_t> id; ///< a probe id, when the description is an integer
    std::string machine;        ///< the element before the provider, where there are five
    /// In a replay: the slot that says whether a firing is of a machine that was asked for.
    std::optional<uint32_t> machine_slot;

    /// Returns "provider:module:function:name", all four.
    std::string parts() const { return provider + ":" + module + ":" + function + ":" + name; }
};

/// An expression and its semicolon.
struct Statement {
    Span span;
    ExprPtr expression;
};

/// descriptions /predicate/ { statements }
struct Clause {
    Span span;
    std::vector<ProbeDescription> probes;
    ExprPtr predicate;     ///< null when there is none
    bool has_body = false; ///< false: no braces, the default action
    Span body_span;
    std::vector<Statement> statements;
    bool is_continued = false; ///< `if` made it: a part but the first of a clause of the text
};

/// What the names begin with of variables that hold how a condition of `if` came out.
constexpr char kConditionPrefix = '?';

} // namespace daybreak::compiler
