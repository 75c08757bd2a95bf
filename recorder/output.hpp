// SPDX-License-Identifier: Apache-2.0
//
// RecordOutput: the trace file that a recording becomes; what claiming and snapshots share.
//
//     open() -> begin() -> add_symbols() -> writer().add_piece()* -> finish()
#pragma once

#include "base/file.hpp"
#include "formats/trace/file_reader.hpp"
#include "formats/trace/writer.hpp"
#include "recorder/record.hpp"

namespace daybreak::recorder {

/// Returns the Error for a kernel that has no ring, with the module's reason when it has one.
Error no_state(const dbk_ioc_status& status);

/// Returns the content of the symbols file that a trace file at `path` may refer to: of this boot,
/// not damaged, and of the same user, since another who can write there could change names
/// afterwards.  Empty: there is none.
std::optional<formats::FileContent> symbols_beside(const std::string& path, uint64_t boot_id);

class RecordOutput {
public:
    RecordOutput(const RecordOptions& options, SymbolSource& symbols,
                 const RecordProgress& progress)
        : options_(options), symbols_(symbols), progress_(progress) {}

    /// Makes the file, under another name, and looks whether its disk has room for what is likely
    /// to come: `all_rings`, or the largest.
    Result<void> open(DeviceApi& device, bool all_rings);
    /// Writes the header, with the modules of the kernel.
    Result<void> begin(formats::TraceHeader header);
    formats::TraceWriter& writer() { return *writer_; }
    /// Findings of the copying, to stand with those of the recording.
    formats::Findings& findings() { return findings_; }
    /// Writes the kernel's symbols, or refers to those that the folder has of this boot: first, so
    /// that a file that is cut has them.
    Result<void> add_symbols();
    /// Writes the end and puts the file in place.  `recording` is what it holds.
    Result<RecordSummary> finish(const formats::Recording& recording, bool interrupted);
    /// When `why` kept a claimed ring, which cannot be read again, from being written: puts a file
    /// in place that ends where writing failed.  Returns the Error to report.
    Error keep_what_fitted(Error why);

private:
    Result<void> add_jit_names(const formats::KnownProcesses& known, formats::Findings& findings);
    bool is_short_of_room(uint64_t bytes) const;
    bool take_back() const;
    std::optional<formats::SharedSymbols> shared(const formats::SymbolTable& table);
    Result<void> check_room(DeviceApi& device, bool all_rings) const;
    void tell(RecordStep step) const {
        if (progress_)
            progress_(step, 0, 0);
    }

    const RecordOptions& options_;
    SymbolSource& symbols_;
    const RecordProgress& progress_;
    std::optional<base::OutputFile> file_;
    std::optional<formats::TraceWriter> writer_;
    formats::Findings findings_;
    formats::TraceHeader header_;
    std::string symbols_path_; ///< that the file refers to; empty: none
};

} // namespace daybreak::recorder
