// SPDX-License-Identifier: Apache-2.0
//
// ObjectLines: which line of which source file an address of a program was compiled from.
//
// DWARF, read by libdw: which of its units has an address is looked up in the units' ranges, which
// every compiler writes, not in .debug_aranges, which some leave out; a unit's line table is
// unpacked when it is first asked.
#pragma once

#include "base/byte_reader.hpp"
#include "base/file.hpp"

#include <cstdint>
#include <elfutils/libdw.h>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace daybreak::analyze {

class ObjectLines {
public:
    /// Of packed debug information, unpacked: it stays in memory while names are asked for.
    static constexpr uint64_t kUnpackedBytesMax = uint64_t{1} << 30;
    /// Of the line tables of units that are asked: a byte may be a line, of which libdw keeps 40
    /// bytes, and takes 100 while it reads the unit's.
    static constexpr uint64_t kLineBytesMax = 16 << 20;

    /// Reads an untrusted ELF file, and no other that it names.  Without DWARF it has no lines, nor
    /// with more than kUnpackedBytesMax, or units of more ranges than programs have.
    explicit ObjectLines(base::ScopedFd file);
    ~ObjectLines();
    ObjectLines(const ObjectLines&) = delete;
    ObjectLines& operator=(const ObjectLines&) = delete;

    bool empty() const { return units_.empty(); }
    /// Returns of what there is too much to be read, "more than ...", where lines are missing for
    /// that; "": of nothing.
    const std::string& too_large() const { return too_large_; }
    /// Returns "malloc.c:3275" of an address as the object's symbols count; "": not known.
    std::string find(uint64_t address);

private:
    struct UnitRange {
        uint64_t begin, end, die_offset;
    };
    class NoOtherFile;
    void read_units();
    void find_table();
    bool take_lines(Dwarf_Die& unit, uint64_t unit_offset);

    base::ScopedFd file_;
    std::unique_ptr<NoOtherFile> none_; ///< lives as long as dwarf_
    Dwarf* dwarf_ = nullptr;
    std::string too_large_;
    std::vector<UnitRange> units_; ///< ascending
    base::ByteView table_;         ///< .debug_line; dwarf_ has it
    std::set<uint64_t> taken_;     ///< units whose lines were taken from it, by offset
    uint64_t line_bytes_left_ = kLineBytesMax;
};

} // namespace daybreak::analyze
