// SPDX-License-Identifier: Apache-2.0
//
// -l: the probes that the programs name, or all there are; -v: what is known of them.
#pragma once

#include "cmd/dtrace/output.hpp"
#include "cmd/dtrace/programs.hpp"

namespace daybreak::cmd {

/// Lists what each program of the command line names, in their order, and says which description
/// names nothing; without programs, every probe.  -v has what args[] is by the types of `kernel`,
/// which may be null.
void list_probes(const DtraceArguments& arguments, const CompiledPrograms* compiled,
                 live::ProbeIndex& probes, compiler::KernelTypes* kernel, DtraceOutput& output);

/// Appends what -l prints of a probe, and what -lv does if `types` is not null.
void print_listed(std::string& text, const live::SessionProbe& probe,
                  compiler::ProbeArgumentTypes* types);

/// Returns what is said of a description that names none of the probes, with the reason if Linux
/// has no place for it.
std::string unmatched_text(const formats::DofProbeName& description);

/// Prints the stabilities of the index-th program, for -v.
void print_stability(const CompiledPrograms& compiled, size_t index, DtraceOutput& output);

} // namespace daybreak::cmd
