// SPDX-License-Identifier: Apache-2.0
//
// The programs of dtrace's command line, compiled into one image.
//
// Each -n, -s and its kin is a program of its own for messages, but they share their variables and
// aggregations, as in dtrace(1).
#pragma once

#include "cmd/dtrace/options.hpp"
#include "compiler/compiler.hpp"
#include "compiler/types/kernel_types.hpp"
#include "live/session/probe_index.hpp"

namespace daybreak::cmd {

/// What the command line's programs became.
struct CompiledPrograms {
    compiler::CompileOutput output;
    std::vector<std::string> descriptions; ///< "script 'x.d'", "description 'BEGIN'"

    const base::Bytes& dof() const { return *output.dof; }
    const formats::DofProgram& program() const { return output.program; }
    /// Returns an option's value; empty when it is not set.
    std::optional<uint64_t> option(uint32_t id) const;
    /// Returns the ECBs of the index-th program of the command line.
    std::vector<const formats::DofEcb*> ecbs_of(size_t index) const;
};

struct CompileSetting {
    live::ProbeIndex* probes = nullptr; ///< null: any probe may exist
    std::optional<int64_t> target;      ///< $target
    bool is_simulated = false;          ///< the module is not there
    bool has_command = false;           ///< of -c
    compiler::KernelTypes* kernel = nullptr;
};

/// Reads, preprocesses and compiles.  Empty: what was wrong is on standard error.
std::optional<CompiledPrograms> compile_programs(const DtraceArguments& arguments,
                                                 const CompileSetting& setting);

/// Returns whether -x NAME was given.
bool has_setting(const DtraceArguments& arguments, std::string_view name);

} // namespace daybreak::cmd
