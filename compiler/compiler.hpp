// SPDX-License-Identifier: Apache-2.0
//
// The compiler: D text and a kernel's types in, DOF and diagnostics out.
//
//     CompileOptions options;
//     options.sources = {{"boot.d", text}};
//     BtfKernelTypes kernel({.release = "6.1.0-56-amd64"});
//     options.kernel = &kernel;
//     CompileOutput output = compile(options);
//     if (!output.dof) print(render_all(output.diagnostics, output.sources, {}, {}));
//
// Nothing is printed, no file is opened but through the KernelTypes, and only if the program
// mentions a type that neither D nor the program has.
#pragma once

#include "compiler/diagnostics/diagnostic.hpp"
#include "compiler/dlib/libraries.hpp"
#include "compiler/sema/recorded_state.hpp"
#include "compiler/sema/stability.hpp"
#include "compiler/syntax/parser.hpp"
#include "compiler/types/kernel_types.hpp"
#include "formats/dof/dof_program.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace daybreak::compiler {

/// One text: a script, or the argument of -n and its kin.
struct CompileSource {
    std::string name; ///< what messages call it; for SourceKind::string the text itself
    std::string text;
    SourceKind kind = SourceKind::file;
    ProbeSpec probe_spec = ProbeSpec::name; ///< how short probe descriptions are read
};

struct CompileOptions {
    /// Compiled in order as one program: they share variables and aggregations.
    std::vector<CompileSource> sources;
    std::vector<std::string> arguments;                 ///< $1, $2, ...
    std::map<std::string, int64_t, std::less<>> macros; ///< $pid, $target, ...
    /// Why $target is not known and what to do; "": it comes with -c and -p.
    std::string target_hint;
    /// $target is what `recorded` has by that name: another process in each recording.
    bool target_is_variable = false;
    /// -x name=value, in order; a name without a value has none.  Pragmas come after these.
    std::vector<std::pair<std::string, std::optional<std::string>>> options;

    /// D libraries, of -L and -x libdir: all are loaded, before the sources.
    std::vector<Library> libraries;
    bool system_libraries = true; ///< false: -x syslibdir, the folder's are in `libraries`

    /// The kernel whose types the program may use; null: curthread->x and args[] are errors that
    /// say so.  Must outlive the call.
    KernelTypes* kernel = nullptr;
    /// Release the image says it was compiled for, when `kernel` is null or knows none.
    std::string release;
    std::string compiler_version = "daybreak";

    /// Returns whether a description matches any probe.  Empty: all do (an embedded enabling's
    /// probes may come later).  When set, one that matches nothing is D_PDESC_ZERO.
    std::function<bool(const ProbeDescription&)> probe_exists;
    /// What the program is replayed over; null: it is for a machine.  Clauses are compiled for each
    /// recorded probe that they match.  Must outlive the call.
    const RecordedState* recorded = nullptr;
    /// Probe descriptions may have a machine's name before the provider: five parts.
    bool names_machines = false;
    /// Clauses that ask what was not recorded are left out where it was not, with a warning that
    /// says what; an error when none is left.
    bool where_possible = false;
    /// Returns what a description that matches nothing may have meant; "" when nothing is near it.
    std::function<std::string(const ProbeDescription&)> similar_probe;
    /// Returns what is to be said of a description that matches nothing; "" when nothing is known
    /// of it in particular.  Asked before all else.
    std::function<std::string(const ProbeDescription&)> hint_for_probe;
    /// What to do about a description that matches nothing and resembles nothing.
    std::string hint_for_any_probe =
        "dtrace -l shows the probes there are; -Z accepts ones that come later";
    bool zero_probes_allowed = false;     ///< -Z: as if probe_exists were empty
    bool unused_arguments_allowed = true; ///< false: an unused argument is D_MACRO_UNUSED
    bool default_arguments = false;       ///< -x defaultargs
    bool empty_allowed = false;           ///< -x empty
    bool store_source = true;             ///< put the texts into the image
    /// Add the clause of dtrace:::ERROR that reports faults, as every port does: an ECB with uarg 1
    /// that records arg1 to arg5.  A printer makes "error on enabled probe ..." of it.
    bool error_clause = true;
};

/// A provider that a program declares, for provider_header().
struct DeclaredProvider {
    struct Argument {
        std::string type;   ///< as C text
        uint32_t bytes = 0; ///< 0: neither an integer nor a pointer
        bool is_signed = false, is_pointer = false;
    };
    struct Probe {
        std::string name; ///< as written: "two__parts"
        std::vector<Argument> arguments;
    };
    std::string name;
    std::vector<Probe> probes;
};

struct CompileOutput {
    std::optional<base::Bytes> dof; ///< set if and only if there are no errors
    formats::DofProgram program;    ///< what `dof` holds: for `compile -S` and listings
    /// The sources in canonical form, macros replaced: the same for programs that differ in blanks,
    /// comments and parentheses that are not needed.  Only of a program that is replayed.
    std::string normalized;
    bool has_clause_left_out = false; ///< of where_possible: one that none of its probes can have
    DiagnosticSink diagnostics;       ///< warnings too
    SourceManager sources;            ///< what the diagnostics point into
    std::vector<DeclaredProvider> providers; ///< of the sources, not of libraries
    std::vector<std::string> libraries;      ///< paths of those that were loaded, in order
    /// For each of program.ecbs the index in CompileOptions::sources it comes from; the ECB of
    /// the error clause, which is the last, has none.
    std::vector<size_t> ecb_sources;
    /// Those of program.ecbs, by index, that are a later part of a clause that `if` divided.
    std::set<size_t> continued_ecbs;
    /// For each of program.ecbs but the error clause's: how far one may rely on it.  `dtrace -v`
    /// prints the minimum over those of a program.
    std::vector<ClauseStability> stability;
};

/// Returns the header of `dtrace -h`, in C and C++: a macro per probe that fires it, one that says
/// whether it is enabled, and what they need.  `file_name` is the header's, "prov.h", which its
/// guard is made of.  Every argument is an integer or a pointer.
std::string provider_header(const std::vector<DeclaredProvider>& providers,
                            const std::string& file_name);

/// What args[] of probes has, for listings: what a program that names the probe would be given.
class ProbeArgumentTypes {
public:
    /// `kernel` may be null: then only of the probes that it has no say in.  It must outlive this.
    explicit ProbeArgumentTypes(KernelTypes* kernel);
    ~ProbeArgumentTypes();
    /// Returns the types of args[0], args[1], ... as C text; nothing when the kernel's types are
    /// not there or do not have the function or tracepoint.
    std::optional<std::vector<std::string>> of(const ProbeDescription& probe);

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Compiles.  Pure but for what `options.kernel` reads.
CompileOutput compile(const CompileOptions& options);

} // namespace daybreak::compiler
