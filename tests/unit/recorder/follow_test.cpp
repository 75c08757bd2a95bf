// SPDX-License-Identifier: Apache-2.0
#include "recorder/follow/follower.hpp"

#include "formats/trace/reader.hpp"
#include "tests/unit/recorder/fake_device.hpp"
#include "tests/unit/recorder/memory_folder.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using namespace daybreak::recorder;
using daybreak::test::FakeDevice;
using daybreak::test::FakeSymbols;
using daybreak::test::MemoryDisk;
using daybreak::test::MemoryFolder;
using daybreak::test::RingBuilder;
using daybreak::test::ScriptedHost;

namespace {

/// Lets several followers open one fake device, one after the other.
class Handle : public FakeDevice {
public:
    using FakeDevice::FakeDevice;
};

/// A ring of two CPUs with 16 segments of 248 records each; the value of a record is its number.
struct Fixture {
    RingBuilder ring{{.cpu_count = 2, .segments_per_cpu = 16, .activity = DBK_ACTIVITY_ACTIVE}};
    uint32_t epid =
        ring.add_ecb(ring.add_probe("p", "m", "f", "n"), {RingBuilder::integer_field(8, 8)}, 16);
    MemoryDisk disk;
    FollowOptions options;
    uint64_t next = 0;
    std::vector<std::string> said;
    std::vector<uint64_t> waited;
    formats::RecorderStatus last;

    Fixture() {
        for (size_t i = 0; i < 8; i++)
            options.header.boot_uuid[i] = static_cast<uint8_t>(ring.options().boot_id >> (8 * i));
        options.threaded = false;
        options.series.zstd_level = 1;
    }

    void records(uint64_t count) {
        for (uint64_t i = 0; i < count; i++, next++)
            for (uint16_t cpu = 0; cpu < 2; cpu++)
                ring.record(cpu, epid, 1000 + next, RingBuilder::words({next}));
    }

    /// Follows; `step` runs at each wait, and the follower is stopped behind the last.
    Result<FollowSummary> run(uint64_t turns, const std::function<void(uint64_t)>& step,
                              const std::function<FollowEvents(uint64_t)>& events = {}) {
        MemoryFolder folder(disk);
        FakeSymbols symbols;
        ScriptedHost* at = nullptr;
        ScriptedHost host(
            [this]() -> Result<std::unique_ptr<DeviceApi>> {
                return std::unique_ptr<DeviceApi>(new Handle(ring));
            },
            [&](uint64_t turn) {
                now_ns = at->now_ns;
                step(turn);
                FollowEvents now = events ? events(turn) : FollowEvents();
                now.stop = turn + 1 == turns;
                return now;
            });
        at = &host;
        host.now_ns = now_ns;
        auto summary = follow(host, folder, symbols, options);
        now_ns = host.now_ns;
        said = host.said;
        waited = host.waited;
        last = host.last;
        return summary;
    }
    uint64_t now_ns = 1'000'000'000;

    bool has_said(const std::string& part) const {
        for (const std::string& line : said)
            if (line.find(part) != std::string::npos)
                return true;
        return false;
    }

    std::vector<std::string> series() const {
        std::vector<std::string> names;
        for (const std::string& name : disk.names())
            if (parse_series_name(name))
                names.push_back(name);
        return names;
    }
};

/// What the files hold of a CPU: how many copies of each sequence are whole (as long as the
/// longest).
std::map<uint64_t, int> whole_copies(const MemoryDisk& disk, uint16_t cpu) {
    std::map<uint64_t, std::pair<size_t, int>> seen;
    for (const auto& [name, content] : disk.files) {
        if (!parse_series_name(name))
            continue;
        auto trace = formats::parse_trace(content, name);
        REQUIRE(trace.ok());
        for (const formats::RingRecording& ring : trace->recording.rings)
            for (const formats::CpuInfo& info : ring.cpus)
                if (info.cpu == cpu)
                    for (const formats::SegmentInfo& segment : info.segments) {
                        auto& [bytes, count] = seen[segment.sequence];
                        if (segment.bytes.size() > bytes)
                            count = 0;
                        bytes = std::max(bytes, segment.bytes.size());
                        count += segment.bytes.size() == bytes;
                    }
    }
    std::map<uint64_t, int> copies;
    for (const auto& [sequence, one] : seen)
        copies[sequence] = one.second;
    return copies;
}

void check_row(const MemoryDisk& disk, uint64_t first, uint64_t last) {
    for (uint16_t cpu = 0; cpu < 2; cpu++) {
        std::map<uint64_t, int> copies = whole_copies(disk, cpu);
        INFO("cpu " << cpu);
        REQUIRE_FALSE(copies.empty());
        CHECK(copies.begin()->first == first);
        CHECK(copies.rbegin()->first == last);
        CHECK(copies.size() == last - first + 1);
        for (const auto& [sequence, count] : copies) {
            INFO("sequence " << sequence);
            CHECK(count == 1);
        }
    }
}

} // namespace

TEST_CASE("what is recorded while the follower runs is in its files, once", "[follow]") {
    Fixture f;
    auto summary = f.run(100, [&](uint64_t) { f.records(300); });
    REQUIRE(summary.ok());
    CHECK_FALSE(summary->has_losses());
    CHECK(f.series() == std::vector<std::string>{"88776655-000001.dbrk"});
    CHECK(f.disk.files.contains("88776655-symbols.dbrk"));
    check_row(f.disk, 1, (100 * 300 + 247) / 248);
    auto trace = formats::parse_trace(f.disk.files.begin()->second, "x");
    REQUIRE(trace.ok());
    CHECK(trace->file.has_end);
    CHECK(trace->header.file_number == 1);
    CHECK_FALSE(trace->has_losses());
    uint64_t present = trace->recording.rings[0].completeness().present;
    CHECK(present == 2 * 100 * 300);
    CHECK(f.last.state == "recording");
    CHECK(f.last.rings.size() == 1);
    CHECK(f.last.rings[0].cpus[1].newest_segment == 121);
    CHECK(f.last.disk.files == 1);
}

TEST_CASE("the waits follow the fastest CPU, and bound an idle ring's", "[follow]") {
    Fixture f;
    f.options.sync_ns = 100'000'000'000;
    REQUIRE(f.run(6, [&](uint64_t turn) { f.records(turn < 3 ? 0 : 248 * 12); }).ok());
    CHECK(f.waited[2] == 2'000'000'000);
    CHECK(f.waited[5] < 1'000'000'000);
}

TEST_CASE("files rotate by size, by age and when asked to, and the budget holds", "[follow]") {
    Fixture f;
    SECTION("by size, within the budget") {
        f.options.series.file_bytes_max = 20000;
        f.options.series.total_bytes_max = 100000;
        f.options.sync_ns = 100'000'000;
        bool held = true;
        REQUIRE(f.run(400, [&](uint64_t) {
                     f.records(248);
                     held = held && f.disk.bytes() <= 100000;
                 }).ok());
        CHECK(held);
        CHECK(f.series().size() >= 3);
        CHECK(f.series().front() != "88776655-000001.dbrk");
        CHECK(f.last.disk.removed_files > 0);
    }
    SECTION("by age") {
        f.options.series.file_age_ns_max = 5'000'000'000;
        f.options.series.age_ns_max = 20'000'000'000;
        REQUIRE(f.run(100, [&](uint64_t) { f.records(1); }).ok());
        CHECK(f.series().size() <= 6);
        CHECK(f.series().front() != "88776655-000001.dbrk");
    }
    SECTION("by number") {
        f.options.series.file_age_ns_max = 2'000'000'000;
        f.options.series.files_max = 3;
        REQUIRE(f.run(100, [&](uint64_t) { f.records(1); }).ok());
        CHECK(f.series().size() <= 3);
    }
    SECTION("when asked to") {
        REQUIRE(f.run(
                     9, [&](uint64_t) { f.records(10); },
                     [](uint64_t turn) {
                         return FollowEvents{false, turn % 3 == 2, false};
                     })
                    .ok());
        CHECK(f.series().size() == 3);
        CHECK_FALSE(formats::parse_trace(f.disk.files.begin()->second, "x")->has_losses());
    }
}

TEST_CASE("a recorder killed at any turn is continued without a gap and without a copy twice",
          "[follow]") {
    for (uint64_t killed_at : {1, 2, 3, 5, 8, 13, 21, 34}) {
        Fixture f;
        f.options.series.file_bytes_max = 30000;
        f.options.sync_ns = 200'000'000;
        MemoryDisk left;
        // What it left on the disk at that turn is what counts; how it ended afterwards does not.
        REQUIRE(f.run(killed_at + 1, [&](uint64_t turn) {
                     if (turn == killed_at)
                         left = f.disk;
                     f.records(200);
                 }).ok());
        f.disk = left;
        f.records(700);
        REQUIRE(f.run(10, [&](uint64_t) { f.records(200); }).ok());
        uint64_t records = (killed_at + 1) * 200 + 700 + 2000;
        INFO("killed at turn " << killed_at);
        check_row(f.disk, 1, (records + 247) / 248);
    }
}

TEST_CASE("while the disk refuses, recording goes on, and the gap has a cause", "[follow]") {
    Fixture f;
    f.options.queue_bytes = 3 << 20;
    std::string cause;
    SECTION("full, and nothing of its own to remove") {
        cause = "the disk was full";
        auto summary = f.run(400, [&](uint64_t turn) {
            f.records(500);
            f.disk.bytes_max = turn >= 10 && turn < 390 ? 0 : UINT64_MAX;
        });
        REQUIRE(summary.ok());
        CHECK(summary->has_losses());
    }
    SECTION("broken") {
        cause = "the disk could not be written to";
        auto summary = f.run(400, [&](uint64_t turn) {
            f.records(500);
            f.disk.broken = turn >= 10 && turn < 390;
        });
        REQUIRE(summary.ok());
        CHECK(summary->has_losses());
    }
    CHECK(f.has_said("recording in the kernel goes on"));
    CHECK(f.has_said("writing works again"));
    bool told = false;
    for (const auto& [name, content] : f.disk.files) {
        auto trace = formats::parse_trace(content, name);
        REQUIRE(trace.ok());
        for (const formats::Finding& finding : trace->recording.findings.list())
            told = told || (finding.kind == formats::FindingKind::skipped &&
                            finding.text.find(cause) != std::string::npos);
    }
    CHECK(told);
}

TEST_CASE("a full disk costs the oldest files, not the newest records", "[follow]") {
    Fixture f;
    f.options.series.file_bytes_max = 20000;
    f.options.sync_ns = 100'000'000;
    f.disk.bytes_max = 100000;
    auto summary = f.run(300, [&](uint64_t) { f.records(248); });
    REQUIRE(summary.ok());
    CHECK_FALSE(summary->has_losses());
    CHECK(f.has_said("the oldest files make room"));
    std::map<uint64_t, int> copies = whole_copies(f.disk, 0);
    CHECK(copies.rbegin()->first >= 299);
    CHECK(copies.size() == copies.rbegin()->first - copies.begin()->first + 1);
}

TEST_CASE("what a file could not sync is written again", "[follow]") {
    Fixture f;
    f.options.sync_ns = 100'000'000;
    auto summary = f.run(30, [&](uint64_t turn) {
        f.records(200);
        f.disk.sync_broken = turn == 10;
        if (turn == 11) // what was not synced is gone: the machine's cache was dropped
            f.disk.files.erase("88776655-000001.dbrk");
    });
    REQUIRE(summary.ok());
    std::map<uint64_t, int> copies = whole_copies(f.disk, 0);
    CHECK(copies.rbegin()->first == (30 * 200 + 247) / 248);
    CHECK(copies.size() == copies.rbegin()->first - copies.begin()->first + 1);
}

TEST_CASE("a signal keeps the files around it", "[follow]") {
    Fixture f;
    f.options.series.file_age_ns_max = 2'000'000'000;
    f.options.series.files_max = 4;
    f.options.trigger_before_ns = 1'000'000'000;
    f.options.trigger_after_ns = 1'000'000'000;
    auto stamp = [&](uint64_t) {
        for (uint16_t cpu = 0; cpu < 2; cpu++)
            f.ring.open_segment(cpu, f.now_ns);
        f.records(1);
    };
    REQUIRE(f.run(200, stamp, [](uint64_t turn) {
                 return FollowEvents{false, false, turn == 20};
             }).ok());
    std::vector<std::string> names = f.series();
    CHECK(names.size() <= 4);
    size_t pinned = 0;
    for (const std::string& name : names)
        pinned += name.find("+signal.dbrk") != std::string::npos;
    CHECK(pinned >= 1);
    CHECK(f.last.last_trigger.name == "signal");
    CHECK(f.last.disk.pinned_files == pinned);
}

TEST_CASE("a ring of another load of the module gets an id of its own in the files", "[follow]") {
    Fixture f;
    f.records(1000);
    REQUIRE(f.run(3, [](uint64_t) {}).ok());
    Fixture g;
    g.disk = f.disk;
    g.now_ns = f.now_ns;
    g.ring = RingBuilder({.cpu_count = 2,
                          .segments_per_cpu = 16,
                          .start_ticks = 900,
                          .start_mono_ns = 900,
                          .activity = DBK_ACTIVITY_ACTIVE});
    g.epid = g.ring.add_ecb(g.ring.add_probe("p", "m", "f", "n"),
                            {RingBuilder::integer_field(8, 8)}, 16);
    g.records(500);
    REQUIRE(g.run(3, [](uint64_t) {}).ok());
    auto second = formats::parse_trace(g.disk.files.at("88776655-000002.dbrk"), "x");
    REQUIRE(second.ok());
    REQUIRE(second->recording.rings.size() == 1);
    CHECK(second->recording.rings[0].ring_id == 2);
    CHECK(second->recording.rings[0].completeness().present == 1000);
}

TEST_CASE("names of files say boot, number and triggers", "[follow]") {
    CHECK(parse_series_name("0123abcd-000012.dbrk")->number == 12);
    CHECK(parse_series_name("0123abcd-1000012+slow+oom.dbrk")->triggers == "+slow+oom");
    for (const char* other : {"0123abcd-symbols.dbrk", "lock", "x.dbrk", "0123abcd-12.dbrk", "",
                              "0123ABCD-000012.dbrk", "0123abcd-000000.dbrk", ".dbrk"})
        CHECK_FALSE(parse_series_name(other));
    CHECK(series_name({"0123abcd", 7, "+a"}) == "0123abcd-000007+a.dbrk");
    CHECK(trigger_file_word("a/b c\n..") == "a_b_c_..");
    CHECK(trigger_file_word(std::string(100, 'x')).size() == 32);
}

TEST_CASE("without a device or a ring it says so, or waits", "[follow]") {
    MemoryDisk disk;
    MemoryFolder folder(disk);
    FakeSymbols symbols;
    FollowOptions options;
    options.threaded = false;
    auto absent = []() -> Result<std::unique_ptr<DeviceApi>> {
        return base::errorf(ErrorCode::not_found, "no device");
    };
    ScriptedHost host(absent, [](uint64_t turn) { return FollowEvents{turn == 5, false, false}; });
    CHECK(follow(host, folder, symbols, options).error().code() == ErrorCode::not_found);
    options.wait = true;
    CHECK(follow(host, folder, symbols, options).error().code() == ErrorCode::interrupted);
    CHECK(host.waited.size() == 6);
    CHECK(host.last.state == "waiting");
}
