// SPDX-License-Identifier: Apache-2.0
//
// What our entries say to the kernel.
#pragma once

#include <functional>
#include <string>

namespace daybreak::install {

constexpr const char* kEarlyInitArgument = "rdinit=/daybreak/early-init";
/// The kernel keeps its initcalls for `daybreak backfill`, by a clock that it does not change
/// later.
constexpr const char* kKernelStartArguments = "trace_event=initcall trace_clock=x86-tsc";

/// Whether a boot with that argument ends in a shell for repairs: no unit would run after it.
bool is_for_recovery(const std::string& argument);

/// Returns early-init, and the memory of a bank ("64M@0x20000000", or "").
std::string own_arguments(const std::string& bank);

/// Returns the argument of `own` that the distribution's entry has already; null: none.
const char* doubled_argument(const std::string& own,
                             const std::function<bool(const char*)>& has_argument);

/// Returns `own` with what our entry has unless the distribution's has the like: that it
/// comes back after a panic, and kKernelStartArguments.
/// `has_argument`: whether the distribution's entry has an argument of that name.
std::string entry_arguments(const std::string& own,
                            const std::function<bool(const char*)>& has_argument);

} // namespace daybreak::install
