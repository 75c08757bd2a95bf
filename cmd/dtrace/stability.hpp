// SPDX-License-Identifier: Apache-2.0
//
// Stabilities of probes, and the blocks of text in which -v prints attributes.
#pragma once

#include "compiler/sema/stability.hpp"
#include "live/session/session.hpp"

#include <string>
#include <vector>

namespace daybreak::cmd {

/// Returns the attributes of a probe: those of its provider's names, of the parts that it has.
compiler::Attributes probe_attributes(const live::SessionProbe& probe);
/// Returns those of the probe's arguments.
compiler::Attributes argument_attributes(const live::SessionProbe& probe);

/// Appends "\n\t<title>\n\t\tIdentifier Names: Stable\n" and the other two lines.
void print_attributes(std::string& out, const char* title, const compiler::Attributes& attributes);

/// Returns what -v prints of a program, "script 'x.d'": the minima over its clauses.
std::string stability_text(const std::string& description,
                           const std::vector<compiler::ClauseStability>& clauses);

} // namespace daybreak::cmd
