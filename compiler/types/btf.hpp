// SPDX-License-Identifier: Apache-2.0
//
// BTF, the kernel's type data: bytes in, types by number and by name out.
//
// The bytes are untrusted.  Parsing checks the header and walks the type section once, checking
// each entry's length, its references and its names; after that, reading a type cannot run out of
// bounds.  Names are indexed at the first lookup.  A module's BTF is split: its type numbers and
// string offsets go on where the base's end, so it keeps a pointer to its base.
//
// Byte layout: Documentation/bpf/btf.rst of the Linux kernel.
#pragma once

#include "base/byte_reader.hpp"
#include "base/result.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace daybreak::compiler {

enum class BtfKind : uint8_t {
    void_ = 0, // type number 0
    integer = 1,
    pointer = 2,
    array = 3,
    struct_ = 4,
    union_ = 5,
    enum_ = 6,
    forward = 7,
    typedef_ = 8,
    volatile_ = 9,
    const_ = 10,
    restrict_ = 11,
    function = 12,
    function_prototype = 13,
    variable = 14,
    data_section = 15,
    floating = 16,
    declaration_tag = 17,
    type_tag = 18,
    enum64 = 19,
};

struct BtfMember {
    std::string_view name;
    uint32_t type;
    uint32_t offset_bits;
    uint32_t bitfield_bits; ///< 0: not a bit-field
};

struct BtfEnumerator {
    std::string_view name;
    int64_t value;
};

struct BtfParameter {
    std::string_view name;
    uint32_t type; ///< 0 as the last with an empty name: variadic
};

/// One type's fixed part.
struct BtfType {
    BtfKind kind = BtfKind::void_;
    std::string_view name;
    uint32_t entries = 0; ///< members, enumerators, parameters that follow
    bool flag = false;    ///< struct: bit-fields encoded; forward: union; enum: signed
    uint32_t bytes = 0;   ///< of integer, struct, union, enum, enum64, float, data section
    uint32_t target = 0;  ///< type number, for the kinds that refer to one
    // integer
    uint8_t integer_bits = 0, integer_offset_bits = 0;
    bool is_signed = false, is_char = false, is_bool = false;
    // array
    uint32_t index_type = 0, count = 0;
};

class Btf {
public:
    /// No BTF holds more types than this; real kernels have 150 000.
    static constexpr uint32_t kTypesMax = 4u << 20;

    /// Longer names are cut.  The kernel's own bound is 512 (KSYM_NAME_LEN).
    static constexpr size_t kNameBytesMax = 1024;

    /// Checks and takes over raw BTF.  `base` is null for vmlinux; for a module it must outlive
    /// this. Errors: corrupt, truncated, unsupported (big-endian, a kind this version does not
    /// know).
    static base::Result<std::unique_ptr<Btf>> parse(base::Bytes untrusted_bytes,
                                                    const Btf* base = nullptr);

    /// One more than the highest type number.
    uint32_t type_end() const { return first_ + static_cast<uint32_t>(offsets_.size()); }
    /// The lowest type number of its own: 1, or the base's type_end().
    uint32_t type_begin() const { return first_; }
    const Btf* base() const { return base_; }
    base::ByteView bytes() const { return bytes_; }

    /// Returns a type; `id` must be below type_end().
    BtfType type(uint32_t id) const;
    std::vector<BtfMember> members(uint32_t id) const;
    std::vector<BtfEnumerator> enumerators(uint32_t id) const;
    std::vector<BtfParameter> parameters(uint32_t id) const;

    /// Returns the number of a type of that kind and name, in this BTF's own types only; 0: none.
    /// struct_, union_, enum_ (enum64 too), typedef_, integer, floating, function, variable,
    /// forward.
    uint32_t find(BtfKind kind, std::string_view name) const;
    /// Returns the enum that has an enumerator of that name, and its value; its own types only.
    std::optional<std::pair<uint32_t, int64_t>> find_enumerator(std::string_view name) const;
    /// Returns the prototype (function_prototype) of a tracepoint, from its btf_trace_ typedef; 0.
    uint32_t find_tracepoint(std::string_view name) const;
    /// Returns the names of all tracepoints in its own types, sorted.
    std::vector<std::string_view> tracepoints() const;
    /// Returns the names of all functions in its own types, in the order of the section.
    std::vector<std::string_view> functions() const;

private:
    Btf() = default;
    base::Result<void> check_header();
    base::Result<void> check_types();
    base::Result<void> check_type(uint32_t id) const;
    uint32_t word(uint64_t offset) const;
    std::string_view string(uint32_t offset) const;
    void build_index() const;

    base::Bytes bytes_;
    const Btf* base_ = nullptr;
    uint32_t first_ = 1;
    uint64_t types_offset_ = 0, types_bytes_ = 0, strings_offset_ = 0;
    uint32_t strings_begin_ = 0, strings_bytes_ = 0;
    std::vector<uint32_t> offsets_; ///< of each own type, from types_offset_
    struct Index;
    mutable std::shared_ptr<Index> index_;
};

} // namespace daybreak::compiler
