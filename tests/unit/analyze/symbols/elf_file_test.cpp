// SPDX-License-Identifier: Apache-2.0
//
// Files that take next to no room on a disk, and of which libelf alone would take gigabytes.
#include "analyze/symbols/elf_file.hpp"

#include "analyze/symbols/object_frames.hpp"
#include "analyze/symbols/object_marks.hpp"
#include "analyze/symbols/object_symbols.hpp"
#include "base/elf_header.hpp"
#include "base/file.hpp"
#include "tests/support/stored_xz.hpp"
#include "tests/unit/analyze/raw_bytes.hpp"

#include <catch2/catch.hpp>

#include <cinttypes>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <lzma.h>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

using namespace daybreak;
using namespace daybreak::analyze;
using test::bytes_of, test::peak_kib;

namespace {

constexpr uint64_t kHole = uint64_t{1} << 30;
constexpr char kNames[] = "\0.shstrtab\0.eh_frame\0.gnu_debugdata\0.note.stapsdt";
enum : uint32_t {
    kNoName = 0,
    kNamesName = 1,
    kFramesName = 11,
    kPackedName = 21,
    kMarksName = 36
};

/// A file: what libelf sees of it is in its header, `hole_bytes` of zeros come last.
struct Made {
    Elf64_Ehdr header = base::elf_header(ET_DYN);
    std::vector<Elf64_Shdr> sections = {Elf64_Shdr{}};
    std::vector<Elf64_Phdr> segments;
    std::string content;
    uint64_t hole_bytes = 0;

    Made() {
        header.e_shstrndx = 1;
        add(kNamesName, SHT_STRTAB, std::string(kNames, sizeof(kNames)));
    }

    Elf64_Shdr& add(uint32_t name, uint32_t type, const std::string& bytes) {
        Elf64_Shdr section = {};
        section.sh_name = name;
        section.sh_type = type;
        section.sh_offset = sizeof(header) + content.size();
        section.sh_size = bytes.size();
        section.sh_addralign = 8;
        content += bytes;
        content.resize((content.size() + 7) / 8 * 8);
        return sections.emplace_back(section);
    }

    base::ScopedFd file() {
        base::ScopedFd made(::memfd_create("made", MFD_CLOEXEC));
        header.e_shoff = sizeof(header) + content.size();
        if (header.e_shnum == 0 && sections[0].sh_size == 0)
            header.e_shnum = static_cast<uint16_t>(sections.size());
        header.e_phoff = header.e_shoff + sections.size() * sizeof(Elf64_Shdr);
        header.e_phnum = static_cast<uint16_t>(segments.size());
        header.e_phentsize = sizeof(Elf64_Phdr);
        std::string bytes = bytes_of(header) + content;
        for (const Elf64_Shdr& section : sections)
            bytes += bytes_of(section);
        for (const Elf64_Phdr& segment : segments)
            bytes += bytes_of(segment);
        REQUIRE(::write(made.get(), bytes.data(), bytes.size()) ==
                static_cast<ssize_t>(bytes.size()));
        REQUIRE(::ftruncate(made.get(), static_cast<off_t>(bytes.size() + hole_bytes)) == 0);
        return made;
    }
};

std::string function_at(uint64_t address) {
    Elf64_Sym symbol = {};
    symbol.st_name = 1;
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    symbol.st_shndx = 1;
    symbol.st_value = address;
    symbol.st_size = 16;
    return bytes_of(symbol);
}

std::string mark_at(uint64_t address) {
    const std::string texts("p\0n\0\0", 5);
    const uint64_t addresses[] = {address, 0, 0};
    Elf64_Nhdr note{8, static_cast<uint32_t>(sizeof(addresses) + texts.size()), 3};
    std::string bytes = bytes_of(note) + std::string("stapsdt", 8) + bytes_of(addresses) + texts;
    bytes.resize((bytes.size() + 3) / 4 * 4);
    return bytes;
}

double process_seconds() {
    timespec now = {};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

/// How many KiB more were in use than ever before while a file was read.
template <class Read>
size_t taken_kib(const Read& read) {
    const size_t before = peak_kib();
    read();
    return peak_kib() - before;
}

} // namespace

TEST_CASE("a small file has its functions", "[analyze][symbols]") {
    Made made;
    made.add(kNoName, SHT_STRTAB, std::string("\0f", 3));
    Elf64_Shdr& table = made.add(kNoName, SHT_SYMTAB, function_at(0x1000));
    table.sh_link = 2;
    table.sh_entsize = sizeof(Elf64_Sym);
    auto object = ObjectSymbols::read(made.file().get());
    REQUIRE(object.symbols().size() == 1);
    CHECK(object.symbols()[0].name == "f");
}

TEST_CASE("a file with more sections than a linker makes is none", "[analyze][symbols]") {
    Made most, more, counted_elsewhere;
    most.sections.resize(ElfFile::kSectionsMax);
    more.sections.resize(ElfFile::kSectionsMax + 1);
    CHECK(ElfFile(most.file().get()).get() != nullptr);
    CHECK(ElfFile(more.file().get()).get() == nullptr);
    // In the first section, as for those that do not fit into the header: 16 million, all in a
    // hole.
    counted_elsewhere.hole_bytes = kHole;
    counted_elsewhere.sections[0].sh_size = kHole / sizeof(Elf64_Shdr);
    base::ScopedFd file = counted_elsewhere.file();
    CHECK(taken_kib([&] { CHECK(ElfFile(file.get()).get() == nullptr); }) < 8 << 10);
}

TEST_CASE("sections in a hole are not read", "[analyze][symbols]") {
    for (uint32_t type : {SHT_STRTAB, SHT_SYMTAB, SHT_PROGBITS, SHT_NOTE}) {
        INFO(type);
        Made made;
        made.add(kNoName, SHT_STRTAB, std::string("\0f", 3));
        Elf64_Shdr& section = made.add(kFramesName, type, "");
        section.sh_size = made.hole_bytes = kHole;
        section.sh_link = 2;
        section.sh_entsize = sizeof(Elf64_Sym);
        if (type == SHT_STRTAB)
            made.header.e_shstrndx = 3;
        base::ScopedFd file = made.file();
        CHECK(taken_kib([&] {
                  CHECK(ObjectSymbols::read(file.get()).symbols().empty());
                  ObjectFrames frames(std::move(file));
                  FrameState state;
                  using Step = ObjectFrames::Step;
                  CHECK(frames.step(0, state) ==
                        (type == SHT_STRTAB ? Step::no_rule : Step::implausible));
              }) < 16 << 10);
    }
}

TEST_CASE("tables that lie over one another are read as far as the file is long",
          "[analyze][symbols]") {
    constexpr size_t kFunctions = 40'000;
    Made made;
    made.add(kNoName, SHT_STRTAB, std::string("\0f", 3));
    std::string functions;
    for (size_t i = 0; i < kFunctions; i++)
        functions += function_at(0x1000 + 16 * i);
    Elf64_Shdr table = made.add(kNoName, SHT_SYMTAB, functions);
    table.sh_link = 2;
    table.sh_entsize = sizeof(Elf64_Sym);
    made.sections.back() = table;
    made.sections.resize(1000, table);
    base::ScopedFd file = made.file();
    CHECK(ObjectSymbols::read(file.get()).symbols().size() == kFunctions);
}

namespace {

std::string packed_of(const std::string& bytes) {
    std::string packed(1 << 20, '\0');
    size_t packed_bytes = 0;
    REQUIRE(::lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, nullptr,
                                      reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(),
                                      reinterpret_cast<uint8_t*>(packed.data()), &packed_bytes,
                                      packed.size()) == LZMA_OK);
    packed.resize(packed_bytes);
    return packed;
}

/// A whole file whose one function is f.
std::string small_file() {
    Made made;
    made.add(kNoName, SHT_STRTAB, std::string("\0f", 3));
    Elf64_Shdr& table = made.add(kNoName, SHT_SYMTAB, function_at(0x1000));
    table.sh_link = 2;
    table.sh_entsize = sizeof(Elf64_Sym);
    base::ScopedFd file = made.file();
    std::string bytes(static_cast<size_t>(::lseek(file.get(), 0, SEEK_END)), '\0');
    REQUIRE(::pread(file.get(), bytes.data(), bytes.size(), 0) ==
            static_cast<ssize_t>(bytes.size()));
    return bytes;
}

} // namespace

TEST_CASE("a byte of what is packed without a checksum is read as it is", "[analyze][symbols]") {
    std::string packed = test::stored_xz(small_file());
    auto functions = [&] {
        Made made;
        made.add(kPackedName, SHT_PROGBITS, packed);
        std::string names;
        const auto object = ObjectSymbols::read(made.file().get());
        for (const ObjectSymbols::Symbol& symbol : object.symbols())
            names += symbol.name + ";";
        return names;
    };
    CHECK(functions() == "f;");
    packed[packed.find(std::string("\0f\0", 3)) + 1] = 'g'; // as the fuzzer does
    CHECK(functions() == "g;");
    packed.back() ^= 1;
    CHECK(functions().empty());
}

TEST_CASE("of what is packed in a file only one is read", "[analyze][symbols]") {
    Made made;
    made.add(kPackedName, SHT_PROGBITS, packed_of(small_file()));
    made.sections.resize(100, made.sections.back());
    CHECK(ObjectSymbols::read(made.file().get()).symbols().size() == 1);
}

TEST_CASE("what is packed in a file is not unpacked to much more than any table",
          "[analyze][symbols]") {
    Made made;
    made.add(kPackedName, SHT_PROGBITS, packed_of(std::string(60 << 20, '\0')));
    made.sections.resize(3000, made.sections.back());
    base::ScopedFd file = made.file();
    timespec begin = {}, end = {};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    CHECK(ObjectSymbols::read(file.get()).symbols().empty());
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    CHECK(end.tv_sec - begin.tv_sec < 2);
}

TEST_CASE("of segments over one another the first has what several have", "[analyze][symbols]") {
    Made made;
    auto segment = [&](uint64_t address, uint64_t offset, uint64_t bytes, uint32_t flags) {
        Elf64_Phdr header = {};
        header.p_type = PT_LOAD;
        header.p_flags = flags;
        header.p_vaddr = address;
        header.p_offset = offset;
        header.p_filesz = header.p_memsz = bytes;
        made.segments.push_back(header);
    };
    segment(0x3000, 0x2000, 0x1000, PF_R | PF_X);
    segment(0x1000, 0x1000, 0x1000, PF_R);
    segment(0x1800, 0x9000, 0x1000, PF_R | PF_X);
    segment(UINT64_MAX - 0xff, 0x20000, UINT64_MAX, PF_R | PF_X); // it would go on at address 0
    std::string marks;
    for (uint64_t address : {0xfff, 0x1000, 0x17ff, 0x1800, 0x27ff, 0x2800, 0x3fff, 0x4000})
        marks += mark_at(address);
    made.add(kMarksName, SHT_NOTE, marks);
    auto object = ObjectSymbols::read(made.file().get());
    CHECK_FALSE(object.file_offset_of(0));
    CHECK_FALSE(object.file_offset_of(0xfff));
    CHECK(object.file_offset_of(0x1000) == 0x1000);
    CHECK(object.file_offset_of(0x1fff) == 0x1fff);
    CHECK(object.file_offset_of(0x2000) == 0x9800);
    CHECK_FALSE(object.file_offset_of(0x2800));
    CHECK(object.file_offset_of(0x3fff) == 0x2fff);
    CHECK_FALSE(object.file_offset_of(0x4000));
    CHECK(object.address_of(0x2fff) == 0x3fff);
    CHECK_FALSE(object.address_of(0x3000));
    CHECK(object.address_of(0x9000) == 0x1800);
    std::vector<uint64_t> in_code;
    for (const ObjectMark& mark : object.marks())
        in_code.push_back(mark.address);
    CHECK(in_code == std::vector<uint64_t>{0x1800, 0x27ff, 0x3fff});
    // What lies before all code is of a function that a linker has left out.
    CHECK(object.marks_left_out().text("part") ==
          "2 parts left out, the first: a mark at address 0x2800, expected one in the file's code");
}

TEST_CASE("of tables of functions that are not read it is said why", "[analyze][symbols]") {
    auto damage = [](uint64_t more_bytes, uint64_t entry_bytes, uint32_t names) {
        Made made;
        made.add(kNoName, SHT_STRTAB, std::string("\0f", 3));
        Elf64_Shdr& table = made.add(kNoName, SHT_SYMTAB, function_at(0x1000));
        table.sh_size += more_bytes;
        table.sh_link = names;
        table.sh_entsize = entry_bytes;
        return ObjectSymbols::read(made.file().get()).symbols_left_out().text("part");
    };
    CHECK(damage(0, sizeof(Elf64_Sym), 2).empty());
    const std::string begin = "1 part left out, byte 128 of the file: ",
                      end = ", expected one that lies in the file with its names";
    CHECK(damage(kHole, sizeof(Elf64_Sym), 2) ==
          begin + "a table of 1073741848 bytes with entries of 24" + end);
    CHECK(damage(0, 0, 2) == begin + "a table of 24 bytes with entries of 0" + end);
    CHECK(damage(0, sizeof(Elf64_Sym), 99) ==
          begin + "a table of 24 bytes with entries of 24" + end);
    CHECK(damage(0, 1, 2) == begin + "an entry of 1 bytes, expected a symbol's");
}

TEST_CASE("of a section of marks that is not read it is said why", "[analyze][symbols]") {
    auto damage = [](uint32_t type, uint64_t bytes) {
        Made made;
        Elf64_Shdr& section = made.add(kMarksName, type, mark_at(0x1800));
        section.sh_size += bytes;
        return ObjectSymbols::read(made.file().get()).marks_left_out().text("part");
    };
    CHECK(damage(SHT_NOTE, 0).empty()); // without code there are no marks, and none is damaged
    const std::string expected = "expected type 7, at most 16777216 bytes, and those in the file";
    CHECK(damage(SHT_PROGBITS, 0) ==
          "1 part left out, byte 0: a section of type 1 and 52 bytes, " + expected);
    for (uint64_t more : {uint64_t{1} << 20, kHole})
        CHECK(damage(SHT_NOTE, more) ==
              base::strprintf("1 part left out, byte 0: a section of type 7 and %" PRIu64
                              " bytes, ",
                              52 + more) +
                  expected);
}

TEST_CASE("as many marks, functions and segments as there may be are read soon",
          "[analyze][symbols]") {
    constexpr size_t kFunctions = 100'000;
    Made made;
    std::string marks, functions;
    for (size_t i = 0; i < kObjectMarksMax; i++)
        marks += mark_at(0x10);
    for (size_t i = 0; i < kFunctions; i++)
        functions += function_at(0x10);
    made.add(kMarksName, SHT_NOTE, marks);
    made.add(kNoName, SHT_STRTAB, std::string("\0f", 3));
    Elf64_Shdr& table = made.add(kNoName, SHT_SYMTAB, functions);
    table.sh_link = 3;
    table.sh_entsize = sizeof(Elf64_Sym);
    Elf64_Phdr header = {};
    header.p_type = PT_LOAD;
    header.p_flags = PF_R | PF_X;
    for (size_t i = 0; i < PN_XNUM - 1; i++) {
        header.p_vaddr = 0x1000 + 0x10 * i;
        header.p_filesz = 8;
        made.segments.push_back(header);
    }
    base::ScopedFd file = made.file();
    const double begin = process_seconds();
    auto object = ObjectSymbols::read(file.get());
    size_t found = 0;
    for (const ObjectSymbols::Symbol& symbol : object.symbols())
        found += object.file_offset_of(symbol.address).has_value();
    CHECK(process_seconds() - begin < 2);
    CHECK(object.segments().size() == PN_XNUM - 1);
    CHECK(object.symbols().size() == kFunctions);
    CHECK(object.marks().empty());
    CHECK(found == 0);
}
