// SPDX-License-Identifier: Apache-2.0
//
// ObjectLines: which line of which source file an address of a program was compiled from.
//
// DWARF, read by libdw: which of its units has an address is looked up in the units' ranges, which
// every compiler writes, not in .debug_aranges, which some leave out; a unit's line table is
// unpacked when it is first asked.
#pragma once

#include "base/file.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

struct Dwarf;

namespace daybreak::analyze {

class ObjectLines {
public:
    /// Reads an untrusted ELF file; one without DWARF has no lines.  Bounded by its size.
    explicit ObjectLines(base::ScopedFd file);
    ~ObjectLines();
    ObjectLines(const ObjectLines&) = delete;
    ObjectLines& operator=(const ObjectLines&) = delete;

    bool empty() const { return units_.empty(); }
    /// Returns "malloc.c:3275" of an address as the object's symbols count; "": not known.
    std::string find(uint64_t address) const;

private:
    struct UnitRange {
        uint64_t begin, end, die_offset;
    };
    void read_units();

    base::ScopedFd file_;
    Dwarf* dwarf_ = nullptr;
    std::vector<UnitRange> units_; ///< ascending
};

} // namespace daybreak::analyze
