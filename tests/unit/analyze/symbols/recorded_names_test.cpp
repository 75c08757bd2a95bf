// SPDX-License-Identifier: Apache-2.0
//
// The witness is this program: where the loader put it, and what its functions are called.
#include "analyze/symbols/recorded_names.hpp"

#include "analyze/symbols/address_names.hpp"
#include "analyze/symbols/unwind.hpp"
#include "base/file.hpp"
#include "tests/support/maps_block.hpp"
#include "tests/support/temp_folder.hpp"

#include <catch2/catch.hpp>

#include <cinttypes>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace daybreak;
using namespace daybreak::analyze;

constexpr int kWitnessLine = __LINE__ + 1;
extern "C" __attribute__((noinline, used)) int daybreak_witness_function(int value) {
    return value * 3 + 1;
}

/// Where it returns to: the line of the call decides, not the one after it.
extern "C" __attribute__((noinline, used)) void* daybreak_return_address() {
    return __builtin_return_address(0);
}

namespace {

constexpr uint32_t kPid = 4711;

struct Code {
    uint64_t begin, end, offset;
    std::string path;
};

/// The code that is mapped around an address of this process.
Code code_at(uint64_t address) {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        Code code{};
        int path_at = 0;
        if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %n",
                        &code.begin, &code.end, &code.offset, &path_at) < 3 ||
            address < code.begin || address >= code.end)
            continue;
        code.path = line.substr(static_cast<size_t>(path_at));
        return code;
    }
    FAIL("not mapped");
    return {};
}

std::string hexadecimal(const std::string& bytes) {
    std::string text;
    for (char byte : bytes)
        text += base::strprintf("%02x", static_cast<unsigned>(static_cast<unsigned char>(byte)));
    return text;
}

std::string build_id_of(const std::string& path) {
    base::ScopedFd file(::open(path.c_str(), O_RDONLY));
    return ObjectSymbols::read(file.get()).build_id();
}

/// Maps of a process that has this code, under another path if one is given.
formats::ProcessMaps maps_of(const Code& code, const std::string& build_id,
                             const std::string& path = "") {
    test::MapsBlock block;
    uint32_t file = block.file(path.empty() ? code.path : path, build_id);
    block.image(kPid, 100);
    block.mapping(kPid, 100, code.begin, code.end, code.offset, file);
    formats::ProcessMaps maps;
    CHECK(maps.add(block.bytes()) == "");
    maps.finish();
    return maps;
}

uint64_t witness() {
    return reinterpret_cast<uint64_t>(&daybreak_witness_function);
}

} // namespace

TEST_CASE("a recorded address has the function's name by the file of that build",
          "[analyze][symbols]") {
    Code code = code_at(witness());
    std::string build_id = build_id_of(code.path);
    REQUIRE(build_id.size() == 20);
    formats::ProcessMaps maps = maps_of(code, build_id);
    RecordedNames users(maps, {});
    AddressNames names(nullptr, &users);
    std::string object = code.path.substr(code.path.rfind('/') + 1);
    CHECK(names.user_location(kPid, witness() + 1) == object + "`daybreak_witness_function+0x1");
    CHECK(names.user_symbol(kPid, witness() + 1) == object + "`daybreak_witness_function");
    CHECK(names.user_symbol_start(kPid, witness() + 1) == witness());
    CHECK(names.user_module(kPid, witness()) == object);
    CHECK(names.user_location(kPid + 1, witness()) == base::strprintf("0x%" PRIx64, witness()));
    CHECK(users.missing().empty());
}

TEST_CASE("code in no file has the name that its runtime gave it", "[analyze][symbols]") {
    Code code = code_at(witness());
    formats::ProcessMaps maps = maps_of(code, build_id_of(code.path));
    formats::JitNames made;
    // What lies in a file is that file's, whatever the runtime says.
    made.add(formats::JitText{
        kPid, base::strprintf("100 10 compiled method\n%" PRIx64 " 10 liar\n", witness())});
    RecordedNames users(maps, {}, made);
    AddressNames names(nullptr, &users);
    CHECK(names.user_location(kPid, 0x104) == "perf-4711.map`compiled method+0x4");
    CHECK(names.user_symbol_start(kPid, 0x104) == 0x100);
    CHECK(names.user_location(kPid, 0x110) == "0x110");
    // It is a caller by its frame pointer; what has neither a file nor a name is none.
    uint64_t registers[FrameState::kCount] = {}, stack[] = {0, 0x108, 0x200, 0x300};
    registers[FrameState::kSp] = registers[6] = reinterpret_cast<uint64_t>(stack);
    stack[0] = registers[6] + 16;
    registers[FrameState::kIp] = 0x104;
    UnwoundStack unwound = names.unwind(
        kPid, {std::as_bytes(std::span(registers)), std::as_bytes(std::span(stack)), 10});
    CHECK(unwound.frames == std::vector<uint64_t>{0x104, 0x108});
    CHECK(unwound.why_short == "no .eh_frame for code of no file");
    CHECK(names.user_symbol(kPid, witness()).ends_with("`daybreak_witness_function"));
}

TEST_CASE("with lines a location has its own, and a caller that of its call",
          "[analyze][symbols]") {
    Code code = code_at(witness());
    formats::ProcessMaps maps = maps_of(code, build_id_of(code.path));
    RecordedNames users(maps, {});
    AddressNames names(nullptr, &users, {.lines = true});
    std::string object = code.path.substr(code.path.rfind('/') + 1);
    CHECK(names.user_location(kPid, witness()) ==
          object + base::strprintf("`daybreak_witness_function (recorded_names_test.cpp:%d)",
                                   kWitnessLine));
    constexpr int kCallLine = __LINE__ + 1;
    auto back = reinterpret_cast<uint64_t>(daybreak_return_address());
    CHECK(users.line(kPid, back, true, std::nullopt) ==
          base::strprintf("recorded_names_test.cpp:%d", kCallLine));
    // libc is stripped.
    auto in_libc = reinterpret_cast<uint64_t>(::dlsym(RTLD_DEFAULT, "getppid"));
    CHECK(users.line(kPid, in_libc, false, std::nullopt).empty());
    CHECK(users.line(kPid + 1, witness(), false, std::nullopt).empty());
}

TEST_CASE("lines of a stripped program are in its file of debug symbols", "[analyze][symbols]") {
    Code code = code_at(witness());
    std::string build_id = build_id_of(code.path);
    test::TempFolder temporary;
    const std::string folder = temporary.path.string(), id = hexadecimal(build_id);
    std::filesystem::create_directories(folder + "/.build-id/" + id.substr(0, 2));
    const std::string debug =
        folder + "/.build-id/" + id.substr(0, 2) + "/" + id.substr(2) + ".debug";
    const std::string strip = "objcopy --strip-all " + code.path + " " + folder + "/program && " +
                              "objcopy --only-keep-debug " + code.path + " " + debug;
    REQUIRE(std::system(strip.c_str()) == 0);
    formats::ProcessMaps maps = maps_of(code, build_id, "/no/such/program");
    ObjectPlaces places;
    places.folders = {folder};
    RecordedNames users(maps, places);
    AddressNames names(nullptr, &users, {.lines = true});
    CHECK(names.user_location(kPid, witness()) ==
          base::strprintf("program`daybreak_witness_function (recorded_names_test.cpp:%d)",
                          kWitnessLine));
    CHECK(users.missing().empty());
}

TEST_CASE("a library that is stripped has the names of its dynamic symbols", "[analyze][symbols]") {
    void* libc = ::dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    REQUIRE(libc);
    auto address = reinterpret_cast<uint64_t>(::dlsym(libc, "getppid"));
    ::dlclose(libc);
    Code code = code_at(address);
    formats::ProcessMaps maps = maps_of(code, build_id_of(code.path));
    RecordedNames users(maps, {});
    AddressNames names(nullptr, &users);
    CHECK(names.user_symbol(kPid, address) == "libc.so.6`getppid");
}

TEST_CASE("a file of another build, or of none that is known, names nothing",
          "[analyze][symbols]") {
    Code code = code_at(witness());
    std::string build_id = build_id_of(code.path);
    uint64_t offset = witness() - code.begin + code.offset;
    std::string other = build_id;
    other[3] = static_cast<char>(other[3] ^ 1);
    for (const std::string& wrong : {other, std::string(), std::string("x")}) {
        formats::ProcessMaps maps = maps_of(code, wrong);
        RecordedNames users(maps, {});
        AddressNames names(nullptr, &users);
        std::string object = code.path.substr(code.path.rfind('/') + 1);
        CHECK(names.user_location(kPid, witness()) ==
              object + base::strprintf(":0x%" PRIx64, offset));
        REQUIRE(users.missing().size() == 1);
        CHECK(users.missing().begin()->first == code.path);
    }
}

TEST_CASE("a key whose time was known when it was counted keeps what was there then",
          "[analyze][symbols]") {
    Code code = code_at(witness());
    std::string build_id = build_id_of(code.path);
    test::MapsBlock block;
    auto begin = [&](uint64_t at, const std::string& path, const std::string& id) {
        uint32_t file = block.file(path, id);
        block.image(kPid, at);
        block.mapping(kPid, at, code.begin, code.end, code.offset, file);
    };
    begin(100, "/bin/shell", std::string(20, 'x')); // then it executes the program
    begin(1'000'000'000, code.path, build_id);
    formats::ProcessMaps maps;
    CHECK(maps.add(block.bytes()) == "");
    maps.finish();
    std::string name = code.path.substr(code.path.rfind('/') + 1) + "`daybreak_witness_function";
    RecordedNames unknown(maps, {}), users(maps, {});
    CHECK(AddressNames(nullptr, &unknown).user_symbol(kPid, witness()).starts_with("0x"));
    CHECK(users.find(kPid, witness() + 1, 2'000'000'000)->symbol_offset == 1);
    AddressNames names(nullptr, &users);
    CHECK(names.user_location(kPid, witness() + 1) == name + "+0x1");
    CHECK(names.user_symbol(kPid, witness()) == name); // where its key is
    CHECK(names.user_module(kPid, code.begin) + "`" == name.substr(0, name.find('`') + 1));
    // At another time another program was there.
    CHECK(users.find(kPid, witness() + 1, 500'000)->object == "shell");
    CHECK(names.user_location(kPid, witness() + 1).starts_with("0x"));
    CHECK(names.user_symbol(kPid, witness()) == name);
}

TEST_CASE("a file that is elsewhere now is found in a folder, by build id and by name",
          "[analyze][symbols]") {
    Code code = code_at(witness());
    std::string build_id = build_id_of(code.path), hex = hexadecimal(build_id);
    test::TempFolder temporary;
    const std::string folder = temporary.path.string();
    std::string by_id = folder + "/id/.build-id/" + hex.substr(0, 2);
    std::filesystem::create_directories(by_id);
    std::filesystem::create_symlink(code.path, by_id + "/" + hex.substr(2));
    std::filesystem::create_directories(folder + "/name");
    std::filesystem::create_symlink(code.path, folder + "/name/gone");
    formats::ProcessMaps maps = maps_of(code, build_id, "/no/such/gone (deleted)");
    for (const char* where : {"/id", "/name"}) {
        ObjectPlaces places;
        places.folders = {folder + where};
        RecordedNames users(maps, places);
        AddressNames names(nullptr, &users);
        CHECK(names.user_symbol(kPid, witness()) == "gone`daybreak_witness_function");
    }
    RecordedNames nowhere(maps, {});
    CHECK(nowhere.find(kPid, witness(), std::nullopt)->symbol.empty());
}

TEST_CASE("a build that is not here is asked for, last, and once", "[analyze][symbols]") {
    Code code = code_at(witness());
    const std::string build_id = build_id_of(code.path);
    std::vector<std::string> asked;
    ObjectPlaces places;
    places.fetch = [&](const char* kind, const std::string& id) {
        asked.push_back(std::string(kind) + " " + id.substr(0, 2));
        return std::string(kind) == "executable" ? code.path : "";
    };
    const std::string begin = hexadecimal(build_id).substr(0, 2);
    formats::ProcessMaps gone = maps_of(code, build_id, "/no/such/program");
    RecordedNames users(gone, places);
    for (int i = 0; i < 2; i++)
        CHECK(users.find(kPid, witness(), std::nullopt)->symbol == "daybreak_witness_function");
    CHECK(asked == std::vector<std::string>{"executable " + begin, "debuginfo " + begin});
    CHECK(users.missing().empty());
    // What is here is not asked for; another build is not taken from a server either.
    asked.clear();
    formats::ProcessMaps here = maps_of(code, build_id, code.path);
    RecordedNames local(here, places);
    CHECK(local.find(kPid, witness(), std::nullopt)->symbol == "daybreak_witness_function");
    CHECK(asked == std::vector<std::string>{"debuginfo " + begin});
    formats::ProcessMaps other = maps_of(code, std::string(20, 'x'), "/no/such/program");
    RecordedNames wrong(other, places);
    CHECK(wrong.find(kPid, witness(), std::nullopt)->symbol.empty());
    CHECK(wrong.missing().size() == 1);
}

TEST_CASE("an ELF file that was cut or changed anywhere is read within bounds",
          "[analyze][symbols]") {
    auto whole = base::read_file("/proc/self/exe");
    REQUIRE(whole.ok());
    base::ByteView bytes(*whole);
    for (size_t cut : {size_t{0}, size_t{1}, size_t{16}, size_t{63}, size_t{64}, size_t{200},
                       size_t{4096}, bytes.size() / 2, bytes.size() - 1})
        ObjectSymbols::read(bytes.first(cut));
    base::Bytes changed(bytes.begin(), bytes.begin() + 4096);
    for (size_t at = 0; at < 512; at++) {
        std::byte was = changed[at];
        changed[at] = std::byte{0xff};
        ObjectSymbols::read(changed);
        changed[at] = was;
    }
}
