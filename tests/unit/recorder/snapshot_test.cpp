// SPDX-License-Identifier: Apache-2.0
#include "recorder/snapshot.hpp"

#include "base/file.hpp"
#include "formats/status/status.hpp"
#include "recorder/pack.hpp"
#include "recorder/row.hpp"
#include "tests/support/file_row.hpp"
#include "tests/support/secret_file.hpp"
#include "tests/unit/recorder/fake_device.hpp"

#include <catch2/catch.hpp>
#include <random>
#include <set>
#include <thread>

using namespace daybreak;
using namespace daybreak::recorder;
using daybreak::test::FakeDevice;
using daybreak::test::FakeSymbols;
using daybreak::test::FileRow;
using daybreak::test::RingBuilder;
using daybreak::test::TemporaryFolder;

namespace {

/// A running ring of two CPUs, four segments each; a record a microsecond and CPU.
struct RunningRing {
    TemporaryFolder output, files;
    RingBuilder ring;
    uint32_t epid;
    FakeDevice device;
    FakeSymbols symbols;
    FileRow row;
    SnapshotOptions options;
    uint64_t now_ns = 1'000'000;

    explicit RunningRing(uint32_t aggregate = 0)
        : ring({.cpu_count = 2, .aggregate = aggregate, .activity = DBK_ACTIVITY_ACTIVE}),
          epid(ring.add_ecb(ring.add_probe("p", "m", "f", "n"), {RingBuilder::integer_field(8, 8)},
                            16)),
          device(ring), row(files.path, ring) {
        options.record.output_path = output.path + "/snapshot.dbrk";
        options.record.replace = true;
        options.record.header = test::row_header(ring, 0);
        options.record.clocks = [this] { return formats::HostClocks{now_ns, now_ns, now_ns}; };
    }
    void records(int count) {
        for (int i = 0; i < count; i++, now_ns += 1000)
            for (uint16_t cpu = 0; cpu < 2; cpu++)
                ring.record(cpu, epid, now_ns + cpu, RingBuilder::words({now_ns}));
    }
    RecordSummary take() { return take_snapshot(device, symbols, options).value(); }
    formats::Trace trace() { return formats::read_trace(options.record.output_path).value(); }
    static formats::Completeness sum(const formats::Trace& trace) {
        return trace.recording.rings.at(0).completeness();
    }
};

uint64_t oldest_time(const formats::Trace& trace, uint16_t cpu) {
    const formats::RingRecording& ring = trace.recording.rings.at(0);
    return ring.cpus.at(cpu).segments.at(0).base_mono_ns;
}

} // namespace

TEST_CASE("a snapshot takes the window's segments and leaves the ring alone", "[snapshot]") {
    RunningRing f;
    f.records(2000); // some 740 of each CPU are still in the ring
    f.options.last_ns = 300'000;
    f.options.trigger = "slow";
    RecordSummary summary = f.take();
    CHECK_FALSE(f.device.claimed);
    CHECK_FALSE(f.device.stopped);
    CHECK(f.device.released.empty());
    CHECK(f.device.maps() == 0);
    CHECK_FALSE(summary.has_losses);
    CHECK(summary.uncovered.empty());
    CHECK(test::is_secret(f.options.record.output_path));

    formats::Trace trace = f.trace();
    CHECK(trace.header.origin == formats::TraceOrigin::snapshot);
    CHECK(trace.header.window_to_ns == f.now_ns);
    CHECK(trace.header.window_from_ns == f.now_ns - 300'000);
    CHECK(trace.header.trigger == "slow");
    CHECK(trace.recording.window_from_ns == f.now_ns - 300'000);
    CHECK_FALSE(trace.has_losses());
    CHECK(trace.recording.findings.count() == 0);
    formats::Completeness sum = f.sum(trace);
    CHECK(sum.present >= 600);
    CHECK(sum.present < 1200);
    CHECK(sum.present + sum.rotated == 4000);
    for (uint16_t cpu : {0, 1})
        CHECK(oldest_time(trace, cpu) <= f.now_ns - 300'000);
    // The ring is as it was: the next one is the same, and everything is still there.
    CHECK(f.take().file_bytes == summary.file_bytes);
    f.options.last_ns = 0;
    f.take();
    CHECK(f.sum(f.trace()).present > sum.present);
    CHECK_FALSE(f.trace().has_losses());
    CHECK(f.trace().recording.window_to_ns == 0);
}

TEST_CASE("a snapshot refers to symbols that its folder has of the boot", "[snapshot]") {
    RunningRing f;
    f.symbols.kallsyms_text += "ffffffffc0100000 t ext4_thing [ext4]\n";
    std::mt19937_64 random(1);
    for (uint64_t i = 0; i < 2000; i++)
        f.symbols.kallsyms_text +=
            base::strprintf("%016lx t f%lx\n", 0xffffffff81002000 + i * 16, random());
    f.records(100);
    uint64_t whole_bytes = f.take().file_bytes;
    CHECK(f.take().symbols_path.empty());
    formats::SymbolTable table;
    parse_kallsyms(f.symbols.kallsyms_text, table);
    std::string path = f.output.path + "/88776655-symbols.dbrk";
    auto put = [&](const formats::SymbolTable& symbols, uint8_t boot = 0) {
        formats::TraceHeader header = f.options.record.header;
        header.boot_uuid[7] ^= boot;
        test::write_bytes(path, symbols_file(header, symbols).value());
    };
    put(table);
    // A module that was loaded since is its own.
    f.symbols.kallsyms_text += "ffffffffc0200000 t late_thing [late]\n";
    RecordSummary summary = f.take();
    CHECK(summary.symbols_path == path);
    CHECK(summary.file_bytes < whole_bytes - 5000);
    CHECK_FALSE(summary.has_losses);
    for (uint64_t address : {0xffffffff81001000, 0xffffffffc0100000, 0xffffffffc0200000})
        CHECK(f.trace().symbols.find(address));

    PackOptions pack_options;
    pack_options.output_path = f.files.path + "/whole.dbrk";
    SECTION("pack -o makes it whole") {
        CHECK(pack(f.options.record.output_path, pack_options).ok());
        auto packed = formats::read_trace(pack_options.output_path).value();
        CHECK_FALSE(packed.symbols.is_absent());
        CHECK(packed.symbols.symbols().size() == f.trace().symbols.symbols().size());
        CHECK(packed.symbols.find(0xffffffffc0200000)->name == "late_thing");
        CHECK(packed.recording.all_findings().count() == 0);
    }
    SECTION("pack -o without them changes nothing; pack in place leaves them there") {
        std::filesystem::remove(path);
        CHECK(pack(f.options.record.output_path, pack_options).error().code() ==
              ErrorCode::not_found);
        CHECK_FALSE(std::filesystem::exists(pack_options.output_path));
        CHECK(pack(f.options.record.output_path, {.even_if_larger = true}).ok());
        put(table);
        CHECK(f.trace().symbols.find(0xffffffffc0200000)->name == "late_thing");
    }
    SECTION("not to those of another boot, or with another kernel's, or damaged") {
        put(table, 1);
        CHECK(f.take().symbols_path.empty());
        formats::SymbolTable other;
        other.add(0xffffffff81000000, 'T', "_text", "vmlinux");
        other.finish();
        put(other);
        CHECK(f.take().symbols_path.empty());
        test::write_bytes(path, Bytes(100, std::byte{1}));
        CHECK(f.take().symbols_path.empty());
        CHECK(f.trace().symbols.find(0xffffffffc0200000)->name == "late_thing");
    }
}

TEST_CASE("what the ring no longer holds of the window is reported per CPU", "[snapshot]") {
    RunningRing f;
    f.records(2000);
    f.options.last_ns = 1'500'000;
    RecordSummary summary = f.take();
    CHECK(summary.has_losses);
    REQUIRE(summary.uncovered.size() == 2);
    CHECK(summary.uncovered[1].cpu == 1);
    uint64_t from = summary.uncovered[1].from_mono_ns;
    CHECK(from > f.now_ns - 1'000'000);
    CHECK(from < f.now_ns - 500'000);
    CHECK(formats::not_covered_since(f.trace().recording, summary.window_from_ns).size() == 2);
    // A ring that has not gone round covers any window.
    RunningRing young;
    young.records(300);
    young.options.last_ns = 1'500'000'000;
    CHECK_FALSE(young.take().has_losses);
}

TEST_CASE("a recorder's files reach back further than the ring", "[snapshot]") {
    RunningRing f;
    for (int i = 0; i < 10; i++) {
        f.records(500);
        f.row.write({}, i != 9);
    }
    f.records(100); // not in any file yet
    f.options.folder = f.files.path;
    f.options.last_ns = 3'000'000;
    RecordSummary summary = f.take();
    CHECK_FALSE(summary.has_losses);
    formats::Trace trace = f.trace();
    formats::Completeness sum = f.sum(trace);
    CHECK(sum.present >= 6000);
    CHECK(sum.present < 7500); // no file older than needed was read
    CHECK(sum.present + sum.rotated == 10200);
    CHECK_FALSE(trace.has_losses());
    SECTION("with a file gone the window is not whole") {
        std::filesystem::remove(f.row.path(8));
        summary = f.take();
        CHECK(summary.uncovered.size() == 2);
    }
    SECTION("a damaged file is one finding, and the window is not whole") {
        for (uint32_t number : {8, 10}) { // the newest is read again and again for the hole
            Bytes bytes = base::read_file(f.row.path(number)).value();
            bytes[bytes.size() / 2] ^= std::byte{1};
            test::write_bytes(f.row.path(number), bytes);
        }
        summary = f.take();
        CHECK(summary.has_losses);
        std::set<std::string> reported;
        for (const formats::Finding& finding : summary.findings)
            reported.insert(finding.where + ": " + finding.text);
        CHECK_FALSE(reported.empty());
        CHECK(reported.size() == summary.findings.size());
    }
    SECTION("the files of another boot are not looked at") {
        RingBuilder other({.boot_id = 42});
        FileRow others(f.files.path, other);
        others.write();
        CHECK_FALSE(f.take().has_losses);
    }
}

TEST_CASE("what a recorder is about to write is waited for", "[snapshot]") {
    RunningRing f;
    f.records(500);
    f.row.write();
    f.records(400);
    // The recorder has copied what follows, and is late with writing it.
    TemporaryFolder late;
    FileRow row(late.path, f.ring);
    row.write();
    f.records(700);
    row.write();
    std::thread recorder([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        // Under the number that is next in the row.
        std::filesystem::copy_file(row.path(1), f.files.path + "/tmp");
        std::filesystem::rename(f.files.path + "/tmp", f.row.path(2));
    });
    f.options.folder = f.files.path;
    f.options.last_ns = 1'200'000;
    RecordSummary summary = f.take();
    recorder.join();
    CHECK_FALSE(summary.has_losses);
}

TEST_CASE("two snapshots and the files between them are one recording", "[snapshot]") {
    RunningRing f;
    f.records(1500);
    f.row.write();
    f.options.last_ns = 100'000;
    f.take();
    std::string first = f.options.record.output_path;
    f.records(3000);
    f.row.write();
    f.options.record.output_path = f.output.path + "/second.dbrk";
    f.take();
    std::vector<std::string> both = {first, f.options.record.output_path};
    formats::Trace trace = formats::read_traces(both).value();
    CHECK_FALSE(trace.has_losses()); // what is between two windows was not asked for
    CHECK(trace.recording.window_to_ns == 0);
    formats::Completeness sum = f.sum(trace);
    CHECK(sum.present + sum.rotated == 9000);
}

TEST_CASE("many snapshots at once, of a ring that is written to", "[snapshot]") {
    RunningRing f;
    f.records(2000);
    std::atomic<bool> done = false;
    std::atomic<uint64_t> now = f.now_ns;
    std::thread writer([&] {
        while (!done) {
            f.ring.record(0, f.epid, now, RingBuilder::words({now}));
            f.ring.record(1, f.epid, now, RingBuilder::words({now}));
            now += 1000;
        }
    });
    std::atomic<int> wrong = 0;
    auto snapshots = [&](int who) {
        FakeDevice device(f.ring);
        for (int round = 0; round < 20; round++) {
            SnapshotOptions options = f.options;
            options.record.output_path = f.output.path + base::strprintf("/%d-%d.dbrk", who, round);
            options.record.clocks = [&] {
                return formats::HostClocks{now.load(), now.load(), now.load()};
            };
            options.last_ns = 50'000;
            RecordSummary summary = take_snapshot(device, f.symbols, options).value();
            formats::Trace trace = formats::read_trace(options.record.output_path).value();
            for (const formats::CpuInfo& cpu : trace.recording.rings.at(0).cpus)
                wrong += cpu.completeness.lost != 0 || cpu.completeness.segments_missing != 0;
        }
    };
    std::vector<std::thread> threads;
    for (int who = 0; who < 4; who++)
        threads.emplace_back(snapshots, who);
    for (std::thread& thread : threads)
        thread.join();
    done = true;
    writer.join();
    CHECK(wrong == 0);
}

TEST_CASE("a program that ends while it is copied has lost nothing", "[snapshot]") {
    RunningRing f;
    f.records(20);
    bool has_ended = false;
    auto end = [&](RecordStep step, uint64_t, uint64_t) {
        if (step != RecordStep::copying || has_ended)
            return;
        has_ended = true; // CPU 0 was copied; END fires there
        f.ring.record(0, f.epid, f.now_ns, RingBuilder::words({f.now_ns}));
        f.ring.set_activity(DBK_ACTIVITY_STOPPED);
        f.device.refresh_metadata();
    };
    RecordSummary summary = take_snapshot(f.device, f.symbols, f.options, end).value();
    REQUIRE(has_ended);
    CHECK_FALSE(summary.has_losses);
    formats::Completeness all = RunningRing::sum(f.trace());
    CHECK(all.lost == 0);
    CHECK(all.present == 41);
}

TEST_CASE("counts that the kernel keeps are not taken, and that is reported", "[snapshot]") {
    RunningRing f(DBK_AGGREGATE_ENGINE);
    f.records(10);
    f.device.snapshots.assign(2, f.ring.aggregation_buffer(0, 1, {}));
    RecordSummary summary = f.take();
    CHECK(summary.has_losses);
    REQUIRE(summary.findings.size() == 1);
    CHECK(summary.findings[0].kind == formats::FindingKind::bad_aggregation);
}

TEST_CASE("the recorder's status file names its folder", "[snapshot]") {
    TemporaryFolder folder;
    std::string path = folder.path + "/status.json";
    auto says = [&](const std::string& text) {
        test::write_bytes(path, base::as_bytes(text));
        return recorder_folder(path);
    };
    formats::RecorderStatus status;
    status.folder = "/var/lib/\"daybreak\"";
    CHECK(says(formats::status_json(status)) == status.folder);
    CHECK(says("{\"folder\": \"/cut").empty());
    CHECK(says("").empty());
    CHECK(recorder_folder("/nonexistent").empty());
}
