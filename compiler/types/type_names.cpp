// SPDX-License-Identifier: Apache-2.0
//
// Types as C text.
#include "compiler/types/type_tables.hpp"

namespace daybreak::compiler {

namespace {

constexpr unsigned kDepthMax = 64;
constexpr size_t kParametersTextMax = 400;

const char* tag_word(const Type& type) {
    switch (type.kind) {
    case TypeKind::struct_:
        return "struct";
    case TypeKind::union_:
        return "union";
    case TypeKind::enum_:
        return "enum";
    default:
        break;
    }
    return type.tag == TagKind::struct_ ? "struct" : type.tag == TagKind::union_ ? "union" : "enum";
}

const char* qualifier_word(TypeKind kind) {
    return kind == TypeKind::const_      ? "const"
           : kind == TypeKind::volatile_ ? "volatile"
                                         : "restrict";
}

/// "int" and "x" make "int x"; "*x" needs parentheses before a suffix.
std::string joined(const std::string& base, const std::string& declarator) {
    return declarator.empty() ? base : base + " " + declarator;
}

std::string for_suffix(const std::string& declarator) {
    return !declarator.empty() && declarator[0] == '*' ? "(" + declarator + ")" : declarator;
}

} // namespace

std::string TypeTable::name(TypeId id) const {
    return declaration_at(id, "", 0);
}

std::string TypeTable::declaration(TypeId id, const std::string& declarator) const {
    return declaration_at(id, declarator, 0);
}

std::string TypeTable::declaration_at(TypeId id, std::string declarator, unsigned depth) const {
    if (depth > kDepthMax)
        return joined("...", declarator);
    const Type& type = get(id);
    switch (type.kind) {
    case TypeKind::none:
        return joined("<none>", declarator);
    case TypeKind::void_:
    case TypeKind::integer:
    case TypeKind::floating:
    case TypeKind::typedef_:
    case TypeKind::string:
    case TypeKind::dynamic:
        return joined(type.name, declarator);
    case TypeKind::struct_:
    case TypeKind::union_:
    case TypeKind::enum_:
    case TypeKind::forward: {
        std::string tag = type.name.empty() ? "(anon)" : type.name;
        return joined(std::string(tag_word(type)) + " " + tag, declarator);
    }
    case TypeKind::pointer:
        return declaration_at(type.target, "*" + declarator, depth + 1);
    case TypeKind::array: {
        std::string count = type.count ? std::to_string(type.count) : "";
        return declaration_at(type.target, for_suffix(declarator) + "[" + count + "]", depth + 1);
    }
    case TypeKind::function: {
        std::string parameters;
        for (const TypeParameter& parameter : type.parameters) {
            if (parameters.size() > kParametersTextMax) {
                parameters += ", ...";
                break;
            }
            parameters += (parameters.empty() ? "" : ", ") +
                          declaration_at(parameter.type, "", depth + kDepthMax / 4);
        }
        if (type.variadic)
            parameters += parameters.empty() ? "..." : ", ...";
        if (parameters.empty())
            parameters = "void";
        return declaration_at(type.target, for_suffix(declarator) + "(" + parameters + ")",
                              depth + 1);
    }
    case TypeKind::const_:
    case TypeKind::volatile_:
    case TypeKind::restrict_: {
        std::string word = qualifier_word(type.kind);
        // A qualified pointer's word stands after the star, others' before the type.
        if (get(unqualified(id)).kind == TypeKind::pointer)
            return declaration_at(type.target, joined(" " + word, declarator), depth + 1);
        return word + " " + declaration_at(type.target, std::move(declarator), depth + 1);
    }
    }
    return declarator;
}

} // namespace daybreak::compiler
