// SPDX-License-Identifier: Apache-2.0
#include "live/process/process_names.hpp"

#include "live/process/target.hpp"
#include "tests/support/maps_block.hpp"
#include "tests/support/stack_snapshot.hpp"
#include "tests/support/temp_folder.hpp"

#include <catch2/catch.hpp>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sched.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace daybreak;
using namespace daybreak::live;

extern "C" int process_names_test_function(int x);
int process_names_test_function(int x) {
    return x + 1;
}

// Of the file's data, and of what begins as zeros, which lies partly in no file.
extern "C" {
int process_names_test_data[3] = {1, 2, 3};
char process_names_test_zeros[1 << 20];
}

namespace {

uint64_t self() {
    return static_cast<uint64_t>(::getpid());
}

uint64_t address() {
    return reinterpret_cast<uint64_t>(&process_names_test_function);
}

constexpr uint32_t kNoPid = 0x7ffffff0; ///< the kernel gives none as large

/// All code that is mapped here, as a process has had it from a time on.
void put_own_code(test::MapsBlock& block, uint32_t pid, uint64_t mono_ns) {
    block.image(pid, mono_ns);
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        uint64_t begin = 0, end = 0, offset = 0;
        char executable = 0;
        int path_at = 0;
        if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %*2c%c%*c %" SCNx64 " %*s %*s %n",
                        &begin, &end, &executable, &offset, &path_at) < 4 ||
            executable != 'x' || line.find('/') == std::string::npos)
            continue;
        const std::string path = line.substr(static_cast<size_t>(path_at));
        base::ScopedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
        uint32_t at = block.file(path, analyze::ObjectSymbols::read(file.get()).build_id());
        block.mapping(pid, mono_ns, begin, end, offset, at);
    }
}

formats::ProcessMaps maps_of(const test::MapsBlock& block) {
    formats::ProcessMaps maps;
    REQUIRE(maps.add(block.bytes()) == "");
    maps.finish();
    return maps;
}

} // namespace

TEST_CASE("an address has the name of what was there at the time of its record", "[live][names]") {
    ProcessNames names;
    auto other = names.functions(self(), [](const ProcessNames::Function& function) {
        return function.object == "libc.so.6" && function.name == "getenv";
    });
    REQUIRE_FALSE(other.empty());
    base::ScopedFd libc(::open(other[0].path.c_str(), O_RDONLY | O_CLOEXEC));
    const std::string id = analyze::ObjectSymbols::read(libc.get()).build_id();
    const std::string path = std::filesystem::read_symlink(other[0].path).string();
    // Before it executed this program it had libc there.
    test::MapsBlock block;
    const auto pid = static_cast<uint32_t>(self());
    block.image(pid, 1'000'000'000);
    block.mapping(pid, 1'000'000'000, address() - 16, address() + 4096, other[0].file_offset - 16,
                  block.file(path, id));
    put_own_code(block, pid, 2'000'000'000);
    put_own_code(block, kNoPid, 2'000'000'000);
    CHECK(names.find(pid, address() + 1, 1'500'000'000)->symbol == "process_names_test_function");
    names.set_maps(maps_of(block));
    auto before = names.find(pid, address() + 1, 1'500'000'000);
    REQUIRE(before);
    CHECK(before->object == "libc.so.6");
    CHECK(before->symbol == "getenv");
    CHECK(before->symbol_offset == 1);
    // What is not known to have been another is what is there now.
    for (uint64_t at : {UINT64_C(2500000000), UINT64_C(500000000)}) {
        auto now = names.find(pid, address() + 1, at);
        REQUIRE(now);
        CHECK(now->object == "test_live_process");
        CHECK(now->symbol == "process_names_test_function");
        CHECK(now->symbol_offset == 1);
    }
    CHECK_FALSE(names.find(pid, address() + 1, std::nullopt)); // it was in both
}

TEST_CASE("an address that was unmapped at the time of its record has no name", "[live][names]") {
    test::MapsBlock block;
    const auto pid = static_cast<uint32_t>(self());
    put_own_code(block, pid, 1'000'000'000);
    block.unmapped(pid, 2'000'000'000, address() - 16, address() + 16);
    block.mapping(pid, 3'000'000'000, address() - 16, address() + 16, 0, 0); // in no file
    ProcessNames names([&](uint32_t, uint64_t& bytes_known) {
        bytes_known = 1;
        return base::strprintf("%" PRIx64 " 10 made\n", address());
    });
    names.set_maps(maps_of(block));
    auto name_at = [&](uint64_t where, std::optional<uint64_t> mono_ns) {
        auto place = names.find(pid, where, mono_ns);
        return place ? place->symbol : "";
    };
    CHECK(name_at(address() + 1, 1'500'000'000) == "process_names_test_function");
    CHECK(name_at(address() + 1, std::nullopt) == "process_names_test_function");
    CHECK(name_at(address() - 1, 2'500'000'000) == "");
    CHECK(name_at(address() - 1, 3'500'000'000) == "");
    CHECK(name_at(address() + 1, 3'500'000'000) == "made");
    CHECK_FALSE(name_at(address() + 20, 2'500'000'000) == "made");
}

TEST_CASE("a process that is gone has the names of what it had mapped", "[live][names]") {
    test::StackSnapshot snapshot;
    take_stack(snapshot);
    ProcessNames names;
    const auto whole = names.unwind(self(), snapshot.thread(), std::nullopt).frames;
    REQUIRE(whole.size() > 2);
    CHECK_FALSE(names.find(kNoPid, address(), 2'500'000'000));
    CHECK(names.unwind(kNoPid, snapshot.thread(), 2'500'000'000).frames.size() == 1);
    test::MapsBlock block;
    put_own_code(block, kNoPid, 2'000'000'000);
    names.set_maps(maps_of(block));
    CHECK(names.find(kNoPid, address(), 2'500'000'000)->symbol == "process_names_test_function");
    CHECK(names.unwind(kNoPid, snapshot.thread(), 2'500'000'000).frames == whole);
}

TEST_CASE("an address in a program has the function's name", "[live][names]") {
    ProcessNames names;
    auto place = names.find(self(), address() + 1, std::nullopt);
    REQUIRE(place);
    CHECK(place->object == "test_live_process");
    CHECK(place->symbol == "process_names_test_function");
    CHECK(place->symbol_offset == 1);
    CHECK(place->object_start < address());
    CHECK_FALSE(names.find(self(), 1, std::nullopt)); // nothing is mapped there
}

TEST_CASE("why a function has no name is said once it was shown without", "[live][names]") {
    test::TempFolder folder;
    const std::string stripped = (folder.path / "stripped").string();
    const std::string here = std::filesystem::read_symlink("/proc/self/exe").string();
    REQUIRE(std::system(("objcopy --strip-all '" + here + "' " + stripped).c_str()) == 0);
    base::ScopedFd file(::open(stripped.c_str(), O_RDONLY | O_CLOEXEC));
    const auto bytes = std::filesystem::file_size(stripped);
    void* mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE, file.get(), 0);
    REQUIRE(mapped != MAP_FAILED);
    auto is_wanted = [](const ProcessNames::Function& function) {
        return function.name == "process_names_test_function";
    };
    auto functions = ProcessNames().functions(self(), is_wanted);
    REQUIRE(functions.size() == 1);
    ProcessNames names;
    auto place = names.find(self(), reinterpret_cast<uint64_t>(mapped) + functions[0].file_offset,
                            std::nullopt);
    REQUIRE(place);
    CHECK(place->object == "stripped");
    CHECK(place->symbol.empty());
    CHECK_FALSE(names.unnamed().contains(stripped));
    names.shown_unnamed(*place);
    auto unnamed = names.unnamed();
    REQUIRE(unnamed.contains(stripped));
    CHECK(unnamed[stripped] == "it is stripped, and debug symbols of build id " +
                                   analyze::hexadecimal(place->build_id) +
                                   " are not in /usr/lib/debug");
    ::munmap(mapped, bytes);
}

TEST_CASE("an address in a variable has its name", "[live][names]") {
    test::MapsBlock block; // what is mapped as code is recorded, and says nothing of variables
    put_own_code(block, static_cast<uint32_t>(self()), 1'000'000'000);
    ProcessNames names;
    names.set_maps(maps_of(block));
    auto name_at = [&](const void* at) {
        auto place = names.find(self(), reinterpret_cast<uint64_t>(at), 2'000'000'000);
        return place ? base::strprintf("%s`%s+%" PRIu64, place->object.c_str(),
                                       place->symbol.c_str(), place->symbol_offset)
                     : "";
    };
    CHECK(name_at(&process_names_test_data[2]) == "test_live_process`process_names_test_data+8");
    for (size_t at : {size_t{0}, sizeof(process_names_test_zeros) - 1})
        CHECK(name_at(&process_names_test_zeros[at]) ==
              "test_live_process`process_names_test_zeros+" + std::to_string(at));
    auto memory = std::make_unique<char[]>(64);
    CHECK(name_at(memory.get()).find("process_names_test") == std::string::npos);
}

TEST_CASE("the functions of a process are where they lie", "[live][names]") {
    ProcessNames names;
    auto found = names.functions(self(), [](const ProcessNames::Function& function) {
        return function.name == "process_names_test_function";
    });
    REQUIRE_FALSE(found.empty());
    CHECK(found[0].object == "test_live_process");
    CHECK(found[0].address == address());
}

TEST_CASE("a process that was remembered has names after its end", "[live][names]") {
    auto target = Target::start("sleep 1000");
    REQUIRE(target.ok());
    const auto pid = static_cast<uint64_t>(target->pid());
    ProcessNames names, forgetful;
    auto code = names.functions(pid, [](const ProcessNames::Function&) { return true; });
    REQUIRE_FALSE(code.empty());
    names.remember(pid);
    target->end();
    auto place = names.find(pid, code[0].address, std::nullopt);
    REQUIRE(place);
    CHECK(place->object == code[0].object);
    CHECK_FALSE(place->symbol.empty());
    CHECK_FALSE(forgetful.find(pid, code[0].address, std::nullopt));
}

TEST_CASE("a stack leads to the first function of a process that lives or was remembered",
          "[live][names]") {
    test::StackSnapshot snapshot;
    take_stack(snapshot);
    pid_t child = ::fork(); // its stack and its mappings are the same
    if (child == 0)
        for (;;)
            ::pause();
    REQUIRE(child > 0);
    ProcessNames names, remembering, late;
    auto unwound = names.unwind(self(), snapshot.thread(), std::nullopt);
    CHECK(unwound.why_short.empty());
    REQUIRE(unwound.frames.size() > 2);
    // take_stack() is at another instruction there, and a sanitizer's backtrace() may come before
    // it.
    const auto witness = snapshot.callers.end() - static_cast<ptrdiff_t>(unwound.frames.size() - 1);
    CHECK(std::equal(witness, snapshot.callers.end(), unwound.frames.begin() + 1));
    auto of_child = [&](ProcessNames& by) {
        return by.unwind(static_cast<uint64_t>(child), snapshot.thread(), std::nullopt).frames;
    };
    CHECK(of_child(names) == unwound.frames);
    remembering.remember(static_cast<uint64_t>(child));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    CHECK(of_child(remembering) == unwound.frames);
    CHECK(of_child(late).size() == 1);
}

TEST_CASE("what took the place of a file is opened only if it is one", "[live][names]") {
    test::TempFolder folder;
    const auto path = folder.path / "copy";
    std::filesystem::copy_file("/proc/self/exe", path);
    base::ScopedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    void* code = ::mmap(nullptr, 1 << 16, PROT_READ | PROT_EXEC, MAP_PRIVATE, file.get(), 0);
    REQUIRE(code != MAP_FAILED);
    pid_t child = ::fork();
    if (child == 0)
        for (;;)
            ::pause();
    REQUIRE(child > 0);
    ProcessNames names;
    names.remember(static_cast<uint64_t>(child));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::munmap(code, 1 << 16);
    // As a device would do what its driver does when it is opened: a watchdog's begins to run.
    std::filesystem::remove(path);
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    base::ScopedFd watch(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    REQUIRE(::inotify_add_watch(watch.get(), path.c_str(), IN_OPEN) >= 0);
    test::StackSnapshot snapshot;
    snapshot.registers[analyze::FrameState::kSp] = 0x1000;
    snapshot.registers[analyze::FrameState::kIp] = reinterpret_cast<uint64_t>(code) + 0x1000;
    CHECK(names.unwind(static_cast<uint64_t>(child), snapshot.thread(), std::nullopt)
              .why_short.starts_with("no file of that build"));
    char events[4096];
    CHECK(::read(watch.get(), events, sizeof(events)) < 0);
}

namespace {

enum Outcome { kRefused, kTaken, kNotPossible };

/// In namespaces of its own: a program of one file system runs, and when it has ended another one
/// lies there, whose first file has the same number.
Outcome frames_of_other_device(const std::string& folder) {
    if ((::unshare(CLONE_NEWNS) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) ||
        ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
        return kNotPossible;
    const std::string path = folder + "/copy";
    struct stat status[2] = {};
    auto make_file = [&](int number) {
        std::error_code failed;
        return ::mount("none", folder.c_str(), "tmpfs", 0, nullptr) == 0 &&
               std::filesystem::copy_file("/proc/self/exe", path, failed) &&
               ::stat(path.c_str(), &status[number]) == 0;
    };
    if (!make_file(0))
        return kNotPossible;
    base::ScopedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    void* code = ::mmap(nullptr, 1 << 16, PROT_READ | PROT_EXEC, MAP_PRIVATE, file.get(), 0);
    pid_t child = code == MAP_FAILED ? -1 : ::fork();
    if (child == 0)
        for (;;)
            ::pause();
    if (child < 0)
        return kNotPossible;
    ProcessNames names;
    names.remember(static_cast<uint64_t>(child));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    if (!make_file(1) || status[0].st_ino != status[1].st_ino)
        return kNotPossible;
    test::StackSnapshot snapshot;
    snapshot.registers[analyze::FrameState::kSp] = 0x1000;
    snapshot.registers[analyze::FrameState::kIp] = reinterpret_cast<uint64_t>(code) + 0x1000;
    return names.unwind(static_cast<uint64_t>(child), snapshot.thread(), std::nullopt)
                   .why_short.starts_with("no file of that build")
               ? kRefused
               : kTaken;
}

} // namespace

TEST_CASE("a file of the same number on another device is another file", "[live][names]") {
    test::TempFolder folder;
    pid_t child = ::fork();
    if (child == 0)
        ::_exit(frames_of_other_device(folder.path.string()));
    REQUIRE(child > 0);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    if (WEXITSTATUS(status) == kNotPossible)
        WARN("skipped: no file systems can be mounted here");
    else
        CHECK(WEXITSTATUS(status) == kRefused);
}

TEST_CASE("what is in no file has the name that its runtime wrote", "[live][names]") {
    auto* made = ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(made != MAP_FAILED);
    const auto at = reinterpret_cast<uint64_t>(made);
    std::string text;
    int asked = 0;
    ProcessNames names([&](uint32_t pid, uint64_t& bytes_known) -> std::string {
        asked++;
        CHECK(pid == self());
        bool is_known = bytes_known == text.size();
        bytes_known = text.size();
        return is_known ? "" : text;
    });
    CHECK_FALSE(names.find(self(), at + 8, std::nullopt));
    names.set_maps({}); // the next look at a ring
    text = base::strprintf("%llx 10 first\n", static_cast<unsigned long long>(at));
    auto place = names.find(self(), at + 8, std::nullopt);
    REQUIRE(place);
    CHECK(place->symbol == "first");
    CHECK(place->symbol_offset == 8);
    CHECK(place->object == "perf-" + std::to_string(self()) + ".map");
    CHECK_FALSE(names.find(self(), at + 16, std::nullopt));
    text += base::strprintf("%llx 10 second\n", static_cast<unsigned long long>(at + 16));
    CHECK_FALSE(names.find(self(), at + 16, std::nullopt));
    names.set_maps({});
    REQUIRE(names.find(self(), at + 16, std::nullopt));
    CHECK(names.find(self(), at + 16, std::nullopt)->symbol == "second");
    CHECK(asked == 3); // once for each look that had something unknown
    // A stack goes on by frame pointers through it.
    test::StackSnapshot snapshot;
    snapshot.stack = {0, 0, 0, at + 8, 0};
    snapshot.registers[analyze::FrameState::kSp] = 0x1000;
    snapshot.registers[analyze::FrameState::kIp] = at + 20;
    snapshot.registers[6] = 0x1010;
    CHECK(names.unwind(self(), snapshot.thread(), std::nullopt).frames ==
          std::vector<uint64_t>{at + 20, at + 8});
    ::munmap(made, 4096);
}
