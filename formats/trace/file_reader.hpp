// SPDX-License-Identifier: Apache-2.0
//
// One file of a recording: its blocks taken apart, its pieces handed to the builder of all files.
#pragma once

#include "formats/trace/block_store.hpp"
#include "formats/trace/raw_budget.hpp"
#include "formats/trace/reader.hpp"

namespace daybreak::formats {

/// What a file says beside its pieces.
struct FileContent {
    TraceFile file;
    SymbolTable symbols;
    std::optional<SharedSymbols> shared_symbols;
    std::optional<TraceSummary> summary;
    JitNames jit_names;
    Findings findings; ///< about the file itself

    /// Returns the file's number in its row, as it says itself or as its name does; 0: none.
    uint32_t number() const;
};

/// Reads a file's blocks.  Metadata goes to `builder`, which copies it; segments and aggregation
/// snapshots stay in the file, where `store` finds them.  `prefix` is put before the places that
/// findings name: "FILE: " when there are several files, else "".  `skim` as in ReadOptions.
/// Error: invalid when it holds not one block of a trace file.
Result<FileContent> read_blocks(const std::shared_ptr<base::ByteSource>& untrusted_file,
                                const std::string& name, const std::string& prefix,
                                RecordingBuilder& builder, RawBudget& budget,
                                const std::shared_ptr<BlockStore>& store, bool skim = false);

/// Returns the header that lies in the first kBeginningBytes of a file, empty when it does not.
std::optional<TraceHeader> find_header(base::ByteSource& untrusted_file);

/// Returns the number in a recorder's file name: 12 of "DIR/1122aabb-000012+oops.dbrk"; 0: none.
uint32_t file_number_in(const std::string& path);

/// Returns the name of the file that has the symbols of a boot for other files of a folder:
/// "1122aabb-symbols.dbrk".  Of the boot's name the first 8 digits are in it.
std::string symbols_file_name(const std::string& boot);
/// Returns those digits of a file's name; empty when it is not one of symbols.
std::string boot_of_symbols_file(const std::string& name);
/// Returns where that file is for a file at `path`: beside it.
std::string symbols_path(const std::string& path, uint64_t boot_id);
/// Why the symbols of a file that says another boot, or none, are not used.
constexpr const char* kSymbolsOfUnknownBoot =
    "it is not known to be of this boot: its symbols are not used";

/// How names of trace files end.
constexpr std::string_view kTraceSuffix = ".dbrk";

/// Returns the names of a folder's trace files, ascending.
Result<std::vector<std::string>> list_trace_files(const std::string& folder);

/// A header lies within so many bytes: before it is but the schema.
constexpr size_t kBeginningBytes = 256u << 10;

/// Returns the first 8 bytes of a boot's UUID as segments have them.
uint64_t boot_of(const std::array<uint8_t, 16>& uuid);

} // namespace daybreak::formats
