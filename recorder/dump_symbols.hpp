// SPDX-License-Identifier: Apache-2.0
//
// The kernel's symbols out of its own memory, in a dump.
//
// VMCOREINFO says where a kernel (6.0 and later) keeps what /proc/kallsyms prints from.  Its pages
// are kept while the dump is scanned, and taken apart at the end:
//
//     names        length, then as many tokens, for each symbol; the first letter is its type
//     token_index  where each of 256 tokens begins in token_table, where it ends with a NUL
//     offsets      one per symbol, from relative_base
//
// How offsets count differs between kernels and is written nowhere: the way that puts _stext where
// VMCOREINFO has it is right, and with neither there are no symbols.  Modules have theirs
// elsewhere: they stay without.
#pragma once

#include "formats/dump/dump.hpp"
#include "formats/trace/metadata.hpp"

#include <map>

namespace daybreak::recorder {

using base::Result;

/// The kernel of a dump.
struct DumpKernel {
    std::string release, version; ///< as uname(2) said
    base::Bytes build_id;         ///< empty: VMCOREINFO does not say it, as before 5.9
    formats::SymbolTable symbols; ///< its own, where they lay
};

class DumpSymbols {
public:
    /// Takes VMCOREINFO, before any memory; another one replaces it.
    void vmcoreinfo(std::string_view untrusted_text);
    /// Whether the page that lies there belongs to the symbols.
    bool wants(uint64_t phys_addr) const;
    /// Takes memory, whole pages; what is not wanted is left.
    void pages(uint64_t phys_addr, base::ByteView untrusted_bytes);

    /// Returns the kernel and its symbols.
    /// Errors: not_found, when the dump does not say where they are, or has not all of their pages;
    ///         invalid, when they contradict themselves or VMCOREINFO.
    Result<DumpKernel> kernel() const;

private:
    struct Range {
        uint64_t begin, end; // physical, whole pages
    };

    Result<uint64_t> fact(const char* name) const;
    Result<base::Bytes> read(uint64_t address, size_t bytes) const;
    Result<std::vector<std::string>> read_names(uint64_t count) const;
    Result<formats::SymbolTable> read_table() const;
    void want(uint64_t from, uint64_t to);

    std::map<std::string, uint64_t, std::less<>> facts_; // "SYMBOL(_stext)" and the like
    base::Bytes build_id_;
    std::vector<Range> ranges_;
    std::map<uint64_t, base::Bytes> pages_; // by physical address
};

} // namespace daybreak::recorder
