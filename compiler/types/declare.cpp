// SPDX-License-Identifier: Apache-2.0
//
// Types of declarators, and what declarations declare.
#include "compiler/types/declare.hpp"

#include <cstdarg>
#include <cstdio>

namespace daybreak::compiler {

namespace {

constexpr int64_t kArrayCountMax = INT32_MAX;

std::string shown(const std::string& name) {
    return name.empty() ? "(anonymous)" : name;
}

} // namespace

void Declarer::error(Tag tag, const Span& span, const char* format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    sink_.report(diagnosticf(tag, span, "%s", text));
}

// --- Declarators --------------------------------------------------------------------------------

/// Returns what a declarator makes of a type.  An associative array's keys go to `declared`.
TypeId Declarer::derive(TypeId type, const Declarator& declarator, Place place,
                        DeclaredName* declared) {
    if (!declarator.module.empty()) {
        error(Tag::D_DECL_SCOPE, declarator.name_span,
              "D scoping operator may not be used in a declaration name (%s%s)",
              declarator.module.c_str(), declarator.name.c_str());
        return TypeId::none;
    }
    // The chain is written from the name outwards; types are made from the outside in.
    for (size_t i = declarator.derivations.size(); i-- > 0 && type != TypeId::none;) {
        const Derivation& derivation = declarator.derivations[i];
        if (const auto* pointer = std::get_if<PointerDerivation>(&derivation)) {
            type = types_.pointer_to(type);
            if (pointer->is_const)
                type = types_.qualified(type, TypeKind::const_);
            if (pointer->is_volatile)
                type = types_.qualified(type, TypeKind::volatile_);
            if (pointer->is_restrict)
                type = types_.qualified(type, TypeKind::restrict_);
        } else if (const auto* array = std::get_if<ArrayDerivation>(&derivation)) {
            bool is_associative = !array->keys.empty() || array->variadic;
            if (!is_associative) {
                type = derive_array(type, *array, declarator, place);
            } else if (i != 0 || !declared) {
                error(Tag::D_DECL_DYNOBJ, array->span,
                      "an associative array may only be a variable: %s",
                      shown(declarator.name).c_str());
                return TypeId::none;
            } else if (!derive_keys(*array, place, *declared)) {
                return TypeId::none;
            }
        } else {
            type = derive_function(type, std::get<FunctionDerivation>(derivation));
        }
    }
    return type;
}

TypeId Declarer::derive_array(TypeId type, const ArrayDerivation& array,
                              const Declarator& declarator, Place place) {
    if (types_.is_void(type) || types_.is_function(type)) {
        error(Tag::D_DECL_VOIDOBJ, array.span, "cannot have an array of %s: %s",
              types_.is_void(type) ? "void" : "functions", shown(declarator.name).c_str());
        return TypeId::none;
    }
    if (!array.size) {
        if (place != Place::variable && place != Place::member)
            return types_.array_of(type, 0);
        error(Tag::D_DECL_ARRNULL, array.span,
              "array declaration requires array dimension or tuple signature: %s",
              shown(declarator.name).c_str());
        return TypeId::none;
    }
    auto count = constant(*array.size);
    if (!count || *count <= 0) {
        error(Tag::D_DECL_ARRSUB, array.size->span,
              "positive integral constant expression or tuple signature expected as array "
              "declaration subscript");
        return TypeId::none;
    }
    TypeId made = *count <= kArrayCountMax ? types_.array_of(type, static_cast<uint64_t>(*count))
                                           : TypeId::none;
    // The whole of an array of arrays has to fit as well.
    bool fits = made != TypeId::none &&
                (!types_.is_complete(type) ||
                 types_.size_of(made).value_or(UINT64_MAX) <= uint64_t{kArrayCountMax});
    if (!fits) {
        error(Tag::D_DECL_ARRBIG, array.size->span, "array dimension too big");
        return TypeId::none;
    }
    return made;
}

bool Declarer::derive_keys(const ArrayDerivation& array, Place place, DeclaredName& declared) {
    if (array.variadic) {
        error(Tag::D_DECL_PROTO_VARARGS, array.span,
              "array prototype may not use a variable-length argument list");
        return false;
    }
    for (size_t i = 0; i < array.keys.size(); i++) {
        auto key = prototype_parameter(array.keys[i], "array", i + 1);
        if (!key)
            return false;
        if (types_.is_void(key->type)) {
            error(Tag::D_DECL_PROTO_TYPE, array.keys[i].span,
                  "array prototype may not use parameter of type void: (anonymous), parameter #%zu",
                  i + 1);
            return false;
        }
        if (place == Place::inline_definition && key->name.empty()) {
            error(Tag::D_DECL_PROTO_FORM, array.keys[i].span,
                  "inline prototype parameter #%zu requires a name", i + 1);
            return false;
        }
        declared.keys.push_back(std::move(*key));
    }
    declared.associative = true;
    return true;
}

/// Checks one member of a prototype; nothing when it was reported.
std::optional<TypeParameter> Declarer::prototype_parameter(const ParameterSyntax& syntax,
                                                           const char* what, size_t number) {
    DeclaredName dynamic;
    if (!no_storage_class(syntax.specifiers, Tag::D_DECL_PARMCLASS,
                          "inappropriate storage class for function or associative array "
                          "parameter"))
        return std::nullopt;
    TypeId type = base_type(syntax.specifiers);
    if (type != TypeId::none)
        type = derive(type, syntax.declarator, Place::parameter, &dynamic);
    if (type == TypeId::none)
        return std::nullopt;
    const std::string& name = syntax.declarator.name;
    if (dynamic.associative) {
        error(Tag::D_DECL_PROTO_TYPE, syntax.span,
              "%s prototype may not use parameter of type dynamic variable: %s, parameter #%zu",
              what, shown(name).c_str(), number);
        return std::nullopt;
    }
    if (types_.is_void(type) && !name.empty()) {
        error(Tag::D_DECL_PROTO_NAME, syntax.declarator.name_span,
              "void parameter may not have a name: %s", name.c_str());
        return std::nullopt;
    }
    // As in C, an array or a function as parameter is a pointer.
    if (types_.is_array(type))
        type = types_.pointer_to(types_.element_of(type));
    else if (types_.is_function(type))
        type = types_.pointer_to(type);
    return TypeParameter{name, type};
}

TypeId Declarer::derive_function(TypeId type, const FunctionDerivation& function) {
    if (types_.is_array(type) || types_.is_function(type)) {
        error(Tag::D_DECL_COMBO, function.span, "a function may not return %s",
              types_.is_array(type) ? "an array" : "a function");
        return TypeId::none;
    }
    std::vector<TypeParameter> parameters;
    for (size_t i = 0; i < function.parameters.size(); i++) {
        auto parameter = prototype_parameter(function.parameters[i], "function", i + 1);
        if (!parameter)
            return TypeId::none;
        if (!types_.is_void(parameter->type)) {
            parameters.push_back(std::move(*parameter));
        } else if (function.parameters.size() > 1 || function.variadic) {
            error(Tag::D_DECL_PROTO_VOID, function.parameters[i].span,
                  "void must be sole parameter");
            return TypeId::none;
        }
    }
    return types_.function_of(type, std::move(parameters), function.variadic);
}

// --- Checks -------------------------------------------------------------------------------------

/// Whether there can be an object of the type.
bool Declarer::check_object(const Declarator& declarator, TypeId type, Place place) {
    const char* what = place == Place::member ? "member" : "object";
    if (types_.is_void(type)) {
        error(Tag::D_DECL_VOIDOBJ, declarator.span, "cannot have void %s: %s", what,
              declarator.name.c_str());
        return false;
    }
    TypeId element = type;
    while (types_.is_array(element))
        element = types_.element_of(element);
    if (types_.kind(types_.complete(element)) == TypeKind::forward) {
        error(Tag::D_DECL_INCOMPLETE, declarator.span, "incomplete struct/union/enum %s: %s",
              types_.name(types_.resolve(element)).c_str(), declarator.name.c_str());
        return false;
    }
    if (place == Place::member && types_.is_function(type)) {
        error(Tag::D_DECL_VOIDOBJ, declarator.span, "cannot have void member: %s",
              declarator.name.c_str());
        return false;
    }
    return true;
}

StorageClass Declarer::storage_class(const Specifiers& specifiers, bool& ok) {
    StorageClass found = StorageClass::none;
    ok = true;
    for (const Specifier& specifier : specifiers.words) {
        StorageClass storage;
        switch (specifier.word) {
        case SpecifierWord::typedef_:
            storage = StorageClass::typedef_;
            break;
        case SpecifierWord::extern_:
            storage = StorageClass::extern_;
            break;
        case SpecifierWord::self_:
            storage = StorageClass::self;
            break;
        case SpecifierWord::this_:
            storage = StorageClass::this_;
            break;
        case SpecifierWord::static_:
        case SpecifierWord::auto_:
        case SpecifierWord::register_:
            error(Tag::D_DECL_BADCLASS, specifier.span,
                  "specified storage class not appropriate in D");
            ok = false;
            return found;
        default:
            continue;
        }
        if (found != StorageClass::none) {
            error(Tag::D_DECL_CLASS, specifier.span,
                  "only one storage class allowed in a declaration");
            ok = false;
            return found;
        }
        found = storage;
    }
    return found;
}

bool Declarer::no_storage_class(const Specifiers& specifiers, Tag tag, const char* text) {
    for (const Specifier& specifier : specifiers.words) {
        if (specifier.word <= SpecifierWord::this_) {
            error(tag, specifier.span, "%s", text);
            return false;
        }
    }
    return true;
}

// --- What is declared ---------------------------------------------------------------------------

TypeId Declarer::type_of(const TypeName& name) {
    if (!no_storage_class(name.specifiers, Tag::D_DECL_CLASS,
                          "a type name may not have a storage class"))
        return TypeId::none;
    TypeId type = base_type(name.specifiers);
    return type == TypeId::none ? type : derive(type, name.declarator, Place::type_name, nullptr);
}

TypeParameter Declarer::parameter(const ParameterSyntax& parameter) {
    return prototype_parameter(parameter, "function", 1).value_or(TypeParameter());
}

std::vector<DeclaredName> Declarer::declare(const Declaration& declaration) {
    std::vector<DeclaredName> names;
    bool ok;
    StorageClass storage = storage_class(declaration.specifiers, ok);
    TypeId base = ok ? base_type(declaration.specifiers) : TypeId::none;
    if (base == TypeId::none)
        return names;
    if (declaration.declarators.empty()) {
        // A tag is declared, or enumerators are; anything else declares nothing.
        const auto& named = declaration.specifiers.named;
        bool useful = !named.empty() && named[0].kind != NamedKind::typedef_ &&
                      (!named[0].name.empty() || named[0].kind == NamedKind::enum_);
        if (!useful)
            error(Tag::D_DECL_USELESS, declaration.span, "useless declaration");
        return names;
    }
    for (const Declarator& declarator : declaration.declarators) {
        DeclaredName declared;
        declared.span = declarator.name_span;
        declared.name = declarator.name;
        declared.storage = storage;
        bool is_typedef = storage == StorageClass::typedef_;
        Place place = storage == StorageClass::extern_ ? Place::external : Place::variable;
        declared.type = derive(base, declarator, place, is_typedef ? nullptr : &declared);
        if (declared.type == TypeId::none)
            continue;
        if (is_typedef) {
            if (types_.define_typedef(declarator.name, declared.type) == TypeId::none)
                error(Tag::D_DECL_IDRED, declarator.name_span, "typedef redeclared: %s",
                      declarator.name.c_str());
            continue;
        }
        if (declared.associative && storage == StorageClass::this_) {
            error(Tag::D_DECL_LOCASSC, declarator.span,
                  "associative arrays may not be declared as local variables: %s",
                  declarator.name.c_str());
            continue;
        }
        if (types_.is_function(declared.type) || place == Place::external ||
            check_object(declarator, declared.type, Place::variable))
            names.push_back(std::move(declared));
    }
    return names;
}

DeclaredName Declarer::declare(const Inline& definition) {
    DeclaredName declared;
    declared.span = definition.declarator.name_span;
    declared.name = definition.declarator.name;
    if (!no_storage_class(definition.specifiers, Tag::D_DECL_BADCLASS,
                          "specified storage class not appropriate for inline"))
        return declared;
    TypeId base = base_type(definition.specifiers);
    if (base != TypeId::none)
        declared.type = derive(base, definition.declarator, Place::inline_definition, &declared);
    if (declared.type != TypeId::none && types_.is_void(declared.type)) {
        error(Tag::D_DECL_VOIDOBJ, declared.span, "cannot have void inline: %s",
              declared.name.c_str());
        declared.type = TypeId::none;
    }
    return declared;
}

} // namespace daybreak::compiler
