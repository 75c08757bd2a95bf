// SPDX-License-Identifier: Apache-2.0
//
// Asking about types: what they are, how large, which members they have.
//
// Kernel types are untrusted: a typedef may stand for itself.  Every walk here has a bound.
#include "compiler/types/type_tables.hpp"

#include <algorithm>

namespace daybreak::compiler {

namespace {

// Typedefs, qualifiers and arrays in a row; C compilers guarantee 12.
constexpr unsigned kChainMax = 64;
// Anonymous structs inside of each other, and members looked at in one search.
constexpr unsigned kAnonymousDepthMax = 32;
constexpr size_t kMembersSearchedMax = 1u << 20;

bool is_qualifier(TypeKind kind) {
    return kind == TypeKind::const_ || kind == TypeKind::volatile_ || kind == TypeKind::restrict_;
}

} // namespace

TypeId TypeTable::resolve(TypeId id) const {
    for (unsigned i = 0; i < kChainMax; i++) {
        const Type& type = get(id);
        if (type.kind != TypeKind::typedef_ && !is_qualifier(type.kind))
            return id;
        id = type.target;
    }
    return TypeId::none;
}

TypeId TypeTable::unqualified(TypeId id) const {
    for (unsigned i = 0; i < kChainMax && is_qualifier(get(id).kind); i++)
        id = get(id).target;
    return id;
}

std::optional<uint64_t> TypeTable::size_of(TypeId id) const {
    uint64_t count = 1;
    for (unsigned i = 0; i < kChainMax; i++) {
        const Type& type = resolved(id);
        uint64_t bytes;
        switch (type.kind) {
        case TypeKind::integer:
        case TypeKind::floating:
        case TypeKind::pointer:
        case TypeKind::struct_:
        case TypeKind::union_:
        case TypeKind::enum_:
            bytes = type.bytes;
            break;
        case TypeKind::string:
            bytes = string_bytes_;
            break;
        case TypeKind::array:
            if (__builtin_mul_overflow(count, type.count, &count))
                return std::nullopt;
            id = type.target;
            continue;
        default:
            return std::nullopt;
        }
        if (__builtin_mul_overflow(count, bytes, &bytes))
            return std::nullopt;
        return bytes;
    }
    return std::nullopt;
}

uint64_t TypeTable::align_of(TypeId id) const {
    // Structs are aligned as their members; the walk goes into the first levels only, and what lies
    // deeper cannot need more than a pointer's alignment.
    uint64_t align = 1;
    std::vector<std::pair<TypeId, unsigned>> pending = {{id, 0}};
    size_t budget = kMembersSearchedMax;
    while (!pending.empty() && budget-- > 0 && align < 8) {
        auto [current, depth] = pending.back();
        pending.pop_back();
        const Type& type = resolved(current);
        switch (type.kind) {
        case TypeKind::integer:
        case TypeKind::floating:
        case TypeKind::enum_:
        case TypeKind::pointer:
            align = std::max(align, std::min<uint64_t>(type.bytes, 16));
            break;
        case TypeKind::array:
            if (depth < kAnonymousDepthMax)
                pending.emplace_back(type.target, depth + 1);
            break;
        case TypeKind::struct_:
        case TypeKind::union_:
            if (depth < kAnonymousDepthMax && pending.size() < kMembersSearchedMax)
                for (const TypeMember& member : type.members)
                    pending.emplace_back(member.type, depth + 1);
            break;
        default:
            break;
        }
    }
    return std::max<uint64_t>(align, 1);
}

bool TypeTable::is_integer(TypeId id) const {
    TypeKind found = kind(id);
    return found == TypeKind::integer || found == TypeKind::enum_;
}

bool TypeTable::is_signed(TypeId id) const {
    const Type& type = resolved(id);
    return (type.kind == TypeKind::integer || type.kind == TypeKind::enum_) && type.is_signed;
}

bool TypeTable::is_char_array(TypeId id) const {
    const Type& type = resolved(id);
    return type.kind == TypeKind::array && resolved(type.target).is_char;
}

bool TypeTable::is_char_pointer(TypeId id) const {
    const Type& type = resolved(id);
    return type.kind == TypeKind::pointer && resolved(type.target).is_char;
}

bool TypeTable::is_string_like(TypeId id) const {
    return is_string(id) || is_char_array(id) || is_char_pointer(id);
}

bool TypeTable::is_struct_or_union(TypeId id) const {
    TypeKind found = kind(id);
    return found == TypeKind::struct_ || found == TypeKind::union_;
}

bool TypeTable::is_by_reference(TypeId id) const {
    TypeKind found = kind(id);
    return found == TypeKind::string || found == TypeKind::struct_ || found == TypeKind::union_ ||
           found == TypeKind::array;
}

TypeId TypeTable::element_of(TypeId id) const {
    const Type& type = resolved(id);
    return type.kind == TypeKind::pointer || type.kind == TypeKind::array ? type.target
                                                                          : TypeId::none;
}

TypeId TypeTable::complete(TypeId id) {
    const Type& type = resolved(id);
    if (type.kind != TypeKind::forward)
        return id;
    // In its own module first; a D declaration of a kernel's struct is completed by the kernel.
    TypeId found = find_tag(type.tag, type.name, type.module);
    if (get(found).kind == TypeKind::forward || found == TypeId::none)
        found = find_tag(type.tag, type.name, type.module.empty() ? "vmlinux" : "");
    return found == TypeId::none || get(found).kind == TypeKind::forward ? id : found;
}

std::optional<MemberLocation> TypeTable::find_member(TypeId id, std::string_view name) {
    size_t budget = kMembersSearchedMax;
    return name.empty() ? std::nullopt : find_member_at(complete(id), name, 0, budget);
}

std::optional<MemberLocation> TypeTable::find_member_at(TypeId id, std::string_view name,
                                                        unsigned depth, size_t& budget) {
    if (depth > kAnonymousDepthMax || !is_struct_or_union(id))
        return std::nullopt;
    // Slots never move, so the reference survives types that are added meanwhile.
    const Type& type = resolved(id);
    for (const TypeMember& member : type.members) {
        if (budget == 0)
            return std::nullopt;
        budget--;
        if (member.name == name)
            return MemberLocation{member.type, member.offset_bits, member.bitfield_bits};
        if (!member.name.empty())
            continue;
        auto inner = find_member_at(member.type, name, depth + 1, budget);
        if (inner) {
            inner->offset_bits += member.offset_bits;
            return inner;
        }
    }
    return std::nullopt;
}

std::vector<std::string> TypeTable::member_names(TypeId id) {
    std::vector<std::string> names;
    member_names_at(complete(id), 0, names);
    return names;
}

void TypeTable::member_names_at(TypeId id, unsigned depth, std::vector<std::string>& names) {
    if (depth > kAnonymousDepthMax || !is_struct_or_union(id))
        return;
    for (const TypeMember& member : resolved(id).members) {
        if (names.size() >= kMembersSearchedMax)
            return;
        if (!member.name.empty())
            names.push_back(member.name);
        else
            member_names_at(member.type, depth + 1, names);
    }
}

} // namespace daybreak::compiler
