// SPDX-License-Identifier: Apache-2.0
//
// A device whose rings lie in ordinary memory, and symbol texts that tests write.
#pragma once

#include "recorder/record.hpp"
#include "tests/support/segment_builder.hpp"

#include <algorithm>
#include <cstring>
#include <map>

namespace daybreak::test {

class FakeDevice : public recorder::DeviceApi {
public:
    /// `end_epid` is recorded on CPU 0 when the ring is stopped; 0: nothing is.
    FakeDevice(RingBuilder& ring, uint32_t end_epid = 0) : ring_(ring), end_epid_(end_epid) {
        status_.abi_version = DBK_IOC_ABI_VERSION;
        status_.ring_count = 1;
        status_.anonymous = 1;
    }

    base::Result<dbk_ioc_status> status() override { return status_; }

    base::Result<std::optional<dbk_ioc_region>> region(uint32_t index) override {
        dbk_ioc_region region = {};
        region.index = index;
        if (status_.ring_count == 0 || index > ring_.options().cpu_count)
            return std::optional<dbk_ioc_region>();
        region.kind = index == 0 ? DBK_REGION_META : DBK_REGION_SEGMENTS;
        region.ring_id = ring_.options().ring_id;
        region.cpu = index == 0 ? 0 : index - 1;
        region.offset = uint64_t{index} << 32;
        region.bytes = index == 0 ? ring_.metadata_memory().size()
                                  : ring_.segment_memory(static_cast<uint16_t>(index - 1)).size();
        return std::optional(region);
    }

    base::Result<recorder::Mapping> map(const dbk_ioc_region& region) override {
        maps_++;
        if (region.kind == DBK_REGION_META) {
            auto memory = std::make_shared<base::Bytes>(ring_.metadata_memory());
            metadata_ = memory;
            return recorder::Mapping(*memory, [this, memory] { maps_--; });
        }
        return recorder::Mapping(ring_.segment_memory(static_cast<uint16_t>(region.cpu)),
                                 [this] { maps_--; });
    }

    base::Result<std::optional<uint16_t>> claim(uint16_t) override {
        if (busy)
            return base::errorf(base::ErrorCode::busy, "another process has claimed it");
        if (status_.anonymous == 0)
            return std::optional<uint16_t>();
        status_.anonymous--;
        claimed = true;
        return std::optional(ring_.options().ring_id);
    }

    base::Result<void> detach(uint16_t) override {
        if (!claimed)
            return base::errorf(base::ErrorCode::io, "not the caller's");
        claimed = false;
        status_.anonymous++;
        return {};
    }

    base::Result<void> stop(uint16_t) override {
        if (end_epid_)
            ring_.record(0, end_epid_, end_ticks, {});
        ring_.set_activity(DBK_ACTIVITY_STOPPED);
        stopped = true;
        return {};
    }

    base::Result<std::optional<base::Bytes>> take_aggregations(uint16_t, uint32_t cpu,
                                                               uint32_t room_bytes) override {
        if (cpu >= snapshots.size())
            return std::optional<base::Bytes>();
        DBK_ASSERT(snapshots[cpu].size() <= room_bytes);
        return std::optional(snapshots[cpu]);
    }

    base::Result<std::optional<Probe>> probe(uint32_t index, bool) override {
        probes_asked++;
        return index < probes.size() ? std::optional(probes[index]) : std::nullopt;
    }
    base::Result<uint32_t> count(const dbk_ioc_provide&) override { return matched; }
    base::Result<uint16_t> enable(base::ByteView, const std::string& name) override {
        enabled_as = name;
        return ring_.options().ring_id;
    }
    base::Result<dbk_ioc_holder> holder(uint16_t) override { return who; }
    base::Result<void> release(uint16_t, uint32_t cpu, uint64_t sequence) override {
        released[cpu] = sequence;
        return {};
    }

    /// Makes what the last mapping of metadata shows what it is now, as in a kernel.
    void refresh_metadata() {
        base::Bytes now = ring_.metadata_memory();
        DBK_ASSERT(metadata_.lock()->size() == now.size());
        std::copy(now.begin(), now.end(), metadata_.lock()->begin()); // where it is mapped
    }

    dbk_ioc_status& facts() { return status_; }
    int maps() const { return maps_; }

    bool busy = false, claimed = false, stopped = false;
    uint64_t end_ticks = 1'000'000;
    std::string enabled_as; ///< the name of the last program
    dbk_ioc_holder who{};
    std::vector<base::Bytes> snapshots;
    std::vector<Probe> probes;
    uint32_t matched = 0;                  ///< by each description
    int probes_asked = 0;                  ///< one by one
    std::map<uint32_t, uint64_t> released; ///< by CPU

private:
    RingBuilder& ring_;
    uint32_t end_epid_;
    dbk_ioc_status status_ = {};
    int maps_ = 0;
    std::weak_ptr<base::Bytes> metadata_;
};

class FakeSymbols : public recorder::SymbolSource {
public:
    base::Result<std::string> kallsyms() override { return kallsyms_text; }
    base::Result<std::string> modules() override {
        if (modules_text.empty())
            return base::errorf(base::ErrorCode::not_found, "no modules here");
        return modules_text;
    }
    base::Result<base::Bytes> notes(const std::string& module) override {
        auto found = build_ids.find(module);
        if (found == build_ids.end())
            return base::errorf(base::ErrorCode::not_found, "no notes here");
        const char head[] = {char(found->second.size()), 0, 0, 0};
        std::string notes = std::string("\4\0\0\0", 4) + std::string(head, 4) +
                            std::string("\3\0\0\0GNU\0", 8) + found->second;
        base::ByteView bytes = base::as_bytes(notes);
        return base::Bytes(bytes.begin(), bytes.end());
    }
    std::string kallsyms_text = "ffffffff81000000 T _text\nffffffff81001000 t do_thing\n";
    std::string modules_text = "ext4 1000 1 - Live 0xffffffffc0100000\n";
    std::map<std::string, std::string> build_ids; ///< by module
};

} // namespace daybreak::test
