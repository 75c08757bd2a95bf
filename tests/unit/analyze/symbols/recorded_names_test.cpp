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

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/inotify.h>
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
    KeyTimes keys;
    CHECK(names.user_symbol_start(kPid, witness() + 1, keys) == witness());
    CHECK(names.user_module(kPid, witness()) == object);
    CHECK(names.user_location(kPid + 1, witness()) == base::strprintf("0x%" PRIx64, witness()));
    CHECK(users.missing().empty());
}

TEST_CASE("an address in the vDSO has a name where the recorded kernel's is at hand",
          "[analyze][symbols]") {
    // The witness is the loader, for which it is a library.
    void* vdso = ::dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);
    REQUIRE(vdso != nullptr);
    const auto address = reinterpret_cast<uint64_t>(::dlsym(vdso, "__vdso_clock_gettime"));
    ::dlclose(vdso);
    Code code = code_at(address);
    REQUIRE(code.path == kVdsoPath);
    formats::ProcessMaps maps = maps_of(code, "");
    ObjectPlaces places;
    const auto* image = reinterpret_cast<const std::byte*>(code.begin);
    places.vdso.assign(image, image + (code.end - code.begin));
    RecordedNames users(maps, places);
    AddressNames names(nullptr, &users);
    CHECK(names.user_symbol(kPid, address + 4) == "[vdso]`clock_gettime");
    CHECK(names.user_module(kPid, address) == "[vdso]");
    CHECK(users.missing().empty());

    RecordedNames others(maps, {});
    AddressNames numbers(nullptr, &others);
    CHECK(numbers.user_location(kPid, address) ==
          base::strprintf("[vdso]:0x%" PRIx64, address - code.begin + code.offset));
    CHECK(others.missing() == MissingFiles{{std::string(kVdsoPath), ""}});
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
    KeyTimes keys;
    CHECK(names.user_symbol_start(kPid, 0x104, keys) == 0x100);
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
    base::ScopedFd program = open_object(folder + "/program");
    ObjectSymbols symbols = ObjectSymbols::read(program.get());
    auto is_witness = [](const auto& one) { return one.name == "daybreak_witness_function"; };
    CHECK(std::ranges::none_of(symbols.symbols(), is_witness));
    add_debug_symbols(symbols, folder);
    CHECK(std::ranges::any_of(symbols.symbols(), is_witness));
}

TEST_CASE("lines are not read where they would be more than there may be", "[analyze][symbols]") {
    Code code = code_at(witness());
    test::TempFolder temporary;
    const std::string path = (temporary.path / "packed").string();
    const std::string pack =
        "objcopy --compress-debug-sections=zlib-gabi " + code.path + " " + path;
    REQUIRE(std::system(pack.c_str()) == 0);
    auto open = [&] { return base::ScopedFd(::open(path.c_str(), O_RDWR | O_CLOEXEC)); };
    {
        ObjectLines lines(open());
        CHECK_FALSE(lines.empty());
        CHECK(lines.too_large().empty());
    }
    // The first section that is packed says how large it is.
    base::ScopedFd file = open();
    Elf64_Ehdr head;
    REQUIRE(::pread(file.get(), &head, sizeof(head), 0) == sizeof(head));
    std::vector<Elf64_Shdr> sections(head.e_shnum);
    const size_t bytes = sections.size() * sizeof(Elf64_Shdr);
    REQUIRE(::pread(file.get(), sections.data(), bytes, static_cast<off_t>(head.e_shoff)) ==
            static_cast<ssize_t>(bytes));
    auto packed = std::ranges::find_if(
        sections, [](const auto& one) { return (one.sh_flags & SHF_COMPRESSED) != 0; });
    REQUIRE(packed != sections.end());
    const uint64_t claimed = ObjectLines::kUnpackedBytesMax + 1;
    REQUIRE(::pwrite(file.get(), &claimed, sizeof(claimed),
                     static_cast<off_t>(packed->sh_offset + offsetof(Elf64_Chdr, ch_size))) ==
            sizeof(claimed));
    ObjectLines lines(open());
    CHECK(lines.empty());
    CHECK(lines.too_large() == "more than 1024 MiB when it is unpacked");
}

/// A function of which a unit says the folder by a name in another file, as dwz makes them.
constexpr const char* kSharedName = R"(
    .text
shared: .file 1 "shared.c"
    .loc 1 7
    nop
    ret
.Lend:
    .section .debug_line
.Lline:
    .section .debug_abbrev,"",@progbits
.Labbrev: .uleb128 1, 0x11
    .byte 0
    .uleb128 0x10, 0x17, 0x11, 0x01, 0x12, 0x07, 0x1b, 0x1f21
    .byte 0, 0, 0
    .section .debug_info,"",@progbits
    .long .Linfo_end - .Linfo
.Linfo: .short 4
    .long .Labbrev
    .byte 8
    .uleb128 1
    .long .Lline
    .quad shared, .Lend - shared
    .long 0
.Linfo_end:
    .section .gnu_debugaltlink,"",@progbits
    .asciz "FOLDER"
    .fill 20, 1, 7
)";

namespace {

/// Makes a shared object of assembler in a folder.
base::ScopedFd made_of(const std::string& source, const std::string& folder) {
    std::ofstream(folder + "/made.s") << source;
    const std::string make =
        "cd " + folder + " && as made.s -o made.o && ld -shared made.o" + " -o made.so 2>/dev/null";
    REQUIRE(std::system(make.c_str()) == 0);
    return base::ScopedFd(::open((folder + "/made.so").c_str(), O_RDONLY | O_CLOEXEC));
}

} // namespace

TEST_CASE("what a file names for its debug information is opened only if it is a file",
          "[analyze][symbols]") {
    test::TempFolder temporary;
    const std::string folder = temporary.path.string();
    std::string source = kSharedName;
    source.replace(source.find("FOLDER"), 6, folder);
    made_of(source, folder);
    base::ScopedFd watch(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    REQUIRE(::inotify_add_watch(watch.get(), folder.c_str(), IN_OPEN | IN_ONLYDIR) >= 0);
    base::ScopedFd file(::open((folder + "/made.so").c_str(), O_RDONLY | O_CLOEXEC));
    char events[4096];
    REQUIRE(::read(watch.get(), events, sizeof(events)) > 0); // of made.so itself
    ObjectSymbols symbols = ObjectSymbols::read(file.get());
    ObjectLines lines(std::move(file));
    REQUIRE_FALSE(lines.empty());
    REQUIRE(symbols.segments().size() > 0);
    uint64_t text = 0;
    for (const auto& segment : symbols.segments())
        if (lines.find(segment.address) == "shared.c:7")
            text = segment.address;
    CHECK(text != 0);
    CHECK(::read(watch.get(), events, sizeof(events)) < 0);
}

/// One after the other: 3000 units that share 2000 ranges of nothing.
constexpr const char* kManyRanges = R"(
    .text
code: .fill 64, 1, 0x90
    .section .debug_abbrev,"",@progbits
    .uleb128 1, 0x11
    .byte 0
    .uleb128 0x55, 0x17
    .byte 0, 0, 0
    .section .debug_info,"",@progbits
    .rept 3000
    .long 12
    .short 4
    .long 0
    .byte 8
    .uleb128 1
    .long 0
    .endr
    .section .debug_ranges,"",@progbits
    .rept 2000
    .quad 5, 5
    .endr
    .quad 0, 0
)";

/// A unit whose line table is of LINES bytes, each of which is a line.
constexpr const char* kManyLines = R"(
    .text
code: .fill 64, 1, 0x90
    .section .debug_abbrev,"",@progbits
    .uleb128 1, 0x11
    .byte 0
    .uleb128 0x11, 0x01, 0x12, 0x07, 0x10, 0x17
    .byte 0, 0, 0
    .section .debug_info,"",@progbits
    .long .Linfo_end - .Linfo
.Linfo: .short 4
    .long 0
    .byte 8
    .uleb128 1
    .quad code, 64
    .long 0
.Linfo_end:
    .section .debug_line,"",@progbits
    .long .Lend - .Lbegin
.Lbegin: .short 3
    .long .Lprogram - .Lheader
.Lheader: .byte 1, 1, -5, 14, 13
    .byte 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1
    .byte 0
    .asciz "lines.c"
    .byte 0, 0, 0, 0
.Lprogram: .byte 0, 9, 2
    .quad code
    .byte 1
    .fill LINES, 1, 0x12
    .byte 2
    .uleb128 64
    .byte 0, 1, 1
.Lend:
)";

TEST_CASE("of ranges and lines no more are read than a program has", "[analyze][symbols]") {
    test::TempFolder temporary;
    using Found = std::pair<std::string, std::string>; // a line, and of what there is too much
    auto found = [&](const std::string& source) {
        base::ScopedFd file = made_of(source, temporary.path.string());
        ObjectSymbols symbols = ObjectSymbols::read(file.get());
        ObjectLines lines(std::move(file));
        std::string line;
        for (const auto& segment : symbols.segments())
            if (segment.is_code)
                line = lines.find(segment.address);
        return Found(line, lines.too_large());
    };
    auto lines_of = [&](uint64_t bytes) {
        std::string source = kManyLines;
        return source.replace(source.find("LINES"), 5, std::to_string(bytes));
    };
    CHECK(found(lines_of(1000)) == Found("lines.c:1", ""));
    CHECK(found(lines_of(ObjectLines::kLineBytesMax)) ==
          Found("", "more than 16 MiB of lines where addresses are"));
    CHECK(found(kManyRanges) == Found("", "more than 4194304 address ranges"));
}

TEST_CASE("a stripped program has the names that were packed into it", "[analyze][symbols]") {
    Code code = code_at(witness());
    test::TempFolder temporary;
    const std::string folder = temporary.path.string();
    // As Fedora's packages are made: functions alone, in a file of debug symbols, by xz.
    const std::string pack =
        "cd " + folder + " && objcopy --strip-all " + code.path +
        " program && objcopy --only-keep-debug " + code.path +
        " debug && objcopy -S --keep-symbol=daybreak_witness_function debug mini && xz mini && " +
        "objcopy --add-section .gnu_debugdata=mini.xz program packed";
    REQUIRE(std::system(pack.c_str()) == 0);
    auto named = [&](const char* file) {
        formats::ProcessMaps maps = maps_of(code, build_id_of(code.path), folder + "/" + file);
        RecordedNames users(maps, {});
        return AddressNames(nullptr, &users).user_location(kPid, witness() + 1);
    };
    CHECK_FALSE(named("program").ends_with("`daybreak_witness_function+0x1"));
    CHECK(named("packed") == "packed`daybreak_witness_function+0x1");
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
        CHECK(users.missing().begin()->path == code.path);
        CHECK(users.missing().begin()->why ==
              (wrong == other ? code.path + " is of build id " + hexadecimal(build_id) : ""));
    }
}

TEST_CASE("why an address has no function is known of each file", "[analyze][symbols]") {
    Code code = code_at(witness());
    const std::string build_id = build_id_of(code.path);
    test::TempFolder temporary;
    const std::string folder = temporary.path.string(), program = folder + "/program";
    formats::ProcessMaps maps = maps_of(code, build_id, "/no/such/program");
    ObjectPlaces places;
    places.folders = {folder};
    places.debug_folder = folder;
    auto show = [&](RecordedNames& users) {
        return AddressNames(nullptr, &users).user_location(kPid, witness());
    };
    auto unnamed = [&] {
        RecordedNames users(maps, places);
        CHECK(AddressNames(nullptr, &users).user_module(kPid, witness()) == "program");
        CHECK(users.unnamed().empty()); // a function was not asked for
        show(users);
        CHECK(users.missing().empty());
        const auto files = users.unnamed();
        REQUIRE(files.size() == 1);
        CHECK(files.begin()->first == program);
        return files.begin()->second;
    };
    auto run = [](const std::string& command) { REQUIRE(std::system(command.c_str()) == 0); };
    run("objcopy --strip-all " + code.path + " " + program);
    CHECK(unnamed() == "it is stripped, and debug symbols of build id " + hexadecimal(build_id) +
                           " are not in " + folder);
    std::ofstream(folder + "/packed") << "no library";
    run("objcopy --strip-all --add-section .gnu_debugdata=" + folder + "/packed " + code.path +
        " " + program);
    CHECK(
        unnamed().ends_with(": .gnu_debugdata of 10 bytes, 0 unpacked, expected a packed library, "
                            "of 67108864 bytes at most"));
    run("objcopy --strip-symbol=daybreak_witness_function " + code.path + " " + program);
    CHECK(unnamed() == "its symbols have no function there");

    auto why_missing = [&] {
        RecordedNames users(maps, places);
        show(users);
        CHECK(users.unnamed().empty());
        REQUIRE(users.missing().size() == 1);
        return users.missing().begin()->why;
    };
    std::ofstream(program) << "damaged";
    CHECK(why_missing() == program + " is not a program or library, or is damaged");
    std::filesystem::remove(program);
    CHECK(why_missing().empty());
    std::filesystem::create_directory(program);
    CHECK(why_missing() == program + ": Is a directory");
}

TEST_CASE("a file that is given is the program or its debug symbols, by its build",
          "[analyze][symbols]") {
    Code code = code_at(witness());
    const std::string build_id = build_id_of(code.path);
    test::TempFolder temporary;
    const std::string stripped = (temporary.path / "stripped").string(),
                      debug = (temporary.path / "symbols").string();
    const std::string strip = "objcopy --strip-all " + code.path + " " + stripped +
                              " && objcopy --only-keep-debug " + code.path + " " + debug;
    REQUIRE(std::system(strip.c_str()) == 0);
    formats::ProcessMaps maps = maps_of(code, build_id, "/no/such/program");
    auto location = [&](std::multimap<std::string, std::string> files, std::string* why = nullptr) {
        ObjectPlaces places;
        places.files = std::move(files);
        RecordedNames users(maps, places);
        std::string text = AddressNames(nullptr, &users).user_location(kPid, witness());
        if (why != nullptr && users.missing().size() == 1)
            *why = users.missing().begin()->why;
        return text;
    };
    CHECK(location({{build_id, code.path}}) == "program`daybreak_witness_function");
    CHECK(location({{build_id, debug}, {build_id, stripped}}) ==
          "program`daybreak_witness_function");
    CHECK(location({{build_id, stripped}}).starts_with("program:0x"));
    std::string why;
    CHECK(location({{build_id, debug}}, &why).starts_with("program:0x"));
    CHECK(why == debug + " has debug symbols alone, without the code");
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
    RecordedNames users(maps, {});
    AddressNames names(nullptr, &users);
    formats::ClockModel clock; // of nanoseconds
    KeyTimes keys, others;
    {
        AddressNames::Moment then(names, &clock, 2'000'000'000);
        CHECK(names.user_location(kPid, witness() + 1) == name + "+0x1");
        CHECK(names.user_symbol_start(kPid, witness() + 1, keys) == witness());
        CHECK(names.user_module_start(kPid, witness() + 1, keys) == code.begin);
    }
    // What a record that was printed named says nothing of keys that were counted without one.
    CHECK(names.user_symbol(kPid, witness()).starts_with("0x"));
    {
        AddressNames::Moment of_others(names, others);
        CHECK(names.user_symbol(kPid, witness()).starts_with("0x"));
        AddressNames::Moment of_keys(names, keys);
        CHECK(names.user_symbol(kPid, witness()) == name);
        CHECK(names.user_module(kPid, code.begin) + "`" == name.substr(0, name.find('`') + 1));
    }
    // A key that was counted at another time, too, when another program was there, is neither's.
    {
        AddressNames::Moment then(names, &clock, 500'000);
        CHECK(users.find(kPid, witness(), 500'000)->object == "shell");
        CHECK(names.user_symbol_start(kPid, witness(), keys) == witness());
    }
    AddressNames::Moment of_keys(names, keys);
    CHECK(names.user_symbol(kPid, witness()).starts_with("0x"));
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
