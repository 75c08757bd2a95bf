// SPDX-License-Identifier: Apache-2.0
//
// What happened to the machine: its end, its triggers, its last words.
//
// Read from the blocks CRASH, TRIGGERS and LOG of meta.md, which are written in place while the
// machine may be dying.  Whatever in them does not fit together is left out and reported.
#pragma once

#include "base/byte_reader.hpp"
#include "formats/abi/meta.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace daybreak::formats {

/// The first oops, panic or orderly end of a boot.
struct CrashInfo {
    enum dbk_crash_state state = DBK_CRASH_NONE;
    uint32_t cpu = 0;
    uint64_t ticks = 0, mono_ns = 0, wall_ns = 0;
    uint32_t sealed = 0; ///< segments that the panic closed
    uint32_t count = 0;  ///< how often it happened
    std::string reason;  ///< one line, printable
};

/// A trigger that was entered.
struct TriggerInfo {
    uint64_t sequence = 0; ///< from 1, per module load
    uint64_t ticks = 0, mono_ns = 0, wall_ns = 0;
    uint32_t cpu = 0;
    uint16_t ring_id = 0; ///< of an action's enabling; else 0
    uint16_t kind = 0;    ///< enum dbk_trigger_kind; another version's may be any number
    uint32_t epid = 0;    ///< of an action's clause; else 0
    uint32_t suppressed = 0;
    std::string name; ///< printable
};

/// All of it.  Empty where the blocks were not found.
struct MachineInfo {
    std::vector<CrashInfo> ends;       ///< ascending by state
    std::vector<TriggerInfo> triggers; ///< ascending by sequence
    uint64_t triggers_entered = 0;     ///< ever; those that are not here were overwritten
    bool has_log = false;              ///< LOG was found
    std::string log;                   ///< whole lines of the kernel's log, oldest first
    uint64_t log_bytes_before = 0;     ///< that the log ring has no longer

    /// Returns the end that says most (panic, then an orderly end, then an oops), or nullptr.
    const CrashInfo* end() const;
    /// Returns that end in words, "panic: sysrq triggered crash"; "" when there is none.
    std::string end_text() const;
};

/// Returns a trigger kind in words ("oom-kill"), or "kind N" for one that is not known.
std::string trigger_kind_text(uint16_t kind);
/// Returns an end in words: "panic", "oops", "shut down in order".
const char* crash_state_text(enum dbk_crash_state state);

/// Fill their part of `machine` from what lies after a block's header.  Return what was wrong with
/// it, empty when nothing was; what fits is read in any case.
std::string read_log_block(base::ByteView untrusted, MachineInfo& machine);
std::string read_crash_block(base::ByteView untrusted, MachineInfo& machine);
std::string read_triggers_block(base::ByteView untrusted, MachineInfo& machine);

/// Returns how much a copy of a LOG, CRASH or TRIGGERS block knows, from what lies after its
/// header; of two copies of one block the larger is the newer.
uint64_t machine_block_knowledge(uint16_t kind, base::ByteView untrusted);

} // namespace daybreak::formats
