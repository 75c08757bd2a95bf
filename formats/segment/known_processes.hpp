// SPDX-License-Identifier: Apache-2.0
//
// What a recording has of a process for files that its runtime left: of which user it was, and
// where it had mapped its jitdump.
//
// Any user can leave /tmp/perf-PID.map for another's process that is gone.  So a file is the
// process's only if it is of the user as whom the process ended, by its entry EXIT in MAPS blocks.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace daybreak::formats {

struct KnownProcess {
    bool has_ended = false;
    std::optional<uint32_t> user; ///< of all that ended under this number; empty: not known
    bool is_of_several = false;   ///< they were of several users, or of some it is not known
    std::string dump; ///< where the last one mapped jit-PID.dump as code, as it saw it; "": nowhere
};

class KnownProcesses {
public:
    void lived(uint32_t pid) { static_cast<void>(room_for(pid)); }
    void ended(uint32_t pid, std::optional<uint32_t> user);
    /// A file that the process mapped as code: only its own dump is kept.
    void mapped(uint32_t pid, const std::string& path);
    void add(const KnownProcesses& other);

    /// Returns nullptr if the recording has nothing of it.
    const KnownProcess* find(uint32_t pid) const;
    const std::map<uint32_t, KnownProcess>& all() const { return processes_; }
    void clear() { processes_.clear(); }

    /// Some 20 MiB; those after them are not known.
    static constexpr size_t kProcessesMax = 1u << 18;

private:
    KnownProcess* room_for(uint32_t pid);

    std::map<uint32_t, KnownProcess> processes_; // by pid
};

/// Returns what a runtime names the dump of that process.
std::string jit_dump_name(const std::string& pid);

} // namespace daybreak::formats
