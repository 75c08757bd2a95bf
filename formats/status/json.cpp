// SPDX-License-Identifier: Apache-2.0
//
// The status as JSON, by Cap'n Proto's codec.
#include "formats/status/status.hpp"

#include "status.capnp.h"

#include <capnp/compat/json.h>
#include <capnp/message.h>

namespace daybreak::formats {

namespace {

using Wire = wire::RecorderStatus;

/// A status file has a line per CPU and ring; deeper, or a thousand times longer, is not Daybreak's.
constexpr size_t kNestingMax = 16, kBytesMax = 16u << 20;

std::string text_of(capnp::Text::Reader reader) {
    return std::string(reader.begin(), reader.size());
}

void put(const RecorderStatus::Disk& disk, Wire::Disk::Builder out) {
    out.setUsedBytes(disk.used_bytes);
    out.setMaxBytes(disk.max_bytes);
    out.setFiles(disk.files);
    out.setFile(disk.file);
    out.setFileBytes(disk.file_bytes);
    out.setRotationBytes(disk.rotation_bytes);
    out.setRotationSeconds(disk.rotation_seconds);
    out.setRemovedFiles(disk.removed_files);
    out.setFailures(disk.failures);
    out.setPinnedFiles(disk.pinned_files);
    out.setQueuedBytes(disk.queued_bytes);
}

RecorderStatus::Disk get(Wire::Disk::Reader in) {
    return {in.getUsedBytes(),       in.getMaxBytes(),     in.getFiles(),
            text_of(in.getFile()),   in.getFileBytes(),    in.getRotationBytes(),
            in.getRotationSeconds(), in.getRemovedFiles(), in.getFailures(),
            in.getPinnedFiles(),     in.getQueuedBytes()};
}

void put(const RecorderStatus::Cost& cost, Wire::Cost::Builder out) {
    out.setCpuSeconds(cost.cpu_seconds);
    out.setWrittenBytes(cost.written_bytes);
    out.setCopiedBytes(cost.copied_bytes);
    out.setCpuPerSecond(cost.cpu_per_second);
    out.setWrittenPerSecond(cost.written_per_second);
    out.setCopiedPerSecond(cost.copied_per_second);
    out.setNotCopied(cost.not_copied);
}

RecorderStatus::Cost get(Wire::Cost::Reader in) {
    return {in.getCpuSeconds(),   in.getWrittenBytes(),     in.getCopiedBytes(),
            in.getCpuPerSecond(), in.getWrittenPerSecond(), in.getCopiedPerSecond(),
            in.getNotCopied()};
}

void put(const RecorderStatus::Cpu& cpu, Wire::Cpu::Builder out) {
    out.setCpu(cpu.cpu);
    out.setRecords(cpu.records);
    out.setRecordsPerSecond(cpu.records_per_second);
    out.setErrors(cpu.errors);
    out.setBytes(cpu.bytes);
    out.setKeptSeconds(cpu.kept_seconds);
    out.setNewestSegment(cpu.newest_segment);
    out.setCopiedSegment(cpu.copied_segment);
    out.setNotCopied(cpu.not_copied);
    auto drops = out.initDrops(static_cast<unsigned>(cpu.drops.size()));
    for (unsigned i = 0; i < cpu.drops.size(); i++) {
        drops[i].setCause(cpu.drops[i].cause);
        drops[i].setCount(cpu.drops[i].count);
    }
}

RecorderStatus::Cpu get(Wire::Cpu::Reader in) {
    RecorderStatus::Cpu cpu{in.getCpu(),
                            in.getRecords(),
                            in.getRecordsPerSecond(),
                            in.getErrors(),
                            in.getBytes(),
                            in.getKeptSeconds(),
                            in.getNewestSegment(),
                            in.getCopiedSegment(),
                            in.getNotCopied(),
                            {}};
    for (auto drop : in.getDrops())
        cpu.drops.push_back({text_of(drop.getCause()), drop.getCount()});
    return cpu;
}

void put(const RecorderStatus::Ring& ring, Wire::Ring::Builder out) {
    out.setId(ring.id);
    out.setName(ring.name);
    out.setActivity(ring.activity);
    out.setPolicy(ring.policy);
    auto cpus = out.initCpus(static_cast<unsigned>(ring.cpus.size()));
    for (unsigned i = 0; i < ring.cpus.size(); i++)
        put(ring.cpus[i], cpus[i]);
}

RecorderStatus::Ring get(Wire::Ring::Reader in) {
    RecorderStatus::Ring ring{
        in.getId(), text_of(in.getName()), text_of(in.getActivity()), text_of(in.getPolicy()), {}};
    for (auto cpu : in.getCpus())
        ring.cpus.push_back(get(cpu));
    return ring;
}

RecorderStatus get(Wire::Reader in) {
    RecorderStatus status;
    status.pid = in.getPid();
    status.tool_version = text_of(in.getToolVersion());
    status.boot_id = text_of(in.getBootId());
    status.state = text_of(in.getState());
    status.folder = text_of(in.getFolder());
    status.last_error = text_of(in.getLastError());
    status.started_at = in.getStartedAt();
    status.updated_at = in.getUpdatedAt();
    status.disk = get(in.getDisk());
    status.cost = get(in.getCost());
    status.last_trigger = {text_of(in.getLastTrigger().getName()), in.getLastTrigger().getAt()};
    status.triggers = in.getTriggers();
    for (auto ring : in.getRings())
        status.rings.push_back(get(ring));
    return status;
}

} // namespace

std::string status_json(const RecorderStatus& status) {
    capnp::MallocMessageBuilder builder;
    auto out = builder.initRoot<Wire>();
    out.setPid(status.pid);
    out.setToolVersion(status.tool_version);
    out.setBootId(status.boot_id);
    out.setState(status.state);
    out.setFolder(status.folder);
    out.setLastError(status.last_error);
    out.setStartedAt(status.started_at);
    out.setUpdatedAt(status.updated_at);
    put(status.disk, out.initDisk());
    put(status.cost, out.initCost());
    out.initLastTrigger().setName(status.last_trigger.name);
    out.getLastTrigger().setAt(status.last_trigger.at);
    out.setTriggers(status.triggers);
    auto rings = out.initRings(static_cast<unsigned>(status.rings.size()));
    for (unsigned i = 0; i < status.rings.size(); i++)
        put(status.rings[i], rings[i]);
    capnp::JsonCodec codec;
    codec.setPrettyPrint(true);
    kj::String text = codec.encode(out.asReader());
    return std::string(text.begin(), text.size()) + "\n";
}

Result<RecorderStatus> parse_status_json(std::string_view untrusted, const std::string& name) {
    if (untrusted.size() > kBytesMax)
        return base::errorf(ErrorCode::corrupt, "%s: too long for a recorder's status",
                            name.c_str());
    try {
        capnp::JsonCodec codec;
        codec.setMaxNestingDepth(kNestingMax);
        capnp::MallocMessageBuilder builder;
        auto root = builder.initRoot<Wire>();
        codec.decode(kj::arrayPtr(untrusted.data(), untrusted.size()), root);
        return get(root.asReader());
    } catch (const kj::Exception& exception) {
        return base::errorf(ErrorCode::corrupt, "%s is not a recorder's status: %s", name.c_str(),
                            exception.getDescription().cStr());
    }
}

} // namespace daybreak::formats
