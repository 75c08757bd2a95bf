// SPDX-License-Identifier: Apache-2.0
//
// Symbols for a recording that has none: from another trace of its kernel, a saved kallsyms, or the
// kernel that runs now.
#pragma once

#include "formats/trace/metadata.hpp"
#include "recorder/dump_symbols.hpp"
#include "recorder/symbols.hpp"

namespace daybreak::recorder {

/// Symbols for a recording, and the modules that they are of: of another boot only the kernel's
/// build id, and of a text nothing.
struct OldSymbols {
    formats::SymbolTable symbols;
    std::vector<formats::ModuleInfo> modules;
    bool says_kernel = true; ///< where they came from says of which kernel they are
};

/// Returns the symbols that `path` (a trace file, or the text of /proc/kallsyms) has for the kernel
/// of `recording`.
///
/// A trace of the same boot has them all. One of another boot of the same kernel has the kernel's
/// own, at another address: they are moved by the distance of _stext; modules are left out, for
/// where those lay is not known. The same holds for a kallsyms text, which does not say its boot:
/// with _stext at the same place it counts as of the same boot.
/// Errors: not_found, io; invalid, when it is neither, of another kernel, or has no _stext.
base::Result<OldSymbols> read_old_symbols(const std::string& path,
                                          const formats::Recording& recording);

/// The kernel that runs now.
struct RunningKernel {
    formats::TraceHeader facts; ///< boot_uuid, release and version
    SymbolSource& symbols;
};

/// Returns the running kernel's symbols for `recording`, as read_old_symbols() does those of a
/// trace: all for this boot, the kernel's own, moved, for another boot of the same build.
/// Errors: invalid, when it is another build (release and version), or one of the two does not say
///         where its text began; io.
base::Result<OldSymbols> read_running_symbols(const RunningKernel& kernel,
                                              const formats::Recording& recording);

/// The same of the kernel that a dump is of: a dump holds data of other boots, too.
base::Result<OldSymbols> place_dump_symbols(DumpKernel kernel, const formats::Recording& recording);

/// Returns the symbols, or none with a finding that says why and what helps.
OldSymbols symbols_or_finding(base::Result<OldSymbols> symbols, formats::Findings& findings);

} // namespace daybreak::recorder
