// SPDX-License-Identifier: Apache-2.0
//
// Checking and reading BTF.
#include "compiler/types/btf.hpp"

#include <cinttypes>
#include <cstring>

namespace daybreak::compiler {

using base::Bytes;
using base::ErrorCode;
using base::errorf;
using base::Result;

namespace {

constexpr uint16_t kBtfMagic = 0xeb9f;
constexpr uint8_t kVersion = 1;
constexpr uint32_t kTypeBytes = 12; // name, info, size or type
constexpr uint32_t kKindMax = 19;

struct Header {
    uint16_t magic;
    uint8_t version;
    uint8_t flags;
    uint32_t header_bytes;
    uint32_t types_offset; // from the header's end, as the strings' offset
    uint32_t types_bytes;
    uint32_t strings_offset;
    uint32_t strings_bytes;
};
static_assert(sizeof(Header) == 24);

uint32_t kind_of(uint32_t info) {
    return (info >> 24) & 0x1f;
}
uint32_t entries_of(uint32_t info) {
    return info & 0xffff;
}

/// Returns how many bytes follow a type's fixed part.
uint64_t tail_bytes(uint32_t kind, uint32_t entries) {
    switch (static_cast<BtfKind>(kind)) {
    case BtfKind::integer:
    case BtfKind::variable:
    case BtfKind::declaration_tag:
        return 4;
    case BtfKind::array:
        return 12;
    case BtfKind::enum_:
    case BtfKind::function_prototype:
        return uint64_t{8} * entries;
    case BtfKind::struct_:
    case BtfKind::union_:
    case BtfKind::data_section:
    case BtfKind::enum64:
        return uint64_t{12} * entries;
    default:
        return 0;
    }
}

/// Whether the third word of a kind is a type number and not a size.
bool refers_to_type(BtfKind kind) {
    switch (kind) {
    case BtfKind::pointer:
    case BtfKind::typedef_:
    case BtfKind::volatile_:
    case BtfKind::const_:
    case BtfKind::restrict_:
    case BtfKind::function:
    case BtfKind::function_prototype:
    case BtfKind::variable:
    case BtfKind::declaration_tag:
    case BtfKind::type_tag:
        return true;
    default:
        return false;
    }
}

} // namespace

Result<std::unique_ptr<Btf>> Btf::parse(Bytes untrusted_bytes, const Btf* base) {
    std::unique_ptr<Btf> btf(new Btf());
    btf->bytes_ = std::move(untrusted_bytes);
    btf->base_ = base;
    btf->first_ = base ? base->type_end() : 1;
    btf->strings_begin_ = base ? base->strings_begin_ + base->strings_bytes_ : 0;
    DBK_TRY_VOID(btf->check_header());
    DBK_TRY_VOID(btf->check_types());
    return btf;
}

Result<void> Btf::check_header() {
    base::ByteReader reader(bytes_, "BTF header");
    DBK_TRY(auto header, reader.read<Header>());
    if (header.magic == __builtin_bswap16(kBtfMagic))
        return errorf(ErrorCode::unsupported, "BTF is big-endian");
    if (header.magic != kBtfMagic)
        return errorf(ErrorCode::corrupt, "no BTF: magic is 0x%04x, expected 0x%04x", header.magic,
                      kBtfMagic);
    if (header.version != kVersion)
        return errorf(ErrorCode::unsupported, "BTF version is %u, expected %u", header.version,
                      kVersion);
    if (header.header_bytes < sizeof(Header))
        return errorf(ErrorCode::corrupt, "BTF header says it has %u bytes, needs %zu",
                      header.header_bytes, sizeof(Header));
    base::ByteReader sections(bytes_, "BTF sections");
    types_offset_ = uint64_t{header.header_bytes} + header.types_offset;
    strings_offset_ = uint64_t{header.header_bytes} + header.strings_offset;
    DBK_TRY(auto types, sections.bytes_at(types_offset_, header.types_bytes));
    DBK_TRY(auto strings, sections.bytes_at(strings_offset_, header.strings_bytes));
    types_bytes_ = types.size();
    strings_bytes_ = header.strings_bytes;
    if (strings_bytes_ > UINT32_MAX - strings_begin_)
        return errorf(ErrorCode::limit, "BTF strings exceed 4 GiB");
    // A module that needs no name of its own has no strings at all.
    bool closed = strings.empty() ? base_ != nullptr : strings.back() == std::byte{0};
    if (!closed)
        return errorf(ErrorCode::corrupt, "BTF strings do not end in a NUL byte");
    if (!base_ && strings.front() != std::byte{0})
        return errorf(ErrorCode::corrupt, "BTF strings do not start with a NUL byte: damaged, or a "
                                          "module's, which needs its kernel's");
    return {};
}

Result<void> Btf::check_types() {
    // First where each type lies, so that references to later ones can be checked.
    uint64_t offset = 0;
    while (offset < types_bytes_) {
        if (offset + kTypeBytes > types_bytes_)
            return errorf(ErrorCode::truncated,
                          "BTF type %u needs %u bytes at offset %" PRIu64 ", %" PRIu64 " left",
                          type_end(), kTypeBytes, offset, types_bytes_ - offset);
        uint32_t info = word(offset + 4);
        uint32_t kind = kind_of(info);
        if (kind == 0 || kind > kKindMax)
            return errorf(ErrorCode::unsupported, "BTF type %u has unknown kind %u", type_end(),
                          kind);
        uint64_t next = offset + kTypeBytes + tail_bytes(kind, entries_of(info));
        if (next > types_bytes_)
            return errorf(ErrorCode::truncated,
                          "BTF type %u ends at offset %" PRIu64 ", its section at %" PRIu64,
                          type_end(), next, types_bytes_);
        if (type_end() >= kTypesMax)
            return errorf(ErrorCode::limit, "BTF has more than %u types", kTypesMax);
        offsets_.push_back(static_cast<uint32_t>(offset));
        offset = next;
    }
    for (uint32_t id = first_; id < type_end(); id++)
        DBK_TRY_VOID(check_type(id));
    return {};
}

/// Checks every name and type number of one type.
Result<void> Btf::check_type(uint32_t id) const {
    uint64_t offset = offsets_[id - first_];
    uint32_t info = word(offset + 4);
    auto kind = static_cast<BtfKind>(kind_of(info));
    auto check_name = [&](uint32_t name) -> Result<void> {
        if (name >= strings_begin_ + strings_bytes_)
            return errorf(ErrorCode::corrupt, "BTF type %u has its name at %u, strings end at %u",
                          id, name, strings_begin_ + strings_bytes_);
        return {};
    };
    auto check_reference = [&](uint32_t target) -> Result<void> {
        if (target >= type_end())
            return errorf(ErrorCode::corrupt, "BTF type %u refers to type %u of %u", id, target,
                          type_end());
        return {};
    };
    DBK_TRY_VOID(check_name(word(offset)));
    if (refers_to_type(kind))
        DBK_TRY_VOID(check_reference(word(offset + 8)));
    uint64_t tail = offset + kTypeBytes;
    switch (kind) {
    case BtfKind::array:
        DBK_TRY_VOID(check_reference(word(tail)));
        DBK_TRY_VOID(check_reference(word(tail + 4)));
        break;
    case BtfKind::integer:
        if (word(offset + 8) > 16)
            return errorf(ErrorCode::corrupt, "BTF type %u is an integer of %u bytes", id,
                          word(offset + 8));
        break;
    case BtfKind::struct_:
    case BtfKind::union_:
        for (uint32_t i = 0; i < entries_of(info); i++, tail += 12) {
            DBK_TRY_VOID(check_name(word(tail)));
            DBK_TRY_VOID(check_reference(word(tail + 4)));
        }
        break;
    case BtfKind::function_prototype:
        for (uint32_t i = 0; i < entries_of(info); i++, tail += 8) {
            DBK_TRY_VOID(check_name(word(tail)));
            DBK_TRY_VOID(check_reference(word(tail + 4)));
        }
        break;
    case BtfKind::enum_:
    case BtfKind::enum64: {
        uint64_t entry_bytes = kind == BtfKind::enum_ ? 8 : 12;
        for (uint32_t i = 0; i < entries_of(info); i++, tail += entry_bytes)
            DBK_TRY_VOID(check_name(word(tail)));
        break;
    }
    case BtfKind::data_section:
        for (uint32_t i = 0; i < entries_of(info); i++, tail += 12)
            DBK_TRY_VOID(check_reference(word(tail)));
        break;
    default:
        break;
    }
    return {};
}

/// Returns the word at an offset of the type section, which the checks found to be inside.
uint32_t Btf::word(uint64_t offset) const {
    uint32_t value;
    std::memcpy(&value, bytes_.data() + types_offset_ + offset, sizeof(value));
    return value;
}

/// Returns the string at a checked offset; strings end in NUL, as check_header() made sure.
std::string_view Btf::string(uint32_t offset) const {
    const Btf* owner = this;
    while (owner->base_ && offset < owner->strings_begin_)
        owner = owner->base_;
    const auto* start = reinterpret_cast<const char*>(
        owner->bytes_.data() + owner->strings_offset_ + (offset - owner->strings_begin_));
    // Kernel names are far shorter; many types that share one huge name must not cost its length.
    return {start, strnlen(start, kNameBytesMax)};
}

BtfType Btf::type(uint32_t id) const {
    BtfType type;
    if (id == 0)
        return type;
    DBK_ASSERT(id < type_end());
    if (id < first_)
        return base_->type(id);
    uint64_t offset = offsets_[id - first_];
    uint32_t info = word(offset + 4);
    type.kind = static_cast<BtfKind>(kind_of(info));
    type.name = string(word(offset));
    type.entries = entries_of(info);
    type.flag = info >> 31;
    uint32_t third = word(offset + 8);
    (refers_to_type(type.kind) ? type.target : type.bytes) = third;
    if (type.kind == BtfKind::integer) {
        uint32_t encoding = word(offset + kTypeBytes);
        type.integer_bits = encoding & 0xff;
        type.integer_offset_bits = (encoding >> 16) & 0xff;
        type.is_signed = (encoding >> 24) & 1;
        type.is_char = (encoding >> 24) & 2;
        type.is_bool = (encoding >> 24) & 4;
    } else if (type.kind == BtfKind::array) {
        type.target = word(offset + kTypeBytes);
        type.index_type = word(offset + kTypeBytes + 4);
        type.count = word(offset + kTypeBytes + 8);
    }
    return type;
}

std::vector<BtfMember> Btf::members(uint32_t id) const {
    if (id < first_)
        return base_ && id ? base_->members(id) : std::vector<BtfMember>();
    BtfType of = type(id);
    std::vector<BtfMember> members;
    if (of.kind != BtfKind::struct_ && of.kind != BtfKind::union_)
        return members;
    members.reserve(of.entries);
    uint64_t at = offsets_[id - first_] + kTypeBytes;
    for (uint32_t i = 0; i < of.entries; i++, at += 12) {
        uint32_t offset = word(at + 8);
        members.push_back({string(word(at)), word(at + 4), of.flag ? offset & 0xffffff : offset,
                           of.flag ? offset >> 24 : 0});
    }
    return members;
}

std::vector<BtfEnumerator> Btf::enumerators(uint32_t id) const {
    if (id < first_)
        return base_ && id ? base_->enumerators(id) : std::vector<BtfEnumerator>();
    BtfType of = type(id);
    std::vector<BtfEnumerator> enumerators;
    if (of.kind != BtfKind::enum_ && of.kind != BtfKind::enum64)
        return enumerators;
    enumerators.reserve(of.entries);
    uint64_t at = offsets_[id - first_] + kTypeBytes;
    for (uint32_t i = 0; i < of.entries; i++) {
        if (of.kind == BtfKind::enum_) {
            uint32_t value = word(at + 4);
            enumerators.push_back({string(word(at)), of.flag ? static_cast<int32_t>(value)
                                                             : static_cast<int64_t>(value)});
            at += 8;
        } else {
            uint64_t value = word(at + 4) | uint64_t{word(at + 8)} << 32;
            enumerators.push_back({string(word(at)), static_cast<int64_t>(value)});
            at += 12;
        }
    }
    return enumerators;
}

std::vector<BtfParameter> Btf::parameters(uint32_t id) const {
    if (id < first_)
        return base_ && id ? base_->parameters(id) : std::vector<BtfParameter>();
    BtfType of = type(id);
    std::vector<BtfParameter> parameters;
    if (of.kind != BtfKind::function_prototype)
        return parameters;
    uint64_t at = offsets_[id - first_] + kTypeBytes;
    for (uint32_t i = 0; i < of.entries; i++, at += 8)
        parameters.push_back({string(word(at)), word(at + 4)});
    return parameters;
}

} // namespace daybreak::compiler
