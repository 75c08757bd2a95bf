// SPDX-License-Identifier: Apache-2.0
//
// A TypeTable's types: D's own, and those a program makes.
#include "base/result.hpp"
#include "compiler/types/type_tables.hpp"

#include <algorithm>

namespace daybreak::compiler {

TypeTable::TypeTable(KernelTypes* kernel) : kernel_(kernel), tables_(std::make_unique<Tables>()) {
    add({}); // TypeId::none
    add_builtin_types();
}

TypeTable::~TypeTable() = default;

TypeId TypeTable::add(Type type) const {
    tables_->slots.push_back({std::move(type), nullptr, 0});
    return static_cast<TypeId>(tables_->slots.size() - 1);
}

const Type& TypeTable::get(TypeId id) const {
    auto index = static_cast<size_t>(id);
    DBK_ASSERT(index < tables_->slots.size());
    Tables::Slot& slot = tables_->slots[index];
    if (slot.btf)
        BtfConverter(*this).convert(slot);
    return slot.type;
}

TypeId TypeTable::add_typedef(const char* name, TypeId target) {
    Type type;
    type.kind = TypeKind::typedef_;
    type.name = name;
    type.target = target;
    TypeId id = add(std::move(type));
    tables_->typedefs[name] = id;
    return id;
}

/// C's types on LP64, and D's typedefs of them.
void TypeTable::add_builtin_types() {
    auto integer = [this](const char* name, uint64_t bytes, bool is_signed, uint8_t rank) {
        Type type;
        type.kind = TypeKind::integer;
        type.name = name;
        type.bytes = bytes;
        type.is_signed = is_signed;
        type.rank = rank;
        type.is_char = rank == kRankChar;
        type.is_bool = rank == kRankBool;
        return add(std::move(type));
    };
    auto simple = [this](TypeKind kind, const char* name, uint64_t bytes) {
        Type type;
        type.kind = kind;
        type.name = name;
        type.bytes = bytes;
        return add(std::move(type));
    };
    void_ = simple(TypeKind::void_, "void", 0);
    string_ = simple(TypeKind::string, "string", 0);
    dynamic_ = simple(TypeKind::dynamic, "<DYN>", 0);
    translated_ = simple(TypeKind::dynamic, "translated data", 0);
    translated_pointer_ = simple(TypeKind::dynamic, "pointer to translated data", 0);
    bool_ = integer("_Bool", 1, false, kRankBool);
    char_ = integer("char", 1, true, kRankChar);
    signed_char_ = integer("signed char", 1, true, kRankChar);
    unsigned_char_ = integer("unsigned char", 1, false, kRankChar);
    short_ = integer("short", 2, true, kRankShort);
    unsigned_short_ = integer("unsigned short", 2, false, kRankShort);
    int_ = integer("int", 4, true, kRankInt);
    unsigned_int_ = integer("unsigned int", 4, false, kRankInt);
    long_ = integer("long", 8, true, kRankLong);
    unsigned_long_ = integer("unsigned long", 8, false, kRankLong);
    long_long_ = integer("long long", 8, true, kRankLongLong);
    unsigned_long_long_ = integer("unsigned long long", 8, false, kRankLongLong);
    float_ = simple(TypeKind::floating, "float", 4);
    double_ = simple(TypeKind::floating, "double", 8);
    long_double_ = simple(TypeKind::floating, "long double", 16);

    add_typedef("int8_t", signed_char_);
    add_typedef("int16_t", short_);
    add_typedef("int32_t", int_);
    int64_ = add_typedef("int64_t", long_);
    add_typedef("intptr_t", long_);
    add_typedef("uint8_t", unsigned_char_);
    add_typedef("uint16_t", unsigned_short_);
    add_typedef("uint32_t", unsigned_int_);
    uint64_ = add_typedef("uint64_t", unsigned_long_);
    add_typedef("uintptr_t", unsigned_long_);
    add_typedef("uchar_t", unsigned_char_);
    add_typedef("ushort_t", unsigned_short_);
    add_typedef("uint_t", unsigned_int_);
    add_typedef("ulong_t", unsigned_long_);
    add_typedef("longlong_t", long_long_);
    add_typedef("u_longlong_t", unsigned_long_long_);
    add_typedef("size_t", unsigned_long_);
    add_typedef("ssize_t", long_);
    add_typedef("ptrdiff_t", long_);
    add_typedef("id_t", int_);
    add_typedef("pid_t", int_);
    add_typedef("uid_t", unsigned_int_);
    add_typedef("gid_t", unsigned_int_);
    // The System V ABI's va_list, as cpp's <stdarg.h> calls it: 24 bytes, of which D reads none.
    add_typedef("__builtin_va_list", array_of(unsigned_long_, 3));
    tables_->typedefs["string"] = string_;
    tables_->typedefs["_Bool"] = bool_;
    last_builtin_ = static_cast<TypeId>(tables_->slots.size() - 1);
}

TypeId TypeTable::integer_type(uint64_t bytes, bool is_signed) const {
    switch (bytes) {
    case 1:
        return is_signed ? char_ : unsigned_char_;
    case 2:
        return is_signed ? short_ : unsigned_short_;
    case 4:
        return is_signed ? int_ : unsigned_int_;
    default:
        return is_signed ? long_ : unsigned_long_;
    }
}

TypeId TypeTable::intern(TypeKind kind, TypeId target, uint64_t count) {
    auto [found, is_new] = tables_->derived.try_emplace({kind, target, count}, TypeId::none);
    if (is_new) {
        Type type;
        type.kind = kind;
        type.target = target;
        type.count = count;
        type.bytes = kind == TypeKind::pointer ? 8 : 0;
        found->second = add(std::move(type));
    }
    return found->second;
}

TypeId TypeTable::pointer_to(TypeId target) {
    return intern(TypeKind::pointer, target, 0);
}

TypeId TypeTable::array_of(TypeId element, uint64_t count) {
    return intern(TypeKind::array, element, count);
}

TypeId TypeTable::qualified(TypeId target, TypeKind qualifier) {
    DBK_ASSERT(qualifier == TypeKind::const_ || qualifier == TypeKind::volatile_ ||
               qualifier == TypeKind::restrict_);
    return intern(qualifier, target, 0);
}

TypeId TypeTable::function_of(TypeId result, std::vector<TypeParameter> parameters, bool variadic) {
    Tables::FunctionKey key{result, variadic, {}};
    for (const TypeParameter& parameter : parameters)
        key.parameters.emplace_back(parameter.type, parameter.name);
    auto [found, is_new] = tables_->functions.try_emplace(std::move(key), TypeId::none);
    if (is_new) {
        Type type;
        type.kind = TypeKind::function;
        type.target = result;
        type.parameters = std::move(parameters);
        type.variadic = variadic;
        found->second = add(std::move(type));
    }
    return found->second;
}

TypeId TypeTable::declare_tag(TagKind kind, const std::string& name) {
    auto [found, is_new] = tables_->tags.try_emplace({kind, name}, TypeId::none);
    if (is_new) {
        Type type;
        type.kind = TypeKind::forward;
        type.name = name;
        type.tag = kind;
        found->second = add(std::move(type));
    }
    return found->second;
}

TypeId TypeTable::define_struct(TagKind kind, const std::string& name,
                                std::vector<TypeMember> members) {
    Type type;
    type.kind = kind == TagKind::struct_ ? TypeKind::struct_ : TypeKind::union_;
    type.name = name;
    type.tag = kind;
    type.members = std::move(members);
    lay_out(type);
    if (name.empty())
        return add(std::move(type));
    // The declaration's slot becomes the definition, so that earlier pointers to it see it.
    TypeId id = declare_tag(kind, name);
    Type& slot = tables_->slots[static_cast<size_t>(id)].type;
    if (slot.kind != TypeKind::forward)
        return TypeId::none;
    slot = std::move(type);
    return id;
}

bool TypeTable::has_own_tag(TagKind kind, const std::string& name) const {
    if (library_)
        library_(name); // it may be the library's
    auto found = tables_->tags.find(std::pair(kind, name));
    return found != tables_->tags.end() && get(found->second).kind != TypeKind::forward;
}

TypeId TypeTable::define_enum(const std::string& name, std::vector<TypeEnumerator> enumerators) {
    Type type;
    type.kind = TypeKind::enum_;
    type.name = name;
    type.tag = TagKind::enum_;
    type.bytes = 4;
    type.is_signed = true;
    type.target = int_;
    type.enumerators = std::move(enumerators);
    TypeId id;
    if (name.empty()) {
        id = add(std::move(type));
    } else {
        id = declare_tag(TagKind::enum_, name);
        Type& slot = tables_->slots[static_cast<size_t>(id)].type;
        if (slot.kind != TypeKind::forward)
            return TypeId::none;
        slot = std::move(type);
    }
    for (const TypeEnumerator& enumerator : get(id).enumerators)
        tables_->enumerators.try_emplace(enumerator.name, EnumeratorLocation{id, enumerator.value});
    return id;
}

TypeId TypeTable::define_typedef(const std::string& name, TypeId target) {
    if (library_)
        library_(name); // it may be the library's
    auto found = tables_->typedefs.find(name);
    if (found == tables_->typedefs.end())
        return add_typedef(name.c_str(), target);
    // A header's id_t is unsigned, D's own is not: it stays, for it has the same bytes.
    bool is_own = found->second <= last_builtin_ && is_integer(found->second) &&
                  is_integer(target) && size_of(found->second) == size_of(target);
    return is_own || compatible(found->second, target) ? found->second : TypeId::none;
}

/// Places members as the System V ABI (3.1.2, "Aggregates and Unions") does, but bit-fields as D
/// always did: each begins at a byte, aligned as the power of two of bytes that its width needs.
void TypeTable::lay_out(Type& type) const {
    uint64_t bits = 0, size_bits = 0, align_bits = 8;
    for (TypeMember& member : type.members) {
        uint64_t member_bits = size_of(member.type).value_or(0) * 8;
        uint64_t member_align = align_of(member.type) * 8;
        uint64_t at = type.kind == TypeKind::union_ ? 0 : bits;
        if (member.bitfield_bits && member_bits) {
            uint64_t unit_bits = 8;
            while (unit_bits < member.bitfield_bits)
                unit_bits *= 2;
            at = (at + unit_bits - 1) / unit_bits * unit_bits;
            member_bits = member.bitfield_bits;
            member_align = 8;
        } else {
            at = (at + member_align - 1) / member_align * member_align;
        }
        member.offset_bits = at;
        bits = at + member_bits;
        size_bits = std::max(size_bits, bits);
        align_bits = std::max(align_bits, member_align);
    }
    type.bytes = (size_bits + align_bits - 1) / align_bits * align_bits / 8;
}

} // namespace daybreak::compiler
