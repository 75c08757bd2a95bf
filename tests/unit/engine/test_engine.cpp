// SPDX-License-Identifier: Apache-2.0
//
// Loading, firing and reading back in tests; see test_host.hpp.
#include "tests/unit/engine/test_host.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <thread>

// What must hold of each record of each firing: an assertion of the framework takes longer than all
// that it looks at.
#define HOLDS(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            REQUIRE(condition);                                                                    \
    } while (false)

namespace daybreak::engine_test {

namespace {

template <typename T>
T read_at(const std::vector<uint8_t>& bytes, size_t offset) {
    HOLDS(offset + sizeof(T) <= bytes.size());
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
    return value;
}

void check_header(const dbk_consumer* consumer, const dbk_segment_header& header, uint32_t cpu,
                  uint64_t phys) {
    HOLDS(header.version == DBK_SEGMENT_VERSION);
    HOLDS(header.segment_bytes == dbk_consumer_ring(consumer)->segment_bytes);
    HOLDS(header.committed_bytes >= DBK_SEGMENT_DATA_OFFSET);
    HOLDS(header.committed_bytes <= header.segment_bytes);
    HOLDS(header.cpu == cpu);
    HOLDS(header.ring_id == dbk_consumer_ring_id(consumer));
    HOLDS(header.phys_addr == phys);
    HOLDS(header.boot_id == 0xb007);
}

uint32_t record_bytes(const dbk_consumer* consumer, const uint8_t* record, uint32_t epid) {
    auto info = ecb_info(consumer, epid);
    HOLDS(info);
    if ((info->ecb.flags & DBK_ECB_F_VARIABLE) == 0)
        return info->ecb.fixed_bytes;
    uint32_t bytes;
    std::memcpy(&bytes, record + 8, 4);
    return bytes;
}

} // namespace

uint64_t Record::u64(size_t offset) const {
    return read_at<uint64_t>(bytes, offset);
}
uint32_t Record::u32(size_t offset) const {
    return read_at<uint32_t>(bytes, offset);
}

std::string Record::tail(size_t offset) const {
    auto ref = read_at<dbk_tail_ref>(bytes, offset);
    HOLDS(size_t{ref.offset} + ref.bytes <= bytes.size());
    return std::string(reinterpret_cast<const char*>(bytes.data()) + ref.offset, ref.bytes);
}

Loaded load(const std::vector<uint8_t>& image) {
    Loaded loaded;
    dbk_reason reason{};
    loaded.error = dbk_program_load(image.data(), image.size(), &reason, &loaded.program);
    loaded.reason = reason.text;
    return loaded;
}

Engine::Engine(uint32_t cpu_count, uint32_t clock, uint32_t cpus_up) {
    host = HostState{};
    host_cpu = 0;
    host.cpu_count = cpu_count;
    dbk_engine_config config{cpu_count, clock, 1'000'000'000, 0xb007};
    engine_ = dbk_engine_create(&config);
    REQUIRE(engine_ != nullptr);
    for (uint32_t cpu = 0; cpu < std::min(cpu_count, cpus_up); cpu++)
        REQUIRE(dbk_engine_cpu_up(engine_, cpu));
}

Engine::~Engine() {
    for (auto* consumer : consumers_)
        dbk_consumer_destroy(consumer);
    for (auto& probe : probes_)
        if (probe->id != 0)
            dbk_probe_remove(engine_, probe.get());
    dbk_engine_destroy(engine_);
    CHECK(host.enabled.empty());
}

dbk_probe& Engine::probe(const char* provider, const char* module, const char* function,
                         const char* name, uint8_t arg_count) {
    auto probe = std::make_unique<dbk_probe>();
    probe->provider = provider;
    probe->module = module;
    probe->function = function;
    probe->name = name;
    dbk_probe_args_in_order(probe.get(), arg_count);
    REQUIRE(dbk_probe_add(engine_, probe.get()) == 0);
    probes_.push_back(std::move(probe));
    return *probes_.back();
}

dbk_consumer* Engine::created(const std::vector<uint8_t>& image, dbk_consumer_config config) {
    Loaded loaded = load(image);
    INFO(loaded.reason);
    REQUIRE(loaded.error == 0);
    dbk_reason reason{};
    dbk_consumer* consumer = nullptr;
    int error = dbk_consumer_create(engine_, loaded.program, &config, &reason, &consumer);
    INFO(reason.text);
    REQUIRE(error == 0);
    return consumer;
}

dbk_consumer* Engine::consumer(const std::vector<uint8_t>& image, dbk_consumer_config config) {
    dbk_consumer* consumer = created(image, config);
    consumers_.push_back(consumer);
    dbk_reason reason{};
    uint32_t matched = 0;
    REQUIRE(dbk_consumer_enable(consumer, &reason, &matched) == 0);
    return consumer;
}

dbk_consumer* Engine::start(const std::vector<uint8_t>& image, dbk_consumer_config config) {
    dbk_consumer* result = consumer(image, config);
    REQUIRE(dbk_consumer_start(result) == 0);
    return result;
}

void Engine::destroy(dbk_consumer* consumer) {
    consumers_.erase(std::find(consumers_.begin(), consumers_.end(), consumer));
    dbk_consumer_destroy(consumer);
}

void Engine::fire(dbk_probe& probe, std::vector<uint64_t> args, uint32_t cpu) {
    args.resize(DBK_PROBE_ARGS_MAX);
    uint32_t before = host_cpu;
    host_cpu = cpu;
    dbk_probe_fire(&probe, args.data(), nullptr);
    host_cpu = before;
}

void Engine::fire_at_once(dbk_probe& probe, uint32_t cpus, uint64_t count,
                          const std::function<std::array<uint64_t, 2>(uint32_t, uint64_t)>& args) {
    host.tick_step = 0;
    std::vector<std::thread> threads;
    for (uint32_t cpu = 0; cpu < cpus; cpu++)
        threads.emplace_back([&, cpu] {
            host_cpu = cpu;
            for (uint64_t i = 0; i < count; i++) {
                const auto two = args(cpu, i);
                uint64_t all[DBK_PROBE_ARGS_MAX] = {two[0], two[1]};
                dbk_probe_fire(&probe, all, nullptr);
            }
        });
    for (std::thread& thread : threads)
        thread.join();
}

std::map<uint64_t, const dbk_segment_header*> segments(const dbk_consumer* consumer, uint32_t cpu) {
    std::map<uint64_t, const dbk_segment_header*> found;
    dbk_region region;
    uint32_t bytes = dbk_consumer_ring(consumer)->segment_bytes;
    for (uint32_t i = 0; dbk_consumer_region(consumer, i, &region); i++) {
        if (region.kind != 1 || region.cpu != cpu)
            continue;
        for (uint32_t at = 0; at + bytes <= region.pages->bytes; at += bytes) {
            auto* header = reinterpret_cast<const dbk_segment_header*>(
                static_cast<const uint8_t*>(region.pages->address) + at);
            if (header->magic != DBK_SEGMENT_MAGIC)
                continue;
            check_header(consumer, *header, cpu, region.pages->phys_addr + at);
            REQUIRE(found.emplace(header->sequence, header).second);
        }
    }
    return found;
}

const dbk_segment_losses& losses(const dbk_segment_header* header) {
    return *reinterpret_cast<const dbk_segment_losses*>(header + 1);
}

std::vector<Record> records(const dbk_consumer* consumer, uint32_t cpu) {
    std::vector<Record> found;
    for (auto [sequence, header] : segments(consumer, cpu)) {
        const auto* base = reinterpret_cast<const uint8_t*>(header);
        uint64_t ticks = header->base_ticks;
        for (uint32_t at = DBK_SEGMENT_DATA_OFFSET; at < header->committed_bytes;) {
            dbk_record_header record;
            std::memcpy(&record, base + at, sizeof(record));
            if (record.epid == 0 && record.delta_ticks == (24u << 16 | DBK_CONTROL_COMMIT)) {
                dbk_control_commit commit;
                std::memcpy(&commit, base + at, sizeof(commit));
                at += commit.header.bytes;
                HOLDS(commit.covered_bytes > 0);
                HOLDS(at + commit.covered_bytes <= header->committed_bytes);
                continue;
            }
            if (record.epid == 0) {
                dbk_control_time_base control;
                std::memcpy(&control, base + at, sizeof(control));
                HOLDS(control.header.kind == DBK_CONTROL_TIME_BASE);
                HOLDS(control.header.bytes == sizeof(control));
                ticks = control.base_ticks;
                at += control.header.bytes;
                continue;
            }
            bool same_firing = (record.epid & DBK_RECORD_F_SAME_FIRING) != 0;
            bool is_elsewhere = (record.epid & DBK_RECORD_F_FIRING_ELSEWHERE) != 0;
            HOLDS(!(same_firing && is_elsewhere));
            record.epid &= DBK_EPID_MAX;
            uint32_t bytes = record_bytes(consumer, base + at, record.epid);
            HOLDS(bytes % DBK_RECORD_ALIGN_BYTES == 0);
            HOLDS(bytes >= sizeof(record));
            HOLDS(at + bytes <= header->committed_bytes);
            found.push_back({record.epid,
                             ticks + record.delta_ticks,
                             {base + at, base + at + bytes},
                             same_firing,
                             is_elsewhere,
                             sequence});
            at += bytes;
        }
    }
    return found;
}

uint64_t drops(const dbk_consumer* consumer, uint32_t cause, uint32_t cpu) {
    return dbk_consumer_counters(consumer, cpu)->drops[cause];
}

std::optional<EcbInfo> ecb_info(const dbk_consumer* consumer, uint32_t epid) {
    dbk_region region;
    for (uint32_t i = 0; dbk_consumer_region(consumer, i, &region); i++) {
        const auto* base = static_cast<const uint8_t*>(region.pages->address);
        const auto* header = reinterpret_cast<const dbk_meta_header*>(base);
        if (region.kind != 2 || header->kind != DBK_META_ECBS)
            continue;
        HOLDS(header->magic == DBK_META_MAGIC);
        for (uint32_t at = DBK_META_DATA_OFFSET; at < header->committed_bytes;) {
            EcbInfo info;
            std::memcpy(&info.ecb, base + at, sizeof(info.ecb));
            HOLDS(info.ecb.entry_bytes % 8 == 0);
            if (info.ecb.epid == epid) {
                info.fields.resize(info.ecb.field_count);
                if (!info.fields.empty())
                    std::memcpy(info.fields.data(), base + at + sizeof(info.ecb),
                                info.fields.size() * sizeof(dbk_meta_field));
                return info;
            }
            at += info.ecb.entry_bytes;
        }
    }
    return std::nullopt;
}

std::vector<AggEntry> snapshot(dbk_consumer* consumer, uint32_t cpu) {
    uint32_t bytes = 0;
    const void* image = nullptr;
    REQUIRE(dbk_consumer_agg_snapshot(consumer, cpu, &bytes, &image) == 0);
    const auto* base = static_cast<const uint8_t*>(image);
    const auto* header = static_cast<const dbk_segment_header*>(image);
    HOLDS(header->magic == DBK_AGGBUF_MAGIC);
    HOLDS(header->committed_bytes == bytes);
    std::vector<AggEntry> entries;
    for (uint32_t at = DBK_SEGMENT_DATA_OFFSET; at < bytes;) {
        AggEntry entry;
        std::memcpy(&entry.header, base + at, sizeof(entry.header));
        HOLDS(entry.header.entry_bytes % 8 == 0);
        HOLDS(entry.header.entry_bytes ==
              sizeof(entry.header) + entry.header.key_bytes + entry.header.cell_count * 8);
        const auto* key = base + at + sizeof(entry.header);
        entry.key.assign(key, key + entry.header.key_bytes);
        entry.cells.resize(entry.header.cell_count);
        if (!entry.cells.empty())
            std::memcpy(entry.cells.data(), key + entry.header.key_bytes, entry.cells.size() * 8);
        entries.push_back(entry);
        at += entry.header.entry_bytes;
    }
    return entries;
}

Outcome run(const Difo& difo, std::vector<uint64_t> args) {
    HostState before = host;
    Engine engine;
    host.kernel_memory = before.kernel_memory;
    host.user_memory = before.user_memory;
    dbk_probe& probe = engine.probe("test", "mod", "func", "entry");
    Dof dof;
    dof.option(DTRACEOPT_BUFSIZE, 1 << 16);
    dof.option(DTRACEOPT_DYNVARSIZE, 1 << 14);
    auto action = dof.trace(difo);
    dof.ecb("test:::entry", {action});
    dbk_consumer* consumer = engine.start(dof.build());
    engine.fire(probe, std::move(args));
    Outcome outcome;
    auto all = records(consumer);
    REQUIRE(all.size() <= 1);
    if (!all.empty())
        outcome.record = all.front();
    outcome.errors = dbk_consumer_counters(consumer, 0)->errors;
    return outcome;
}

} // namespace daybreak::engine_test
