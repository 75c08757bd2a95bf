// SPDX-License-Identifier: Apache-2.0
//
// The sessions without the module (docs/design/0045-nothing-made-up.md).
#pragma once

#include "engine/sim/bare_host.hpp"
#include "live/session/session.hpp"

#include <memory>

namespace daybreak::live {

/// CPUs of a machine whose time is made up, too.
constexpr uint32_t kVirtualCpus = 2;

struct SimulatedSessionOptions {
    /// Whether simulated processes make system calls and a simulated kernel has variables.  Else
    /// nothing is there that is not real: BEGIN, END, ERROR, timers, and what processes of -c do.
    bool made_up = false;
    /// Its time jumps from one event to the next, and it has kVirtualCpus: every run is the same.
    /// Processes of -c and -p have no part in it.
    bool virtual_time = false;
    uint32_t cpu_count = 1; ///< of this machine; one with more than 64 is simulated with these
    sim::SimThread thread;  ///< in which BEGIN and END run: this process
};
/// Opens a session on a simulated machine; its clock is the real one unless its time is virtual.
base::Result<std::unique_ptr<Session>>
open_simulated_session(const SimulatedSessionOptions& options, SessionOutside outside);

} // namespace daybreak::live
