// SPDX-License-Identifier: Apache-2.0
//
// kmod/maps/log.c: its blocks, read as a reader of recordings does, beside what the processes have.
#include "formats/segment/process_maps.hpp"
#include "tests/unit/kmod/access.h"

#include "formats/abi/meta.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

using namespace daybreak;

namespace {

constexpr uint64_t kPageBytes = 4096, kSecond = 1'000'000'000;
const char* const kFiles[] = {"/bin/program", "/lib/one.so", "/lib/two.so", "/lib/three.so"};

struct Log {
    explicit Log(uint32_t blocks) {
        REQUIRE(test_maps_begin(blocks));
        REQUIRE(test_maps_blocks() == blocks);
    }
    struct Living {
        uint64_t mappings;
    };
    /// In ordinary memory, for as many as there are already.
    explicit Log(Living living) { REQUIRE(test_maps_begin_for(living.mappings)); }
    ~Log() { test_maps_end(); }
};

/// When images of processes ended, by pid, birth and number of the image; UINT64_MAX: not yet.
using Ends = std::map<std::tuple<uint32_t, uint64_t, uint32_t>, uint64_t>;

/// What one process has mapped, page by page: the witness, which knows no entries.
struct Process {
    struct Page {
        const char* file; ///< null: memory without one, or nothing
        uint64_t offset;
    };
    uint32_t pid;
    Ends& ends;
    uint64_t born_ns = 0;
    uint32_t image = 0;
    std::map<uint64_t, Page> pages = {}; ///< all that it ever had in this image

    void map(uint64_t begin, uint64_t end, uint64_t offset, const char* file) {
        test_maps_pass(1);
        test_maps_mapping(pid, begin, end, offset, file);
        for (uint64_t at = begin; at < end; at += kPageBytes)
            pages[at] = {file, offset + at - begin};
    }
    /// The same again, by who lists what lives.
    void list() {
        test_maps_pass(1);
        test_maps_listed(pid);
        for (const auto& [at, page] : pages)
            test_maps_mapping(pid, at, at + kPageBytes, page.offset, page.file);
    }
    void unmap(uint64_t begin, uint64_t end) {
        test_maps_pass(1);
        test_maps_unmapped(pid, begin, end);
        for (uint64_t at = begin; at < end; at += kPageBytes)
            pages[at] = {nullptr, 0};
    }
    /// Begins, or executes another program.
    void execute() {
        test_maps_pass(1);
        if (image == 0)
            born_ns = test_maps_now();
        else
            ends[{pid, born_ns, image}] = test_maps_now();
        ends[{pid, born_ns, ++image}] = UINT64_MAX;
        pages.clear();
        test_maps_image(pid);
        map(0x400000, 0x400000 + 4 * kPageBytes, 0, kFiles[0]);
    }
    void exit(bool is_reaped) {
        test_maps_pass(1);
        test_maps_exit(pid, is_reaped);
        ends[{pid, born_ns, image}] = test_maps_now();
        image = 0;
    }
};

/// Returns the first entry of a block that was entered again though its image had ended, or though
/// no reader believes it for a gap before it; `gaps` are of all blocks.
std::string wrong_again(base::ByteView block, const Ends& ends, const std::vector<uint64_t>& gaps) {
    uint64_t opened_ns = 0;
    for (size_t at = 0; at < block.size();) {
        dbk_map_entry entry;
        std::memcpy(&entry, block.data() + at, sizeof(entry));
        at += entry.entry_bytes;
        if (entry.kind == DBK_MAP_BLOCK)
            opened_ns = entry.mono_ns;
        if ((entry.flags & DBK_MAP_F_AGAIN) == 0)
            continue;
        auto end = ends.find({entry.pid, entry.born_ns, entry.image});
        const std::string which =
            base::strprintf("of process %u, image %u", entry.pid, entry.image);
        if (end == ends.end() || end->second < opened_ns)
            return which + ", which had ended";
        for (uint64_t gap : gaps)
            if (gap < opened_ns && entry.mono_ns < gap)
                return which + ", from before a gap";
    }
    return "";
}

/// What all blocks say.
formats::ProcessMaps read_blocks(const Ends& ends) {
    formats::ProcessMaps maps;
    std::vector<base::ByteView> blocks;
    std::vector<uint64_t> gaps;
    for (uint32_t i = 0; i < test_maps_blocks(); i++) {
        uint32_t bytes = 0;
        const auto* block = static_cast<const std::byte*>(test_maps_block(i, &bytes));
        if (bytes != 0)
            blocks.push_back(base::ByteView(block, bytes).subspan(DBK_META_DATA_OFFSET));
    }
    for (base::ByteView block : blocks) {
        CHECK(maps.add(block) == "");
        for (size_t at = 0; at < block.size();) {
            dbk_map_entry entry;
            std::memcpy(&entry, block.data() + at, sizeof(entry));
            at += entry.entry_bytes;
            if (entry.kind == DBK_MAP_GAP)
                gaps.push_back(entry.mono_ns);
        }
    }
    for (base::ByteView block : blocks)
        CHECK(wrong_again(block, ends, gaps) == "");
    maps.finish();
    return maps;
}

/// Returns what differs first between what is recorded of a process and what it has.
std::string difference(const formats::ProcessMaps& maps, const Process& process) {
    auto text_of = [](const std::string& file, uint64_t offset) {
        return file + "+" + std::to_string(offset);
    };
    for (const auto& [address, page] : process.pages) {
        auto match = maps.find(process.pid, address + 5, test_maps_now());
        std::string is = match ? text_of(match->file->path, match->offset - 5) : "";
        std::string wanted = page.file ? text_of(page.file, page.offset) : "";
        if (is != wanted)
            return base::strprintf("process %u at 0x%llx: \"%s\", not \"%s\"", process.pid,
                                   static_cast<unsigned long long>(address), is.c_str(),
                                   wanted.c_str());
    }
    return "";
}

/// What a process that lives on does now and then.
void do_something(Process& process, std::mt19937& random) {
    uint64_t begin = 0x10000000 + random() % 12 * kPageBytes,
             end = begin + (random() % 4 + 1) * kPageBytes;
    switch (random() % 40) {
    case 0:
        process.execute();
        return;
    case 1: // another one gets its number, at once
        process.map(begin, end, 0, kFiles[1]);
        process.exit(true);
        process.execute();
        return;
    default:
        process.unmap(begin, end); // by the kernel, also where something takes its place
        if (random() % 10 == 0)
            process.map(begin, end, 0, nullptr);
        else if (random() % 2 == 0)
            process.map(begin, end, random() % 8 * kPageBytes, kFiles[random() % 3 + 1]);
    }
}

/// A process that is gone soon, with all that it had.
void come_and_go(uint32_t pid, Ends& ends, std::mt19937& random) {
    Process process{pid, ends};
    process.execute();
    for (uint64_t i = 0; i < 4; i++)
        process.map(0x20000000 + i * 16 * kPageBytes, 0x20000000 + (i * 16 + 8) * kPageBytes, 0,
                    kFiles[random() % 3 + 1]);
    process.exit(random() % 2 == 0);
}

} // namespace

TEST_CASE("maps of those that live are whole after the blocks were filled anew", "[kmod][maps]") {
    for (uint32_t seed : {1u, 2u, 3u}) {
        Log log(4);
        Ends ends;
        std::mt19937 random(seed);
        std::vector<Process> living;
        for (uint32_t pid = 1; pid <= 12; pid++)
            living.push_back({pid, ends});
        for (Process& process : living)
            process.execute();
        for (uint32_t round = 0; round < 12; round++) {
            for (uint32_t i = 0; i < 300; i++) {
                come_and_go(100 + (round * 300 + i) % 1000, ends, random);
                if (i % 4 == 0)
                    do_something(living[random() % living.size()], random);
            }
            formats::ProcessMaps maps = read_blocks(ends);
            INFO("seed " << seed << ", round " << round);
            for (const Process& process : living)
                REQUIRE(difference(maps, process) == "");
            CHECK(maps.counts().lost == 0);
            // Four blocks have some 4000 entries, a round enters more than 2000.
            if (round > 2)
                CHECK(maps.counts().overwritten > round * 2000 - 4000);
        }
    }
}

TEST_CASE("that code is gone is entered again as long as it may be known", "[kmod][maps]") {
    // The code is in one block and its end in a later one; in the second what took its place is
    // memory without a file, which is not entered again.
    for (bool is_replaced : {false, true}) {
        Log log(3);
        Ends ends;
        std::mt19937 random(7);
        Process process{1, ends};
        uint32_t pid = 100;
        auto fill = [&] {
            for (int i = 0; i < 100; i++)
                come_and_go(pid++, ends, random);
        };
        process.execute();
        process.map(0x10000000, 0x10004000, 0, kFiles[1]);
        process.map(0x20000000, 0x20004000, 0, kFiles[2]);
        fill();
        process.unmap(0x10000000, 0x10004000);
        if (is_replaced)
            process.map(0x10000000, 0x10004000, 0, nullptr);
        for (int round = 0; round < 20; round++) {
            fill();
            REQUIRE(difference(read_blocks(ends), process) == "");
        }
    }
}

TEST_CASE("a library that is opened and closed again and again leaves room", "[kmod][maps]") {
    Log log(2);
    Ends ends;
    Process stays{1, ends}, opens{2, ends};
    stays.execute();
    opens.execute();
    for (int i = 0; i < 20000; i++) {
        opens.map(0x10000000, 0x10004000, kPageBytes, kFiles[i % 2 + 1]);
        opens.unmap(0x10000000, 0x10004000);
    }
    formats::ProcessMaps maps = read_blocks(ends);
    CHECK(difference(maps, stays) == "");
    CHECK(difference(maps, opens) == "");
    CHECK(maps.counts().lost == 0);
}

TEST_CASE("what has no room is counted, and what may be wrong for it is not believed",
          "[kmod][maps]") {
    Log log(2);
    Ends ends;
    std::vector<Process> living;
    // Two blocks have some 1800 mappings.
    for (uint32_t pid = 1; pid <= 60; pid++) {
        living.push_back({pid, ends});
        living.back().execute();
        for (uint64_t i = 0; i < 40; i++)
            living.back().map(0x10000000 + i * 4 * kPageBytes,
                              0x10000000 + (i * 4 + 2) * kPageBytes, 0, kFiles[1]);
    }
    const uint64_t full_ns = test_maps_now();
    test_maps_pass(2 * kSecond);
    for (size_t i = 1; i < living.size(); i++)
        living[i].exit(true);
    // From now on there is room, and what is entered is right again; the first one lives on.
    test_maps_pass(2 * kSecond);
    std::mt19937 random(7);
    Process later{100, ends};
    later.execute();
    for (uint32_t pid = 200; pid < 700; pid++)
        come_and_go(pid, ends, random);
    formats::ProcessMaps maps = read_blocks(ends);
    CHECK(difference(maps, later) == "");
    size_t known = 0;
    for (const Process& process : living)
        known += maps.find(process.pid, 0x400000, full_ns).has_value();
    CHECK(known == 0);
}

TEST_CASE("a child whose mappings cannot be entered is a gap, and what is listed then is known",
          "[kmod][maps]") {
    Log log(4);
    Ends ends;
    Process parent{1, ends}, child{2, ends};
    parent.execute();
    test_maps_pass(1);
    const uint64_t fork_ns = test_maps_now();
    test_maps_fork(2, 1);
    child.pages = parent.pages;
    child.born_ns = fork_ns;
    ends[{2, fork_ns, 1}] = UINT64_MAX;
    CHECK_FALSE(test_maps_has_lost(fork_ns));
    test_maps_lost();
    test_maps_pass(1);
    CHECK(test_maps_has_lost(fork_ns)); // and the gap is entered
    CHECK(read_blocks(ends).counts().lost == 1);
    CHECK(difference(read_blocks(ends), parent) != "");
    const uint64_t listed_ns = test_maps_now();
    parent.list();
    child.list();
    CHECK_FALSE(test_maps_has_lost(listed_ns));
    CHECK(difference(read_blocks(ends), parent) == "");
    CHECK(difference(read_blocks(ends), child) == "");
    // From the fork on, and of the parent from before it.
    CHECK_FALSE(read_blocks(ends).find(1, 0x400000, fork_ns));
    CHECK(read_blocks(ends).find(1, 0x400000, fork_ns - 1));
}

namespace {

/// Eight hundred processes of thirty libraries, which is more than the usual memory has room for.
std::vector<Process> crowd(Ends& ends) {
    std::vector<Process> all;
    for (uint32_t pid = 1; pid <= 800; pid++) {
        all.push_back({pid, ends});
        all.back().execute();
        for (uint64_t i = 0; i < 30; i++)
            all.back().map(0x10000000 + i * 4 * kPageBytes, 0x10000000 + (i * 4 + 1) * kPageBytes,
                           0, kFiles[i % 3 + 1]);
    }
    return all;
}

size_t known_of(const std::vector<Process>& all, const formats::ProcessMaps& maps) {
    size_t known = 0;
    for (const Process& process : all)
        known += difference(maps, process) == "";
    return known;
}

} // namespace

TEST_CASE("there is room for twice what lives when it begins", "[kmod][maps]") {
    Log log(Log::Living{800 * 31});
    CHECK(test_maps_blocks() == 48);
    Ends ends;
    std::vector<Process> all = crowd(ends);
    formats::ProcessMaps maps = read_blocks(ends);
    CHECK(maps.counts().lost == 0);
    CHECK(known_of(all, maps) == all.size());
    CHECK_FALSE(test_maps_grow());
}

TEST_CASE("where there is too little room there is more, and what is listed then is known",
          "[kmod][maps]") {
    Log log(Log::Living{0});
    CHECK(test_maps_blocks() == 16);
    Ends ends;
    const uint64_t begin_ns = test_maps_now();
    std::vector<Process> all = crowd(ends);
    CHECK(test_maps_has_lost(begin_ns));
    CHECK(known_of(all, read_blocks(ends)) < all.size());
    REQUIRE(test_maps_grow());
    CHECK(test_maps_blocks() == 32);
    CHECK_FALSE(test_maps_grow());
    CHECK(test_maps_has_lost(begin_ns)); // and what was is entered
    uint64_t listed_ns = test_maps_now();
    CHECK_FALSE(test_maps_has_lost(listed_ns));
    for (Process& process : all)
        process.list();
    CHECK(known_of(all, read_blocks(ends)) == all.size());
    // Others come and go, and the blocks that are full of what lives are in turn.
    std::mt19937 random(7);
    for (uint32_t i = 0; i < 20000; i++) {
        come_and_go(1000 + i % 5000, ends, random);
        if (!test_maps_grow() || !test_maps_has_lost(listed_ns))
            continue;
        listed_ns = test_maps_now();
        for (Process& process : all)
            process.list();
    }
    CHECK_FALSE(test_maps_has_lost(listed_ns));
    CHECK(known_of(all, read_blocks(ends)) == all.size());
    CHECK(test_maps_blocks() <= 128);
}

TEST_CASE("a bank's blocks stay as many as they are", "[kmod][maps]") {
    Log log(2);
    Ends ends;
    std::vector<Process> all = crowd(ends);
    CHECK(test_maps_has_lost(0));
    CHECK_FALSE(test_maps_grow());
    CHECK(test_maps_blocks() == 2);
}
