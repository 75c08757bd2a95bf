// SPDX-License-Identifier: Apache-2.0
#include "recorder/jit_texts.hpp"

#include "tests/support/temp_folder.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

using namespace daybreak;

namespace {

void write(const std::filesystem::path& path, const std::string& text) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
}

/// A dump with one function.
std::string dump_of(uint64_t address, const std::string& name) {
    auto number = [](uint64_t value, size_t bytes) {
        return std::string(reinterpret_cast<const char*>(&value), bytes);
    };
    std::string bytes;
    for (uint64_t header : {0x4a695444, 1, 40, 62, 0, 0, 0, 0, 0, 0})
        bytes += number(header, 4);
    for (uint64_t begin : {size_t{0}, 57 + name.size(), size_t{0}, size_t{0}, size_t{0}, size_t{0}})
        bytes += number(begin, 4);
    for (uint64_t field : {address, address, uint64_t{16}, uint64_t{1}})
        bytes += number(field, 8);
    return bytes + name + '\0';
}

/// A folder /proc with processes that have a root of their own, and a /tmp.
struct Machine {
    test::TempFolder folder;
    std::filesystem::path proc = folder.path / "proc", tmp = folder.path / "tmp";
    formats::KnownProcesses known; ///< to the recording

    Machine() { std::filesystem::create_directories(tmp); }
    /// Returns where the process's file would be.
    std::filesystem::path process(const std::string& pid, uid_t user,
                                  const std::string& own = "") const {
        std::string number = own.empty() ? pid : own;
        write(proc / pid / "status", "Name:\tx\nUid:\t0\t" + std::to_string(user) +
                                         "\t0\t0\nNSpid:\t" + (own.empty() ? "" : pid + "\t") +
                                         number + "\nPPid:\t1\n");
        std::filesystem::create_directories(proc / pid / "root/tmp");
        return proc / pid / "root/tmp" / ("perf-" + number + ".map");
    }
    /// Has a process map a file as its dump: as code, or as data; returns where the file lies.
    std::filesystem::path dump(const std::string& pid, const std::string& own = "",
                               const char* rights = "r-xp") const {
        std::string name = "jit-" + (own.empty() ? pid : own) + ".dump";
        write(proc / pid / "maps", "1000-2000 r-xp 00000000 08:01 7  /usr/bin/node\n"
                                   "7f0000001000-7f0000002000 " +
                                       std::string(rights) + " 00000000 08:01 9  /home/x/" + name +
                                       "\n7f0000003000-7f0000004000 rw-p 00000000 00:00 0\n");
        std::filesystem::create_directories(proc / pid / "map_files");
        auto file = folder.path / "home" / (pid + name);
        std::filesystem::create_directories(file.parent_path());
        std::filesystem::create_symlink(file, proc / pid / "map_files/7f0000001000-7f0000002000");
        return file;
    }
    recorder::JitTexts read() const {
        auto texts = recorder::read_jit_texts(known, proc.string(), tmp.string());
        std::ranges::sort(texts.texts, {}, &formats::JitText::pid);
        return texts;
    }
    /// Returns the reasons, sorted.
    static std::vector<std::string> reasons(const recorder::JitTexts& texts) {
        std::vector<std::string> reasons;
        for (const formats::Finding& finding : texts.findings.list())
            reasons.push_back(finding.where + ": " + finding.text);
        std::ranges::sort(reasons);
        return reasons;
    }
};

} // namespace

TEST_CASE("files of runtimes are found where their processes see them, and of those that are gone",
          "[recorder]") {
    Machine machine;
    write(machine.process("100", ::getuid()), "1000 10 own\n");
    write(machine.process("200", ::getuid(), "7"),
          "2000 10 contained\n2010 10 not whol"); // of a container
    machine.process("300", ::getuid());
    write(machine.proc / "self/status", "NSpid:\t100\n");
    write(machine.tmp / "perf-42.map", "3000 10 gone\n");
    write(machine.tmp / "perf-100.map", "4000 10 of a process that is there\n");
    write(machine.tmp / "perf-x.map", "5000 10 no number\n");
    write(machine.tmp / "perf-43.map", "");
    write(machine.tmp / "perf-44.map", "6000 10 of a process from before the recording\n");
    machine.known.ended(42, ::getuid());
    machine.known.ended(43, ::getuid());
    machine.known.ended(100, ::getuid()); // another, before
    auto [texts, findings] = machine.read();
    REQUIRE(texts.size() == 3);
    CHECK(texts[0].pid == 42);
    CHECK(texts[0].text == "3000 10 gone\n");
    CHECK(texts[1].pid == 100);
    CHECK(texts[1].text == "1000 10 own\n");
    CHECK(texts[2].pid == 200);
    CHECK(texts[2].text == "2000 10 contained\n");
    CHECK(findings.count() == 0);
    CHECK(recorder::read_jit_texts({}, "/no/such/folder", "/no/such/folder").texts.empty());
}

TEST_CASE("a dump is found where its process has mapped it as code", "[recorder]") {
    Machine machine;
    const std::string function = dump_of(0x5000, "dumped");
    write(machine.process("100", ::getuid()), "1000 10 own\n");
    write(machine.dump("100"), function);
    machine.process("200", ::getuid(), "7"); // of a container
    write(machine.dump("200", "7"), function);
    machine.process("300", ::getuid());
    write(machine.dump("300", "", "r--p"), function); // as data
    machine.process("400", ::getuid());
    write(machine.dump("400", "100"), function); // another's, whose child it is
    machine.process("500", ::getuid() + 1);
    write(machine.dump("500"), function);
    machine.process("600", ::getuid());
    write(machine.dump("600"), "1000 10 not a dump\n");
    machine.process("700", ::getuid());
    REQUIRE(::mkfifo(machine.dump("700").c_str(), 0666) == 0);
    recorder::JitTexts texts = machine.read();
    REQUIRE(texts.texts.size() == 2);
    CHECK(texts.texts[0].text == "1000 10 own\n5000 10 dumped\n");
    CHECK(texts.texts[1].pid == 200);
    CHECK(texts.texts[1].text == "5000 10 dumped\n");
    CHECK(Machine::reasons(texts) ==
          std::vector<std::string>{"jit-500.dump of process 500: of another user than its process",
                                   "jit-600.dump of process 600: not a jitdump",
                                   "jit-700.dump of process 700: not a regular file"});
    uint64_t known = 0;
    auto both = recorder::read_jit_text_of(100, known, machine.proc.string());
    REQUIRE(both.texts.size() == 1);
    CHECK(both.texts[0].text == texts.texts[0].text);
    CHECK(known == 12 + function.size());
    CHECK(recorder::read_jit_text_of(100, known, machine.proc.string()).texts.empty());
}

TEST_CASE("files of a process that is gone are of the user as whom it ended", "[recorder]") {
    Machine machine;
    auto leave = [&](uint32_t pid) {
        write(machine.tmp / ("perf-" + std::to_string(pid) + ".map"), "1000 10 map\n");
    };
    auto dump_at = [&](uint32_t pid) {
        auto path = machine.folder.path / "home" / formats::jit_dump_name(std::to_string(pid));
        write(path, dump_of(0x5000, "dumped"));
        machine.known.mapped(pid, path.string());
        return path;
    };
    const uid_t user = ::getuid(), other = user + 1;
    for (uint32_t pid : {100, 200, 300, 400, 500})
        leave(pid);
    machine.known.ended(100, user);
    dump_at(100);
    machine.known.ended(200, other);
    machine.known.ended(300, std::nullopt); // an older module's
    machine.known.ended(400, user);
    machine.known.ended(400, other); // the number was used again
    machine.known.lived(500);
    machine.known.ended(600, other);
    dump_at(600);
    machine.known.ended(700, user);
    auto secret = dump_at(700); // a link since then: of the file, and of its folder
    std::filesystem::rename(secret, machine.folder.path / "secret");
    std::filesystem::create_symlink(machine.folder.path / "secret", secret);
    std::filesystem::create_directory_symlink(machine.folder.path / "home",
                                              machine.folder.path / "led");
    machine.known.ended(800, user);
    dump_at(800);
    machine.known.mapped(800, (machine.folder.path / "led/jit-800.dump").string());
    machine.known.ended(900, user);
    machine.known.mapped(900, (machine.folder.path / "home/jit-100.dump").string()); // its parent's
    if (user == 0) // root's would be taken
        for (const char* left : {"300", "400", "500"})
            REQUIRE(::chown((machine.tmp / ("perf-" + std::string(left) + ".map")).c_str(), other,
                            other) == 0);
    recorder::JitTexts texts = machine.read();
    REQUIRE(texts.texts.size() == 1);
    CHECK(texts.texts[0].pid == 100);
    CHECK(texts.texts[0].text == "1000 10 map\n5000 10 dumped\n");
    CHECK(
        Machine::reasons(texts) ==
        std::vector<std::string>{
            "jit-700.dump of process 700: a symbolic link is not followed",
            "jit-800.dump of process 800: could not be looked at",
            "perf-200.map of process 200: of another user than its process, like 1 more",
            "perf-300.map of process 300: not of root, and its process's user is not known, like 1 "
            "more",
            "perf-400.map of process 400: not of root, and its number was of several users"});
}

TEST_CASE("of a process that may not be looked into the dump is where the recording has it",
          "[recorder]") {
    Machine machine;
    machine.process("100", ::getuid());
    machine.process("200", ::getuid(), "7"); // of a container: the path leads elsewhere there
    for (const char* pid : {"100", "200"}) {
        auto path = machine.folder.path / formats::jit_dump_name(pid);
        write(path, dump_of(0x5000, "dumped"));
        machine.known.mapped(static_cast<uint32_t>(std::stoul(pid)), path.string());
    }
    recorder::JitTexts texts = machine.read();
    REQUIRE(texts.texts.size() == 1);
    CHECK(texts.texts[0].pid == 100);
    CHECK(texts.texts[0].text == "5000 10 dumped\n");
    CHECK(texts.findings.count() == 0);
}

TEST_CASE("of a process that may not be looked into the file is in the recorder's own /tmp",
          "[recorder]") {
    Machine machine;
    auto close =
        [&](const std::string& pid) { // as the kernel does: it is there, and no way leads in
            std::filesystem::remove_all(machine.proc / pid / "root");
            std::filesystem::create_symlink("root", machine.proc / pid / "root");
            write(machine.tmp / ("perf-" + pid + ".map"), "1000 10 of " + pid + "\n");
        };
    machine.process("100", ::getuid());
    machine.process("200", ::getuid(), "7"); // of a container: what is there is not its
    machine.process("300", ::getuid() + 1);
    for (const char* pid : {"100", "200", "300"})
        close(pid);
    write(machine.tmp / "perf-7.map", "1000 10 of another 7\n");
    write(machine.proc / "7/status", "");
    recorder::JitTexts texts = machine.read();
    REQUIRE(texts.texts.size() == 1);
    CHECK(texts.texts[0].pid == 100);
    CHECK(texts.texts[0].text == "1000 10 of 100\n");
    CHECK(
        Machine::reasons(texts) ==
        std::vector<std::string>{"perf-300.map of process 300: of another user than its process"});
}

TEST_CASE("the file of one process is read again when its size is another", "[recorder]") {
    Machine machine;
    auto path = machine.process("200", ::getuid(), "7");
    uint64_t known = 0;
    auto read = [&] {
        auto made = recorder::read_jit_text_of(200, known, machine.proc.string());
        CHECK(made.findings.count() == 0);
        return made.texts.empty() ? "" : made.texts[0].text;
    };
    CHECK(read() == "");
    write(path, "1000 10 one\n10");
    CHECK(read() == "1000 10 one\n");
    CHECK(known == 14);
    CHECK(read() == "");
    write(path, "2000 10 other\n"); // of another process with that number
    CHECK(read() == "");            // of the same size: this is not noticed
    write(path, "2000 10 others\n");
    CHECK(read() == "2000 10 others\n");
    CHECK(known == 15);
}

TEST_CASE("a recorder that is root reads no file that a user leads it to", "[recorder]") {
    Machine machine;
    auto secret = machine.folder.path / "secret";
    write(secret, "1000 10 secret\n");
    // A link, a link in place of the folder, another name of a file.
    std::filesystem::create_symlink(secret, machine.process("100", ::getuid()));
    auto folder = machine.process("200", ::getuid()).parent_path();
    std::filesystem::remove(folder);
    std::filesystem::create_symlink(machine.tmp, folder);
    write(machine.tmp / "perf-200.map", "2000 10 by a folder that is a link\n");
    std::filesystem::create_hard_link(secret, machine.process("300", ::getuid()));
    // Neither is a file: opening the FIFO would wait for ever.
    REQUIRE(::mkfifo(machine.process("400", ::getuid()).c_str(), 0666) == 0);
    std::filesystem::create_directory(machine.tmp / "perf-44.map");
    // Of another user; root's is not the process's either.
    write(machine.process("500", ::getuid() + 1), "5000 10 not its own\n");
    std::filesystem::create_symlink("/dev/zero", machine.tmp / "perf-45.map");
    machine.known.ended(44, ::getuid());
    machine.known.ended(45, ::getuid());
    recorder::JitTexts texts = machine.read();
    CHECK(texts.texts.empty());
    CHECK(Machine::reasons(texts) ==
          std::vector<std::string>{
              "perf-100.map of process 100: a symbolic link is not followed, like 1 more",
              "perf-300.map of process 300: a file that has another name, too",
              "perf-400.map of process 400: not a regular file, like 1 more",
              "perf-500.map of process 500: of another user than its process"});
}

TEST_CASE("what is damaged in a runtime's file is said once of it", "[recorder]") {
    Machine machine;
    write(machine.process("100", ::getuid()), "1000 10 f\nnone\n3000\n2000 10 g\n");
    machine.process("200", ::getuid());
    write(machine.dump("200"), dump_of(0x5000, ""));
    recorder::JitTexts texts = machine.read();
    REQUIRE(texts.texts.size() == 1);
    CHECK(
        Machine::reasons(texts) ==
        std::vector<std::string>{
            "jit-200.dump of process 200: 1 record left out, byte 40: a load of no name, expected "
            "that of a function",
            "perf-100.map of process 100: 2 lines left out, the first: line 2: \"none\", expected "
            "ADDRESS SIZE NAME, in hexadecimal and within 64 bits"});
}

TEST_CASE("of a runtime's file as large as one likes the beginning is taken", "[recorder]") {
    Machine machine;
    auto path = machine.process("100", ::getuid());
    write(path, "1000 10 first\n");
    std::filesystem::resize_file(path, uint64_t{1} << 40); // a hole
    write(machine.process("200", ::getuid()), "2000 10 second\n");
    recorder::JitTexts texts = machine.read();
    REQUIRE(texts.texts.size() == 2);
    CHECK(texts.texts[0].text == "1000 10 first\n");
    CHECK(texts.texts[1].text == "2000 10 second\n");
    CHECK(Machine::reasons(texts) ==
          std::vector<std::string>{
              "perf-100.map of process 100: more bytes than are taken: only its beginning is"});
}

TEST_CASE("files without a whole line count for what was read of them", "[recorder]") {
    Machine machine;
    for (const char* pid : {"100", "200", "300", "400"}) {
        auto path = machine.process(pid, ::getuid());
        write(path, "");
        std::filesystem::resize_file(path, formats::kJitTextBytesMax);
    }
    machine.process("500", ::getuid()); // makes no code, and is not refused
    write(machine.tmp / "perf-42.map", "3000 10 gone\n");
    machine.known.ended(42, ::getuid());
    recorder::JitTexts texts = machine.read();
    CHECK(texts.texts.empty());
    auto reasons = Machine::reasons(texts);
    REQUIRE(reasons.size() == 1);
    CHECK(reasons[0].find(": after more files, or bytes, than are taken, like 1 more") !=
          std::string::npos);
}
