// SPDX-License-Identifier: Apache-2.0
#include "live/process/places.hpp"

#include "base/elf_header.hpp"
#include "base/file.hpp"
#include "tests/support/temp_folder.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <set>
#include <sys/mman.h>
#include <unistd.h>

using namespace daybreak::live;
using daybreak::formats::DofPlace;
using daybreak::formats::DofProbeName;

namespace {

std::string own() {
    return "pid" + std::to_string(::getpid());
}

std::vector<DofPlace> places_of(const DofProbeName& description) {
    Places places;
    places.add_named(description);
    return places.all();
}

} // namespace

extern "C" [[gnu::noinline, gnu::visibility("default")]] long a_function_of_the_test(long number) {
    asm volatile("" : "+r"(number));
    return number * 3;
}

TEST_CASE("a library is meant by its file's name without the last numbers, too", "[live]") {
    const std::string file = "libstdc++.so.6.0.30";
    CHECK(module_meant("libstdc++.so.6.0.30", file, false) == file);
    CHECK(module_meant("libstdc++.so.6.0", file, false) == "libstdc++.so.6.0");
    CHECK(module_meant("libstdc++.so.6", file, false) == "libstdc++.so.6");
    CHECK(module_meant("libstdc++.so", file, false) == "libstdc++.so");
    CHECK(module_meant("libstdc++", file, false) == "libstdc++");
    CHECK(module_meant("libstdc??.so.6", file, false) == "libstdc++.so.6");
    CHECK(module_meant("libstdc*", file, false) == file);
    CHECK_FALSE(module_meant("libstdc++.so.5", file, false));
    CHECK_FALSE(module_meant("libstdc++.s", file, false));
    CHECK_FALSE(module_meant("program.1", "program.1.2", true));
}

TEST_CASE("a provider names a process by its number alone", "[live]") {
    CHECK(process_named({"pid123", "", "", "entry", 0}) == 123);
    CHECK(process_named({"p*d123", "", "", "entry", 0}) == 123);
    CHECK(process_named({"pid", "", "", "", 0}) == 0);
    CHECK(process_named({"*", "", "", "", 0}) == 0);
    CHECK(process_named({"", "", "", "", 0}) == 0);
    CHECK(process_named({"syscall", "", "", "", 0}) == 0);
    CHECK(process_named({"profile123", "", "", "", 0}) == 0);
    CHECK(process_named({"pid99999999999", "", "", "", 0}) == 0);
    CHECK(process_named({"pid123", "", "", "", 7}) == 0);
}

/// As <sys/sdt.h> has it: provider digits2, mark here, no semaphore and no arguments.
extern "C" [[gnu::noinline, gnu::used]] void a_mark_of_the_test() {
    asm volatile("990: nop\n"
                 ".pushsection .note.stapsdt,\"?\",\"note\"\n"
                 ".balign 4\n.4byte 992f-991f, 994f-993f, 3\n"
                 "991: .asciz \"stapsdt\"\n"
                 "992: .balign 4\n"
                 "993: .8byte 990b, 0, 0\n"
                 ".asciz \"digits2\"\n.asciz \"here\"\n.asciz \"\"\n"
                 "994: .balign 4\n"
                 // And what lld leaves of one whose function it has left out.
                 ".4byte 996f-995f, 998f-997f, 3\n"
                 "995: .asciz \"stapsdt\"\n"
                 "996: .balign 4\n"
                 "997: .8byte 2, 0, 0\n"
                 ".asciz \"digits2\"\n.asciz \"gone\"\n.asciz \"\"\n"
                 "998: .balign 4\n"
                 ".popsection\n");
}

TEST_CASE("a provider whose name ends in digits is one of a process, too", "[live]") {
    using Numbers = std::vector<uint32_t>;
    CHECK(numbers_named({"glib2123", "", "", "", 0}) == Numbers{2123, 123, 23, 3});
    CHECK(numbers_named({"glib2103", "", "", "", 0}) == Numbers{2103, 103, 3});
    CHECK(numbers_named({"python12", "", "", "", 0}) == Numbers{12, 2});
    CHECK(numbers_named({"x99999999999", "", "", "", 0}).front() == 999999999);
    CHECK(numbers_named({"python", "", "", "", 0}).empty());
    CHECK(numbers_named({"python12", "", "", "", 7}).empty());
    a_mark_of_the_test();
    const DofProbeName name{"digits2" + std::to_string(::getpid()), "", "", "here", 0};
    Places places;
    for (uint32_t pid : numbers_named(name))
        places.add_marks(name, pid);
    REQUIRE(places.all().size() == 1);
    CHECK(places.all()[0].pid == static_cast<uint32_t>(::getpid()));
    CHECK(places.all()[0].probe.function == "a_mark_of_the_test");
    Places by_path;
    REQUIRE(by_path.add_by_path({"digits2*", "/proc/self/exe", "", "", 0}).ok());
    REQUIRE(by_path.all().size() == 1);
    CHECK(by_path.all()[0].probe.name == "here");
    CHECK(by_path.all()[0].offset == places.all()[0].offset);
    Places exactly;
    REQUIRE(exactly.add_by_path({"digits2", "/proc/self/exe", "", "", 0}).ok());
    REQUIRE(exactly.all().size() == 1);
    CHECK(exactly.all()[0].probe.provider == "digits2");
}

TEST_CASE("a function's place is where its instructions are in the file that is mapped", "[live]") {
    auto found = places_of({own(), "a.out", "a_function_of_the_test", "entry", 0});
    REQUIRE(found.size() == 1);
    CHECK(found[0].probe.text() == own() + ":a.out:a_function_of_the_test:entry");
    CHECK(found[0].pid == static_cast<uint32_t>(::getpid()));
    daybreak::base::ScopedFd file(::open(found[0].path.c_str(), O_RDONLY | O_CLOEXEC));
    REQUIRE(file.valid());
    char bytes[8], mapped[8];
    REQUIRE(::pread(file.get(), bytes, sizeof(bytes), static_cast<off_t>(found[0].offset)) ==
            sizeof(bytes));
    std::memcpy(mapped, reinterpret_cast<const void*>(&a_function_of_the_test), sizeof(mapped));
    CHECK(std::memcmp(bytes, mapped, sizeof(bytes)) == 0);
    CHECK(a_function_of_the_test(2) == 6);
}

TEST_CASE("an object is meant by its file's name, without .so, too", "[live]") {
    auto modules = [](const std::string& wanted) {
        std::set<std::string> found;
        for (const DofPlace& place : places_of({own(), wanted, "getppid", "entry", 0}))
            found.insert(place.probe.module);
        return found;
    };
    using Modules = std::set<std::string>;
    CHECK(modules("libc.so.6") == Modules{"libc.so.6"});
    CHECK(modules("libc") == Modules{"libc"});
    CHECK(modules("libc.so") == Modules{"libc.so"});
    CHECK(modules("libc*") == Modules{"libc.so.6"});
    CHECK(modules("lib") == Modules{});
    CHECK(modules("a.out") == Modules{});
}

TEST_CASE("a file that was deleted since keeps its name", "[live]") {
    daybreak::test::TempFolder folder;
    const auto path = folder.path / "copy";
    std::filesystem::copy_file("/proc/self/exe", path);
    const size_t bytes = std::filesystem::file_size(path);
    daybreak::base::ScopedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    void* code = ::mmap(nullptr, bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE, file.get(), 0);
    REQUIRE(code != MAP_FAILED);
    std::filesystem::remove(path);
    auto found = places_of({own(), "copy", "a_function_of_the_test", "entry", 0});
    ::munmap(code, bytes);
    REQUIRE(found.size() == 1);
    CHECK(found[0].probe.module == "copy");
}

TEST_CASE("a description's last part is entry, return, or an offset", "[live]") {
    auto names = [](const std::string& name) {
        std::string text;
        for (const DofPlace& place : places_of({own(), "", "a_function_of_the_test", name, 0}))
            text += place.probe.name + "/" + std::to_string(place.kind) + "+" +
                    std::to_string(place.offset - place.function_at) + " ";
        return text;
    };
    CHECK(names("entry") == "entry/0+0 ");
    CHECK(names("return") == "return/1+0 ");
    CHECK(names("") == "entry/0+0 return/1+0 ");
    CHECK(names("*r*") == "entry/0+0 return/1+0 ");
    CHECK(names("0") == "0/2+0 ");
    CHECK(names("1") == "1/2+1 ");
    CHECK(names("ffff").empty());
    CHECK(names("exit").empty());
}

TEST_CASE("the function where a program begins has no return", "[live]") {
    auto names = [](const char* function) {
        Places places;
        REQUIRE(places.add_by_path({"pid*", "/proc/self/exe", function, "", 0}).ok());
        std::string text;
        for (const auto& place : places.all())
            text += place.probe.function + ":" + place.probe.name + " ";
        return text;
    };
    CHECK(names("_start") == "_start:entry ");
    CHECK(names("a_mark_of_the_test") == "a_mark_of_the_test:entry a_mark_of_the_test:return ");
}

TEST_CASE("a file is named by its path, for every process that will map it", "[live]") {
    CHECK(is_by_path({"pid*", "/bin/cat", "main", "entry", 0}));
    CHECK(is_by_path({"", "/bin/cat", "", "", 0}));
    CHECK(!is_by_path({"pid*", "cat", "main", "entry", 0}));
    CHECK(!is_by_path({"pid1", "/bin/cat", "main", "entry", 0}));
    CHECK(is_by_path({"python*", "/bin/cat", "", "gc-start", 0}));
    CHECK(is_by_path({"glib2", "/bin/cat", "", "gc-start", 0}));
    CHECK(!is_by_path({"fbt", "/bin/cat", "main", "entry", 0}));
    CHECK(!is_by_path({"pid*", "/bin/cat", "main", "entry", 7}));
    auto mapped = places_of({own(), "a.out", "a_function_of_the_test", "entry", 0});
    REQUIRE(mapped.size() == 1);
    Places places;
    const DofProbeName name{"pid*", "/proc/self/exe", "a_function_of_*", "entry", 0};
    CHECK(places.count(name) == 0);
    REQUIRE(places.add_by_path(name).ok());
    REQUIRE(places.all().size() == 1);
    const DofPlace& place = places.all()[0];
    CHECK(place.probe.text() == "pid:/proc/self/exe:a_function_of_the_test:entry");
    CHECK(place.path == std::filesystem::canonical("/proc/self/exe").string());
    CHECK(place.pid == 0);
    CHECK(place.offset == mapped[0].offset);
    REQUIRE(place.build_id.size() == 20);
    daybreak::base::ScopedFd file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    std::vector<uint8_t> id(20);
    CHECK(::pread(file.get(), id.data(), 20, static_cast<off_t>(place.build_id_at)) == 20);
    CHECK(id == place.build_id);
    CHECK(places.count(name) != 0);
    CHECK(places.count({"pid*", "/proc/self/exe", "none", "entry", 0}) == 0);
    CHECK(!places.add_by_path({"pid*", "/no/such/file", "main", "", 0}).ok());
    CHECK(!places.add_by_path({"pid*", "/proc/self/cmdline", "main", "", 0}).ok());
}

TEST_CASE("marks of no process and no file are of the files that run", "[live]") {
    CHECK(is_of_running({"python*", "", "", "gc-start", 0}));
    CHECK(is_of_running({"python*", "libpython*", "", "", 0}));
    for (const char* provider : {"", "*", "pid*", "vfs*", "tcp", "kinst", "python12"})
        CHECK(!is_of_running({provider, "", "", "gc-start", 0}));
    CHECK(!is_of_running({"python*", "/bin/cat", "", "gc-start", 0}));
    CHECK(!is_of_running({"python*", "", "", "gc-start", 7}));
    auto places_of_running = [](const char* provider, const char* module, const char* name) {
        Places places;
        places.add_running({provider, module, "", name, 0});
        return places.all();
    };
    const std::string self = std::filesystem::canonical("/proc/self/exe");
    auto found = places_of_running("digit*", "", "here");
    std::erase_if(found, [&](const DofPlace& place) { return place.path != self; });
    REQUIRE(found.size() == 1);
    CHECK(found[0].probe.text() == "digits2:" + std::filesystem::path(self).filename().string() +
                                       ":a_mark_of_the_test:here");
    CHECK(found[0].pid == 0);
    CHECK(found[0].kind == DBK_PLACE_MARK);
    CHECK(found[0].build_id.size() == 20);
    CHECK(places_of_running("digit*", "a.out", "here").front().probe.module == "a.out");
    CHECK(places_of_running("digit*", "libc", "").empty());
    CHECK(places_of_running("digit*", "", "there").empty());
    Places places;
    const DofProbeName name{"digit*", "", "", "h*", 0};
    CHECK(places.count(name) == 0);
    places.add_running(name);
    CHECK(places.count(name) != 0);
}

namespace {

/// A program of marks digits2:::here, whose names are longer by some bytes, and nothing else.
std::string program_of_marks(int count, size_t more_bytes) {
    const std::string names = std::string("\0.note.stapsdt\0.shstrtab", 25) + '\0';
    Elf64_Ehdr header = daybreak::base::elf_header(ET_DYN);
    constexpr uint64_t kCodeBytes = 0x4000, kNotes = 0x1000 + kCodeBytes;
    Elf64_Phdr code = {PT_LOAD, PF_R | PF_X, 0x1000,     0x1000,
                       0x1000,  kCodeBytes,  kCodeBytes, 0x1000};
    std::string notes;
    for (int i = 0; i < count; i++) {
        const uint64_t addresses[] = {0x1000 + static_cast<uint64_t>(i) % kCodeBytes, 0, 0};
        std::string text = std::string("digits2\0here", 12) + std::string(more_bytes, 'x') + '\0';
        text.resize((text.size() / 4 + 1) * 4); // its end is a NUL
        const uint32_t note[] = {8, static_cast<uint32_t>(sizeof(addresses) + text.size()), 3};
        notes.append(reinterpret_cast<const char*>(note), sizeof(note));
        notes.append("stapsdt", 8);
        notes.append(reinterpret_cast<const char*>(addresses), sizeof(addresses));
        notes += text;
    }
    Elf64_Shdr sections[3] = {};
    sections[1].sh_name = 1;
    sections[1].sh_type = SHT_NOTE;
    sections[1].sh_offset = kNotes;
    sections[1].sh_size = notes.size();
    sections[2].sh_name = 15;
    sections[2].sh_type = SHT_STRTAB;
    sections[2].sh_offset = kNotes + notes.size();
    sections[2].sh_size = names.size();
    header.e_phoff = sizeof(header);
    header.e_phentsize = sizeof(code);
    header.e_phnum = 1;
    header.e_shoff = sections[2].sh_offset + names.size();
    header.e_shnum = 3;
    header.e_shstrndx = 2;
    std::string bytes(kNotes, '\0');
    std::memcpy(bytes.data(), &header, sizeof(header));
    std::memcpy(bytes.data() + sizeof(header), &code, sizeof(code));
    bytes += notes + names;
    return bytes.append(reinterpret_cast<const char*>(sections), sizeof(sections));
}

} // namespace

TEST_CASE("files that run have room together, the small ones first", "[live]") {
    daybreak::test::TempFolder folder;
    std::vector<std::pair<void*, size_t>> mapped;
    const auto [small, large] =
        std::pair((folder.path / "small").string(), (folder.path / "large").string());
    for (const auto& [path, count, bytes] :
         {std::tuple(small, 3, size_t{0}), std::tuple(large, 16'000, size_t{300})}) {
        std::ofstream(path) << program_of_marks(count, bytes);
        daybreak::base::ScopedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
        void* code =
            ::mmap(nullptr, 0x1000, PROT_READ | PROT_EXEC, MAP_PRIVATE, file.get(), 0x1000);
        REQUIRE(code != MAP_FAILED);
        mapped.emplace_back(code, 0x1000);
    }
    Places places;
    places.add_running({"digits*", "", "", "here*", 0});
    auto count_of = [&](const std::string& path) {
        return std::ranges::count(places.all(), path, &DofPlace::path);
    };
    CHECK(count_of(small) == 3);
    CHECK(count_of(large) == 0);
    CHECK(count_of(std::filesystem::canonical("/proc/self/exe")) == 1);
    CHECK(places.remark() == large + " left out: with its 16000 marks there are too many in the "
                                     "files that run; name a file by its path");
    for (const auto& [code, bytes] : mapped)
        ::munmap(code, bytes);
}

TEST_CASE("marks that are left out are remarked once for their file", "[live]") {
    daybreak::test::TempFolder folder;
    const std::string path = (folder.path / "dama\nged").string();
    std::string program = program_of_marks(3, 0);
    const size_t second = program.find("digits2", program.find("digits2") + 1);
    program[second] = '\0'; // its provider has no name
    std::ofstream(path) << program;
    Places places;
    for (int again = 0; again < 2; again++)
        REQUIRE(places.add_by_path({"digits*", path, "", "here", 0}).ok());
    CHECK(places.all().size() == 2);
    const std::string shown = (folder.path / "dama\\012ged").string();
    CHECK(places.remark() ==
          shown + ": .note.stapsdt: 1 part left out, byte 60: a provider of 0 bytes, expected a "
                  "name");
    // Of no mark that is whole, too, and of a process.
    const std::string mapped = (folder.path / "mapped").string();
    std::ofstream(mapped) << program;
    daybreak::base::ScopedFd file(::open(mapped.c_str(), O_RDONLY | O_CLOEXEC));
    void* code = ::mmap(nullptr, 0x1000, PROT_READ | PROT_EXEC, MAP_PRIVATE, file.get(), 0x1000);
    REQUIRE(code != MAP_FAILED);
    Places running, own_process;
    running.add_running({"digits*", "", "", "none", 0});
    own_process.add_marks({"digits*", "", "", "none", 0}, static_cast<uint32_t>(::getpid()));
    ::munmap(code, 0x1000);
    for (const Places* some : {&running, &own_process}) {
        CHECK(some->all().empty());
        CHECK(some->remark().find("/mapped: .note.stapsdt: 1 part left out, byte 60: ") != std::string::npos);
    }
    // Any user has files: some of them are named.
    Places many;
    for (int i = 0; i < 12; i++) {
        std::ofstream(path + std::to_string(i)) << program;
        REQUIRE(many.add_by_path({"digits*", path + std::to_string(i), "", "here", 0}).ok());
    }
    const std::string remark = many.remark();
    CHECK(std::ranges::count(remark, '\n') == 10);
    CHECK(remark.ends_with("\n.note.stapsdt is damaged in 2 more files"));
}

TEST_CASE("a place in a file without a build id is known by its code", "[live]") {
    daybreak::test::TempFolder folder;
    const auto path = std::filesystem::path(folder.path) / "copy";
    std::filesystem::copy("/proc/self/exe", path);
    auto place_of = [&](const char* name) {
        Places places;
        REQUIRE(places.add_by_path({"pid*", path.string(), "a_function_of_*", name, 0}).ok());
        REQUIRE(places.all().size() == 1);
        return places.all()[0];
    };
    daybreak::base::ScopedFd file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    auto id_at = static_cast<off_t>(place_of("entry").build_id_at);
    REQUIRE(::pwrite(file.get(), "???", 3, id_at - 4) == 3); // GNU: the note is another's now
    for (const char* name : {"entry", "return", "1"}) {
        DofPlace place = place_of(name);
        uint64_t begin = place.offset - (*name == '1');
        CHECK(place.build_id_at == begin);
        std::vector<uint8_t> code(20);
        CHECK(::pread(file.get(), code.data(), code.size(), static_cast<off_t>(begin)) == 20);
        CHECK(place.build_id == code);
    }
}

TEST_CASE("marks of a file are named by its path, with the provider's name alone", "[live]") {
    const std::string library = "/usr/lib/x86_64-linux-gnu/libstdc++.so.6";
    auto marks = [&](const char* provider, const char* name) {
        Places places;
        REQUIRE(places.add_by_path({provider, library, "", name, 0}).ok());
        std::string text;
        for (const DofPlace& place : places.all()) {
            CHECK(place.kind == DBK_PLACE_MARK);
            CHECK(place.pid == 0);
            CHECK(place.build_id.size() == 20);
            CHECK(place.offset != 0);
            text += place.probe.provider + ":" + place.probe.name + " " + place.operands + ";";
        }
        return text;
    };
    // The header of the C++ library says which register an exception is in, the compiler chooses
    // it.
    CHECK(marks("libstdcxx*", "throw").starts_with("libstdcxx:throw 8@%"));
    CHECK(marks("*", "throw") == marks("libstdcxx*", "throw"));
    CHECK(marks("pid*", "throw").empty());
    CHECK(marks("python*", "throw").empty());
    CHECK(marks("libstdcxx*", "entry").empty());
}

TEST_CASE("objects and functions are named by globs, and each place is there once", "[live]") {
    Places places;
    places.add_named({own(), "libc.so*", "mal?oc", "entry", 0});
    REQUIRE(places.all().size() == 1);
    CHECK(places.all()[0].probe.text() == own() + ":libc.so.6:malloc:entry");
    places.add_named({own(), "libc.so.6", "malloc", "", 0});
    CHECK(places.all().size() == 2);
    places.add_named({own(), "libc.so.6", "", "entry", 0});
    CHECK(places.all().size() > 1000);
    places.add_named({own(), "libnone.so", "", "", 0});
    places.add_named({"pid1073741824", "", "", "", 0});
    size_t before = places.all().size();
    places.add_named({own(), "libc.so.6", "", "entry", 0});
    CHECK(places.all().size() == before);
}
