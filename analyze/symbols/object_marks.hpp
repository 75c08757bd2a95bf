// SPDX-License-Identifier: Apache-2.0
//
// The marks of an ELF file: places that its authors named, of section .note.stapsdt (USDT).
//
// A note has the address of an instruction, that of a count of tracers (a semaphore), the names of
// provider and mark, and where its arguments are.  Addresses are of before the file was prelinked:
// the section .stapsdt.base says by how much it was moved.
#pragma once

#include "base/byte_reader.hpp"
#include "base/counted.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace daybreak::analyze {

struct ObjectMark {
    std::string provider, name; ///< "python", "function__entry"
    std::string operands;       ///< "8@%rax -4@$5"
    uint64_t address = 0;
    uint64_t semaphore = 0; ///< address; 0: it has none
};

/// The most that a file can have; further ones are left out.
constexpr size_t kObjectMarksMax = 16384;

/// Appends the marks of one section of notes.  Those that do not hold together are left out, and
/// counted.  `base_address`: of .stapsdt.base; 0: there is none.
void read_object_marks(base::ByteView untrusted_notes, uint64_t base_address,
                       std::vector<ObjectMark>& marks, base::LeftOut& left_out);

/// Returns the names of variables that operands have: of "8@%rax -4@40+Stats(%rip)" Stats.
std::vector<std::string> variables_named(const std::string& operands);

/// Returns operands with each variable as its distance from the mark, "-4@4096(%rip)"; a variable
/// that the file has no symbol of stays as it is, and cannot be read.
std::string with_distances(const ObjectMark& mark,
                           const std::function<std::optional<uint64_t>(const std::string&)>& at);

} // namespace daybreak::analyze
