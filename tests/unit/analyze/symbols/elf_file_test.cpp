// SPDX-License-Identifier: Apache-2.0
//
// Files that take next to no room on a disk, and of which libelf alone would take gigabytes.
#include "analyze/symbols/elf_file.hpp"

#include "analyze/symbols/object_frames.hpp"
#include "analyze/symbols/object_symbols.hpp"
#include "base/file.hpp"
#include "tests/support/elf_header.hpp"

#include <catch2/catch.hpp>

#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <lzma.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

using namespace daybreak;
using namespace daybreak::analyze;

namespace {

constexpr uint64_t kHole = uint64_t{1} << 30;
constexpr char kNames[] = "\0.shstrtab\0.eh_frame\0.gnu_debugdata";
enum : uint32_t { kNoName = 0, kNamesName = 1, kFramesName = 11, kPackedName = 21 };

size_t peak_kib() {
    struct rusage usage = {};
    ::getrusage(RUSAGE_SELF, &usage);
    return static_cast<size_t>(usage.ru_maxrss);
}

template <typename T>
std::string bytes_of(const T& value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof(T));
}

/// A file: what libelf sees of it is in its header, `hole_bytes` of zeros come last.
struct Made {
    Elf64_Ehdr header = test::shared_object_header();
    std::vector<Elf64_Shdr> sections = {Elf64_Shdr{}};
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
        std::string bytes = bytes_of(header) + content;
        for (const Elf64_Shdr& section : sections)
            bytes += bytes_of(section);
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

TEST_CASE("what is packed in a file is not unpacked to much more than any table",
          "[analyze][symbols]") {
    std::string zeros(60 << 20, '\0'), packed(1 << 20, '\0');
    size_t bytes = 0;
    REQUIRE(::lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, nullptr,
                                      reinterpret_cast<const uint8_t*>(zeros.data()), zeros.size(),
                                      reinterpret_cast<uint8_t*>(packed.data()), &bytes,
                                      packed.size()) == LZMA_OK);
    packed.resize(bytes);
    zeros = {};
    Made made;
    made.add(kPackedName, SHT_PROGBITS, packed);
    made.sections.resize(3000, made.sections.back());
    base::ScopedFd file = made.file();
    timespec begin = {}, end = {};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    CHECK(ObjectSymbols::read(file.get()).symbols().empty());
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    CHECK(end.tv_sec - begin.tv_sec < 2);
}
