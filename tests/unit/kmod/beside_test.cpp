// SPDX-License-Identifier: Apache-2.0
// The folder of programs beside the module: docs/design/0049-programs-beside-the-module.md
#include "formats/abi/embed.h"
#include "formats/abi/ioctl.h"
#include "tests/unit/kmod/access.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cerrno>
#include <random>
#include <string>
#include <vector>

namespace {

using Strings = std::vector<std::string>;

// What the module did with the programs of a folder.
struct Done {
    Strings enabled; // "FILE as RING: BYTES"
    Strings refused; // "FILE: REASON"
    std::string log;
};
Done done;
Strings rings;

test_file good(const char* name) {
    return {name, 0, 0, 0, true, 4, "DOF!"};
}

Done load(const std::vector<test_file>& files, const char* folder = "/daybreak", int error = 0, int memory = 1000) {
    CHECK(test_beside_memory(memory));
    done = {};
    rings = {"taken"};
    test_log();
    test_beside(folder, error, files.data(), files.size());
    CHECK(test_beside_memory(0));
    done.log = test_log();
    return done;
}

} // namespace

void test_program_enabled(const void* dof, size_t bytes, const char* place, const char* file, const char* name) {
    CHECK(std::string(place) == "program ");
    rings.emplace_back(name);
    std::string text(static_cast<const char*>(dof), bytes);
    if (text == std::string(bytes, 'x')) // 8 MiB of it take minutes to print
        text = std::to_string(bytes) + " x";
    done.enabled.push_back(std::string(file) + " as " + name + ": " + text);
}

void test_program_refused(const char* place, const char* file, const char* reason) {
    CHECK(std::string(place) == (file[0] == '/' ? "programs=" : "program "));
    done.refused.push_back(std::string(file) + ": " + reason);
}

bool test_ring_is_there(const char* name) {
    return std::find(rings.begin(), rings.end(), name) != rings.end();
}

TEST_CASE("programs beside the module are enabled in the order of their names", "[kmod][beside]") {
    Done got = load({good("."), good(".."), good("daybreak.ko"), good("b.dof"), good("a.dof"), good(".dof"),
                     good(".hidden.dof"), good("c.dof.part"), good("ab.dof"), good("dof"), good("xdof"),
                     good("nul|.dof"), good("sub/c.dof"), good("")});
    CHECK(got.enabled == Strings{"a.dof as a: DOF!", "ab.dof as ab: DOF!", "b.dof as b: DOF!"});
    CHECK(got.refused.empty());
    CHECK(got.log.empty());
}

TEST_CASE("a ring beside the module is named as embed names it, and once", "[kmod][beside]") {
    const std::string most(31, 'n'), more = most + "x.dof";
    Done got = load({good("boot.d.dof"), good("d.dof"), good(".d.dof"), good("o\x1b d\xc3.dof"), good(more.c_str()),
                     good("taken.dof"), good("boot.dof")});
    CHECK(got.enabled == Strings{"boot.d.dof as boot: DOF!", "d.dof as d: DOF!", more + " as " + most + ": DOF!",
                                 "o__d_.dof as o__d_: DOF!"});
    CHECK(got.refused == Strings{"boot.dof: there is a ring of its name", "taken.dof: there is a ring of its name"});
}

TEST_CASE("a file beside the module that is not a program is refused by name, and stops no other", "[kmod][beside]") {
    const std::string largest(DBK_DOF_BYTES_MAX, 'x');
    Done got = load({good("z.dof"),
                     {"gone.dof", -ENOENT, 0, 0, true, 4, ""},
                     {"fifo.dof", 0, 0, 0, false, 4, ""},
                     {"closed.dof", 0, -EACCES, 0, true, 4, ""},
                     {"empty.dof", 0, 0, 0, true, 0, ""},
                     {"negative.dof", 0, 0, 0, true, -1, ""},
                     {"large.dof", 0, 0, 0, true, DBK_DOF_BYTES_MAX + 1ll, ""},
                     {"huge.dof", 0, 0, 0, true, 1ll << 40, ""},
                     {"bad.dof", 0, 0, -ENOMEM, true, 4, ""},
                     {"short.dof", 0, 0, 1, true, 4, ""},
                     {"largest.dof", 0, 0, 0, true, DBK_DOF_BYTES_MAX, largest.data()}});
    CHECK(got.refused == Strings{"bad.dof: the file cannot be read (error 12)",
                                 "closed.dof: the file cannot be opened (error 13)", "empty.dof: the file is empty",
                                 "fifo.dof: it is not a regular file", "gone.dof: the file cannot be found (error 2)",
                                 "huge.dof: the DOF is larger than 8 MiB", "large.dof: the DOF is larger than 8 MiB", "negative.dof: the file is empty",
                                 "short.dof: the file cannot be read (error 5)"});
    CHECK(got.enabled == Strings{"largest.dof as largest: 8388608 x", "z.dof as z: DOF!"});
}

TEST_CASE("of a program beside the module only what is signed is enabled", "[kmod][beside]") {
    Done got = load({{"a.dof", 0, 0, 0, true, 7, "signed!"}, {"b.dof", 0, 0, 0, true, 9, "unsigned!"}, good("c.dof")});
    CHECK(got.enabled == Strings{"a.dof as a: signed", "c.dof as c: DOF!"});
    CHECK(got.refused == Strings{"b.dof: it is not signed"});
}

TEST_CASE("without a folder, or memory, nothing beside the module is enabled", "[kmod][beside]") {
    CHECK(load({good("a.dof")}, "").enabled.empty());
    CHECK(load({good("a.dof")}, nullptr).enabled.empty());
    CHECK(done.refused.empty());
    CHECK(load({good("a.dof")}, "/nowhere", -ENOENT).refused ==
          Strings{"/nowhere: the folder cannot be read (error 2)"});
    CHECK(load({good("a.dof")}, "/daybreak", 0, 0).refused == Strings{"/daybreak: the folder cannot be read (error 12)"});
    const int memory = GENERATE(1, 2, 3, 4);
    CHECK(load({good("a.dof"), good("b.dof")}, "/daybreak", 0, memory).enabled.size() == (memory < 3 ? 0 : 1));
    CHECK(done.refused.back() == "b.dof: not enough memory");
}

TEST_CASE("of many programs beside the module the first by name are enabled", "[kmod][beside]") {
    const uint32_t count = GENERATE(DBK_EMBED_IMAGES_MAX, DBK_EMBED_IMAGES_MAX + 1, 200u);
    const uint32_t seed = GENERATE(take(5, random(0, 1 << 30)));
    INFO("seed " << seed);
    std::mt19937 random(seed);
    Strings names, expected;
    while (names.size() < count) {
        std::string name(1 + random() % 12, 'a');
        for (char& letter : name)
            letter = static_cast<char>('a' + random() % 26);
        if (std::find(names.begin(), names.end(), name + ".dof") == names.end())
            names.push_back(name + ".dof");
    }
    std::vector<test_file> files;
    for (const std::string& name : names)
        files.push_back(good(name.c_str()));
    Strings sorted = names;
    std::sort(sorted.begin(), sorted.end());
    sorted.resize(DBK_EMBED_IMAGES_MAX);
    for (const std::string& name : sorted)
        if (std::string ring = name.substr(0, name.size() - 4); ring != "taken")
            expected.push_back(name + " as " + ring + ": DOF!");
    Done got = load(files);
    CHECK(got.enabled == expected);
    CHECK(got.log == (count == DBK_EMBED_IMAGES_MAX
                          ? ""
                          : "programs=/daybreak: room for 32 programs: left out " +
                                std::to_string(count - DBK_EMBED_IMAGES_MAX) + " after " + sorted.back() + "\n"));
}

TEST_CASE("of a crowded folder 4096 entries are looked at", "[kmod][beside]") {
    const size_t count = GENERATE(4096, 4097, 5000);
    std::vector<test_file> files(count, good("x"));
    files[4095].name = "last.dof";
    files.back().name = "last.dof";
    Done got = load(files);
    CHECK(got.enabled.size() == 1);
    CHECK(got.log == (count == 4096 ? "" : "programs=/daybreak: only 4096 entries of the folder were looked at\n"));
}
