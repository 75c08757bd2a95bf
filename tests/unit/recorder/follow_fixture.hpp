// SPDX-License-Identifier: Apache-2.0
//
// A ring in memory, a disk in memory, and a follower between them.
#pragma once

#include "recorder/follow/follower.hpp"
#include "tests/unit/recorder/fake_device.hpp"
#include "tests/unit/recorder/memory_folder.hpp"
#include "tests/unit/recorder/read_back.hpp"

#include <catch2/catch.hpp>

namespace daybreak::test {

using namespace daybreak::recorder;

/// One of the devices that followers open one after the other; the test says how many rings it has,
/// and what the machine's own blocks are.
class Handle : public FakeDevice {
public:
    Handle(RingBuilder& ring, const uint32_t& rings, const uint32_t& cpus_listed, const Bytes& machine)
        : FakeDevice(ring), rings_(rings), cpus_listed_(cpus_listed), machine_(machine),
          machine_index_(ring.options().cpu_count + 1u) {}
    base::Result<dbk_ioc_status> status() override {
        facts().ring_count = rings_;
        facts().region_count = 1 + cpus_listed_;
        return FakeDevice::status();
    }
    base::Result<std::optional<dbk_ioc_region>> region(uint32_t index) override {
        if (index > cpus_listed_ && index < machine_index_)
            return std::optional<dbk_ioc_region>();
        if (rings_ == 0 || machine_.empty() || index != machine_index_)
            return FakeDevice::region(index);
        dbk_ioc_region region = {};
        region.index = index;
        region.kind = DBK_REGION_META;
        region.offset = uint64_t{index} << 32;
        region.bytes = machine_.size();
        return std::optional(region);
    }
    base::Result<recorder::Mapping> map(const dbk_ioc_region& region) override {
        if (region.index != machine_index_)
            return FakeDevice::map(region);
        return recorder::Mapping(machine_, [] {});
    }

private:
    const uint32_t &rings_, &cpus_listed_;
    const Bytes& machine_;
    uint32_t machine_index_;
};

/// A ring of two CPUs with 16 segments of 248 records each; the value of a record is its number.
struct FollowFixture {
    RingBuilder ring{{.cpu_count = 2, .segments_per_cpu = 16, .activity = DBK_ACTIVITY_ACTIVE}};
    uint32_t epid =
        ring.add_ecb(ring.add_probe("p", "m", "f", "n"), {RingBuilder::integer_field(8, 8)}, 16);
    MemoryDisk disk;
    FollowOptions options;
    Recorded recorded{2};
    uint32_t rings = 1;       ///< that the device has
    uint32_t cpus_listed = 2; ///< whose memory it has
    Bytes machine;      ///< ring 0: blocks of the machine's; keeps its size while a follower runs
    std::vector<std::string> said;
    std::vector<uint64_t> waited;
    formats::RecorderStatus last;

    FollowFixture() {
        for (size_t i = 0; i < 8; i++)
            options.header.boot_uuid[i] = static_cast<uint8_t>(ring.options().boot_id >> (8 * i));
        options.threaded = false;
        options.series.zstd_level = 1;
        options.series.columns = false; // sizes of files and disks here are those of rows
    }

    void records(uint64_t count) {
        for (uint16_t cpu = 0; cpu < 2; cpu++)
            records_of(cpu, count);
    }
    void records_of(uint16_t cpu, uint64_t count) {
        for (uint64_t i = 0; i < count; i++) {
            uint64_t value = recorded[cpu].size();
            ring.record(cpu, epid, 1000 + value, RingBuilder::words({value}));
            recorded[cpu].push_back(ring.counters(cpu).segments);
        }
    }
    /// Makes these all that the module has entered since it was loaded.
    void set_triggers(const std::vector<std::string>& names) {
        std::vector<dbk_meta_trigger> entered(names.size());
        for (size_t i = 0; i < names.size(); i++)
            names[i].copy(entered[i].name, sizeof(entered[i].name) - 1);
        for (dbk_meta_trigger& trigger : entered)
            trigger.kind = trigger.name == std::string("suspend")        ? DBK_TRIGGER_SLEEP
                           : trigger.name == std::string("tsc-unstable") ? DBK_TRIGGER_CLOCK
                                                                         : DBK_TRIGGER_ACTION;
        Bytes block;
        ring.machine_block(block, DBK_META_TRIGGERS, RingBuilder::triggers_payload(8, entered));
        machine.resize(block.size());
        std::copy(block.begin(), block.end(), machine.begin());
    }
    /// Checks the files against what was recorded.
    void check(bool oldest_may_go = false) const {
        CHECK(compare(read_back(disk.files), recorded, oldest_may_go) == "");
    }

    /// Follows; `step` runs at each wait, and the follower is stopped after the last.
    Result<FollowSummary> run(uint64_t turns, const std::function<void(uint64_t)>& step,
                              const std::function<FollowEvents(uint64_t)>& events = {}) {
        MemoryFolder folder(disk);
        FakeSymbols symbols;
        ScriptedHost* at = nullptr;
        ScriptedHost host(
            [this]() -> Result<std::unique_ptr<DeviceApi>> {
                return std::unique_ptr<DeviceApi>(new Handle(ring, rings, cpus_listed, machine));
            },
            [&](uint64_t turn) {
                now_ns = at->now_ns;
                last = at->last;
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

} // namespace daybreak::test
