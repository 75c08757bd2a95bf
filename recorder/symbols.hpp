// SPDX-License-Identifier: Apache-2.0
//
// The kernel's symbols and modules, from the texts of /proc/kallsyms and /proc/modules, and their
// build ids, from the notes in /sys.
#pragma once

#include "formats/trace/metadata.hpp"

#include <string_view>

namespace daybreak::recorder {

using base::Bytes;
using base::ByteView;
using base::Result;

/// Where the texts come from.
class SymbolSource {
public:
    virtual ~SymbolSource() = default;
    virtual Result<std::string> kallsyms() = 0;
    virtual Result<std::string> modules() = 0;
    /// The ELF notes of a loaded module, or of the kernel itself: "vmlinux".
    virtual Result<Bytes> notes(const std::string& module) = 0;
};

/// /proc and /sys of this kernel.
class ProcSymbolSource : public SymbolSource {
public:
    Result<std::string> kallsyms() override;
    Result<std::string> modules() override;
    Result<Bytes> notes(const std::string& module) override;
};

/// What became of the kernel's list of symbols.
struct KallsymsFacts {
    size_t symbols = 0;       ///< taken
    size_t lines_refused = 0; ///< not of the form "address type name [module]"
    size_t left_out = 0;      ///< of more than `symbols_max`
    bool hidden = false;      ///< there are symbols, but the kernel shows all addresses as 0
};

/// Adds the symbols of `untrusted_text` to the table and finishes it.  Absolute symbols (offsets
/// into per-CPU memory and the like) are left out: they are no addresses.
KallsymsFacts parse_kallsyms(std::string_view untrusted_text, formats::SymbolTable& table,
                             size_t symbols_max = formats::kSymbolsMax);

/// Returns the loaded modules that `untrusted_text` lists; lines of another form are left out.
std::vector<formats::ModuleInfo> parse_modules(std::string_view untrusted_text);

/// Returns the kernel and the loaded modules with their build ids, as far as the source has them.
/// The kernel comes first, as "vmlinux", without an address, which its symbols have; it is left out
/// when its build id is not known.
/// Error: those of modules(); what is known of the kernel is in `modules` all the same.
Result<void> read_modules(SymbolSource& source, std::vector<formats::ModuleInfo>& modules);

/// Returns a trace file that holds nothing but symbols: those of one boot, for many files of it.
Result<Bytes> symbols_file(const formats::TraceHeader& header, const formats::SymbolTable& symbols,
                           int zstd_level = 3);

} // namespace daybreak::recorder
