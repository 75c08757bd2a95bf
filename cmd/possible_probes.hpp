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
#include <vector>

namespace daybreak::cmd {

/// How a provider of the kernel module names its probes (docs/probes.md); an empty name is any that
/// a C identifier can be.
struct KernelProbe {
    const char* provider;
    const char* name;
    bool is_one; ///< a single probe, in every kernel
};

/// Returns all of them, in the order of providers.
std::span<const KernelProbe> kernel_probes();

/// Returns whether some kernel with our module could have a probe that the description matches.
bool probe_is_possible(const compiler::ProbeDescription& description);

/// The four parts of a probe's name; an empty one stands for anything.
struct ProbeParts {
    std::string provider, module, function, name;
};

/// Returns the description that was meant by one that matches none of the probes: its misspelt
/// parts replaced by the nearest that there are; "" when nothing is near.
std::string nearest_probe(const compiler::ProbeDescription& description,
                          const std::vector<ProbeParts>& probes);

/// Returns two of the timers that exist once they are named.
std::vector<ProbeParts> example_timers();

/// The same as nearest_probe() for the probes that some kernel with our module could have.
std::string similar_possible_probe(const compiler::ProbeDescription& description);

} // namespace daybreak::cmd
