// SPDX-License-Identifier: Apache-2.0
//
// Reading the rings' descriptions, and ending one (docs/design/0047-programs-with-names.md).
#include "recorder/programs.hpp"

#include "base/nearest_name.hpp"
#include "live/live_copy.hpp"

namespace daybreak::recorder {

namespace {

using base::errorf;
using live::copy_live_blocks;

RunningProgram describe(const formats::RingRecording& ring) {
    RunningProgram program;
    program.ring_id = ring.ring_id;
    program.name = ring.info.name;
    program.activity = activity_word(ring.info.facts.activity);
    program.policy = policy_word(ring.info.facts.policy);
    program.start_wall_ns = ring.info.facts.start_wall_ns;
    program.ecbs = ring.ecbs.all().size();
    for (const auto& ecb : ring.ecbs.all()) {
        program.native_ecbs += (ecb.flags & DBK_ECB_F_NATIVE) != 0;
        program.native_values += (ecb.flags & DBK_ECB_F_NATIVE_VALUES) != 0;
    }
    for (const formats::CpuInfo& cpu : ring.cpus) {
        if (!cpu.counters)
            continue;
        program.records += cpu.counters->records;
        program.errors += cpu.counters->errors;
        for (size_t slot = 0; slot < program.drops.size(); slot++)
            program.drops[slot] += cpu.counters->drops[slot];
    }
    return program;
}

} // namespace

const char* activity_word(uint32_t activity) {
    switch (activity) {
    case DBK_ACTIVITY_INACTIVE:
    case DBK_ACTIVITY_WARMUP:
        return "starting";
    case DBK_ACTIVITY_ACTIVE:
        return "active";
    case DBK_ACTIVITY_DRAINING:
    case DBK_ACTIVITY_COOLDOWN:
        return "stopping";
    default:
        return "stopped";
    }
}

const char* policy_word(uint32_t policy) {
    return policy == DBK_POLICY_RING ? "ring" : policy == DBK_POLICY_FILL ? "fill" : "switch";
}

Result<std::vector<RunningProgram>> list_programs(DeviceApi& device) {
    DBK_TRY_VOID(check_version(device));
    DBK_TRY(std::vector<dbk_ioc_region> regions, device.regions());
    formats::RecordingBuilder builder;
    for (const dbk_ioc_region& region : regions) {
        if (region.kind != DBK_REGION_META)
            continue;
        DBK_TRY(Mapping mapping, device.map(region));
        for (const Bytes& block : copy_live_blocks(mapping.live()))
            if (auto packed = formats::packed_piece(block); packed.ok())
                builder.add_owned(std::move(packed).value(),
                                  {"ring", formats::Packing::packed, std::nullopt});
    }
    std::vector<RunningProgram> programs;
    for (const formats::RingRecording& ring : builder.build().rings) {
        if (ring.ring_id == 0 || !ring.has_info)
            continue;
        programs.push_back(describe(ring));
        if (auto holder = device.holder(ring.ring_id); holder.ok())
            programs.back().holder = *holder;
    }
    return programs;
}

Result<RunningProgram> find_free_program(DeviceApi& device, const std::string& name) {
    DBK_TRY(std::vector<RunningProgram> programs, list_programs(device));
    std::vector<RunningProgram> found, numbered;
    std::vector<std::string> names;
    for (const RunningProgram& program : programs) {
        names.push_back(program.name);
        if (program.name == name)
            found.push_back(program);
        else if (std::to_string(program.ring_id) == name)
            numbered.push_back(program);
    }
    if (found.empty())
        found = numbered;
    if (found.empty())
        return errorf(ErrorCode::not_found, "there is no program %s: %s", name.c_str(),
                      base::did_you_mean(base::nearest_name(name, names),
                                         "daybreak status lists those at work")
                          .c_str());
    if (found.size() > 1)
        return errorf(ErrorCode::invalid,
                      "%zu programs have the name %s: take the number of its ring, from daybreak "
                      "status",
                      found.size(), name.c_str());
    const RunningProgram& program = found.front();
    if (program.holder.flags & DBK_RING_HELD)
        return errorf(ErrorCode::busy, "%s is of %.15s[%u], and ends when that process does",
                      program.name.c_str(), program.holder.comm, program.holder.pid);
    return program;
}

Result<RunningProgram> stop_program(DeviceApi& device, const RunningProgram& program) {
    DBK_TRY(std::optional<uint16_t> claimed, device.claim(program.ring_id));
    if (!claimed)
        return errorf(ErrorCode::not_found, "%s has just gone", program.name.c_str());
    DBK_TRY_VOID(device.stop(program.ring_id));
    DBK_TRY(std::vector<RunningProgram> programs, list_programs(device));
    for (RunningProgram& ended : programs)
        if (ended.ring_id == program.ring_id)
            return std::move(ended);
    return program;
}

} // namespace daybreak::recorder
