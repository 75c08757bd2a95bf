// SPDX-License-Identifier: Apache-2.0
//
// From rings, queue and disk to the numbers of the status.
#include "recorder/follow/status_publisher.hpp"

#include "formats/abi/drops.h"
#include "formats/segment/piece.hpp"
#include "recorder/programs.hpp"

#include <algorithm>
#include <cstring>

namespace daybreak::recorder {

namespace {

using formats::SkipCause;

struct DropName {
    const char* name;
    size_t slot;
};

constexpr DropName kDropNames[] = {
#define DBK_DROP_NAME(name, slot, tag, text) {tag, slot},
    DBK_DROPS(DBK_DROP_NAME)
#undef DBK_DROP_NAME
};

double seconds(uint64_t ns) {
    return static_cast<double>(ns) / 1e9;
}

} // namespace

StatusPublisher::StatusPublisher(FollowHost& host, const FollowOptions& options,
                                 const DeviceWatch& watch, const RingCopier& copier,
                                 const WriteQueue& queue)
    : host_(host), options_(options), watch_(watch), copier_(copier), queue_(queue) {
    uint64_t boot_id;
    std::memcpy(&boot_id, options.header.boot_uuid.data(), sizeof(boot_id));
    status_.boot_id = formats::boot_name(boot_id);
    status_.disk.max_bytes = static_cast<double>(options.series.total_bytes_max);
    status_.started_at = seconds(host.clocks().wall_ns);
}

void StatusPublisher::note(const FollowedRing& ring, const std::vector<Bytes>& metadata,
                           const std::map<uint16_t, dbk_meta_cpu>& counters) {
    std::optional<dbk_meta_ring> facts = ring_facts(metadata);
    if (ring.ring_id == 0 || !facts)
        return;
    formats::RecorderStatus::Ring one;
    one.id = ring.ring_id;
    one.name = std::string(facts->name, strnlen(facts->name, sizeof(facts->name)));
    one.policy = policy_word(facts->policy);
    one.activity = activity_word(facts->activity);
    for (const auto& [cpu, tail] : ring.cpus)
        one.cpus.push_back(cpu_status({ring.file_id, cpu}, tail, facts->segment_bytes, counters));
    status_.rings.push_back(std::move(one));
}

formats::RecorderStatus::Cpu
StatusPublisher::cpu_status(RingCopier::CpuKey key, const CpuTail& tail, uint32_t segment_bytes,
                            const std::map<uint16_t, dbk_meta_cpu>& counters) {
    formats::RecorderStatus::Cpu one;
    uint64_t now_ns = host_.clocks().mono_ns, next = tail.position().next;
    one.cpu = key.second;
    one.newest_segment = static_cast<double>(tail.newest());
    one.copied_segment = static_cast<double>(next == 0 ? 0 : next - 1);
    one.bytes = static_cast<double>(tail.slots() * segment_bytes);
    one.not_copied = static_cast<double>(copier_.skipped(key));
    if (tail.oldest_mono_ns() != 0 && now_ns > tail.oldest_mono_ns())
        one.kept_seconds = seconds(now_ns - tail.oldest_mono_ns());
    auto counted = counters.find(key.second);
    if (counted == counters.end())
        return one;
    one.records = static_cast<double>(counted->second.records);
    one.errors = static_cast<double>(counted->second.errors);
    for (const DropName& drop : kDropNames)
        if (counted->second.drops[drop.slot] != 0)
            one.drops.push_back({drop.name, static_cast<double>(counted->second.drops[drop.slot])});
    Counted& before = counted_[key];
    if (before.mono_ns != 0 && now_ns > before.mono_ns)
        one.records_per_second = (one.records - before.records) / seconds(now_ns - before.mono_ns);
    before = {now_ns, one.records};
    return one;
}

void StatusPublisher::note_disk(const WriteState& disk, uint64_t boot_ns) {
    formats::RecorderStatus::Disk& reported = status_.disk;
    reported.used_bytes = static_cast<double>(disk.disk_bytes);
    reported.files = static_cast<double>(disk.files);
    reported.file = disk.current;
    reported.file_bytes = static_cast<double>(disk.file_bytes);
    reported.rotation_bytes = static_cast<double>(disk.rotation_bytes);
    reported.rotation_seconds = disk.rotation_boot_ns == 0 ? -1
                                : disk.rotation_boot_ns > boot_ns
                                    ? seconds(disk.rotation_boot_ns - boot_ns)
                                    : 0;
    reported.removed_files = static_cast<double>(disk.files_removed);
    reported.failures = static_cast<double>(disk.failures);
    reported.pinned_files = static_cast<double>(disk.pinned_files);
    size_t room = std::min(options_.queue_bytes, queue_.room_bytes());
    reported.queued_bytes = static_cast<double>(options_.queue_bytes - room);
}

void StatusPublisher::note_cost(const WriteState& disk, uint64_t mono_ns) {
    formats::RecorderStatus::Cost& cost = status_.cost;
    double passed = seconds(mono_ns - published_ns_);
    auto written = static_cast<double>(disk.bytes_written);
    auto copied = static_cast<double>(copier_.bytes());
    if (published_ns_ != 0 && passed > 0) {
        cost.written_per_second = (written - cost.written_bytes) / passed;
        cost.copied_per_second = (copied - cost.copied_bytes) / passed;
    }
    cost.written_bytes = written;
    cost.copied_bytes = copied;
    cost.not_copied = static_cast<double>(copier_.skipped());
    published_ns_ = mono_ns;
}

void StatusPublisher::publish() {
    WriteState disk = queue_.state();
    formats::HostClocks now = host_.clocks();
    status_.updated_at = seconds(now.wall_ns);
    status_.state = disk.failing && disk.cause == SkipCause::disk_full ? "disk full"
                    : disk.failing                                     ? "disk error"
                    : watch_.rings().empty()                           ? "waiting"
                    : copier_.is_hindered()                            ? "disk slow"
                                                                       : "recording";
    status_.last_error = disk.error;
    note_disk(disk, now.boot_ns);
    note_cost(disk, now.mono_ns);
    host_.publish(status_);
}

} // namespace daybreak::recorder
