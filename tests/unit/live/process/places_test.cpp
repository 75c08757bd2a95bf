// SPDX-License-Identifier: Apache-2.0
#include "live/process/places.hpp"

#include "base/file.hpp"
#include "tests/support/temp_folder.hpp"

#include <catch2/catch.hpp>

#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
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
    CHECK(modules("libc.so") == Modules{});
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

TEST_CASE("a file is named by its path, for every process that will map it", "[live]") {
    CHECK(is_by_path({"pid*", "/bin/cat", "main", "entry", 0}));
    CHECK(is_by_path({"", "/bin/cat", "", "", 0}));
    CHECK(!is_by_path({"pid*", "cat", "main", "entry", 0}));
    CHECK(!is_by_path({"pid1", "/bin/cat", "main", "entry", 0}));
    CHECK(is_by_path({"python*", "/bin/cat", "", "gc-start", 0}));
    CHECK(!is_by_path({"python12", "/bin/cat", "", "gc-start", 0}));
    CHECK(!is_by_path({"fbt", "/bin/cat", "main", "entry", 0}));
    CHECK(!is_by_path({"pid*", "/bin/cat", "main", "entry", 7}));
    auto mapped = places_of({own(), "a.out", "a_function_of_the_test", "entry", 0});
    REQUIRE(mapped.size() == 1);
    Places places;
    const DofProbeName name{"pid*", "/proc/self/exe", "a_function_of_*", "entry", 0};
    CHECK(!places.has(name));
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
    CHECK(places.has(name));
    CHECK(!places.has({"pid*", "/proc/self/exe", "none", "entry", 0}));
    CHECK(!places.add_by_path({"pid*", "/no/such/file", "main", "", 0}).ok());
    CHECK(!places.add_by_path({"pid*", "/proc/self/cmdline", "main", "", 0}).ok());
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
