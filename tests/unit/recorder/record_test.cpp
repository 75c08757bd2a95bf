// SPDX-License-Identifier: Apache-2.0
#include "recorder/record.hpp"

#include "formats/trace/reader.hpp"
#include "recorder/output.hpp"
#include "tests/support/maps_block.hpp"
#include "tests/support/secret_file.hpp"
#include "tests/unit/recorder/fake_device.hpp"

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <sys/resource.h>
#include <thread>

using namespace daybreak;
using namespace daybreak::recorder;
using daybreak::test::FakeDevice;
using daybreak::test::FakeSymbols;
using daybreak::test::RingBuilder;

namespace {

/// A ring of two CPUs on a device, and a folder for the output that goes away.
struct RecordedDevice {
    RingBuilder ring;
    uint32_t read, end;
    FakeDevice device;
    FakeSymbols symbols;
    RecordOptions options;
    std::string folder;

    explicit RecordedDevice(
        test::RingBuilderOptions ring_options = {.cpu_count = 2, .activity = DBK_ACTIVITY_ACTIVE})
        : ring(ring_options),
          read(ring.add_ecb(ring.add_probe("syscall", "vmlinux", "read", "entry"),
                            {RingBuilder::integer_field(8, 8)}, 16)),
          end(ring.add_ecb(ring.add_probe("dtrace", "", "", "END"), {}, 8)), device(ring, end) {
        char name[] = "/tmp/daybreak-recorder-XXXXXX";
        folder = ::mkdtemp(name);
        options.output_path = folder + "/boot.dbrk";
        options.header.hostname = "box";
    }
    ~RecordedDevice() { std::filesystem::remove_all(folder); }

    void records(uint64_t count) {
        for (uint64_t i = 0; i < count; i++) {
            ring.record(0, read, 1000 + 2 * i, RingBuilder::words({i}));
            ring.record(1, read, 1001 + 2 * i, RingBuilder::words({i}));
        }
    }
    /// Takes their room in the file, too.
    void incompressible_records(uint64_t count) {
        std::mt19937_64 random(1);
        for (uint64_t i = 0; i < count; i++)
            ring.record(0, read, 1000 + i, RingBuilder::words({random()}));
    }
    Result<RecordSummary> run(const StopRequested& stop = {}) {
        return claim_and_record(device, symbols, options, {}, stop);
    }
    formats::Trace trace() { return formats::read_trace(options.output_path).value(); }
    bool empty_folder() const { return std::filesystem::is_empty(folder); }
};

/// Calls `run` while no file may become larger.
Result<RecordSummary> with_file_limit(size_t bytes,
                                      const std::function<Result<RecordSummary>()>& run) {
    rlimit before = {};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
    rlimit small = {bytes, before.rlim_max};
    auto handler = ::signal(SIGXFSZ, SIG_IGN);
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
    Result<RecordSummary> done = run();
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
    ::signal(SIGXFSZ, handler);
    return done;
}

} // namespace

TEST_CASE("the boot's recording is claimed, stopped, copied and explained", "[recorder]") {
    RecordedDevice f;
    f.records(300);
    std::vector<RecordStep> steps;
    auto progress = [&](RecordStep step, uint64_t done, uint64_t total) {
        CHECK(done <= total);
        if (steps.empty() || steps.back() != step)
            steps.push_back(step);
    };
    RecordSummary summary = claim_and_record(f.device, f.symbols, f.options, progress).value();
    CHECK(f.device.claimed);
    CHECK(f.device.stopped);
    CHECK(f.device.maps() == 0);
    CHECK(steps == std::vector<RecordStep>{RecordStep::symbols, RecordStep::claiming,
                                           RecordStep::stopping, RecordStep::copying,
                                           RecordStep::finishing});
    REQUIRE(summary.rings.size() == 1);
    CHECK(summary.rings[0].name == "test");
    CHECK(summary.rings[0].sum.present == 601); // END is in
    CHECK(summary.file_bytes == std::filesystem::file_size(f.options.output_path));
    CHECK(test::is_secret(f.options.output_path));
    CHECK_FALSE(summary.has_losses);
    CHECK(summary.findings.empty());

    formats::Trace trace = f.trace();
    CHECK(trace.header.hostname == "box");
    CHECK(trace.header.origin == formats::TraceOrigin::device);
    CHECK(trace.header.modules.at(0).name == "ext4");
    CHECK(trace.symbols.find(0xffffffff81001010)->name == "do_thing");
    CHECK(trace.recording.rings.at(0).completeness().present == 601);
    CHECK(trace.recording.findings.count() == 0);
    CHECK_FALSE(trace.has_losses());
}

TEST_CASE("one anonymous ring is claimed, the others are left", "[recorder]") {
    RecordedDevice f;
    f.records(3);
    f.device.facts().anonymous = 3;
    CHECK(f.run().value().anonymous_left == 2);
    CHECK(f.device.facts().anonymous == 2);
}

TEST_CASE("overwritten records are reported per CPU and are not a loss; drops are", "[recorder]") {
    RecordedDevice f;
    f.records(2000);
    bool drops = GENERATE(false, true);
    if (drops)
        f.ring.drop(1, DBK_DROP_NESTED, 3);
    RecordSummary summary = f.run().value();
    formats::Trace trace = f.trace();
    REQUIRE(trace.recording.rings.at(0).cpus.size() == 2);
    const formats::Completeness& cpu = trace.recording.rings[0].cpus[1].completeness;
    CHECK(cpu.committed == 2000);
    CHECK(cpu.overwritten == 2000 - cpu.present);
    CHECK(cpu.overwritten > 0);
    CHECK(cpu.drops[DBK_DROP_NESTED] == (drops ? 3 : 0));
    CHECK(summary.has_losses == drops);
}

TEST_CASE("without a boot recording the reason is reported and nothing is written", "[recorder]") {
    RecordedDevice f;
    f.device.facts().anonymous = 0;
    SECTION("claimed before") {
        CHECK(f.run().error().message() ==
              "no boot recording: the module was loaded without a program, or it was "
              "claimed before; embed one and boot with rdinit=/daybreak/early-init");
    }
    SECTION("refused when loaded") {
        std::strcpy(f.device.facts().reason, "boot.d: too many fields");
        CHECK(f.run().error().message() ==
              "no boot recording: a program was refused: boot.d: too many fields");
    }
    SECTION("no ring to copy") {
        f.options.keep = true;
        f.device.facts().ring_count = 0;
        CHECK(f.run().error().code() == ErrorCode::not_found);
    }
    SECTION("another process has it") {
        f.device.busy = true;
        CHECK(f.run().error().code() == ErrorCode::busy);
    }
    CHECK(f.empty_folder());
}

TEST_CASE("a file that is there is replaced when that was asked for, else nothing is claimed",
          "[recorder]") {
    RecordedDevice f;
    f.records(10);
    std::string before = GENERATE("", "of yesterday");
    std::ofstream(f.options.output_path) << before;
    if (before.empty()) { // as mktemp(1) leaves one
        CHECK(f.run().ok());
        return;
    }
    CHECK(f.run().error().message() ==
          f.options.output_path + " is there already: name another file, or add --replace");
    CHECK(std::filesystem::file_size(f.options.output_path) == before.size());
    f.options.replace = true;
    CHECK(f.run().ok()); // the state was left
    CHECK(f.trace().recording.rings.size() == 1);
}

TEST_CASE("a module of another version is not talked to", "[recorder]") {
    RecordedDevice f;
    f.device.facts().abi_version = DBK_IOC_ABI_VERSION + 1;
    CHECK(f.run().error().code() == ErrorCode::unsupported);
    CHECK_FALSE(f.device.claimed);
    CHECK(f.empty_folder());
}

TEST_CASE("an output that cannot be written is noticed before anything is claimed", "[recorder]") {
    RecordedDevice f;
    SECTION("a directory") {
        f.options.output_path = f.folder;
    }
    SECTION("no such folder") {
        f.options.output_path = f.folder + "/none/boot.dbrk";
    }
    CHECK_FALSE(f.run().ok());
    CHECK_FALSE(f.device.claimed);
    CHECK(f.empty_folder());
}

namespace {

/// A device with two more rings, each of which would leave a part of the disk free.
struct LargeRings : FakeDevice {
    LargeRings(RingBuilder& ring, uint64_t ring_bytes) : FakeDevice(ring), bytes(ring_bytes) {}
    base::Result<std::optional<dbk_ioc_region>> region(uint32_t index) override {
        DBK_TRY(std::optional<dbk_ioc_region> known, FakeDevice::region(index));
        uint32_t beyond = index - 3; // metadata and two CPUs are the claimed ring's
        if (known || beyond > 1)
            return known;
        dbk_ioc_region more = {};
        more.kind = DBK_REGION_SEGMENTS;
        more.ring_id = 100 + beyond;
        more.bytes = bytes;
        return std::optional(more);
    }
    uint64_t bytes;
};

} // namespace

TEST_CASE("a claim needs room for one ring, a copy for all", "[recorder]") {
    RecordedDevice f;
    f.records(3);
    // A quarter is what they likely come to in the file: three quarters of the disk each.
    LargeRings device(f.ring, 3 * std::filesystem::space(f.folder).available);
    f.options.keep = GENERATE(false, true);
    auto done = claim_and_record(device, f.symbols, f.options);
    CHECK(done.ok() == !f.options.keep);
    CHECK(device.claimed == !f.options.keep);
    if (!done.ok())
        CHECK(done.error().message().find("KiB are free on its disk") != std::string::npos);
}

TEST_CASE("a full disk leaves nothing half-written", "[recorder]") {
    RecordedDevice f;
    f.records(300);
    f.options.output_path = "/dev/full";
    Result<RecordSummary> done = f.run();
    REQUIRE_FALSE(done.ok());
    CHECK(done.error().message() == "cannot write /dev/full: No space left on device");
    CHECK(f.device.maps() == 0);
}

TEST_CASE("a file that is cut has its symbols: they come first", "[recorder]") {
    RecordedDevice f({.cpu_count = 2, .segments_per_cpu = 512, .activity = DBK_ACTIVITY_ACTIVE});
    f.incompressible_records(60000);
    REQUIRE(f.run().ok());
    std::filesystem::resize_file(f.options.output_path,
                                 std::filesystem::file_size(f.options.output_path) / 2);
    formats::Trace trace = f.trace();
    CHECK_FALSE(trace.file.has_end);
    CHECK(trace.symbols.find(0xffffffff81001000)); // how long the last one is, is not known
}

TEST_CASE("a disk without room for the symbols: nothing is claimed", "[recorder]") {
    RecordedDevice f;
    f.records(300);
    for (unsigned i = 0; i < 20000; i++)
        f.symbols.kallsyms_text += base::strprintf("%016x t f%x\n", 0x81002000 + i * 16, i * 7919);
    Result<RecordSummary> done = with_file_limit(24 << 10, [&] { return f.run(); });
    REQUIRE_FALSE(done.ok());
    CHECK(done.error().message() == "cannot write " + f.options.output_path + ": File too large");
    CHECK_FALSE(f.device.claimed);
    CHECK(f.empty_folder());
}

TEST_CASE("a disk that fills up while writing leaves what fitted, for a claimed ring is gone",
          "[recorder]") {
    RecordedDevice f({.cpu_count = 2, .segments_per_cpu = 512, .activity = DBK_ACTIVITY_ACTIVE});
    f.incompressible_records(60000); // half a MiB in the file, of which some blocks fit
    f.options.writer = {.zstd_level = 3, .block_raw_bytes = 256u << 10, .columns = false};
    bool keep = GENERATE(false, true);
    f.options.keep = keep;
    Result<RecordSummary> done = with_file_limit(400 << 10, [&] { return f.run(); });
    REQUIRE_FALSE(done.ok());
    std::string why = "cannot write " + f.options.output_path + ": File too large";
    if (keep) { // the ring is there still
        CHECK(done.error().message() == why);
        CHECK(f.empty_folder());
        return;
    }
    CHECK(done.error().message() ==
          why + "; what was claimed is gone, the file has what could be written");
    formats::Trace trace = f.trace();
    CHECK(trace.has_losses());                     // it has no end
    CHECK(trace.symbols.find(0xffffffff81001000)); // how long the last one is, is not known
    CHECK(trace.recording.rings.at(0).completeness().present > 10000);
}

TEST_CASE("names of made code that find no room are left out, and the file has its end",
          "[recorder]") {
    RecordedDevice f;
    std::mt19937_64 random(1);
    std::string large;
    for (int i = 0; i < 20000; i++)
        large += base::strprintf("%llx 10 f%llx\n", static_cast<unsigned long long>(random()),
                                 static_cast<unsigned long long>(random()));
    f.options.jit_texts = [&](const formats::KnownProcesses&) {
        JitTexts made{{{42, "1000 10 small\n"}, {43, large}, {44, "2000 10 late\n"}}, {}};
        made.findings.add(formats::FindingKind::no_made_names, "perf-45.map of process 45",
                          "a link");
        return made;
    };
    formats::Recording recording;
    test::MapsBlock block;
    block.mapping(42, 1, 0x1000, 0x2000, 0, block.file("/bin/x"));
    REQUIRE(recording.maps.add(block.bytes()) == "");
    recording.maps.finish();
    const RecordProgress none;
    RecordOutput output(f.options, f.symbols, none);
    REQUIRE(output.open(f.device, false).ok());
    REQUIRE(output.begin(f.options.header).ok());
    auto done = with_file_limit(100 << 10, [&] { return output.finish(recording, false); });
    REQUIRE(done.ok());
    REQUIRE(done->findings.size() == 2);
    CHECK(done->findings[1].text ==
          "2 processes left out: cannot write " + f.options.output_path + ": File too large");
    formats::Trace trace = f.trace();
    CHECK_FALSE(trace.has_losses()); // it has its end
    CHECK(done->file_bytes == std::filesystem::file_size(f.options.output_path));
    CHECK(trace.jit_names.find(42, 0x1008));
    CHECK_FALSE(trace.jit_names.find(44, 0x2008));
    // Nothing else says later why there are none.
    CHECK(trace.recording.all_findings().list() == done->findings);
}

TEST_CASE("an interruption before claiming changes nothing", "[recorder]") {
    RecordedDevice f;
    Result<RecordSummary> done = f.run([] { return true; });
    CHECK(done.error().code() == ErrorCode::interrupted);
    CHECK_FALSE(f.device.claimed);
    CHECK(f.empty_folder());
}

TEST_CASE("an interruption while copying leaves a good shorter file", "[recorder]") {
    RecordedDevice f;
    f.records(800);
    int asked = 0;
    RecordSummary summary = f.run([&] { return ++asked > 12; }).value();
    CHECK(summary.interrupted);
    CHECK(summary.has_losses);
    formats::Trace trace = f.trace();
    CHECK(trace.file.has_end);
    CHECK(trace.summary->interrupted);
    uint64_t present = trace.recording.rings.at(0).completeness().present;
    CHECK(present > 0);
    CHECK(present < 1601);
    CHECK(trace.has_losses());
    CHECK(trace.recording.rings[0].ecbs.all().size() == 2);
}

TEST_CASE("hidden symbols are a warning and no loss", "[recorder]") {
    RecordedDevice f;
    f.records(3);
    f.symbols.kallsyms_text = "0000000000000000 T _text\n";
    f.symbols.modules_text.clear();
    RecordSummary summary = f.run().value();
    REQUIRE(summary.findings.size() == 2);
    CHECK(summary.findings[0].kind == formats::FindingKind::no_symbols);
    CHECK(summary.findings[1].where == "/proc/kallsyms");
    CHECK_FALSE(summary.has_losses);
    CHECK(f.trace().symbols.empty());
}

TEST_CASE("aggregations counted in the kernel are taken from every CPU", "[recorder]") {
    RecordedDevice f({.cpu_count = 2, .aggregate = DBK_AGGREGATE_ENGINE, .aggbuf_bytes = 65536});
    f.records(1);
    for (uint16_t cpu = 0; cpu < 2; cpu++)
        f.device.snapshots.push_back(f.ring.aggregation_buffer(
            cpu, 1, RingBuilder::aggregation_entry(1, 0, RingBuilder::words({cpu}), {7})));
    f.device.snapshots.push_back(f.ring.aggregation_buffer(2, 1, {})); // nothing counted there
    SECTION("claimed") {
        CHECK_FALSE(f.run().value().has_losses);
        formats::Trace trace = f.trace();
        const formats::RingRecording& ring = trace.recording.rings.at(0);
        REQUIRE(ring.cpus.size() == 2);
        CHECK(ring.cpus[1].aggregations.size() == 1);
    }
    SECTION("kept: they are their owner's, and that they are missing is reported") {
        f.options.keep = true;
        RecordSummary summary = f.run().value();
        REQUIRE(summary.findings.size() == 1);
        CHECK(summary.findings[0].kind == formats::FindingKind::bad_aggregation);
    }
}

TEST_CASE("a running ring is copied while it is written to", "[recorder]") {
    RecordedDevice f({.cpu_count = 2, .segments_per_cpu = 64, .activity = DBK_ACTIVITY_ACTIVE});
    f.records(20000);
    std::atomic<bool> done = false;
    std::thread writer([&] {
        for (uint64_t i = 20000; !done; i++)
            for (uint16_t cpu = 0; cpu < 2; cpu++)
                f.ring.record(cpu, f.read, 1000 + 2 * i + cpu, RingBuilder::words({i}));
    });
    f.options.keep = f.options.replace = true;
    std::vector<std::string> bad;
    for (int round = 0; round < 50; round++) {
        RecordSummary summary = f.run().value();
        formats::Trace trace = f.trace();
        const formats::RingRecording& ring = trace.recording.rings.at(0);
        for (const formats::CpuInfo& cpu : ring.cpus) {
            const formats::Completeness& c = cpu.completeness;
            if (c.lost != 0 || c.segments_missing != 0)
                bad.push_back("a hole in a running ring was taken for a loss");
            if (c.committed != c.present + c.overwritten + c.lost + c.not_copied || c.present == 0)
                bad.push_back("the accounting does not add up");
            for (const formats::SegmentInfo& segment : cpu.segments) {
                formats::RecordCursor cursor = formats::records_of(segment, ring);
                formats::RecordView record;
                uint64_t expected = segment.records_before;
                while (cursor.next(record))
                    if (record.integer(0) != expected++)
                        bad.push_back("a record is not where it belongs");
                if (cursor.damage())
                    bad.push_back(cursor.damage()->text);
            }
        }
    }
    done = true;
    writer.join();
    CHECK(bad == std::vector<std::string>());
    CHECK_FALSE(f.device.claimed);
    CHECK_FALSE(f.device.stopped);
}
