// SPDX-License-Identifier: Apache-2.0
//
// What the simulated machine takes from the real one: this process, the CPUs and the clocks.
#pragma once

#include "engine/sim/bare_host.hpp"

#include <ctime>

namespace daybreak::cmd {

/// Returns the thread in which BEGIN and END run: the tracer, this process under dtrace's name.
sim::SimThread this_process();

/// Returns how many CPUs are online, at least 1.
uint32_t online_cpus();

/// Returns a clock's time in ns.
uint64_t clock_ns(clockid_t clock);

} // namespace daybreak::cmd
