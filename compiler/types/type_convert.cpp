// SPDX-License-Identifier: Apache-2.0
//
// From BTF types to Types.
#include "compiler/types/type_tables.hpp"

namespace daybreak::compiler {

namespace {

// Type tags and names of functions and variables say nothing about the type; hostile BTF could
// chain them for ever.
constexpr unsigned kUnwrappedMax = 64;

std::vector<std::string_view> split_words(std::string_view text) {
    std::vector<std::string_view> words;
    while (!text.empty()) {
        std::string_view word = text.substr(0, text.find(' '));
        if (!word.empty())
            words.push_back(word);
        text.remove_prefix(std::min(text.size(), word.size() + 1));
    }
    return words;
}

} // namespace

/// Returns D's own type for a base type of the kernel; TypeId::none when there is none like it.
TypeId BtfConverter::base_type(const BtfType& found) {
    TypeId id = table_.find_base(split_words(found.name));
    if (id == TypeId::none)
        return id;
    const Type& type = table_.get(id);
    bool is_whole = found.kind != BtfKind::integer || found.integer_bits == type.bytes * 8;
    return type.bytes == found.bytes && is_whole ? id : TypeId::none;
}

TypeId BtfConverter::id_of(const Btf& of, uint32_t btf_id) {
    const Btf* btf = &of;
    BtfType found = btf->type(btf_id);
    for (unsigned i = 0; found.kind == BtfKind::type_tag || found.kind == BtfKind::function ||
                         found.kind == BtfKind::variable;
         i++) {
        if (i == kUnwrappedMax)
            return TypeId::none;
        btf_id = found.target;
        found = btf->type(btf_id);
    }
    if (btf_id == 0)
        return table_.void_type();
    if (found.kind == BtfKind::data_section || found.kind == BtfKind::declaration_tag)
        return TypeId::none;
    // A module's BTF goes on where vmlinux's ends: a type has one owner.
    while (btf->base() && btf_id < btf->type_begin())
        btf = btf->base();
    TypeTable::Tables& tables = *table_.tables_;
    auto [known, is_new] = tables.converted.try_emplace({btf, btf_id}, TypeId::none);
    if (!is_new)
        return known->second;
    TypeId id = TypeId::none;
    if (found.kind == BtfKind::integer || found.kind == BtfKind::floating)
        id = base_type(found);
    if (id == TypeId::none) {
        tables.slots.push_back({Type(), btf, btf_id});
        id = static_cast<TypeId>(tables.slots.size() - 1);
    }
    known->second = id;
    return id;
}

std::vector<TypeParameter> BtfConverter::parameters(const Btf& btf, uint32_t prototype,
                                                    size_t first, bool* variadic) {
    std::vector<TypeParameter> made;
    std::vector<BtfParameter> found = btf.parameters(prototype);
    for (size_t i = first; i < found.size(); i++) {
        bool is_last = i + 1 == found.size();
        if (is_last && found[i].type == 0 && found[i].name.empty()) {
            if (variadic)
                *variadic = true;
        } else {
            made.push_back({std::string(found[i].name), id_of(btf, found[i].type)});
        }
    }
    return made;
}

void BtfConverter::convert_struct(Type& type, const Btf& btf, uint32_t btf_id,
                                  const BtfType& found) {
    type.kind = found.kind == BtfKind::struct_ ? TypeKind::struct_ : TypeKind::union_;
    type.tag = found.kind == BtfKind::struct_ ? TagKind::struct_ : TagKind::union_;
    type.bytes = found.bytes;
    for (const BtfMember& member : btf.members(btf_id)) {
        // A member outside of its struct is nothing anybody may read.
        if (member.offset_bits / 8 > found.bytes)
            continue;
        type.members.push_back({std::string(member.name), id_of(btf, member.type),
                                member.offset_bits, member.bitfield_bits});
    }
}

void BtfConverter::convert_enum(Type& type, const Btf& btf, uint32_t btf_id, const BtfType& found) {
    type.kind = TypeKind::enum_;
    type.tag = TagKind::enum_;
    type.bytes = found.bytes;
    type.is_signed = found.flag;
    for (const BtfEnumerator& enumerator : btf.enumerators(btf_id)) {
        // Kernels before 6.2 do not mark signed enums, but D's enums are ints.
        int64_t value = enumerator.value;
        if (found.kind == BtfKind::enum_)
            value = static_cast<int32_t>(value);
        type.enumerators.push_back({std::string(enumerator.name), value});
    }
    if (found.kind == BtfKind::enum_)
        type.is_signed = true;
    uint64_t bytes = found.bytes == 1 || found.bytes == 2 || found.bytes == 8 ? found.bytes : 4;
    type.target = table_.integer_type(bytes, type.is_signed);
}

void BtfConverter::convert(TypeTable::Tables::Slot& slot) {
    const Btf& btf = *slot.btf;
    slot.btf = nullptr; // before members refer back to this one
    BtfType found = btf.type(slot.btf_id);
    Type type;
    type.name = found.name;
    type.module = table_.tables_->module_names[&btf];
    switch (found.kind) {
    case BtfKind::integer:
        type.kind = TypeKind::integer;
        type.bytes = found.bytes;
        type.is_signed = found.is_signed;
        type.is_char = found.is_char;
        type.is_bool = found.is_bool;
        type.rank = kRankLongLong;
        break;
    case BtfKind::floating:
        type.kind = TypeKind::floating;
        type.bytes = found.bytes;
        break;
    case BtfKind::pointer:
        type.kind = TypeKind::pointer;
        type.bytes = 8;
        type.target = id_of(btf, found.target);
        break;
    case BtfKind::array:
        type.kind = TypeKind::array;
        type.target = id_of(btf, found.target);
        type.count = found.count;
        break;
    case BtfKind::struct_:
    case BtfKind::union_:
        convert_struct(type, btf, slot.btf_id, found);
        break;
    case BtfKind::enum_:
    case BtfKind::enum64:
        convert_enum(type, btf, slot.btf_id, found);
        break;
    case BtfKind::forward:
        type.kind = TypeKind::forward;
        type.tag = found.flag ? TagKind::union_ : TagKind::struct_;
        break;
    case BtfKind::typedef_:
    case BtfKind::volatile_:
    case BtfKind::const_:
    case BtfKind::restrict_:
        type.kind = found.kind == BtfKind::typedef_    ? TypeKind::typedef_
                    : found.kind == BtfKind::volatile_ ? TypeKind::volatile_
                    : found.kind == BtfKind::const_    ? TypeKind::const_
                                                       : TypeKind::restrict_;
        type.target = id_of(btf, found.target);
        break;
    case BtfKind::function_prototype:
        type.kind = TypeKind::function;
        type.target = id_of(btf, found.target);
        type.parameters = parameters(btf, slot.btf_id, 0, &type.variadic);
        break;
    default:
        break; // id_of() gives the others no slot
    }
    slot.type = std::move(type);
}

} // namespace daybreak::compiler
