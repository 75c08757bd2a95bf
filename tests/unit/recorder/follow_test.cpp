// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/recorder/follow_fixture.hpp"

#include "formats/trace/file_reader.hpp"
#include "formats/trace/reader.hpp"
#include "recorder/follow/ring_metadata.hpp"

using namespace daybreak;
using namespace daybreak::test;
using Fixture = daybreak::test::FollowFixture;

namespace {

/// The segments of a CPU that the files hold, and how often each is whole.
std::map<uint64_t, int> whole_copies(const MemoryDisk& disk, uint16_t cpu) {
    std::map<uint64_t, int> copies;
    for (const auto& [segment, count] : read_back(disk.files).whole_copies)
        if (segment.first == cpu)
            copies[segment.second] = count;
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

/// A series whose clock stands still.
FileSeries series_in(MemoryFolder& folder, const SeriesOptions& options) {
    return {folder,
            options,
            {},
            [] {
                return formats::HostClocks{1, 1, 1};
            },
            [](const std::string&) {}};
}

} // namespace

TEST_CASE("what is recorded while the follower runs is in its files, once", "[follow]") {
    Fixture f;
    auto summary = f.run(100, [&](uint64_t) { f.records(300); });
    REQUIRE(summary.ok());
    CHECK_FALSE(summary->has_losses());
    CHECK(f.series() == std::vector<std::string>{"88776655-000001.dbrk"});
    CHECK(f.disk.files.contains("88776655-symbols.dbrk"));
    f.check();
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
    f.check(true);
}

TEST_CASE("each file ends with the names of the code that processes made, as far as there is room",
          "[follow]") {
    Fixture f;
    f.options.series.file_bytes_max = 20000;
    std::string more = "2000 10 more\n";
    more.resize(9990, ' '); // 10000 in all may be
    f.options.series.jit_texts = [&](const formats::KnownProcesses&) {
        return JitTexts{{{42, "1000 10 made\n"}, {43, more}}, {}};
    };
    SECTION("left out") {
        REQUIRE(f.run(
                     9, [&](uint64_t) { f.records(10); },
                     [](uint64_t turn) {
                         return FollowEvents{false, turn % 3 == 2, false};
                     })
                    .ok());
        CHECK(f.series().size() == 3);
        for (const auto& [name, bytes] : f.disk.files) {
            if (name.ends_with("-symbols.dbrk"))
                continue;
            auto trace = formats::parse_trace(bytes, name);
            REQUIRE(trace.ok());
            CHECK(trace->file.has_end);
            CHECK(trace->jit_names.find(42, 0x1008));
            CHECK_FALSE(trace->jit_names.find(43, 0x2008));
            REQUIRE(trace->summary);
            REQUIRE(trace->summary->findings.size() == 1);
            CHECK(trace->summary->findings[0].text == "1 process left out: the file has no room");
        }
    }
    SECTION("on a disk that is full for a moment") {
        bool is_full = false;
        f.options.series.jit_texts = [&](const formats::KnownProcesses&) {
            is_full = true;
            return JitTexts{{{42, "1000 10 made\n"}, {43, "2000 10 more\n"}}, {}};
        };
        f.disk.fault = [&](std::string_view call) -> std::optional<ErrorCode> {
            if (call != "append" || !std::exchange(is_full, false))
                return std::nullopt;
            return ErrorCode::full;
        };
        REQUIRE(f.run(9, [&](uint64_t) { f.records(10); }).ok());
        REQUIRE(f.series().size() == 1);
        auto trace = formats::parse_trace(f.disk.files[f.series()[0]], "x");
        CHECK(trace->file.has_end);
        CHECK_FALSE(trace->jit_names.find(42, 0x1008));
        CHECK(trace->jit_names.find(43, 0x2008));
        CHECK(trace->summary->findings.at(0).text == "1 process left out: the file has no room");
    }
}

TEST_CASE("what of runtimes' files is not taken is said", "[follow]") {
    Fixture f;
    f.options.series.jit_texts = [](const formats::KnownProcesses&) {
        JitTexts made;
        made.findings.add(formats::FindingKind::no_made_names, "perf-44.map of process 44",
                          "not a file");
        return made;
    };
    REQUIRE(f.run(3, [&](uint64_t) { f.records(10); }).ok());
    CHECK(f.has_said("perf-44.map of process 44: not a file"));
    auto trace = formats::parse_trace(f.disk.files[f.series()[0]], "x");
    REQUIRE(trace->recording.findings.count() == 1);
    CHECK(trace->recording.findings.list()[0].text == "not a file");
}

TEST_CASE("a file that is removed takes with it only what was synced", "[follow]") {
    Fixture f;
    f.options.sync_ns = 1;
    REQUIRE(f.run(10, [&](uint64_t turn) {
                 f.records(300); // 1500 were synced when the file goes: six segments and a piece
                 if (turn != 5)
                     return;
                 std::string name = f.series().back();
                 f.disk.files.erase(name);
                 f.disk.durable.erase(name);
             }).ok());
    CHECK(f.has_said("was removed by another process"));
    f.check(true);
    for (uint16_t cpu : {0, 1})
        CHECK(read_back(f.disk.files).first(cpu) == 6 * 248);
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
        f.check();
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
    bool reported = false;
    for (const auto& [name, content] : f.disk.files) {
        auto trace = formats::parse_trace(content, name);
        REQUIRE(trace.ok());
        for (const formats::Finding& finding : trace->recording.findings.list())
            reported = reported || (finding.kind == formats::FindingKind::skipped &&
                                    finding.text.find(cause) != std::string::npos);
    }
    CHECK(reported);
    f.check(cause == "the disk was full"); // all that it has goes to make room
}

TEST_CASE("what the disk loses at the very end is not said to be written", "[follow]") {
    Fixture f;
    f.options.sync_ns = 1'000'000'000'000;
    bool ends = false, failed = false;
    f.disk.fault = [&](std::string_view call) -> std::optional<ErrorCode> {
        // Once: the next try succeeds, and what this one was about is not on the disk all the same.
        bool now = ends && !failed && call == "sync";
        failed |= now;
        return now ? std::optional(ErrorCode::io) : std::nullopt;
    };
    auto summary = f.run(20, [&](uint64_t turn) {
        f.records(248);
        ends = turn == 19;
    });
    CHECK(failed);
    CHECK(compare(read_back(f.disk.after_power_loss()), f.recorded, false) != "");
    REQUIRE_FALSE(summary.ok());
    CHECK(summary.error().code() == ErrorCode::io);
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
    f.check(true);
    CHECK(whole_copies(f.disk, 0).rbegin()->first >= 299);
}

TEST_CASE("what a file could not sync is written again, and its place is the next file's",
          "[follow]") {
    Fixture f;
    f.options.sync_ns = 100'000'000;
    bool drops_cache = GENERATE(false, true);
    auto summary = f.run(30, [&](uint64_t turn) {
        f.records(200);
        f.disk.sync_broken = turn == 10;
        if (turn == 11 && drops_cache)
            f.disk.files = f.disk.after_power_loss();
    });
    REQUIRE(summary.ok());
    CHECK_FALSE(summary->has_losses());
    CHECK(f.series() == std::vector<std::string>{"88776655-000001.dbrk", "88776655-000002.dbrk"});
    f.check();
    CHECK(f.disk.after_power_loss() == f.disk.files);
}

bool begins_with(const Bytes& bytes, const Bytes& begin) {
    return bytes.size() >= begin.size() && std::equal(begin.begin(), begin.end(), bytes.begin());
}

/// Records, rotates until the budget is full, and lets the disk fail from turn 100 to 299.
struct FailingDisk : Fixture {
    std::map<std::string, Bytes> good; // what was synced when it began to fail
    std::vector<std::string> states;   // after each turn from 101 on
    bool held = true;                  // nothing of `good` went while it failed

    FailingDisk() {
        options.series.file_bytes_max = 20000;
        options.series.total_bytes_max = 60000;
        options.sync_ns = 100'000'000;
    }
    Result<FollowSummary> run_failing(const std::function<void(bool)>& fail) {
        return run(320, [&](uint64_t turn) {
            records(turn < 100 ? 248 : turn < 300 ? 2 : 248); // the machine is nearly idle then
            if (turn == 100)
                good = disk.after_power_loss();
            fail(turn >= 100 && turn < 300);
            std::map<std::string, Bytes> now = disk.after_power_loss();
            for (const auto& [name, content] : good)
                held = held && (turn < 100 || turn >= 300 || begins_with(now[name], content));
            if (turn > 102)
                states.push_back(last.state);
        });
    }
};

TEST_CASE("while syncs fail no file that was synced goes", "[follow]") {
    FailingDisk f;
    auto summary = f.run_failing([&](bool fails) { f.disk.sync_broken = fails; });
    REQUIRE(summary.ok());
    CHECK_FALSE(summary->has_losses());
    CHECK(f.good.size() >= 3);
    CHECK(f.held);
    CHECK(f.disk.bytes() <= 60000);
    f.check(true);
    CHECK(f.disk.after_power_loss() == f.disk.files);
    // It is reported once, and stands in the status until a sync succeeds.
    size_t words = 0;
    for (const std::string& line : f.said)
        words += line.find("writing") != std::string::npos;
    CHECK(words == 2);
    CHECK(std::count(f.states.begin(), f.states.end(), "disk error") >= 190);
    CHECK(f.states.back() == "recording");
}

TEST_CASE("a full disk that does not sync keeps what was synced; one that does makes room",
          "[follow]") {
    FailingDisk f;
    bool never_syncs = GENERATE(true, false);
    auto summary = f.run_failing([&](bool fails) {
        bool has_failed = f.last.state == "disk error";
        f.disk.sync_broken = fails && (never_syncs || !has_failed);
        f.disk.bytes_max = fails && has_failed ? f.disk.bytes() : UINT64_MAX;
    });
    REQUIRE(summary.ok());
    CHECK((f.held || !never_syncs));
    f.check(true);
}

TEST_CASE("files that failed and could not be removed go when the disk works again", "[follow]") {
    FailingDisk f;
    auto summary = f.run_failing([&](bool fails) {
        f.disk.fault = [&f, fails](std::string_view call) -> std::optional<ErrorCode> {
            bool hit = fails && (call == "remove" || call == "cut" || call == "sync");
            return hit ? std::optional(ErrorCode::io) : std::nullopt;
        };
    });
    REQUIRE(summary.ok());
    CHECK(f.held);
    f.check(true);
    CHECK(f.disk.bytes() <= 60000);
}

TEST_CASE("a name that is taken is passed over", "[follow]") {
    Fixture f;
    f.options.series.file_bytes_max = 20000;
    f.options.sync_ns = 100'000'000;
    auto summary = f.run(60, [&](uint64_t turn) {
        f.records(248);
        if (turn == 5)
            for (const char* name : {"88776655-000003.dbrk", "88776655-000004.dbrk"})
                f.disk.files[name]; // as another process would make them
        // A file whose first block fails, on a disk that lets nothing be removed.
        f.disk.fault = [turn](std::string_view call) -> std::optional<ErrorCode> {
            bool hit = turn >= 30 && turn < 40 && (call == "append" || call == "remove");
            return hit ? std::optional(ErrorCode::io) : std::nullopt;
        };
    });
    REQUIRE(summary.ok());
    CHECK_FALSE(summary->has_losses());
    CHECK(f.disk.files.at("88776655-000003.dbrk").empty());
    CHECK(f.series().size() >= 6);
    f.check();
}

TEST_CASE("what a CPU records that was seen empty is the recorder's from the first on",
          "[follow]") {
    Fixture f;
    std::string cause;
    uint16_t kept_of_1 = 15; // slots, less the one that is being opened
    SECTION("a burst wraps its ring between two looks") {
        f.records_of(0, 10);
        auto summary = f.run(10, [&](uint64_t turn) {
            if (turn == 5)
                f.records_of(1, 248 * 40);
        });
        REQUIRE(summary.ok());
        CHECK(summary->has_losses());
        CHECK(summary->skipped >= 40u - kept_of_1 - 1);
        CHECK(f.last.rings[0].cpus[1].not_copied >= 24);
        f.check();
    }
    SECTION("what it had before the recorder came was never the recorder's") {
        f.records_of(1, 248 * 40);
        auto summary = f.run(10, [&](uint64_t) { f.records_of(0, 10); });
        REQUIRE(summary.ok());
        CHECK_FALSE(summary->has_losses());
    }
}

/// What the follower said of segments that it did not write, without where: the causes in order.
std::vector<std::string> causes(const Fixture& f) {
    constexpr std::string_view kSaid = " were not written: ";
    std::vector<std::string> found;
    for (const std::string& line : f.said)
        if (size_t at = line.find(kSaid); at != std::string::npos)
            found.push_back(line.substr(at + kSaid.size()));
    return found;
}

TEST_CASE("what a CPU overwrote is put down to who missed it", "[follow]") {
    Fixture f;
    REQUIRE(f.run(3, [&](uint64_t) { f.records(10); }).ok());
    f.records(248 * 40); // while no recorder is there
    REQUIRE(f.run(10, [&](uint64_t turn) { f.records(turn == 5 ? 248 * 40 : 1); }).ok());
    std::string absent = formats::skip_text(formats::SkipCause::not_running);
    std::string overrun = formats::skip_text(formats::SkipCause::overrun);
    CHECK(causes(f) == std::vector<std::string>{absent, absent, overrun, overrun}); // of two CPUs
}

TEST_CASE("what the disk lost and the ring has no more is put down to the disk", "[follow]") {
    Fixture f;
    f.options.sync_ns = 1'000'000'000'000;
    f.options.series.file_bytes_max = 20000; // blocks of a few segments
    REQUIRE(f.run(
                 20,
                 [&](uint64_t turn) {
                     f.records(turn == 10 ? 248 * 40 : 248);
                     f.disk.sync_broken = turn == 10;
                 },
                 [](uint64_t turn) {
                     return FollowEvents{false, turn == 10, false};
                 })
                .ok());
    std::vector<std::string> all = causes(f);
    CHECK(std::count(all.begin(), all.end(), formats::skip_text(formats::SkipCause::disk_error)) >=
          2);
    CHECK(std::count(all.begin(), all.end(), formats::skip_text(formats::SkipCause::overrun)) == 2);
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
    f.check(true);
    CHECK(f.last.last_trigger.name == "signal");
    CHECK(f.last.disk.pinned_files == pinned);
}

TEST_CASE("a trigger keeps what is around it, and no older file", "[follow]") {
    Fixture f;
    f.options.series.file_age_ns_max = 2'000'000'000;
    f.options.trigger_before_ns = 1'000'000'000;
    uint64_t after_s = GENERATE(1, 10);
    f.options.trigger_after_ns = after_s * 1'000'000'000;
    REQUIRE(f.run(
                 200,
                 [&](uint64_t) {
                     for (uint16_t cpu = 0; cpu < 2; cpu++)
                         f.ring.open_segment(cpu, f.now_ns);
                     f.records(1);
                 },
                 [](uint64_t turn) {
                     return FollowEvents{false, false, turn == 100};
                 })
                .ok());
    size_t pinned = 0;
    for (const std::string& name : f.series())
        pinned += name.find('+') != std::string::npos;
    CHECK(pinned >= (after_s + 1) / 2); // a file takes two seconds
    CHECK(pinned <= after_s / 2 + 3);
    CHECK(f.disk.files.contains("88776655-000001.dbrk"));
    f.check();
}

TEST_CASE("a trigger does not wait for a file that was removed", "[follow]") {
    Fixture f;
    f.options.sync_ns = 1;
    int renames = 0;
    f.disk.fault = [&](std::string_view call) {
        renames += call == "rename";
        return std::optional<ErrorCode>();
    };
    REQUIRE(f.run(
                 20,
                 [&](uint64_t turn) {
                     f.records(10);
                     if (turn == 5) {
                         REQUIRE(f.series().size() == 2);
                         f.disk.durable.erase(f.series()[0]);
                         f.disk.files.erase(f.series()[0]);
                     }
                 },
                 [](uint64_t turn) {
                     return FollowEvents{false, turn == 3, turn == 7};
                 })
                .ok());
    CHECK(renames == 2); // the removed one's, in vain, and the other's
}

TEST_CASE("each trigger is reported once, in their order", "[follow]") {
    Fixture f;
    std::vector<Bytes> blocks(1);
    std::vector<dbk_meta_trigger> entered(6);
    f.ring.machine_block(blocks[0], DBK_META_TRIGGERS, RingBuilder::triggers_payload(4, entered));
    auto sequences_after = [&](uint64_t sequence) {
        std::vector<uint64_t> sequences;
        for (const dbk_meta_trigger& trigger : triggers_after(blocks, sequence))
            sequences.push_back(trigger.sequence);
        return sequences;
    };
    CHECK(sequences_after(0) == std::vector<uint64_t>{3, 4, 5, 6});
    CHECK(sequences_after(4) == std::vector<uint64_t>{5, 6});
    CHECK(sequences_after(6).empty());
}

TEST_CASE("triggers are news once, and those of a module that was loaded again, too", "[follow]") {
    Fixture f;
    f.options.sync_ns = 1;
    f.set_triggers({"before"});
    std::vector<double> counts;
    REQUIRE(f.run(60, [&](uint64_t turn) {
                 f.records(100);
                 counts.push_back(f.last.triggers);
                 if (turn == 10)
                     f.set_triggers({"before", "first", "suspend", "tsc-unstable", "second"});
                 if (turn == 30)
                     f.set_triggers({"again"});
                 f.rings = turn >= 30 && turn < 33 ? 0 : 1;
             }).ok());
    CHECK(counts[9] == 0);
    CHECK(counts[29] == 2);
    CHECK(f.last.triggers == 3);
    CHECK(f.last.last_trigger.name == "again");
}

TEST_CASE("memory that a ring gets is followed from the next look on", "[follow]") {
    Fixture f;
    f.options.sync_ns = 100'000'000;
    f.cpus_listed = 1;
    std::vector<size_t> cpus;
    REQUIRE(f.run(10, [&](uint64_t turn) {
                 f.records(10);
                 f.cpus_listed = turn < 5 ? 1 : 2;
                 cpus.push_back(f.last.rings.empty() ? 0 : f.last.rings[0].cpus.size());
             }).ok());
    CHECK(cpus[5] == 1);
    CHECK(cpus[7] == 2);
    f.check();
}

TEST_CASE("a file ends when it is full, however long the next sync takes", "[follow]") {
    Fixture f;
    f.options.series.file_bytes_max = 20000;
    f.options.sync_ns = 1'000'000'000'000;
    REQUIRE(f.run(400, [&](uint64_t) { f.records(248); }).ok());
    CHECK(f.series().size() >= 3);
    for (const auto& [name, content] : f.disk.files)
        CHECK(content.size() < 60000);
    f.check();
}

TEST_CASE("a ring that comes back goes on where it was left", "[follow]") {
    Fixture f;
    REQUIRE(f.run(30, [&](uint64_t turn) {
                 f.records(100);
                 f.rings = turn >= 10 && turn < 13 ? 0 : 1;
             }).ok());
    CHECK(f.has_said("has ended"));
    f.check();
}

TEST_CASE("a file of the future is as old as the recorder that finds it", "[follow]") {
    Fixture f;
    f.records(10);
    REQUIRE(f.run(3, [](uint64_t) {}).ok());
    f.disk.wall_ns = uint64_t{1} << 62; // the clock was set back since
    f.options.series.age_ns_max = 5'000'000'000;
    bool is_there = false;
    REQUIRE(f.run(40, [&](uint64_t turn) {
                 f.records(1);
                 is_there = is_there || (turn == 2 && f.series().size() == 2);
             }).ok());
    CHECK(is_there);
    CHECK(f.series() == std::vector<std::string>{"88776655-000002.dbrk"});
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

TEST_CASE("symbols of earlier boots count in the budget, and go with their files", "[follow]") {
    MemoryDisk disk;
    MemoryFolder folder(disk);
    disk.files = {{"0123abcd-000001.dbrk", Bytes(1000)},
                  {"0123abcd-000002.dbrk", Bytes(1000)},
                  {"0123abcd-symbols.dbrk", Bytes(5000)},
                  {"4567abcd-symbols.dbrk", Bytes(7000)}};
    SeriesOptions options;
    FileSeries series = series_in(folder, options);
    REQUIRE(series.scan().ok());
    CHECK(series.total_bytes() == 7000); // no file of 4567abcd is there: it is not the series'
    options.total_bytes_max = 1;
    FileSeries tight = series_in(folder, options);
    REQUIRE(tight.scan().ok());
    // The first piece makes room.
    RingBuilder ring({.cpu_count = 1});
    Bytes metadata = ring.metadata_memory();
    (void)tight.put(metadata);
    (void)tight.flush();
    CHECK(tight.total_bytes() < 5000);
    CHECK_FALSE(disk.files.contains("0123abcd-symbols.dbrk"));
    CHECK(disk.files.contains("4567abcd-symbols.dbrk"));
}

TEST_CASE("symbols stay while another trace file of their boot is in the folder", "[follow]") {
    MemoryDisk disk;
    MemoryFolder folder(disk);
    formats::TraceHeader header;
    header.boot_uuid = {0x01, 0x23, 0xab, 0xcd};
    disk.files = {{"0123abcd-000001.dbrk", Bytes(1000)},
                  {"0123abcd-symbols.dbrk", Bytes(5000)},
                  {"slow.dbrk", symbols_file(header, {}).value()}};
    bool stays = GENERATE(true, false);
    if (!stays)
        disk.files["slow.dbrk"] = Bytes(100);
    SeriesOptions options;
    options.total_bytes_max = 1;
    FileSeries series = series_in(folder, options);
    REQUIRE(series.scan().ok());
    RingBuilder ring({.cpu_count = 1});
    (void)series.put(ring.metadata_memory());
    (void)series.flush();
    CHECK_FALSE(disk.files.contains("0123abcd-000001.dbrk"));
    CHECK(disk.files.contains("0123abcd-symbols.dbrk") == stays);
    CHECK(disk.files.contains("slow.dbrk"));
}

TEST_CASE("symbols that another process removed count no longer than their files", "[follow]") {
    MemoryDisk disk;
    MemoryFolder folder(disk);
    disk.files = {{"0123abcd-000001.dbrk", Bytes(1000)}, {"0123abcd-symbols.dbrk", Bytes(5000)}};
    SeriesOptions options;
    options.total_bytes_max = 1;
    FileSeries series = series_in(folder, options);
    REQUIRE(series.scan().ok());
    CHECK(series.total_bytes() == 6000);
    disk.files.erase("0123abcd-symbols.dbrk");
    RingBuilder ring({.cpu_count = 1});
    (void)series.put(ring.metadata_memory());
    (void)series.flush();
    CHECK(series.total_bytes() == disk.bytes());
}

TEST_CASE("names of files say boot, number and triggers", "[follow]") {
    CHECK(parse_series_name("0123abcd-000012.dbrk")->number == 12);
    CHECK(parse_series_name("0123abcd-1000012+slow+oom.dbrk")->triggers == "+slow+oom");
    for (const char* other : {"0123abcd-symbols.dbrk", "lock", "x.dbrk", "0123abcd-12.dbrk", "",
                              "0123ABCD-000012.dbrk", "0123abcd-000000.dbrk", ".dbrk"})
        CHECK_FALSE(parse_series_name(other));
    CHECK(formats::boot_of_symbols_file("0123abcd-symbols.dbrk") == "0123abcd");
    for (const char* other : {"0123abcd-000012.dbrk", "0123abc-symbols.dbrk",
                              "0123ABCD-symbols.dbrk", "", "0123abcd-symbols.dbrk.new"})
        CHECK(formats::boot_of_symbols_file(other) == "");
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
