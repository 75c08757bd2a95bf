// SPDX-License-Identifier: Apache-2.0
//
// Types of type names and declarations: from the syntax tree to TypeIds.
//
// Everything C and D say about declarations is checked here, with the D_DECL_* errors.  Functions
// that cannot make a type report why and return TypeId::none.
#pragma once

#include "compiler/diagnostics/diagnostic.hpp"
#include "compiler/syntax/ast_types.hpp"
#include "compiler/types/type.hpp"

#include <functional>

namespace daybreak::compiler {

enum class StorageClass : uint8_t { none, extern_, self, this_, typedef_ };

/// One declared name.
struct DeclaredName {
    Span span;
    std::string name;
    StorageClass storage = StorageClass::none;
    TypeId type = TypeId::none; ///< of an associative array: of its elements
    bool associative = false;
    std::vector<TypeParameter> keys; ///< of an associative array; names only in inlines
};

class Declarer {
public:
    /// Evaluates an integer constant expression that is more than literals, operators, sizeof of
    /// types and enumerators; sema knows inlines.  May be empty.
    using ConstantHook = std::function<std::optional<int64_t>(const Expr&)>;

    Declarer(TypeTable& types, DiagnosticSink& sink, ConstantHook hook = {})
        : types_(types), sink_(sink), hook_(std::move(hook)) {}

    /// Returns the type of a cast's, sizeof's or xlate's type name.
    TypeId type_of(const TypeName& name);
    /// Returns the type of a parameter and its name.
    TypeParameter parameter(const ParameterSyntax& parameter);
    /// Defines the tags and typedefs of a declaration; returns the variables and functions it
    /// declares, typedefs not among them.
    std::vector<DeclaredName> declare(const Declaration& declaration);
    /// Returns what an inline declares; its keys have names.
    DeclaredName declare(const Inline& definition);
    /// Evaluates an integer constant expression; nothing when it is not one.
    std::optional<int64_t> constant(const Expr& expression);

private:
    /// What a declarator is for decides what it may be.
    enum class Place : uint8_t {
        variable,
        external, // extern: defined elsewhere
        member,
        parameter,
        type_name,
        inline_definition,
    };

    TypeId base_type(const Specifiers& specifiers);
    TypeId base_words(const Specifiers& specifiers);
    TypeId named_type(const NamedType& named);
    TypeId typedef_type(const NamedType& named);
    TypeId struct_type(const NamedType& named, TagKind kind);
    TypeId enum_type(const NamedType& named);
    bool enum_body(const NamedType& named, std::vector<TypeEnumerator>& enumerators);
    bool add_members(const Declaration& declaration, std::vector<TypeMember>& members);
    bool add_member(const Declarator& declarator, TypeId type, std::vector<TypeMember>& members);
    bool check_bitfield(const Declarator& declarator, TypeMember& member);
    bool check_object(const Declarator& declarator, TypeId type, Place place);
    StorageClass storage_class(const Specifiers& specifiers, bool& ok);
    bool no_storage_class(const Specifiers& specifiers, Tag tag, const char* text);
    TypeId derive(TypeId type, const Declarator& declarator, Place place, DeclaredName* declared);
    TypeId derive_array(TypeId type, const ArrayDerivation& array, const Declarator& declarator,
                        Place place);
    bool derive_keys(const ArrayDerivation& array, Place place, DeclaredName& declared);
    TypeId derive_function(TypeId type, const FunctionDerivation& function);
    std::optional<TypeParameter> prototype_parameter(const ParameterSyntax& parameter,
                                                     const char* what, size_t number);
    void error(Tag tag, const Span& span, const char* format, ...)
        __attribute__((format(printf, 4, 5)));
    void unknown_type(const Span& span, const std::string& name);

    TypeTable& types_;
    DiagnosticSink& sink_;
    ConstantHook hook_;
    const std::vector<TypeEnumerator>* open_enumerators_ = nullptr; ///< of the enum being read
};

} // namespace daybreak::compiler
