// SPDX-License-Identifier: Apache-2.0
//
// Hostile programs of .eh_frame in a file that has nothing else: libdw must never run them.
#include "analyze/symbols/object_frames.hpp"
#include "analyze/symbols/unwind.hpp"
#include "base/elf_header.hpp"
#include "tests/unit/analyze/raw_bytes.hpp"

#include <catch2/catch.hpp>

#include <cstring>
#include <dwarf.h>
#include <elf.h>

using namespace daybreak;
using namespace daybreak::analyze;
using namespace std::string_literals;
using Step = ObjectFrames::Step;
using test::bytes_of, test::peak_kib;

namespace {

using FrameProgram = std::string;

constexpr uint64_t kFunction = 0x1000, kFunctionBytes = 0x100, kTables = 0x10000, kIndex = 0x8000;
constexpr uint32_t kFdeOffset = 24; ///< the CIE before it has that many bytes

std::string entry(std::string body) {
    while (body.size() % 8 != 4)
        body += '\0';
    return bytes_of(static_cast<uint32_t>(body.size())) + body;
}

/// .eh_frame of one function with that program: addresses are 4 bytes as they are.
std::string tables(const FrameProgram& program) {
    std::string cie = entry("\0\0\0\0\1zR\0\1\x78\x10\1\3\x0c\7\x08\x90\1"s);
    return cie + entry(bytes_of(kFdeOffset + 4) + bytes_of(static_cast<uint32_t>(kFunction)) +
                       bytes_of(static_cast<uint32_t>(kFunctionBytes)) + "\0"s + program);
}

/// .eh_frame_hdr, which says that the function's FDE is at that offset of .eh_frame.
std::string index(uint32_t offset) {
    return "\1\x1b\3\x3b"s + bytes_of(static_cast<uint32_t>(kTables - kIndex - 4)) +
           bytes_of(uint32_t{1}) + bytes_of(static_cast<uint32_t>(kFunction - kIndex)) +
           bytes_of(static_cast<uint32_t>(kTables + offset - kIndex));
}

/// The type is what GNU ld writes; others have SHT_X86_64_UNWIND.
std::string object(const std::string& tables, const std::string& index,
                   uint32_t type = SHT_PROGBITS) {
    const char names[] = "\0.eh_frame\0.eh_frame_hdr\0.shstrtab";
    const struct {
        uint32_t name;
        uint64_t address;
        std::string bytes;
    } parts[] = {{11, kIndex, index}, {1, kTables, tables}, {25, 0, {names, sizeof(names)}}};
    Elf64_Ehdr header = base::elf_header(ET_DYN);
    header.e_shnum = 4;
    header.e_shstrndx = 3;
    std::string bytes(sizeof(header), '\0'), sections(sizeof(Elf64_Shdr), '\0');
    for (const auto& part : parts) {
        Elf64_Shdr section = {};
        section.sh_name = part.name;
        section.sh_type = part.address ? type : SHT_STRTAB;
        section.sh_addr = part.address;
        section.sh_offset = bytes.size();
        section.sh_size = part.bytes.size();
        sections += bytes_of(section);
        bytes += part.bytes;
        bytes.resize((bytes.size() + 7) / 8 * 8);
    }
    header.e_shoff = bytes.size();
    std::memcpy(bytes.data(), &header, sizeof(header));
    return bytes + sections;
}

FrameState state_of(base::ByteView stack) {
    FrameState state{{}, stack, 0x7000};
    state.registers[FrameState::kSp] = 0x7000;
    state.registers[FrameState::kIp] = kFunction + 8;
    return state;
}

Step step(const std::string& tables, const std::string& index, uint32_t type = SHT_PROGBITS) {
    static const uint64_t stack[] = {0x401000, 0};
    const std::string image = object(tables, index, type);
    ObjectFrames frames(base::as_bytes(image));
    FrameState state = state_of(std::as_bytes(std::span(stack)));
    return frames.step(kFunction + 8, state);
}

Step step(const FrameProgram& program) {
    return step(tables(program), index(kFdeOffset));
}

std::string uleb(uint64_t value) {
    std::string bytes;
    for (; value >= 0x80; value >>= 7)
        bytes += static_cast<char>(value | 0x80);
    return bytes + static_cast<char>(value);
}

std::string op(uint8_t code, const std::string& operands = {}) {
    return static_cast<char>(code) + operands;
}

} // namespace

TEST_CASE("a program of frames cannot ask libdw for much memory", "[analyze][symbols]") {
    CHECK(step(FrameProgram()) == Step::caller);
    const size_t before = peak_kib();
    // What libdw would take: 8 bytes for each register there could be, 240 for each remembered.
    const uint64_t registers = 8u << 20;
    CHECK(step(op(DW_CFA_offset_extended, uleb(registers) + uleb(1))) == Step::implausible);
    CHECK(step(FrameProgram(60'000, DW_CFA_remember_state)) == Step::implausible);
    CHECK(peak_kib() - before < 8 << 10);
}

TEST_CASE("programs of frames are read up to their bounds", "[analyze][symbols]") {
    const FrameProgram remember = op(DW_CFA_remember_state), restore = op(DW_CFA_restore_state);
    auto times = [](size_t count, const FrameProgram& of) {
        FrameProgram program;
        while (count-- > 0)
            program += of;
        return program;
    };
    // Entries are filled up with DW_CFA_nop; 7 bytes, and each 8 more, leave nothing to fill.
    const size_t longest = (64 << 10) - 1;
    const struct {
        const char* what;
        FrameProgram good, bad;
    } rows[] = {
        {"a register", op(DW_CFA_undefined, uleb(127)), op(DW_CFA_undefined, uleb(128))},
        {"the second one", op(DW_CFA_register, uleb(3) + uleb(127)),
         op(DW_CFA_register, uleb(3) + uleb(128))},
        {"the CFA's", op(DW_CFA_def_cfa_register, uleb(7)), op(DW_CFA_def_cfa_sf, uleb(1 << 28))},
        {"remembered", times(16, remember), times(17, remember)},
        {"and again", times(17, remember + restore), restore},
        {"length", FrameProgram(longest, DW_CFA_nop), FrameProgram(longest + 1, DW_CFA_nop)},
        {"a block", op(DW_CFA_val_expression, uleb(3) + uleb(2) + "\x30\x9f"),
         op(DW_CFA_val_expression, uleb(3) + uleb(9))},
        {"a number", op(DW_CFA_GNU_args_size, uleb(UINT64_MAX)),
         op(DW_CFA_GNU_args_size, FrameProgram(10, '\xff') + '\1')},
        {"cut", times(6, op(DW_CFA_nop)) + op(DW_CFA_advance_loc), times(6, op(DW_CFA_nop)) + '\2'},
        {"cut address", times(2, op(DW_CFA_nop)) + op(DW_CFA_set_loc, "\0\x11\0\0"s),
         times(3, op(DW_CFA_nop)) + op(DW_CFA_set_loc, "\0\x11\0"s)},
        {"an instruction", op(DW_CFA_MIPS_advance_loc8, "\x10\0\0\0\0\0\0\0"s), op(0x17)},
        {"of another machine", op(DW_CFA_GNU_negative_offset_extended, uleb(3) + uleb(1)),
         op(DW_CFA_GNU_window_save)},
    };
    for (const auto& row : rows) {
        INFO(row.what);
        CHECK(step(row.good) == Step::caller);
        CHECK(step(row.bad) == Step::implausible);
    }
}

TEST_CASE("only entries that were read are used", "[analyze][symbols]") {
    // An FDE in the operand of another, which libdw would find by an index that says so.
    const uint32_t inner = kFdeOffset + 4 + 13 + 3;
    FrameProgram hidden = bytes_of(uint32_t{20}) + bytes_of(inner + 4) +
                          bytes_of(static_cast<uint32_t>(kFunction)) +
                          bytes_of(static_cast<uint32_t>(kFunctionBytes)) + "\0"s +
                          op(DW_CFA_undefined, uleb(1 << 14));
    const FrameProgram outer = op(DW_CFA_expression, uleb(3) + uleb(hidden.size())) + hidden;
    CHECK(step(outer) == Step::caller);
    CHECK(step(tables(outer), index(kFdeOffset), SHT_X86_64_UNWIND) == Step::caller);
    CHECK(step(tables(outer), index(inner), SHT_X86_64_UNWIND) == Step::implausible);
    CHECK(step(tables(outer), index(inner), SHT_NOBITS) == Step::no_rule);
    CHECK(step(tables(outer), "\1") == Step::implausible);
    CHECK(step(tables(outer), index(inner)) == Step::implausible);
    CHECK(step(tables(outer), index(kFdeOffset).replace(8, 1, "\2")) == Step::implausible);
    CHECK(step(tables(outer), index(kFdeOffset).replace(3, 1, "\1")) == Step::implausible);
    CHECK(step(tables(outer), "\1\x1b\xff\xff\0\0\0\0"s) == Step::caller);
    // A CIE that lies in another entry.
    std::string moved = tables({});
    moved[kFdeOffset + 4] -= 8;
    CHECK(step(moved, index(kFdeOffset)) == Step::implausible);
    // Two files' tables with an end between them.
    const std::string end(4, '\0'), both = tables({}).replace(0, 0, end);
    CHECK(step(both, index(kFdeOffset + 4)) == Step::caller);
}

TEST_CASE("a stack says that a file's tables were refused", "[analyze][symbols]") {
    static const uint64_t stack[] = {0x401000, 0, 0};
    const std::string image = object(tables(op(0x17)), index(kFdeOffset));
    const ObjectFrames frames(base::as_bytes(image));
    uint64_t registers[FrameState::kCount] = {};
    registers[FrameState::kSp] = registers[6] = 0x7000;
    UnwoundStack unwound = unwind(
        {std::as_bytes(std::span(registers)), std::as_bytes(std::span(stack)), 10}, [&](uint64_t) {
            return UnwindPlace{&frames, kFunction + 8, "libx.so"};
        });
    CHECK(unwound.frames.size() == 1);
    CHECK(unwound.why_short == "a table of frames that is not plausible in libx.so");
}
