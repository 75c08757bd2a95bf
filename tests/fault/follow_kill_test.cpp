// SPDX-License-Identifier: Apache-2.0
//
// A recorder killed again and again, at any instant.
//
// A real process follows a ring in shared memory, whose CPUs go on recording whatever happens to
// it, with real files, its writer thread and the real clock.  It is killed (SIGKILL) after a random
// while, 500 times; another one goes on.  Then: each file reads to its last whole block, no
// sequence number is missing, none is there twice, and no record differs from what was recorded.
#include "formats/trace/reader.hpp"
#include "recorder/follow/follower.hpp"
#include "tests/support/segment_builder.hpp"

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <random>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace daybreak;
using namespace daybreak::recorder;
using test::RingBuilder;

namespace {

constexpr uint32_t kSegmentBytes = 4096, kSlots = 8192;
constexpr uint16_t kCpus = 2;
constexpr uint32_t kRecordBytes = 16;

/// Where the shared memory's parts lie: metadata, then the segments of each CPU.
constexpr size_t kMetaBytes = 1u << 20;
constexpr size_t kCpuBytes = size_t{kSegmentBytes} * kSlots;
constexpr size_t kBytes = kMetaBytes + kCpus * kCpuBytes;

/// The engine's half of the protocol over memory that is shared: one CPU.
class SharedCpu {
public:
    SharedCpu(std::byte* memory, uint16_t cpu, const RingBuilder& ring, uint32_t epid)
        : memory_(memory), cpu_(cpu), boot_id_(ring.options().boot_id),
          ring_id_(ring.options().ring_id), epid_(epid) {}

    /// The value of record n is n and the CPU.
    void record() {
        if (sequence_ == 0 || offset_ + kRecordBytes > kSegmentBytes)
            open();
        dbk_record_header header{epid_, 0};
        uint64_t value = records_ << 8 | cpu_;
        std::memcpy(slot() + offset_, &header, sizeof(header));
        std::memcpy(slot() + offset_ + sizeof(header), &value, sizeof(value));
        offset_ += kRecordBytes;
        records_++;
        store(slot() + offsetof(dbk_segment_header, committed_bytes), offset_);
    }
    uint64_t sequence() const { return sequence_; }
    uint64_t records() const { return records_; }

private:
    template <typename T>
    static void store(std::byte* at, T value) {
        __atomic_store_n(reinterpret_cast<T*>(at), value, __ATOMIC_RELEASE);
    }
    std::byte* slot() { return memory_ + (sequence_ - 1) % kSlots * kSegmentBytes; }
    void open() {
        sequence_++;
        std::byte* at = slot();
        store(at + offsetof(dbk_segment_header, sequence), uint64_t{0});
        __atomic_thread_fence(__ATOMIC_RELEASE);
        dbk_segment_header header = {};
        header.version = DBK_SEGMENT_VERSION;
        header.segment_bytes = kSegmentBytes;
        header.committed_bytes = DBK_SEGMENT_DATA_OFFSET;
        header.base_ticks = header.base_mono_ns = 1000 + sequence_;
        header.boot_id = boot_id_;
        header.cpu = cpu_;
        header.ring_id = ring_id_;
        dbk_segment_losses losses = {};
        losses.records_before = records_;
        std::memcpy(at + 4, reinterpret_cast<std::byte*>(&header) + 4, 12);
        std::memcpy(at + 24, reinterpret_cast<std::byte*>(&header) + 24, sizeof(header) - 24);
        std::memcpy(at + sizeof(header), &losses, sizeof(losses));
        offset_ = DBK_SEGMENT_DATA_OFFSET;
        store(at + offsetof(dbk_segment_header, sequence), sequence_);
        store(at + offsetof(dbk_segment_header, magic), DBK_SEGMENT_MAGIC);
    }

    std::byte* memory_;
    uint16_t cpu_;
    uint64_t boot_id_;
    uint16_t ring_id_;
    uint32_t epid_;
    uint64_t sequence_ = 0, records_ = 0;
    uint32_t offset_ = 0;
};

/// The device over the shared memory: everything that a follower does not ask for is an error.
class SharedDevice : public DeviceApi {
public:
    SharedDevice(std::byte* memory, size_t meta_bytes) : memory_(memory), meta_bytes_(meta_bytes) {}
    Result<dbk_ioc_status> status() override {
        dbk_ioc_status status = {};
        status.abi_version = DBK_IOC_ABI_VERSION;
        status.ring_count = 1;
        status.region_count = 1 + kCpus;
        return status;
    }
    Result<std::optional<dbk_ioc_region>> region(uint32_t index) override {
        if (index > kCpus)
            return std::optional<dbk_ioc_region>();
        dbk_ioc_region region = {};
        region.index = index;
        region.kind = index == 0 ? DBK_REGION_META : DBK_REGION_SEGMENTS;
        region.ring_id = 1;
        region.cpu = index == 0 ? 0 : index - 1;
        region.offset = uint64_t{index} << 32;
        region.bytes = index == 0 ? meta_bytes_ : kCpuBytes;
        return std::optional(region);
    }
    Result<Mapping> map(const dbk_ioc_region& region) override {
        std::byte* at = memory_;
        if (region.kind == DBK_REGION_SEGMENTS)
            at += kMetaBytes + region.cpu * kCpuBytes;
        return Mapping(ByteView(at, region.bytes), [] {});
    }
    Result<std::optional<uint16_t>> claim(uint16_t) override { return refuse(); }
    Result<void> detach(uint16_t) override { return refuse(); }
    Result<void> stop(uint16_t) override { return refuse(); }
    Result<std::optional<Bytes>> take_aggregations(uint16_t, uint32_t, uint32_t) override {
        return refuse();
    }
    Result<std::optional<Probe>> probe(uint32_t, bool) override { return refuse(); }
    Result<uint32_t> count(const dbk_ioc_provide&) override { return refuse(); }
    Result<uint16_t> enable(ByteView, const std::string&) override { return refuse(); }
    Result<void> release(uint16_t, uint32_t, uint64_t) override { return refuse(); }

private:
    static Error refuse() { return base::errorf(ErrorCode::unsupported, "not here"); }
    std::byte* memory_;
    size_t meta_bytes_;
};

class NoSymbols : public SymbolSource {
public:
    Result<std::string> kallsyms() override { return std::string("ffffffff81000000 T _text\n"); }
    Result<std::string> modules() override { return std::string(); }
    Result<Bytes> notes(const std::string&) override {
        return base::errorf(ErrorCode::not_found, "not here");
    }
};

uint64_t clock_of(clockid_t clock) {
    timespec now = {};
    ::clock_gettime(clock, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

/// Runs for a number of waits, each cut to a millisecond.
class RealHost : public FollowHost {
public:
    RealHost(std::byte* memory, size_t meta_bytes, uint64_t waits)
        : memory_(memory), meta_bytes_(meta_bytes), waits_(waits) {}
    formats::HostClocks clocks() override {
        return {clock_of(CLOCK_MONOTONIC), clock_of(CLOCK_BOOTTIME), clock_of(CLOCK_REALTIME)};
    }
    FollowEvents wait(uint64_t timeout_ns) override {
        std::this_thread::sleep_for(
            std::chrono::nanoseconds(std::min<uint64_t>(timeout_ns, 1'000'000)));
        FollowEvents events;
        events.stop = --waits_ == 0;
        return events;
    }
    Result<std::unique_ptr<DeviceApi>> open_device() override {
        return std::unique_ptr<DeviceApi>(new SharedDevice(memory_, meta_bytes_));
    }
    void publish(const formats::RecorderStatus&) override {}
    void say(const std::string& line) override { std::fprintf(stderr, "%s\n", line.c_str()); }

private:
    std::byte* memory_;
    size_t meta_bytes_;
    uint64_t waits_;
};

struct World {
    RingBuilder ring{{.cpu_count = kCpus,
                      .segment_bytes = kSegmentBytes,
                      .segments_per_cpu = kSlots,
                      .activity = DBK_ACTIVITY_ACTIVE}};
    uint32_t epid = ring.add_ecb(ring.add_probe("p", "m", "f", "n"),
                                 {RingBuilder::integer_field(8, 8)}, kRecordBytes);
    std::byte* memory = nullptr;
    size_t meta_bytes = 0;
    std::string folder;
    FollowOptions options;

    World() {
        void* base =
            ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        REQUIRE(base != MAP_FAILED);
        memory = static_cast<std::byte*>(base);
        Bytes metadata = ring.metadata_memory();
        meta_bytes = metadata.size();
        std::memcpy(memory, metadata.data(), meta_bytes);
        char name[] = "/tmp/daybreak-follow-XXXXXX";
        REQUIRE(::mkdtemp(name));
        folder = name;
        for (size_t i = 0; i < 8; i++)
            options.header.boot_uuid[i] = static_cast<uint8_t>(ring.options().boot_id >> (8 * i));
        options.sync_ns = 3'000'000;
        options.series.file_bytes_max = 100'000;
    }
    ~World() {
        ::munmap(memory, kBytes);
        std::filesystem::remove_all(folder);
    }

    /// What the child does: follows, for ever or for some waits.
    int follow_here(uint64_t waits) {
        auto opened = open_folder(folder);
        if (!opened.ok())
            return 2;
        RealHost host(memory, meta_bytes, waits);
        NoSymbols symbols;
        auto summary = follow(host, **opened, symbols, options);
        return !summary.ok() ? 3 : summary->has_losses() ? 4 : 0;
    }
};

/// Checks each record of the file against what was recorded; returns what it says is wrong.
std::string check_file(const std::string& path,
                       std::map<std::pair<uint16_t, uint64_t>, std::vector<size_t>>& copies) {
    auto trace = formats::read_trace(path);
    if (!trace.ok())
        return trace.error().message();
    for (const formats::Finding& finding : trace->recording.findings.list())
        if (finding.kind != formats::FindingKind::unfinished)
            return path + ": " + finding.where + ": " + finding.text;
    for (const formats::RingRecording& ring : trace->recording.rings)
        for (const formats::CpuInfo& cpu : ring.cpus)
            for (const formats::SegmentInfo& segment : cpu.segments) {
                uint64_t expected = segment.records_before;
                formats::RecordCursor cursor = formats::records_of(segment, ring);
                formats::RecordView record;
                while (cursor.next(record))
                    if (record.integer(0) != (expected++ << 8 | cpu.cpu))
                        return path + ": a record differs";
                copies[{cpu.cpu, segment.sequence}].push_back(segment.bytes.size());
            }
    return "";
}

} // namespace

TEST_CASE("500 kills: every file reads, nothing is missing, nothing is there twice",
          "[fault][follow]") {
    const char* wanted = std::getenv("DAYBREAK_SEED");
    uint64_t seed = wanted ? std::strtoull(wanted, nullptr, 0) : std::random_device{}();
    INFO("DAYBREAK_SEED=" << seed);
    std::mt19937_64 random(seed);
    World world;
    std::vector<SharedCpu> cpus;
    for (uint16_t cpu = 0; cpu < kCpus; cpu++)
        cpus.emplace_back(world.memory + kMetaBytes + cpu * kCpuBytes, cpu, world.ring, world.epid);

    // The recording goes on in this process, between and beside the recorders.
    int unexpected = 0;
    for (int kill = 0; kill < 500; kill++) {
        pid_t child = ::fork();
        REQUIRE(child >= 0);
        if (child == 0)
            ::_exit(world.follow_here(UINT64_MAX));
        auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(random() % 40'000);
        while (std::chrono::steady_clock::now() < end) {
            for (int i = 0; i < 20; i++)
                cpus[random() % kCpus].record();
            std::this_thread::sleep_for(std::chrono::microseconds(100));
        }
        ::kill(child, SIGKILL);
        int status = 0;
        REQUIRE(::waitpid(child, &status, 0) == child);
        unexpected += !WIFSIGNALED(status);
    }
    CHECK(unexpected == 0);
    pid_t child = ::fork();
    if (child == 0)
        ::_exit(world.follow_here(100));
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);

    std::map<std::pair<uint16_t, uint64_t>, std::vector<size_t>> copies;
    size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(world.folder)) {
        std::string name = entry.path().filename();
        if (!parse_series_name(name) || entry.file_size() == 0)
            continue;
        files++;
        std::string wrong = check_file(entry.path(), copies);
        // Killed before its first block was whole: there is nothing in it.
        if (wrong.find("is not a Daybreak trace file") == std::string::npos)
            CHECK(wrong == "");
    }
    INFO(files << " files, " << copies.size() << " segments");
    for (uint16_t cpu = 0; cpu < kCpus; cpu++)
        for (uint64_t sequence = 1; sequence <= cpus[cpu].sequence(); sequence++) {
            INFO("cpu " << cpu << " segment " << sequence);
            auto found = copies.find({cpu, sequence});
            REQUIRE(found != copies.end());
            std::sort(found->second.begin(), found->second.end());
            CHECK(std::adjacent_find(found->second.begin(), found->second.end()) ==
                  found->second.end());
        }
}
