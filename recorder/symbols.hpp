// SPDX-License-Identifier: Apache-2.0
//
// The kernel's symbols and modules, from the texts of /proc/kallsyms and /proc/modules.
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
};

/// /proc of this kernel.
class ProcSymbolSource : public SymbolSource {
public:
    Result<std::string> kallsyms() override;
    Result<std::string> modules() override;
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

/// Returns a trace file that holds nothing but symbols: those of one boot, for many files of it.
Result<Bytes> symbols_file(const formats::TraceHeader& header, const formats::SymbolTable& symbols,
                           int zstd_level = 3);

} // namespace daybreak::recorder
