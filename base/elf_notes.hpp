// SPDX-License-Identifier: Apache-2.0
//
// Notes of ELF: what a file, a dump or the running kernel says of itself.
//
//     note = name length (4) content length (4) type (4) name, padded to 4 content, padded to 4
#pragma once

#include "base/byte_reader.hpp"

#include <string_view>

namespace daybreak::base {

/// A longer one is none: SHA-1 has 20 bytes, SHA-512 64.
constexpr size_t kBuildIdBytesMax = 64;

struct ElfNote {
    uint32_t type = 0;
    std::string_view name; ///< without its NUL
    ByteView content;
};

/// Goes through notes; those from one on that leads past the end are none.
class ElfNotes {
public:
    /// The bytes must outlive it and its notes.
    explicit ElfNotes(ByteView untrusted_notes) : reader_(untrusted_notes, "notes") {}
    bool next(ElfNote& note);

private:
    ByteReader reader_;
};

/// Returns the build id among the notes; empty: there is none.
ByteView build_id_of(ByteView untrusted_notes);

} // namespace daybreak::base
