// SPDX-License-Identifier: Apache-2.0
//
// ObjectLines: which line of which source file an address of a program was compiled from.
//
// DWARF, read by libdw: which of its units has an address is looked up in the units' ranges, which
// every compiler writes, not in .debug_aranges, which some leave out; a unit's line table is
// unpacked when it is first asked.
#pragma once

#include "analyze/symbols/elf_file.hpp"
#include "base/file.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct Dwarf;

namespace daybreak::analyze {

class ObjectLines {
public:
    /// Debug information of one file, unpacked: it stays in memory while names are asked for.
    static constexpr uint64_t kDebugBytesMax = uint64_t{1} << 30;

    /// Reads an untrusted ELF file; one without DWARF has no lines, nor has one with more than
    /// kDebugBytesMax of it, or than its bytes can hold.
    explicit ObjectLines(base::ScopedFd file);
    ~ObjectLines();
    ObjectLines(const ObjectLines&) = delete;
    ObjectLines& operator=(const ObjectLines&) = delete;

    bool empty() const { return units_.empty(); }
    /// Returns whether there are no lines as there is too much of what has them.
    bool is_too_large() const { return is_too_large_; }
    /// Returns "malloc.c:3275" of an address as the object's symbols count; "": not known.
    std::string find(uint64_t address) const;

private:
    struct UnitRange {
        uint64_t begin, end, die_offset;
    };
    void read_units();
    void set_other_file();

    base::ScopedFd file_, other_file_; ///< the other one: which .gnu_debugaltlink names
    ElfFile elf_;
    std::optional<ElfFile> other_elf_;
    Dwarf *dwarf_ = nullptr, *other_ = nullptr;
    bool is_too_large_ = false;
    std::vector<UnitRange> units_; ///< ascending
};

} // namespace daybreak::analyze
