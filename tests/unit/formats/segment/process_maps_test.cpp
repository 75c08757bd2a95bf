// SPDX-License-Identifier: Apache-2.0
#include "formats/segment/process_maps.hpp"

#include "formats/segment/recording.hpp"
#include "tests/support/maps_block.hpp"
#include "tests/support/spec_example.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <numeric>
#include <random>

using namespace daybreak;
using namespace daybreak::formats;
using Block = daybreak::test::MapsBlock;

namespace {

ProcessMaps maps_of(std::initializer_list<const Block*> blocks) {
    ProcessMaps maps;
    for (const Block* block : blocks)
        CHECK(maps.add(block->bytes()) == "");
    maps.finish();
    return maps;
}

/// "path+offset" of what is found, "" when nothing is.
std::string at(const ProcessMaps& maps, uint64_t pid, uint64_t address,
               std::optional<uint64_t> mono_ns = std::nullopt) {
    auto match = maps.find(pid, address, mono_ns);
    return match ? match->file->path + "+" + std::to_string(match->offset) : "";
}

} // namespace

TEST_CASE("the worked example of maps.md says what its text says", "[maps][spec]") {
    Bytes example = test::spec_example("formats/abi/maps.md", "## Worked example");
    RecordingBuilder builder;
    CHECK(builder.add_owned(example, {"example", Packing::packed}) == 1);
    Recording recording = builder.build();
    CHECK(recording.findings.count() == 0);
    auto match = recording.maps.find(321, 0x555555556010, 9'001'000'000);
    REQUIRE(match);
    CHECK(match->file->path == "/usr/bin/cat");
    CHECK(match->file->build_id.size() == 20);
    CHECK(match->offset == 0x2010);
    CHECK(match->begin == 0x555555556000);
    CHECK_FALSE(recording.maps.find(321, 0x555555556010, 9'004'000'000));
    CHECK_FALSE(recording.maps.find(321, 0x55555555b000, 9'001'000'000));
    CHECK_FALSE(recording.maps.find(322, 0x555555556010, 9'001'000'000));
    CHECK(recording.maps.known().find(321)->user == 1000);
    example[200] ^= std::byte{1};
    builder.add_owned(example, {"example", Packing::packed});
    CHECK(builder.build().findings.any_loss()); // by its checksum
}

TEST_CASE("a process has what it had mapped at that time", "[maps]") {
    Block block;
    uint32_t a = block.file("/a"), b = block.file("/b");
    block.image(7, 100);
    block.mapping(7, 101, 0x1000, 0x5000, 0, a);
    block.mapping(7, 150, 0x2000, 0x3000, 0x100, b); // in place of a part
    block.image(7, 200);                             // it executes /b
    block.mapping(7, 201, 0x1000, 0x2000, 0, b);
    block.exit(7, 300);
    block.image(7, 400, DBK_MAP_CAUSE_FORK, 1); // another process of that id
    block.mapping(7, 400, 0x8000, 0x9000, 0, a);
    ProcessMaps maps = maps_of({&block});
    CHECK(at(maps, 7, 0x2010, 99) == "");
    CHECK(at(maps, 7, 0x2010, 120) == "/a+4112");
    CHECK(at(maps, 7, 0x2010, 150) == "/b+272");
    CHECK(at(maps, 7, 0x3000, 199) == "/a+8192");
    CHECK(at(maps, 7, 0x3000, 250) == "");
    CHECK(at(maps, 7, 0x1000, 250) == "/b+0");
    CHECK(at(maps, 7, 0x1000, 350) == "");
    CHECK(at(maps, 7, 0x8000, 450) == "/a+0");
    // Without a time: where its images agree.
    CHECK(at(maps, 7, 0x8000) == "/a+0");
    CHECK(at(maps, 7, 0x3000) == "/a+8192");
    CHECK(at(maps, 7, 0x1000) == "");
    CHECK(maps.counts().images == 3);
    CHECK(maps.counts().mappings == 4);
    CHECK(maps.counts().files == 2);
}

TEST_CASE("what was unmapped is in no file until something is mapped there", "[maps]") {
    Block block;
    uint32_t a = block.file("/a"), b = block.file("/b");
    block.image(7, 100);
    block.mapping(7, 101, 0x1000, 0x5000, 0, a);
    block.unmapped(7, 150, 0x2000, 0x3000); // a part of it
    block.mapping(7, 200, 0x2000, 0x3000, 0x100, b);
    block.mapping(7, 250, 0x1000, 0x2000, 0, a); // in place of itself, in the same nanosecond
    block.unmapped(7, 250, 0x1000, 0x2000);
    block.mapping(7, 260, 0x8000, 0x9000, 0, 0); // memory without a file
    ProcessMaps maps = maps_of({&block});
    CHECK(at(maps, 7, 0x2010, 149) == "/a+4112");
    CHECK(at(maps, 7, 0x2010, 150) == "");
    CHECK(at(maps, 7, 0x1ff0, 150) == "/a+4080");
    CHECK(at(maps, 7, 0x3000, 150) == "/a+8192");
    CHECK(at(maps, 7, 0x2010, 200) == "/b+272");
    CHECK(at(maps, 7, 0x1000, 250) == "/a+0");
    CHECK(maps.was_in_no_file(7, 0x2010, 150));
    CHECK(maps.was_in_no_file(7, 0x8000, 260));
    CHECK_FALSE(maps.was_in_no_file(7, 0x2010, 149));
    CHECK_FALSE(maps.was_in_no_file(7, 0x2010, 200));
    CHECK_FALSE(maps.was_in_no_file(7, 0x7000, 150)); // nothing is known of it
    CHECK_FALSE(maps.was_in_no_file(8, 0x2010, 150));
    CHECK(maps.counts().mappings == 4);
    CHECK(maps.counts().unmapped == 2);
    // Without a time what lay there counts, if it was always the same.
    CHECK(at(maps, 7, 0x1000) == "/a+0");
    CHECK(at(maps, 7, 0x2010) == "");
    Block gone, wrong;
    gone.image(7, 100);
    gone.mapping(7, 101, 0x1000, 0x2000, 0, gone.file("/a"));
    gone.unmapped(7, 150, 0x1000, 0x2000);
    CHECK(at(maps_of({&gone}), 7, 0x1000) == "/a+0");
    wrong.unmapped(7, 150, 0x1000, 0x2000, wrong.file("/a"));
    ProcessMaps refused;
    CHECK(refused.add(wrong.bytes()) == "a file where nothing is mapped");
}

TEST_CASE("a process that shares memory has the mappings of its parent", "[maps]") {
    Block block;
    uint32_t a = block.file("/a");
    block.image(7, 100);
    block.mapping(7, 101, 0x1000, 0x2000, 0, a);
    block.image(8, 200, DBK_MAP_CAUSE_SHARED, 7);
    block.image(9, 210, DBK_MAP_CAUSE_SHARED, 9); // of itself: hostile
    ProcessMaps maps = maps_of({&block});
    CHECK(at(maps, 8, 0x1234, 250) == "/a+564");
    CHECK(at(maps, 8, 0x1234, 150) == "");
    CHECK(at(maps, 9, 0x1234, 250) == "");
}

TEST_CASE("images of other namespaces are counted by those", "[maps]") {
    Block block, again(2, 9);
    block.image(7, 100); // an older writer
    block.image_in(7, 200, 0, 0);
    block.image_in(8, 300, 4026532201, 4026532203);
    block.image_in(9, 400, 4026532201, 0);
    again.image_in(9, 400, 4026532201, 0);
    again.image_in(9, 500, 4026532202, 0);
    ProcessMaps maps = maps_of({&block, &again});
    CHECK(maps.counts().images == 5);
    CHECK(maps.other_namespaces().mount ==
          std::map<uint32_t, uint64_t>{{4026532201, 2}, {4026532202, 1}});
    CHECK(maps.other_namespaces().pid == std::map<uint32_t, uint64_t>{{4026532203, 1}});
}

TEST_CASE("after a gap nothing is known of images from before", "[maps]") {
    Block block;
    uint32_t a = block.file("/a");
    block.image(7, 100);
    block.mapping(7, 101, 0x1000, 0x2000, 0, a);
    block.gap(3, 200, 220);
    block.image(8, 230);
    block.mapping(8, 231, 0x1000, 0x2000, 0, a);
    ProcessMaps maps = maps_of({&block});
    CHECK(at(maps, 7, 0x1000, 199) == "/a+0");
    CHECK(at(maps, 7, 0x1000, 200) == "");
    CHECK(at(maps, 7, 0x1000, 240) == "");
    CHECK(at(maps, 8, 0x1000, 240) == "/a+0");
    CHECK(maps.counts().lost == 3);
}

TEST_CASE("an image is known up to what comes next, by the plainest way to find it", "[maps]") {
    std::mt19937 random(7);
    constexpr uint64_t kTimes = 40;
    for (int round = 0; round < 200; round++) {
        std::vector<uint64_t> times(kTimes);
        std::iota(times.begin(), times.end(), 1);
        std::shuffle(times.begin(), times.end(), random);
        times.resize(12);
        std::sort(times.begin(), times.end());
        test::MapsBlock block;
        uint32_t file = block.file("/x");
        std::vector<uint64_t> until; // of the image from times[i] on; 0: none begins there
        for (size_t i = 0; i < times.size(); i++) {
            until.push_back(0);
            switch (random() % 4) {
            case 0: {
                uint64_t from = random() % times[i] + 1;
                block.gap(1, from, times[i]);
                for (size_t k = 0; k < i; k++)
                    if (until[k] != 0)
                        until[k] = std::min(until[k], std::max(from, times[k]));
                break;
            }
            case 1:
                block.exit(7, times[i], 0);
                for (uint64_t& one : until)
                    one = std::min(one, times[i]);
                break;
            default:
                block.image(7, times[i]);
                block.mapping(7, times[i], 0x1000, 0x2000, 0x1000 * i, file);
                for (uint64_t& one : until)
                    one = std::min(one, times[i]);
                until.back() = UINT64_MAX;
            }
        }
        formats::ProcessMaps maps;
        REQUIRE(maps.add(block.bytes()) == "");
        maps.finish();
        for (uint64_t at = 0; at <= kTimes + 1; at++) {
            std::optional<uint64_t> wanted;
            for (size_t i = 0; i < times.size(); i++)
                if (at >= times[i] && at < until[i])
                    wanted = 0x1000 * i + 0x10;
            auto match = maps.find(7, 0x1010, at);
            INFO("round " << round << " at " << at);
            REQUIRE((match ? std::optional(match->offset) : std::nullopt) == wanted);
        }
    }
}

TEST_CASE("many images and many gaps are not looked at each with each", "[maps]") {
    constexpr uint64_t kCount = 200'000, kOfBlock = 500;
    formats::ProcessMaps maps;
    for (uint64_t at = 0; at < kCount;) {
        test::MapsBlock block(at / kOfBlock + 1);
        for (uint64_t i = 0; i < kOfBlock; i++, at++) {
            block.image(7, 10 * at + 1);
            block.gap(1, 10 * at + 2, 10 * at + 3);
        }
        REQUIRE(maps.add(block.bytes()) == "");
    }
    const std::clock_t begin = std::clock();
    maps.finish();
    for (uint64_t at = 0; at < kCount; at++)
        CHECK_FALSE(maps.find(7, 0x1000, 10 * at + 1));
    for (uint64_t at = 0; at < kCount; at++)
        CHECK_FALSE(maps.find(7, 0x1000, std::nullopt)); // of how many is not looked at
    CHECK(maps.is_of_several(7, 0x1000));
    CHECK_FALSE(maps.is_of_several(8, 0x1000));
    CHECK((std::clock() - begin) / CLOCKS_PER_SEC < 10);
}

TEST_CASE("of many mappings the last one that covers an address is found, by the plainest way",
          "[maps]") {
    struct Plain {
        uint64_t begin, end, offset;
        uint32_t file;
    };
    std::mt19937 random(11);
    for (size_t count : {1, 31, 32, 33, 34, 100, 300})
        for (int round = 0; round < 10; round++) {
            test::MapsBlock block;
            const uint32_t files[] = {0, block.file("/0"), block.file("/1")};
            block.image(7, 1);
            std::vector<Plain> all; // all[i] from 2 + i on
            for (uint64_t i = 0; i < count; i++) {
                uint64_t begin = random() % 200, bytes = random() % 30 + 1;
                all.push_back({begin, begin + bytes, begin + 100 * (random() % 2),
                               static_cast<uint32_t>(random() % 3)});
                block.mapping(7, 2 + i, begin, begin + bytes, all[i].offset, files[all[i].file]);
            }
            ProcessMaps maps = maps_of({&block});
            for (int asked = 0; asked < 2000; asked++) {
                uint64_t address = random() % 240, until = random() % (count + 1);
                const Plain* last = nullptr;
                for (size_t i = 0; i < until; i++)
                    if (address >= all[i].begin && address < all[i].end)
                        last = &all[i];
                uint64_t begin = last ? last->begin : 0;
                for (size_t i = 0; i < until; i++)
                    if (last && all[i].file == last->file &&
                        all[i].begin - all[i].offset == last->begin - last->offset)
                        begin = std::min(begin, all[i].begin);
                auto match = maps.find(7, address, 1 + until);
                INFO(count << " mappings, round " << round << ", address " << address);
                REQUIRE(match.has_value() == (last && last->file != 0));
                if (!match)
                    continue;
                REQUIRE(match->file->path == "/" + std::to_string(last->file - 1));
                REQUIRE(match->offset == address - last->begin + last->offset);
                REQUIRE(match->begin == begin);
            }
        }
}

TEST_CASE("many mappings of an image are not looked at with each address", "[maps]") {
    constexpr uint64_t kCount = 100'000, kPage = 0x1000;
    test::MapsBlock block;
    uint32_t file = block.file("/x");
    block.image(7, 1);
    block.mapping(7, 2, 0, (kCount + 2) * kPage, 0, file); // below all others, and of each node
    for (uint64_t i = 0; i < kCount; i++)
        block.mapping(7, 3 + i, (i + 1) * kPage, (i + 2) * kPage, (i + 1) * kPage, file);
    ProcessMaps maps = maps_of({&block});
    const std::clock_t begin = std::clock();
    size_t wrong = 0;
    for (uint64_t i = 0; i < kCount; i++) {
        auto match = maps.find(7, (i + 1) * kPage + 5, i % 2 != 0 ? 3 + kCount : 2);
        wrong += !match || match->offset != (i + 1) * kPage + 5 || match->begin != 0;
    }
    CHECK(wrong == 0);
    CHECK((std::clock() - begin) / CLOCKS_PER_SEC < 3);
}

TEST_CASE("blocks may come in any order, with entries again, and without those overwritten",
          "[maps]") {
    Block first(5, 0), second(6, 4), later(9, 40);
    uint32_t a = first.file("/a");
    first.image(7, 100);
    first.mapping(7, 101, 0x1000, 0x2000, 0, a);
    uint32_t again = second.file("/a");
    second.image(7, 100);
    second.mapping(7, 101, 0x1000, 0x2000, 0, again);
    second.exit(7, 300);
    later.image(8, 500);
    ProcessMaps maps = maps_of({&later, &second, &first});
    CHECK(at(maps, 7, 0x1000, 299) == "/a+0");
    CHECK(at(maps, 7, 0x1000, 300) == "");
    CHECK(maps.counts().images == 2);
    CHECK(maps.counts().files == 1);
    CHECK(maps.counts().blocks == 3);
    CHECK(maps.counts().overwritten == 40 - (4 + 5));
}

TEST_CASE("a hostile block ends where it contradicts itself", "[maps]") {
    Block good;
    uint32_t a = good.file("/a");
    good.image(7, 100);
    good.mapping(7, 101, 0x1000, 0x2000, 0, a);
    for (size_t bytes = 0; bytes <= good.bytes().size(); bytes++) {
        ProcessMaps maps;
        maps.add(base::ByteView(good.bytes()).first(bytes));
        maps.finish();
        CHECK((at(maps, 7, 0x1000, 150) == "/a+0") == (bytes == good.bytes().size()));
    }
    auto refused = [](const Block& block) {
        ProcessMaps maps;
        std::string wrong = maps.add(block.bytes());
        maps.finish();
        return wrong;
    };
    Block backwards, elsewhere, path;
    backwards.mapping(7, 1, 0x2000, 0x2000, 0, 0);
    CHECK(refused(backwards) == "a mapping from 0x2000 to 0x2000 of the file at 0");
    elsewhere.mapping(7, 1, 0x1000, 0x2000, 0, 4096);
    CHECK(refused(elsewhere) == "a mapping from 0x1000 to 0x2000 of the file at 4096");
    dbk_map_file file = {};
    file.path_bytes = 1000;
    path.put(DBK_MAP_FILE, {}, file, "/short");
    CHECK(refused(path) == "a path of 1000 bytes and a build id of 0 in 64 bytes");
}

TEST_CASE("whom processes ended as, and where their own dumps were, is known", "[maps]") {
    Block first, second(2, 9);
    uint32_t dump = first.file("/home/x/jit-7.dump");
    first.image(7, 100);
    first.mapping(7, 101, 0x1000, 0x2000, 0, dump);
    first.image(70, 100);
    first.mapping(70, 101, 0x1000, 0x2000, 0, dump); // its parent's
    first.exit(7, 200, 1000);
    second.exit(7, 300, 1000); // another that had the number
    second.mapping(71, 102, 0x1000, 0x2000, 0, second.file("/x/jit-7.dump"));
    second.exit(8, 300, 1000);
    second.exit(8, 400, 0);
    second.exit(9, 300);
    ProcessMaps maps = maps_of({&second, &first});
    const KnownProcesses& known = maps.known();
    REQUIRE(known.find(7));
    CHECK(known.find(7)->user == 1000);
    CHECK(known.find(7)->dump == "/home/x/jit-7.dump");
    REQUIRE(known.find(70));
    CHECK_FALSE(known.find(70)->has_ended);
    CHECK(known.find(70)->dump == "");
    CHECK(known.find(8)->is_of_several);
    CHECK_FALSE(known.find(8)->user);
    CHECK_FALSE(known.find(9)->user);
    CHECK(known.find(9)->has_ended);
    CHECK_FALSE(known.find(9)->is_of_several);
    CHECK_FALSE(known.find(71));
    KnownProcesses both;
    both.ended(7, 1);
    both.add(known);
    CHECK(both.find(7)->is_of_several);
    CHECK(both.find(8)->is_of_several);
    CHECK(both.all().size() == 4);
}

TEST_CASE("of more processes than fit nothing is known", "[maps]") {
    KnownProcesses known;
    for (uint32_t pid = 1; pid <= KnownProcesses::kProcessesMax + 1; pid++)
        known.ended(pid, 5);
    CHECK(known.find(KnownProcesses::kProcessesMax));
    CHECK_FALSE(known.find(KnownProcesses::kProcessesMax + 1));
    known.ended(1, 6);
    CHECK(known.find(1)->is_of_several);
}
