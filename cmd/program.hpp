// SPDX-License-Identifier: Apache-2.0
//
// The D program on a command line: where its text is, how it is compiled, and what is said when it
// is wrong.  The same for every subcommand that takes D.
#pragma once

#include "cmd/command.hpp"
#include "compiler/compiler.hpp"
#include "compiler/types/kernel_types.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace daybreak::cmd {

/// What was given.
struct ProgramArguments {
    std::string script;                       ///< -s
    std::string label;                        ///< what the program calls that file; "": its path
    std::string text;                         ///< -n
    std::vector<std::string> options;         ///< -x, "name" or "name=value"
    std::vector<std::string> definitions;     ///< -D
    std::vector<std::string> undefinitions;   ///< -U
    std::vector<std::string> include_folders; ///< -I
    std::vector<std::string> library_folders; ///< -L
    bool preprocess = false;                  ///< -C
    bool quiet = false;                       ///< -q
    bool flowindent = false;                  ///< -F
    bool destructive = false;                 ///< -w
    bool zero_probes_allowed = false;         ///< -Z
    std::string bufsize;                      ///< -b
    std::string kernel;                       ///< --kernel: a release, or the path of an image
    std::string btf;                          ///< --btf: a file
    std::vector<std::string> arguments;       ///< $1, $2, ...
    /// Instead of -s and -n: a text that is there already.
    std::optional<compiler::CompileSource> source;

    /// Returns whether -x NAME was given.
    bool has_option(std::string_view name) const;
};

/// Adds the options to a subcommand; `arguments` must live as long as it.
void add_program_options(Command command, ProgramArguments& arguments);
/// The same without $1, $2, ...: for a subcommand that takes files.
void add_program_text_options(Command command, ProgramArguments& arguments);

/// Says what is wrong with the arguments, as usage errors; empty when nothing is.
std::optional<std::string> program_usage_error(const ProgramArguments& arguments,
                                               const std::string& subcommand);

/// Whether what --kernel names is a file: it is there, or has a '/'.
bool names_kernel_file(const std::string& kernel);

/// Returns where the types are of what --kernel names: a release, or the path of a kernel image.
/// Error: not_found, io, when there is no such file.
base::Result<compiler::KernelSource> kernel_source_of(const std::string& kernel);

/// Returns the folder for what can be made again, below $XDG_CACHE_HOME, or else /var/cache (root)
/// or ~/.cache; "": none.
std::string cache_folder();

/// Returns the values of $pid, $uid and their kin for this process.
std::map<std::string, int64_t, std::less<>> process_macros();

/// Returns an option's value; empty when it is not set.
std::optional<uint64_t> option_of(const formats::DofProgram& program, uint32_t id);

/// Error: invalid, in dtrace(1)'s words, when a program has an action that changes the system and
/// its options do not allow that; `how` is what would.
base::Result<void> check_destructive(const formats::DofProgram& program, const char* how = "-w");

/// Prints on standard error what was wrong: dtrace(1)'s line for the first error, and below it the
/// place, hints, and what else is wrong.  A test suite gets the first line only.
void print_diagnostics(const compiler::CompileOutput& output, const compiler::ClassicStyle& style);

/// Returns a file that comes with this program: where it is installed, or where it was built.
/// Error: not_found.
base::Result<std::string> own_file(const char* installed, const char* built);

/// A compiled program.
struct CompiledProgram {
    base::Bytes dof;
    formats::DofProgram program;
    std::string normalized;  ///< its text: CompileOutput::normalized
    std::string description; ///< "script 'x.d'" or "description 'BEGIN'", for notices
    std::string release;     ///< of the kernel whose types it was compiled with; "" when none
    std::vector<compiler::ClauseStability> stability; ///< of its clauses, for -v
    /// What it was compiled for; null without --kernel and --btf.
    std::unique_ptr<compiler::BtfKernelTypes> kernel;
    bool has_clause_left_out = false; ///< see compiler::CompileOutput

    /// Returns an option's value; empty when it is not set.
    std::optional<uint64_t> option(uint32_t id) const { return option_of(program, id); }
};

/// Which probes a description can match; see compiler::CompileOptions.
struct KnownProbes {
    std::function<bool(const compiler::ProbeDescription&)> exist;
    std::function<std::string(const compiler::ProbeDescription&)> similar;
    /// Empty: probes that only `daybreak backfill` has are said to be its.
    std::function<std::string(const compiler::ProbeDescription&)> hint = {};
    const compiler::RecordedState* recorded = nullptr; ///< of a replay
    bool where_possible = false;                       ///< see compiler::CompileOptions
    bool names_machines = false;                       ///< the same
    std::optional<uint32_t> target = {};               ///< $target
    std::string target_hint = {};    ///< without one, see compiler::CompileOptions
    bool target_is_variable = false; ///< the same
    std::string library = {};        ///< D text that belongs to the probes
};

/// Returns a script's bytes as text.  Error: a compiled program, or bytes that no D has; `path` is
/// named.
base::Result<std::string> script_text(const std::string& path, base::ByteView bytes);

/// Reads, preprocesses and compiles.  Empty: what was wrong is on standard error, the exit status
/// is Exit::failed.
std::optional<CompiledProgram> compile_program(const ProgramArguments& arguments,
                                               const KnownProbes& probes);
/// The same, but says nothing.  Error: invalid, the text of what is wrong first; or a file that
/// cannot be read.
base::Result<CompiledProgram> compile_quietly(const ProgramArguments& arguments,
                                              const KnownProbes& probes);

} // namespace daybreak::cmd
