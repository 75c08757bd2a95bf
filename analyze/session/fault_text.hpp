// SPDX-License-Identifier: Apache-2.0
//
// Fault text: what is said when the execution of a DIF object was given up.
//
// Every consumer adds a clause of its own to dtrace:::ERROR that traces arg1 to arg5; its ECBDESC
// carries kErrorEnabling.  Its records are no output, they are messages.
#pragma once

#include "analyze/decode/program.hpp"
#include "analyze/print/sink.hpp"

#include <array>

namespace daybreak::analyze {

/// arg1 to arg5 of dtrace:::ERROR.
struct FaultArguments {
    uint64_t epid = 0;
    uint64_t action = 0;     ///< counted from 1; 0: the predicate
    int64_t dif_offset = -1; ///< in bytes; -1: not in a DIF object
    uint64_t fault = 0;
    uint64_t address = 0;
};

/// Returns "error on enabled probe ID 3 (ID 7: syscall:vmlinux:read:entry)"; `plan` may be null.
std::string enabling_text(uint64_t epid, const EcbPlan* plan);

/// Returns the message, in DTrace's words.  Where it was is said as the place in the D source, when the
/// program has a table of lines; as the DIF offset when `classic`, or when it has none.
Message fault_message(const FaultArguments& arguments, RingProgram& program, bool classic);

} // namespace daybreak::analyze
