// SPDX-License-Identifier: Apache-2.0
//
// Types of specifiers: base words, names, bodies of structs, unions and enums.
#include "compiler/types/declare.hpp"

#include "compiler/diagnostics/messages/identifiers.hpp"

#include <algorithm>
#include <climits>

namespace daybreak::compiler {

namespace {

std::string_view base_word(SpecifierWord word) {
    switch (word) {
    case SpecifierWord::void_:
        return "void";
    case SpecifierWord::char_:
        return "char";
    case SpecifierWord::short_:
        return "short";
    case SpecifierWord::int_:
        return "int";
    case SpecifierWord::long_:
        return "long";
    case SpecifierWord::float_:
        return "float";
    case SpecifierWord::double_:
        return "double";
    case SpecifierWord::signed_:
        return "signed";
    case SpecifierWord::unsigned_:
        return "unsigned";
    case SpecifierWord::string_:
        return "string";
    default:
        return "";
    }
}

bool has(const std::vector<std::string_view>& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

/// Attributes and base of a type that there is not, as messages name it: sign, short and long, then
/// the base, with the blank that goes before it.
std::string shown_words(const std::vector<std::string_view>& words) {
    std::string text;
    for (std::string_view attribute : {"signed", "unsigned", "short", "long"})
        for (std::string_view word : words)
            if (word == attribute)
                text += std::string(word) + " ";
    for (std::string_view word : words)
        if (word == "char" || word == "int" || word == "float" || word == "double")
            text += word;
    return text;
}

} // namespace

/// Returns the type that a declaration's specifiers name, qualifiers included.
TypeId Declarer::base_type(const Specifiers& specifiers) {
    TypeId type = base_words(specifiers);
    if (type == TypeId::none)
        return type;
    for (const Specifier& specifier : specifiers.words) {
        if (specifier.word == SpecifierWord::const_)
            type = types_.qualified(type, TypeKind::const_);
        else if (specifier.word == SpecifierWord::volatile_)
            type = types_.qualified(type, TypeKind::volatile_);
        else if (specifier.word == SpecifierWord::restrict_)
            type = types_.qualified(type, TypeKind::restrict_);
    }
    return type;
}

TypeId Declarer::base_words(const Specifiers& specifiers) {
    std::vector<std::string_view> words;
    for (const Specifier& specifier : specifiers.words)
        if (std::string_view word = base_word(specifier.word); !word.empty())
            words.push_back(word);
    const Span& span = specifiers.span;
    size_t bases = specifiers.named.size();
    for (std::string_view word : {"void", "char", "int", "float", "double", "string"})
        bases += static_cast<size_t>(std::count(words.begin(), words.end(), word));
    bool is_other = !specifiers.named.empty() || has(words, "string");
    bool sized = has(words, "short") || has(words, "long");
    bool sign = has(words, "signed") || has(words, "unsigned");
    if (bases > 1 || (has(words, "signed") && has(words, "unsigned"))) {
        // It went wrong at the second of them.
        const Span& second = specifiers.named.size() > 1 ? specifiers.named[1].span : span;
        error(Tag::D_DECL_COMBO, second, "invalid type combination");
        return TypeId::none;
    }
    if (has(words, "void") && (sized || sign))
        error(Tag::D_DECL_VOIDATTR, span,
              "invalid type declaration: attributes may not be used with void type");
    else if (has(words, "char") && sized)
        error(Tag::D_DECL_CHARATTR, span,
              "invalid type declaration: short and long may not be used with char type");
    else if (sign && (is_other || has(words, "float") || has(words, "double")))
        error(Tag::D_DECL_SIGNINT, span,
              "invalid type declaration: signed and unsigned may only be used with integer type");
    else if (sized &&
             (is_other || has(words, "float") || (has(words, "short") && has(words, "double"))))
        error(Tag::D_DECL_LONGINT, span,
              has(words, "short")
                  ? "invalid type declaration: short may only be used with integer type"
                  : "invalid type declaration: long and long long may only be used with integer "
                    "or floating-point type");
    else if (has(words, "string"))
        return types_.string_type();
    else if (!specifiers.named.empty())
        return named_type(specifiers.named.front());
    else if (words.empty())
        return types_.int_type(); // as in old C: `self x;`
    else if (TypeId type = types_.find_base(words); type != TypeId::none)
        return type;
    else
        error(Tag::D_UNKNOWN, span, "failed to resolve type %s: Unknown type name",
              shown_words(words).c_str());
    return TypeId::none;
}

TypeId Declarer::named_type(const NamedType& named) {
    switch (named.kind) {
    case NamedKind::typedef_:
        return typedef_type(named);
    case NamedKind::struct_:
        return struct_type(named, TagKind::struct_);
    case NamedKind::union_:
        return struct_type(named, TagKind::union_);
    case NamedKind::enum_:
        return enum_type(named);
    }
    return TypeId::none;
}

void Declarer::unknown_type(const Span& span, const std::string& name) {
    if (types_.kernel_error())
        error(Tag::D_TYPE_ERR, span, "%s",
              messages::lookup_failed(name, types_.kernel_error()->message()).c_str());
    else
        error(Tag::D_DECL_IDENT, span, "failed to resolve type %s: Unknown type name",
              name.c_str());
}

TypeId Declarer::typedef_type(const NamedType& named) {
    TypeId type = types_.find_typedef(named.name, named.module);
    if (type == TypeId::none)
        unknown_type(named.span, (named.has_module ? named.module + "`" : "") + named.name);
    return type;
}

TypeId Declarer::struct_type(const NamedType& named, TagKind kind) {
    const char* word = kind == TagKind::struct_ ? "struct" : "union";
    if (!named.has_body) {
        TypeId found = types_.find_tag(kind, named.name, named.module);
        if (found == TypeId::none && named.has_module) {
            unknown_type(named.span, named.module + "`" + word + " " + named.name);
            return found;
        }
        return found == TypeId::none ? types_.declare_tag(kind, named.name) : found;
    }
    // Declared first, so that members can point to it.
    if (!named.name.empty())
        types_.declare_tag(kind, named.name);
    std::vector<TypeMember> members;
    for (const Declaration& member : named.members)
        if (!add_members(member, members))
            return TypeId::none;
    TypeId type = types_.define_struct(kind, named.name, std::move(members));
    if (type == TypeId::none)
        error(Tag::D_DECL_TYPERED, named.span, "type redeclared: %s %s", word, named.name.c_str());
    return type;
}

/// Adds what one line of a struct's body declares.
bool Declarer::add_members(const Declaration& declaration, std::vector<TypeMember>& members) {
    if (!no_storage_class(declaration.specifiers, Tag::D_DECL_BADCLASS,
                          "specified storage class not appropriate in D"))
        return false;
    TypeId type = base_type(declaration.specifiers);
    if (type == TypeId::none)
        return false;
    if (declaration.declarators.empty()) {
        // An unnamed struct or union, whose members become the outer one's.
        if (!types_.is_struct_or_union(type)) {
            error(Tag::D_DECL_MNAME, declaration.span, "member declaration requires a name");
            return false;
        }
        members.push_back({"", type, 0, 0});
        return true;
    }
    for (const Declarator& declarator : declaration.declarators)
        if (!add_member(declarator, type, members))
            return false;
    return true;
}

bool Declarer::add_member(const Declarator& declarator, TypeId type,
                          std::vector<TypeMember>& members) {
    TypeMember member;
    member.name = declarator.name;
    member.type = derive(type, declarator, Place::member, nullptr);
    if (member.type == TypeId::none)
        return false;
    if (member.name.empty() && !declarator.bits) {
        error(Tag::D_DECL_MNAME, declarator.span, "member declaration requires a name");
        return false;
    }
    if (declarator.bits ? !check_bitfield(declarator, member)
                        : !check_object(declarator, member.type, Place::member))
        return false;
    bool duplicate = std::any_of(members.begin(), members.end(), [&](const TypeMember& other) {
        return !member.name.empty() && other.name == member.name;
    });
    if (duplicate) {
        error(Tag::D_UNKNOWN, declarator.name_span,
              "failed to define member '%s': Duplicate member or variable name",
              member.name.c_str());
        return false;
    }
    members.push_back(std::move(member));
    return true;
}

bool Declarer::check_bitfield(const Declarator& declarator, TypeMember& member) {
    const char* name = declarator.name.empty() ? "(anon)" : declarator.name.c_str();
    if (types_.kind(member.type) != TypeKind::integer) {
        error(Tag::D_DECL_BFTYPE, declarator.span, "invalid type for bit-field: %s", name);
        return false;
    }
    auto bits = constant(*declarator.bits);
    if (!bits || *bits <= 0) {
        error(Tag::D_DECL_BFCONST, declarator.bits->span,
              "positive integral constant expression expected as bit-field size");
        return false;
    }
    if (static_cast<uint64_t>(*bits) > *types_.size_of(member.type) * 8) {
        error(Tag::D_DECL_BFSIZE, declarator.bits->span, "bit-field too big for type: %s", name);
        return false;
    }
    member.bitfield_bits = static_cast<uint32_t>(*bits);
    return true;
}

TypeId Declarer::enum_type(const NamedType& named) {
    if (!named.has_body) {
        TypeId found = types_.find_tag(TagKind::enum_, named.name, named.module);
        return found == TypeId::none ? types_.declare_tag(TagKind::enum_, named.name) : found;
    }
    std::vector<TypeEnumerator> enumerators;
    open_enumerators_ = &enumerators;
    bool ok = enum_body(named, enumerators);
    open_enumerators_ = nullptr;
    if (!ok)
        return TypeId::none;
    TypeId type = types_.define_enum(named.name, std::move(enumerators));
    if (type == TypeId::none)
        error(Tag::D_DECL_TYPERED, named.span, "type redeclared: enum %s", named.name.c_str());
    return type;
}

/// Evaluates an enum's body.  A value may use the enumerators before it.
bool Declarer::enum_body(const NamedType& named, std::vector<TypeEnumerator>& enumerators) {
    int64_t next = 0;
    for (const EnumeratorSyntax& syntax : named.enumerators) {
        const char* name = syntax.name.c_str();
        if (syntax.value) {
            auto value = constant(*syntax.value);
            if (!value) {
                error(Tag::D_DECL_ENCONST, syntax.span,
                      "enumerator '%s' must be assigned to an integral constant expression", name);
                return false;
            }
            next = *value;
        }
        if (next > INT_MAX || next < INT_MIN) {
            error(Tag::D_DECL_ENOFLOW, syntax.span, "enumerator '%s' value overflows INT_MAX (%d)",
                  name, INT_MAX);
            return false;
        }
        bool duplicate =
            std::any_of(enumerators.begin(), enumerators.end(),
                        [&](const TypeEnumerator& other) { return other.name == syntax.name; });
        if (duplicate)
            error(Tag::D_UNKNOWN, syntax.span,
                  "failed to define enumerator '%s': Duplicate member or variable name", name);
        else if (types_.find_own_enumerator(syntax.name))
            error(Tag::D_DECL_IDRED, syntax.span, "identifier redeclared: %s", name);
        if (duplicate || types_.find_own_enumerator(syntax.name))
            return false;
        enumerators.push_back({syntax.name, next++});
    }
    return true;
}

} // namespace daybreak::compiler
