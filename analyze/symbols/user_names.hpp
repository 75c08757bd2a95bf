// SPDX-License-Identifier: Apache-2.0
//
// UserNames: whose code a user address is.
//
// A printer that runs while processes run reads their maps; of a recording they are in it
// (recorded_names.hpp).
#pragma once

#include "base/byte_reader.hpp"
#include "formats/segment/process_maps.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace daybreak::analyze {

/// The place of an address in a process.
struct UserPlace {
    std::string object;         ///< base name of the program or library: "libc.so.6"
    uint64_t object_offset = 0; ///< from the object's start, as its symbols count
    std::string symbol;         ///< as the object has it, mangled; "" when none is known there
    uint64_t symbol_offset = 0; ///< from the symbol's start
    uint64_t object_start = 0;  ///< address of the object's first byte in the process
    std::string build_id;       ///< bytes, of the object's file; empty: not known
    uint64_t file_offset = 0;   ///< in that file
    uint64_t address = 0;       ///< in the process
    bool by_offset = false; ///< without a symbol the offset says more than the address: it is gone

    /// Whether the byte before it may be another function's, which it returns to.
    bool is_at_edge() const { return symbol.empty() || symbol_offset == 0; }
};

/// Registers and stack of a thread as a record has them.
struct RecordedThread {
    base::ByteView registers; ///< as struct dbk_user_memory orders them
    base::ByteView stack;     ///< from rsp on
    uint32_t depth = 0;       ///< frames that were asked for
};

struct UnwoundStack {
    std::vector<uint64_t> frames; ///< innermost first; none: nothing was known
    std::string why_short;        ///< why it ends before the outermost; "": it does not
    /// Of them those where a signal came: the others but the first are where a call returns to.
    std::vector<uint64_t> interrupted = {};
};

class UserNames {
public:
    virtual ~UserNames() = default;
    /// Takes what a ring that is at work says by now of what was mapped when, for each look at it;
    /// the last one that is not empty counts.
    virtual void set_maps(formats::ProcessMaps maps) { static_cast<void>(maps); }
    /// Returns the place at `mono_ns` (CLOCK_MONOTONIC; empty: at any time), where it is known what
    /// was when; empty when it is not known, or nothing is mapped there.
    virtual std::optional<UserPlace> find(uint64_t pid, uint64_t address,
                                          std::optional<uint64_t> mono_ns) = 0;
    /// Returns the source line there, "malloc.c:3275"; "" when it is not known.  Of a return
    /// address it is that of the call.
    virtual std::string line(uint64_t pid, uint64_t address, bool is_return,
                             std::optional<uint64_t> mono_ns) {
        static_cast<void>(pid), static_cast<void>(address);
        static_cast<void>(is_return), static_cast<void>(mono_ns);
        return "";
    }
    /// Takes note that a place which find() returned is shown without a function.
    virtual void shown_unnamed(const UserPlace& place) { static_cast<void>(place); }
    /// Returns the program counters that a thread's stack leads to.
    virtual UnwoundStack unwind(uint64_t pid, const RecordedThread& thread,
                                std::optional<uint64_t> mono_ns) {
        static_cast<void>(pid), static_cast<void>(thread), static_cast<void>(mono_ns);
        return {};
    }
};

} // namespace daybreak::analyze
