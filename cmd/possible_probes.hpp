// SPDX-License-Identifier: Apache-2.0
//
// Which probes a kernel can have at all.
//
// An embedded enabling is matched when its kernel boots, and again when modules bring new probes:
// `daybreak compile` cannot know them.  But it knows the providers and how they name their probes,
// and refuses a description that nothing will ever match: a misspelt provider, a timer that is too
// fast, a name that no function or tracepoint can have.
#pragma once

#include "compiler/syntax/ast_types.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace daybreak::cmd {

/// In a part of a KernelProbe or of a ProbeParts that is looked up: any name.
constexpr std::string_view kAnyName = "*";

/// How a provider of the kernel module names its probes (docs/probes.md).
struct KernelProbe {
    enum class Place : unsigned char { none, tracepoint, function };

    const char* provider;
    const char* module; ///< kAnyName: vmlinux, or a module
    const char* function;
    const char* name;
    bool is_one; ///< a single probe, in every kernel that has its place
    Place kind = Place::none;
    const char* where = ""; ///< the kernel's name for the place, a function's without a suffix
    bool is_made = false;   ///< for a description that names its provider, and for no other

    /// Whether a description with that provider can mean it.
    bool is_of(const std::string& pattern) const;
};

/// Returns all of them, in the order of providers.
std::span<const KernelProbe> kernel_probes();

/// Returns whether some kernel with our module could have a probe that the description matches.
bool probe_is_possible(const compiler::ProbeDescription& description);

/// The four parts of a probe's name, or of a description.
struct ProbeParts {
    std::string provider, module, function, name;

    /// Returns them as they are written, without the colons in front.
    std::string text() const;
    bool operator==(const ProbeParts&) const = default;
};

/// Whether the engine itself has a probe that fits, or it is a timer that can be.
bool is_own_or_timer(const ProbeParts& parts);

/// Returns what a description may have meant that has a colon too few or too many, or one in the
/// place of a '-': its parts in other places, the likeliest first.  Empty unless the first part
/// that it has is a provider's name, or that of a timer.
std::vector<ProbeParts> regrouped(const ProbeParts& written);

/// Returns the description that was meant by one that matches none of the probes: regrouped, or its
/// misspelt parts replaced by the nearest that there are; "" when nothing is near.
std::string nearest_probe(const compiler::ProbeDescription& description,
                          const std::vector<ProbeParts>& probes);

/// Of provider boot, what only `daybreak backfill` has: StartEvent::Kind, in its order.
constexpr const char* kBackfillProbes[] = {"loader-done",   "initcall-level", "initcall-start",
                                           "initcall-done", "kernel-message", "module-loaded"};

/// Returns where the probe is that a description names and that no kernel has; "" for all others.
std::string hint_for_backfill_probe(const compiler::ProbeDescription& description);

/// Returns what is wrong with the name of a counter's probe ("cycles-all-5000"); "" when there can
/// be such a counter, where the machine has it.
std::string counter_problem(const std::string& name);

/// Returns two of the timers that exist once they are named.
std::vector<ProbeParts> example_timers();

/// The same as nearest_probe() for the probes that some kernel with our module could have.
std::string similar_possible_probe(const compiler::ProbeDescription& description);

} // namespace daybreak::cmd
