// SPDX-License-Identifier: Apache-2.0
//
// The syntax tree of D, continued: type names, declarations, and the program itself.
//
// A declaration is kept as written: specifier words in order and, per declarator, a chain of
// derivations.  types/declare.hpp makes types of it and reports the D_DECL_* errors.
#pragma once

#include "compiler/syntax/ast.hpp"

namespace daybreak::compiler {

// --- Types as written ---------------------------------------------------------------------------

enum class SpecifierWord : uint8_t {
    // storage
    typedef_,
    extern_,
    static_,
    auto_,
    register_,
    self_,
    this_,
    // qualifiers
    const_,
    volatile_,
    restrict_,
    // base types
    void_,
    char_,
    short_,
    int_,
    long_,
    float_,
    double_,
    signed_,
    unsigned_,
    string_,
    userland_,
};

struct Specifier {
    SpecifierWord word;
    Span span;
};

struct Declaration;

/// One enumerator of an enum's body.
struct EnumeratorSyntax {
    Span span;
    std::string name;
    ExprPtr value; ///< null: one more than the one before
};

enum class NamedKind : uint8_t { typedef_, struct_, union_, enum_ };

/// A type by name, and perhaps its definition: foo_t, vmlinux`struct task_struct, struct { int a;
/// }.
struct NamedType {
    Span span;
    NamedKind kind = NamedKind::typedef_;
    std::string module; ///< before the backquote; "" with has_module false when there is none
    bool has_module = false;
    std::string name; ///< "": an anonymous struct, union or enum
    bool has_body = false;
    std::vector<Declaration> members;          ///< of a struct's or union's body
    std::vector<EnumeratorSyntax> enumerators; ///< of an enum's body
};

/// The words before the declarators: "static unsigned long", "const struct foo".
struct Specifiers {
    Span span;
    std::vector<Specifier> words;
    std::vector<NamedType> named; ///< at most one is right; more are D_DECL_COMBO
};

struct ParameterSyntax;

struct PointerDerivation {
    bool is_const = false, is_volatile = false, is_restrict = false;
};

/// [n], [], or the key types of an associative array: [string, int], [int a].
struct ArrayDerivation {
    Span span;
    ExprPtr size;                      ///< null: [] or an associative array
    std::vector<ParameterSyntax> keys; ///< not empty: an associative array
    bool variadic = false;             ///< the list ended in ...
};

struct FunctionDerivation {
    Span span;
    std::vector<ParameterSyntax> parameters;
    bool variadic = false;
};

using Derivation = std::variant<PointerDerivation, ArrayDerivation, FunctionDerivation>;

/// A name and how its type derives from the specifiers', read from the name outwards:
/// `int *x[3]` has [array 3, pointer], that is "array of 3 pointers to int".
struct Declarator {
    Span span;
    std::string name;   ///< "" in a type name and for unnamed members and parameters
    std::string module; ///< a scope before the name, which is D_DECL_SCOPE
    Span name_span;
    std::vector<Derivation> derivations;
    ExprPtr bits; ///< width of a bit-field, or null
};

struct ParameterSyntax {
    Span span;
    Specifiers specifiers;
    Declarator declarator;
};

/// A type alone, as in a cast.
struct TypeName {
    Span span;
    Specifiers specifiers;
    Declarator declarator; ///< nameless
};

// --- Declarations and the other things at top level --------------------------------------------

/// int x; self int y; typedef struct foo { ... } foo_t; int z[string, int];
struct Declaration {
    Span span;
    Specifiers specifiers;
    std::vector<Declarator> declarators; ///< empty: only a struct, union or enum
};

/// inline int x = 3;   inline int f[int a] = a + 1;
struct Inline {
    Span span;
    Specifiers specifiers;
    Declarator declarator;
    ExprPtr value;
};

struct TranslatorMember {
    Span span;
    std::string name;
    ExprPtr value;
};

/// translator OUTPUT < INPUT name > { member = value; ... };
struct Translator {
    Span span;
    TypeName output;
    ParameterSyntax input;
    std::vector<TranslatorMember> members;
    uint32_t end_line = 0; ///< of its closing brace
};

/// probe name(nargs) : (xargs);
struct ProviderProbe {
    Span span;
    std::string name;
    std::vector<ParameterSyntax> arguments;
    std::vector<ParameterSyntax> translated;
    bool has_translated = false;
};

/// provider name { ... };
struct Provider {
    Span span;
    std::string name;
    std::vector<ProviderProbe> probes;
};

enum class PragmaKind : uint8_t {
    option,     ///< arguments: name[=value] ...
    attributes, ///< arguments: N/D/C, and what it applies to
    binding,    ///< arguments: version, identifier
    depends_on, ///< arguments: provider|module|library, name
};

/// #pragma D ...; `#pragma D error` and unknown ones are reported by the parser and are not here.
struct Pragma {
    Span span;
    PragmaKind kind = PragmaKind::option;
    std::vector<std::string> arguments; ///< quotes taken off
    std::vector<Span> argument_spans;
};

using Item = std::variant<Clause, Declaration, Inline, Translator, Provider, Pragma>;

/// One source text, parsed.  Items are in the order of the text.
struct Program {
    SourceId source = 0;
    std::vector<Item> items;
    uint32_t node_count = 0; ///< every Expr::id is below
    std::vector<size_t> unused_arguments; ///< indexes into ParseOptions::arguments, ascending
};

} // namespace daybreak::compiler
