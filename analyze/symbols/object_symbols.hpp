// SPDX-License-Identifier: Apache-2.0
//
// ObjectSymbols: the functions and variables that an ELF file has, and which build it is.
//
// Any user's file is read: what is read of it is bounded, and what does not hold together is left
// out.  A stripped file may carry the table of its local functions packed (.gnu_debugdata); a file
// of debug symbols adds its own.
#pragma once

#include "analyze/symbols/elf_file.hpp"
#include "analyze/symbols/object_marks.hpp"
#include "base/file.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace daybreak::analyze {

class ObjectSymbols {
public:
    struct Symbol {
        uint64_t address = 0, bytes = 0; ///< bytes 0: up to the next one, or 64 KiB
        std::string name;                ///< as the file has it, mangled
        uint8_t rank = 0; ///< of several at one address the least is its name: the last
    };
    /// A part of the file as it is mapped.
    struct Segment {
        uint64_t file_offset, file_bytes, address;
        bool is_code;
    };

    /// Reads what is read when a file is mapped, its build id and its functions.  Nothing when it
    /// is not an ELF file.
    static ObjectSymbols read(int fd);
    static ObjectSymbols read(base::ByteView untrusted_image);
    /// Reads the same without the functions, which are most of a file.
    static ObjectSymbols read_without_functions(int fd);
    /// Takes the functions of another file of the same build; returns whether it is one.
    bool add_functions_of(const ObjectSymbols& other);

    const std::string& build_id() const { return build_id_; } ///< bytes; empty: it has none
    /// Returns where in the file its bytes are.
    uint64_t build_id_offset() const { return build_id_offset_; }
    bool is_64_bit() const { return is_64_bit_; }
    const std::vector<Segment>& segments() const { return segments_; }
    const std::vector<Symbol>& symbols() const { return symbols_; } ///< ascending by address
    /// Whether these are all, and not only those that other files may call: it is not stripped, or
    /// has debug symbols.
    bool is_whole() const { return is_whole_; }
    /// Returns what of its tables of functions could not be read.
    const base::LeftOut& symbols_left_out() const { return symbols_left_out_; }
    /// Returns the functions of which the dynamic linker chooses one (IFUNC), at no place of their
    /// own.
    const std::vector<std::string>& chosen() const { return chosen_; }
    /// Returns the places that the program's authors have named; of 64-bit files only.
    const std::vector<ObjectMark>& marks() const { return marks_; }
    /// Returns what of their section is damaged; marks whose function a linker left out are not.
    const base::LeftOut& marks_left_out() const { return marks_left_out_; }
    /// Returns the address of a variable that a mark's arguments name; empty: the file has no such
    /// symbol.
    std::optional<uint64_t> variable_at(const std::string& name) const;
    /// Whether the code is in it: in one of debug symbols it is not.
    bool has_code() const { return !code_.empty(); }
    /// Returns where in the file what lies at an address is; empty: nowhere.
    std::optional<uint64_t> file_offset_of(uint64_t address) const;
    /// Returns the address that the symbols have for an offset in the file; empty: it is not
    /// mapped.
    std::optional<uint64_t> address_of(uint64_t file_offset) const;
    /// Returns the function that an address is in, or null.
    const Symbol* find(uint64_t address) const;
    /// Returns the variable that an address is in, or null.
    const Symbol* find_data(uint64_t address) const;
    /// Whether the function is called: the one where a program begins is not, its stack has no
    /// address to return to.
    bool is_called(const Symbol& function) const { return function.address != entry_point_; }

private:
    /// What lies from begin on lies from `to` on elsewhere: addresses, and offsets in the file.
    struct Range {
        uint64_t begin, end, to;
    };
    using Ranges = std::vector<Range>; ///< ascending, none over another
    static Ranges set_apart(Ranges ranges);
    static std::optional<uint64_t> moved(const Ranges& ranges, uint64_t at);
    void read_segments(Elf* elf);
    void read_elf(ElfFile& file, int depth);
    void read_build_id(ElfFile& file);
    void read_table(ElfFile& file, Elf_Scn* section);
    void read_packed(ElfFile& file, Elf_Scn* section);
    void read_marks(ElfFile& file, Elf_Scn* section, uint64_t base_address);
    void sort();
    static const Symbol* last_until(const std::vector<Symbol>& symbols, uint64_t address);

    std::vector<Segment> segments_;
    Ranges by_address_, by_offset_, code_; ///< of segments; code: those by address that are
    std::vector<Symbol> symbols_, data_;   ///< functions; variables that have a size
    std::vector<std::string> chosen_;
    std::vector<ObjectMark> marks_;
    base::LeftOut marks_left_out_, symbols_left_out_;
    std::map<std::string, uint64_t, std::less<>> variables_; ///< those that operands of marks name
    std::string build_id_;
    uint64_t build_id_offset_ = 0, entry_point_ = 0;
    bool is_64_bit_ = false, takes_functions_ = true, is_whole_ = false;
    size_t symbols_bytes_ = 0;
};

} // namespace daybreak::analyze
