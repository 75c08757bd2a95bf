// SPDX-License-Identifier: Apache-2.0
//
// Gathering what is known of processes that runtimes leave files for.
#include "formats/segment/known_processes.hpp"

namespace daybreak::formats {

std::string jit_dump_name(const std::string& pid) {
    return "jit-" + pid + ".dump";
}

KnownProcess* KnownProcesses::room_for(uint32_t pid) {
    if (processes_.size() >= kProcessesMax && !processes_.contains(pid))
        return nullptr;
    return &processes_[pid];
}

void KnownProcesses::ended(uint32_t pid, std::optional<uint32_t> user) {
    const bool is_first = find(pid) == nullptr || !find(pid)->has_ended;
    KnownProcess* process = room_for(pid);
    if (process == nullptr)
        return;
    process->is_of_several |= !is_first && process->user != user;
    process->has_ended = true;
    process->user = process->is_of_several ? std::nullopt : user;
}

void KnownProcesses::mapped(uint32_t pid, const std::string& path) {
    if (!path.ends_with("/" + jit_dump_name(std::to_string(pid))))
        return;
    if (KnownProcess* process = room_for(pid))
        process->dump = path;
}

void KnownProcesses::add(const KnownProcesses& other) {
    for (const auto& [pid, process] : other.processes_) {
        if (process.has_ended)
            ended(pid, process.user);
        KnownProcess* known = room_for(pid);
        if (known == nullptr)
            continue;
        known->is_of_several |= process.is_of_several;
        if (!process.dump.empty())
            known->dump = process.dump;
    }
}

const KnownProcess* KnownProcesses::find(uint32_t pid) const {
    auto at = processes_.find(pid);
    return at == processes_.end() ? nullptr : &at->second;
}

} // namespace daybreak::formats
