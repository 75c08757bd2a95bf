// SPDX-License-Identifier: Apache-2.0
//
// UserNames: whose code a user address is.
//
// A recording holds no maps of processes; a printer that runs while they still run can give them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace daybreak::analyze {

/// The place of an address in a process.
struct UserPlace {
    std::string object;         ///< base name of the program or library: "libc.so.6"
    uint64_t object_offset = 0; ///< from the object's start, as its symbols count
    std::string symbol;         ///< as the object has it, mangled; "" when none is known there
    uint64_t symbol_offset = 0; ///< from the symbol's start
    uint64_t object_start = 0;  ///< address of the object's first byte in the process
};

class UserNames {
public:
    virtual ~UserNames() = default;
    /// Returns the place; empty when the process is gone, or nothing is mapped there.
    virtual std::optional<UserPlace> find(uint64_t pid, uint64_t address) = 0;
};

} // namespace daybreak::analyze
