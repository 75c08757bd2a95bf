// SPDX-License-Identifier: Apache-2.0
//
// A ring in ordinary memory, for tests: segments and metadata blocks as the engine lays them out.
//
//     RingBuilder ring({.cpu_count = 2});
//     uint32_t probe = ring.add_probe("syscall", "vmlinux", "read", "entry");
//     uint32_t epid = ring.add_ecb(probe, {RingBuilder::integer_field(8, 8)}, 16);
//     ring.record(0, epid, /*ticks*/ 1000, RingBuilder::words({42}));
//     builder.add_bytes(ring.segment_memory(0), {"cpu 0"});
//     builder.add_bytes(ring.metadata_memory(), {"metadata"});
//
// record() publishes as the engine does (sequence 0, contents, sequence, magic; release stores), so
// one thread may write while another copies.
#pragma once

#include "base/byte_reader.hpp"
#include "formats/abi/meta.h"
#include "formats/abi/segment.h"

#include <atomic>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace daybreak::test {

using base::Bytes;
using base::ByteView;

struct RingBuilderOptions {
    uint16_t ring_id = 1;
    uint16_t version = DBK_SEGMENT_VERSION; // of segments
    uint16_t cpu_count = 1;
    uint32_t segment_bytes = 4096;
    uint32_t segments_per_cpu = 4;
    uint32_t policy = DBK_POLICY_RING;
    uint32_t aggregate = DBK_AGGREGATE_RECORD;
    uint32_t clock = DBK_CLOCK_MONO_NS;
    uint64_t ticks_per_second = 1'000'000'000;
    uint64_t start_ticks = 500, start_mono_ns = 500, start_boot_ns = 600, start_wall_ns = 1'000'000;
    uint32_t activity = DBK_ACTIVITY_STOPPED;
    uint32_t aggbuf_bytes = 0;
    uint64_t boot_id = 0x1122334455667788;
    std::string name = "test";
    uint64_t ringtime_ns = 0, ringmax_bytes = 0;
    std::array<uint64_t, DBK_SIZE_COUNT> lowered_bytes{};
    uint32_t numbers_before = 0; ///< of probes and EPIDs: the first gets the next
};

class RingBuilder {
public:
    explicit RingBuilder(RingBuilderOptions options = {}) : options_(std::move(options)) {
        cpus_.resize(options_.cpu_count);
        probe_count_ = ecb_count_ = options_.numbers_before;
        for (Cpu& cpu : cpus_)
            cpu.memory.resize(size_t{options_.segment_bytes} * options_.segments_per_cpu);
    }

    static dbk_meta_field integer_field(uint32_t offset, uint32_t bytes, uint16_t action = 0,
                                        uint8_t flags = 0) {
        return {offset, bytes, action, DBK_FIELD_FIXED, flags, 0};
    }
    static dbk_meta_field tail_field(uint32_t offset, uint8_t shape, uint32_t bytes = 256,
                                     uint16_t action = 0, uint8_t flags = 0) {
        return {offset, bytes, action, shape, flags, 0};
    }
    /// Returns the integers as 8 bytes each.
    static Bytes words(std::initializer_list<uint64_t> values) {
        Bytes bytes(values.size() * 8);
        std::memcpy(bytes.data(), std::data(values), bytes.size());
        return bytes;
    }
    /// Returns what follows the 8-byte header of a record of varying length whose only field is a
    /// tail reference at offset 12: length, reference, tail, padding.
    static Bytes tail_body(ByteView tail) {
        uint32_t length = (16 + static_cast<uint32_t>(tail.size()) + 7) & ~7u;
        dbk_tail_ref reference{16, static_cast<uint16_t>(tail.size())};
        Bytes body(length - 8);
        std::memcpy(body.data(), &length, 4);
        std::memcpy(body.data() + 4, &reference, 4);
        if (!tail.empty())
            std::memcpy(body.data() + 8, tail.data(), tail.size());
        return body;
    }

    uint32_t add_probe(std::string_view provider, std::string_view module,
                       std::string_view function, std::string_view name) {
        dbk_meta_probe head = {};
        size_t bytes = provider.size() + module.size() + function.size() + name.size();
        head.entry_bytes = static_cast<uint32_t>((sizeof(head) + bytes + 7) & ~size_t{7});
        head.probe_id = ++probe_count_;
        head.provider_bytes = static_cast<uint16_t>(provider.size());
        head.module_bytes = static_cast<uint16_t>(module.size());
        head.function_bytes = static_cast<uint16_t>(function.size());
        head.name_bytes = static_cast<uint16_t>(name.size());
        append(probes_, &head, sizeof(head));
        for (std::string_view part : {provider, module, function, name})
            append(probes_, part.data(), part.size());
        pad(probes_);
        return head.probe_id;
    }

    uint32_t add_ecb(uint32_t probe_id, const std::vector<dbk_meta_field>& fields,
                     uint32_t fixed_bytes, uint32_t flags = 0, uint32_t ecbdesc = 0) {
        dbk_meta_ecb head = {};
        head.entry_bytes =
            static_cast<uint32_t>(sizeof(head) + fields.size() * sizeof(dbk_meta_field));
        head.epid = ++ecb_count_;
        head.probe_id = probe_id;
        head.field_count = static_cast<uint16_t>(fields.size());
        head.ecbdesc = ecbdesc;
        head.flags = flags;
        head.fixed_bytes = fixed_bytes;
        append(ecbs_, &head, sizeof(head));
        for (const dbk_meta_field& field : fields)
            append(ecbs_, &field, sizeof(field));
        return head.epid;
    }

    void add_dof(Bytes image) { dof_.push_back(std::move(image)); }
    void set_activity(uint32_t activity) { options_.activity = activity; }

    /// Writes one record; `body` follows the 8-byte header and is a multiple of 8 long.  The EPID may
    /// have DBK_RECORD_F_SAME_FIRING with it.
    void record(uint16_t cpu_index, uint32_t epid, uint64_t ticks, ByteView body) {
        Cpu& cpu = cpus_[cpu_index];
        uint32_t bytes = static_cast<uint32_t>(sizeof(dbk_record_header) + body.size());
        bool far = ticks - cpu.base_ticks > UINT32_MAX;
        uint32_t need = bytes + (far ? sizeof(dbk_control_time_base) : 0);
        if (cpu.sequence == 0 || cpu.offset + need > options_.segment_bytes) {
            open_segment(cpu_index, ticks);
            far = false;
        }
        std::byte* at = slot(cpu) + cpu.offset;
        if (far) {
            dbk_control_time_base base = {{0, DBK_CONTROL_TIME_BASE, sizeof(dbk_control_time_base)},
                                          ticks};
            std::memcpy(at, &base, sizeof(base));
            at += sizeof(base);
            cpu.offset += sizeof(base);
            cpu.base_ticks = ticks;
        }
        dbk_record_header header{epid, static_cast<uint32_t>(ticks - cpu.base_ticks)};
        std::memcpy(at, &header, sizeof(header));
        if (!body.empty())
            std::memcpy(at + sizeof(header), body.data(), body.size());
        cpu.offset += bytes;
        cpu.counters.records++;
        cpu.counters.bytes += bytes;
        publish(cpu, offsetof(dbk_segment_header, committed_bytes), cpu.offset);
    }

    /// Appends raw bytes to the open segment: controls of unknown kind, damage.
    void raw(uint16_t cpu_index, ByteView bytes) {
        Cpu& cpu = cpus_[cpu_index];
        std::memcpy(slot(cpu) + cpu.offset, bytes.data(), bytes.size());
        cpu.offset += static_cast<uint32_t>(bytes.size());
        publish(cpu, offsetof(dbk_segment_header, committed_bytes), cpu.offset);
    }

    void drop(uint16_t cpu_index, enum dbk_drop cause, uint32_t count = 1) {
        Cpu& cpu = cpus_[cpu_index];
        cpu.counters.drops[cause] += count;
        if (cpu.sequence == 0)
            return;
        dbk_segment_losses losses;
        std::byte* at = slot(cpu) + sizeof(dbk_segment_header);
        std::memcpy(&losses, at, sizeof(losses));
        losses.drops[cause] += count;
        std::memcpy(at, &losses, sizeof(losses));
    }

    /// Closes the open segment and opens the next in its slot, the oldest.
    void open_segment(uint16_t cpu_index, uint64_t ticks) {
        Cpu& cpu = cpus_[cpu_index];
        std::byte* next = cpu.memory.data() + (cpu.sequence % options_.segments_per_cpu) *
                                                  size_t{options_.segment_bytes};
        store(next + offsetof(dbk_segment_header, sequence), uint64_t{0});
        std::atomic_thread_fence(std::memory_order_release);
        dbk_segment_header header = {};
        header.version = options_.version;
        header.flags = options_.clock == DBK_CLOCK_TSC ? DBK_SEGMENT_F_TSC : 0;
        header.segment_bytes = options_.segment_bytes;
        header.committed_bytes = DBK_SEGMENT_DATA_OFFSET;
        header.base_ticks = ticks;
        header.base_mono_ns = mono_of(ticks);
        header.boot_id = options_.boot_id;
        header.cpu = cpu_index;
        header.ring_id = options_.ring_id;
        dbk_segment_losses losses = {};
        losses.records_before = cpu.counters.records;
        std::memcpy(next + 4, reinterpret_cast<std::byte*>(&header) + 4, 12);
        std::memcpy(next + 24, reinterpret_cast<std::byte*>(&header) + 24, sizeof(header) - 24);
        std::memcpy(next + sizeof(header), &losses, sizeof(losses));
        cpu.sequence++;
        cpu.counters.segments++;
        cpu.base_ticks = ticks;
        cpu.offset = DBK_SEGMENT_DATA_OFFSET;
        store(next + offsetof(dbk_segment_header, sequence), cpu.sequence);
        store(next + offsetof(dbk_segment_header, magic), DBK_SEGMENT_MAGIC);
    }

    /// The clock of the ring: mono nanoseconds at these ticks.
    uint64_t mono_of(uint64_t ticks) const {
        if (options_.clock == DBK_CLOCK_MONO_NS)
            return ticks;
        auto past = static_cast<__int128>(ticks) - (jumped_ ? jump_ticks_ : options_.start_ticks);
        return static_cast<uint64_t>((jumped_ ? jump_mono_ns_ : options_.start_mono_ns) +
                                     past * 1'000'000'000 / options_.ticks_per_second);
    }
    /// The machine sleeps: at the instant that was `before`, the TSC is `ticks` when it wakes.
    void sleep(uint64_t before, uint64_t ticks) {
        jump_mono_ns_ = mono_of(before);
        jump_ticks_ = ticks;
        jumped_ = true;
    }

    Bytes& segment_memory(uint16_t cpu) { return cpus_[cpu].memory; }
    const RingBuilderOptions& options() const { return options_; }
    const dbk_meta_cpu& counters(uint16_t cpu) const { return cpus_[cpu].counters; }
    /// The same, for a test that has its own idea of them.
    dbk_meta_cpu& facts(uint16_t cpu) { return cpus_[cpu].counters; }

    /// Returns the metadata blocks as they are now, each on a 4 KiB boundary.
    Bytes metadata_memory() const {
        Bytes memory;
        dbk_meta_host host = {};
        for (size_t i = 0; i < 8; i++)
            host.boot_uuid[i] = static_cast<uint8_t>(options_.boot_id >> (8 * i));
        host.cpu_count = options_.cpu_count;
        host.page_bytes = 4096;
        host.kernel_text_start = 0xffffffff81000000;
        std::strcpy(host.release, "6.1.0-test");
        std::strcpy(host.machine, "x86_64");
        block(memory, DBK_META_HOST, 0, 0, 1, view(&host, sizeof(host)));
        dbk_meta_ring ring = ring_facts();
        block(memory, DBK_META_RING, 0, 0, 1, view(&ring, sizeof(ring)));
        for (size_t image = 0; image < dof_.size(); image++)
            dof_blocks(memory, static_cast<uint16_t>(image));
        block(memory, DBK_META_PROBES, 0, 0, 1, probes_);
        block(memory, DBK_META_ECBS, 0, 0, 1, ecbs_);
        Bytes counters;
        for (const Cpu& cpu : cpus_)
            append(counters, &cpu.counters, sizeof(cpu.counters));
        block(memory, DBK_META_CPUS, 0, 0, 1, counters);
        return memory;
    }

    /// Adds a block of the machine's (LOG, CRASH, TRIGGERS) on a 4 KiB boundary.
    void machine_block(Bytes& memory, enum dbk_meta_kind kind, ByteView payload) const {
        block(memory, kind, 0, 0, 1, payload);
    }
    /// Returns what a LOG block holds once all of `written` was logged.
    static Bytes log_payload(std::string_view written, uint32_t room) {
        dbk_meta_log head = {};
        head.written_bytes = written.size();
        head.room_bytes = room;
        Bytes payload(sizeof(head) + room);
        std::memcpy(payload.data(), &head, sizeof(head));
        for (size_t i = 0; i < written.size(); i++)
            payload[sizeof(head) + i % room] = static_cast<std::byte>(written[i]);
        return payload;
    }
    /// Returns what a CRASH block holds with these entries.
    static Bytes crash_payload(std::initializer_list<dbk_meta_crash> entries) {
        Bytes payload(DBK_CRASH_ENTRIES * sizeof(dbk_meta_crash));
        for (const dbk_meta_crash& entry : entries)
            std::memcpy(payload.data() + (entry.state - 1) * sizeof(entry), &entry, sizeof(entry));
        return payload;
    }
    /// Returns what a TRIGGERS block of so many slots holds after these were entered, in order.
    static Bytes triggers_payload(uint32_t slots, const std::vector<dbk_meta_trigger>& entered) {
        dbk_meta_triggers head = {};
        head.entered = entered.size();
        head.slots = slots;
        Bytes payload(sizeof(head) + slots * sizeof(dbk_meta_trigger));
        std::memcpy(payload.data(), &head, sizeof(head));
        for (size_t i = 0; i < entered.size(); i++) {
            dbk_meta_trigger entry = entered[i];
            entry.sequence = i + 1;
            std::memcpy(payload.data() + sizeof(head) + i % slots * sizeof(entry), &entry,
                        sizeof(entry));
        }
        return payload;
    }

    /// Returns an aggregation buffer with these entries.
    Bytes aggregation_buffer(uint16_t cpu, uint64_t sequence, ByteView entries) const {
        dbk_segment_header header = {};
        header.magic = DBK_AGGBUF_MAGIC;
        header.version = DBK_SEGMENT_VERSION;
        header.segment_bytes = 65536;
        header.committed_bytes = static_cast<uint32_t>(DBK_SEGMENT_DATA_OFFSET + entries.size());
        header.sequence = sequence;
        header.boot_id = options_.boot_id;
        header.cpu = cpu;
        header.ring_id = options_.ring_id;
        dbk_segment_losses losses = {};
        Bytes buffer;
        append(buffer, &header, sizeof(header));
        append(buffer, &losses, sizeof(losses));
        append(buffer, entries.data(), entries.size());
        return buffer;
    }
    /// Returns one entry of an aggregation buffer.
    static Bytes aggregation_entry(uint32_t epid, uint16_t action, ByteView key,
                                   std::initializer_list<uint64_t> cells) {
        dbk_agg_entry head = {};
        head.entry_bytes = static_cast<uint32_t>(sizeof(head) + key.size() + 8 * cells.size());
        head.epid = epid;
        head.action = action;
        head.key_bytes = static_cast<uint16_t>(key.size());
        head.cell_count = static_cast<uint32_t>(cells.size());
        Bytes entry;
        append(entry, &head, sizeof(head));
        append(entry, key.data(), key.size());
        append(entry, std::data(cells), 8 * cells.size());
        return entry;
    }

    static void append(Bytes& to, const void* from, size_t bytes) {
        const std::byte* first = static_cast<const std::byte*>(from);
        to.insert(to.end(), first, first + bytes);
    }

private:
    struct Cpu {
        Bytes memory;
        uint64_t sequence = 0, base_ticks = 0;
        uint32_t offset = 0;
        dbk_meta_cpu counters = {};
    };

    static constexpr size_t kBlockBytes = 8192; // small, so that DOF comes in parts

    template <typename T>
    static void store(std::byte* at, T value) {
        __atomic_store_n(reinterpret_cast<T*>(at), value, __ATOMIC_RELEASE);
    }
    std::byte* slot(Cpu& cpu) {
        size_t index = (cpu.sequence - 1) % options_.segments_per_cpu;
        return cpu.memory.data() + index * options_.segment_bytes;
    }
    void publish(Cpu& cpu, size_t offset, uint32_t value) { store(slot(cpu) + offset, value); }
    static ByteView view(const void* data, size_t bytes) {
        return ByteView(static_cast<const std::byte*>(data), bytes);
    }
    static void pad(Bytes& bytes) { bytes.resize((bytes.size() + 7) & ~size_t{7}); }

    dbk_meta_ring ring_facts() const {
        dbk_meta_ring ring = {};
        ring.policy = options_.policy;
        ring.aggregate = options_.aggregate;
        ring.clock = options_.clock;
        ring.segment_bytes = options_.segment_bytes;
        ring.segments_per_cpu = options_.segments_per_cpu;
        ring.strsize_bytes = 256;
        ring.ticks_per_second = options_.ticks_per_second;
        ring.start_ticks = options_.start_ticks;
        ring.start_mono_ns = options_.start_mono_ns;
        ring.start_boot_ns = options_.start_boot_ns;
        ring.start_wall_ns = options_.start_wall_ns;
        ring.anonymous = 1;
        ring.activity = options_.activity;
        ring.aggbuf_bytes = options_.aggbuf_bytes;
        ring.stackframes = 20;
        std::strncpy(ring.name, options_.name.c_str(), sizeof(ring.name) - 1);
        ring.ringtime_ns = options_.ringtime_ns;
        ring.ringmax_bytes = options_.ringmax_bytes;
        std::copy(options_.lowered_bytes.begin(), options_.lowered_bytes.end(), ring.lowered_bytes);
        return ring;
    }

    void dof_blocks(Bytes& memory, uint16_t image) const {
        size_t part_bytes = kBlockBytes - DBK_META_DATA_OFFSET;
        ByteView rest(dof_[image]);
        uint16_t parts = static_cast<uint16_t>((rest.size() + part_bytes - 1) / part_bytes);
        for (uint16_t part = 0; part < parts; part++) {
            ByteView now = rest.first(std::min(rest.size(), part_bytes));
            rest = rest.subspan(now.size());
            block(memory, DBK_META_DOF, image, part, parts, now);
        }
    }

    void block(Bytes& memory, enum dbk_meta_kind kind, uint16_t index, uint16_t part,
               uint16_t part_count, ByteView payload) const {
        size_t at = memory.size();
        size_t bytes =
            (DBK_META_DATA_OFFSET + payload.size() + kBlockBytes - 1) & ~(kBlockBytes - 1);
        memory.resize(at + bytes);
        dbk_meta_header header = {};
        header.magic = DBK_META_MAGIC;
        header.version = DBK_META_VERSION;
        header.kind = static_cast<uint16_t>(kind);
        header.block_bytes = static_cast<uint32_t>(bytes);
        header.committed_bytes = static_cast<uint32_t>(DBK_META_DATA_OFFSET + payload.size());
        header.boot_id = options_.boot_id;
        bool machines = kind == DBK_META_HOST || kind >= DBK_META_LOG;
        header.ring_id = machines ? 0 : options_.ring_id;
        header.index = index;
        header.part = part;
        header.part_count = part_count;
        std::memcpy(memory.data() + at, &header, sizeof(header));
        if (!payload.empty())
            std::memcpy(memory.data() + at + DBK_META_DATA_OFFSET, payload.data(), payload.size());
    }

    RingBuilderOptions options_;
    bool jumped_ = false;
    uint64_t jump_ticks_ = 0, jump_mono_ns_ = 0;
    std::vector<Cpu> cpus_;
    Bytes probes_, ecbs_;
    std::vector<Bytes> dof_;
    uint32_t probe_count_ = 0, ecb_count_ = 0;
};

} // namespace daybreak::test
