// SPDX-License-Identifier: Apache-2.0
//
// Stabilities: how far one may rely on a probe or a program, as -v prints it.
#pragma once

#include "cmd/dtrace/session.hpp"
#include "formats/dof/dof_program.hpp"

#include <string>

namespace daybreak::cmd {

/// DTrace's words, from the least to the most.
enum class Stability : uint8_t {
    internal,
    private_,
    obsolete,
    external,
    unstable,
    evolving,
    stable,
    standard
};
enum class DependencyClass : uint8_t { unknown, cpu, platform, group, isa, common };

struct Attributes {
    Stability names = Stability::stable;
    Stability data = Stability::stable;
    DependencyClass dependency = DependencyClass::common;
};

/// Returns the lesser of each.
Attributes minimum(const Attributes& a, const Attributes& b);

/// Returns the attributes of a probe's description: those of its provider's names, of the parts
/// that the probe has.
Attributes probe_attributes(const SessionProbe& probe);
/// Returns those of the probe's arguments.
Attributes argument_attributes(const SessionProbe& probe);
/// Returns the minimum over what a clause's code uses.
Attributes statement_attributes(const formats::DofProgram& program, const formats::DofEcb& ecb);

/// Appends "\n\t<title>\n\t\tIdentifier Names: Stable\n" and the other two lines.
void print_attributes(std::string& out, const char* title, const Attributes& attributes);

} // namespace daybreak::cmd
