// SPDX-License-Identifier: Apache-2.0
//
// TypeDescription: the type of a value that print() recorded, read from the text beside it.
//
// The text comes out of a DOF image, which is untrusted: reading it is bounded in depth and in the
// number of types, and printing never looks beyond the value's bytes whatever the text claims.
#pragma once

#include "base/byte_reader.hpp"
#include "base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace daybreak::analyze {

struct TypeDescription;

/// A member of a struct or union; bits of 0: not a bit-field.
struct MemberDescription {
    std::string name;
    uint64_t offset_bits = 0;
    uint32_t bits = 0;
    size_t type = 0; ///< index into TypeDescription::nodes
};

struct TypeNode {
    std::string name;
    char kind = 'x'; ///< letter of the grammar: formats/abi/dof.md, "print()"
    uint64_t bytes = 0;
    uint64_t count = 0; ///< array: elements, each `bytes` long
    size_t element = 0; ///< array: its type
    std::vector<MemberDescription> members;
    std::vector<std::pair<std::string, int64_t>> enumerators;
};

struct TypeDescription {
    std::vector<TypeNode> nodes; ///< [0] is the value's own
};

/// Error: invalid, with the place where the text is none.
base::Result<TypeDescription> parse_type_description(std::string_view text);

} // namespace daybreak::analyze
