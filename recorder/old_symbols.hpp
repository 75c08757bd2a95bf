// SPDX-License-Identifier: Apache-2.0
//
// Symbols for a recording whose kernel is gone: from an earlier trace of it, or a saved kallsyms.
#pragma once

#include "formats/trace/metadata.hpp"

namespace daybreak::recorder {

/// Returns the symbols that `path` (a trace file, or the text of /proc/kallsyms) has for the kernel
/// of `recording`.
///
/// A trace of the same boot has them all. One of another boot of the same kernel has the kernel's
/// own, at another address: they are moved by the distance of _stext; modules are left out, nobody
/// knows where those lay. The same holds for a kallsyms text, which does not tell its boot: with
/// _stext at the same place it counts as of the same boot.
/// Errors: not_found, io; invalid, when it is neither, of another kernel, or has no _stext.
base::Result<formats::SymbolTable> read_old_symbols(const std::string& path,
                                                    const formats::Recording& recording);

} // namespace daybreak::recorder
