// SPDX-License-Identifier: Apache-2.0
//
// C's rules about types: promotion, arithmetic conversions, compatibility.
#include "compiler/types/type_tables.hpp"

#include <algorithm>

namespace daybreak::compiler {

namespace {

// Pointers to pointers to ...: deeper types are taken to be alike.
constexpr unsigned kCompareDepthMax = 32;
constexpr unsigned kFunctionDepthMax = 2;
constexpr size_t kParametersMax = 64;

} // namespace

TypeId TypeTable::promoted(TypeId id) const {
    TypeId plain = resolve(id);
    const Type& type = get(plain);
    if (type.kind == TypeKind::enum_) {
        // D's enums, and nearly all of the kernel's, are ints.
        if (type.bytes <= 4)
            return int_;
        return type.is_signed ? long_ : unsigned_long_;
    }
    // All smaller types fit into an int.
    return type.kind == TypeKind::integer && type.rank < kRankInt ? int_ : plain;
}

TypeId TypeTable::usual_arithmetic(TypeId left, TypeId right) const {
    left = promoted(left);
    right = promoted(right);
    const Type &a = get(left), &b = get(right);
    if (a.kind == TypeKind::floating || b.kind == TypeKind::floating) {
        if (a.kind != b.kind)
            return a.kind == TypeKind::floating ? left : right;
        return a.bytes >= b.bytes ? left : right;
    }
    if (left == right)
        return left;
    if (a.is_signed == b.is_signed)
        return a.rank >= b.rank ? left : right;
    TypeId unsigned_id = a.is_signed ? right : left, signed_id = a.is_signed ? left : right;
    const Type &u = get(unsigned_id), &s = get(signed_id);
    if (u.rank >= s.rank)
        return unsigned_id;
    if (s.bytes > u.bytes)
        return signed_id;
    // Of one size: the unsigned type of the signed one's rank, `unsigned long long`.
    return s.rank == kRankLongLong ? unsigned_long_long_ : unsigned_long_;
}

bool TypeTable::compatible(TypeId left, TypeId right) const {
    return compatible_at(left, right, 0);
}

bool TypeTable::compatible_at(TypeId left, TypeId right, unsigned depth) const {
    left = resolve(left);
    right = resolve(right);
    if (left == right || depth > kCompareDepthMax)
        return true;
    const Type &a = get(left), &b = get(right);
    auto is_tagged = [](const Type& type) {
        return type.kind == TypeKind::struct_ || type.kind == TypeKind::union_ ||
               type.kind == TypeKind::forward;
    };
    if (is_tagged(a) && is_tagged(b)) {
        // Of different modules, or declared in one and defined in another.
        bool same_tag = a.tag == b.tag && !a.name.empty() && a.name == b.name;
        return same_tag &&
               (a.kind == TypeKind::forward || b.kind == TypeKind::forward || a.bytes == b.bytes);
    }
    if (a.kind != b.kind) {
        // An enum and the integer that holds it.
        bool enum_and_integer = (a.kind == TypeKind::enum_ && b.kind == TypeKind::integer) ||
                                (a.kind == TypeKind::integer && b.kind == TypeKind::enum_);
        return enum_and_integer && a.bytes == b.bytes && a.is_signed == b.is_signed;
    }
    switch (a.kind) {
    case TypeKind::integer:
        return a.bytes == b.bytes && a.is_signed == b.is_signed;
    case TypeKind::floating:
        return a.bytes == b.bytes;
    case TypeKind::enum_:
        return a.name == b.name && a.bytes == b.bytes;
    case TypeKind::pointer:
        return compatible_at(a.target, b.target, depth + 1);
    case TypeKind::array:
        return (a.count == b.count || a.count == 0 || b.count == 0) &&
               compatible_at(a.target, b.target, depth + 1);
    case TypeKind::function:
        return same_functions(a, b, depth);
    default:
        return true; // void, string, dynamic
    }
}

bool TypeTable::same_functions(const Type& left, const Type& right, unsigned depth) const {
    if (left.variadic != right.variadic || left.parameters.size() != right.parameters.size() ||
        !compatible_at(left.target, right.target, depth + 1))
        return false;
    // Functions that take functions that take functions: further in, all are taken to be alike.
    if (depth > kFunctionDepthMax || left.parameters.size() > kParametersMax)
        return true;
    for (size_t i = 0; i < left.parameters.size(); i++)
        if (!compatible_at(left.parameters[i].type, right.parameters[i].type, depth + 1))
            return false;
    return true;
}

bool TypeTable::pointers_compatible(TypeId left, TypeId right) const {
    TypeId a = element_of(left), b = element_of(right);
    if (a == TypeId::none || b == TypeId::none)
        return false;
    return is_void(a) || is_void(b) || compatible(a, b);
}

bool TypeTable::assignable(TypeId to, TypeId from) const {
    if (is_dynamic(to) || is_dynamic(from))
        return false;
    if (is_arithmetic(to) && is_arithmetic(from))
        return true;
    if (is_string(to))
        return is_string_like(from);
    if (is_pointer(to))
        return pointers_compatible(to, from);
    return is_struct_or_union(to) && compatible(to, from);
}

} // namespace daybreak::compiler
