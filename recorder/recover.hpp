// SPDX-License-Identifier: Apache-2.0
//
// Recovery: what an earlier boot left in the bank becomes a trace file.
//
// image of a half -> header (formats/bank) -> pieces of its boot, checked -> trace file.  From
// /dev/daybreak the half is mapped where it lies, so the new boot may be recording beside it.
#pragma once

#include "formats/bank/bank.hpp"
#include "formats/trace/metadata.hpp"
#include "recorder/old_symbols.hpp"
#include "recorder/record.hpp"

namespace daybreak::recorder {

struct RecoverOptions {
    std::string output_path;      ///< empty: only print what is there
    std::optional<uint32_t> half; ///< empty: the later one
    std::string tool_version;
    bool sealed_only = false; ///< leave out segments without a checksum
    std::string symbols_path; ///< a trace file or kallsyms text; empty: of `running`
    /// Whose symbols are taken when it is the same build; null: none.  That it is another is a
    /// finding.
    const RunningKernel* running = nullptr;
    bool replace = false; ///< a file at output_path; else it is an error
    formats::TraceWriterOptions writer;
};

/// What is in one half.
struct RecoveredHalf {
    uint32_t half = 0;
    std::string problem; ///< why it cannot be read; empty when it can, and then all below holds
    bool empty = false;  ///< no boot recorded into it: that is the problem
    formats::BankHalf facts;
    std::string end;           ///< how the machine ended, and why when that is known; one line
    std::string log;           ///< last lines of the kernel's log; empty when not known
    uint64_t last_wall_ns = 0; ///< the latest time known of it; 0: none
    uint64_t segments = 0, records = 0;
    std::vector<std::string> rings; ///< names of the enablings
};

struct RecoverSummary {
    dbk_ioc_bank bank = {};            ///< as the device has it; zeros for an image
    std::vector<RecoveredHalf> halves; ///< readable ones first, the later before the earlier
    std::optional<uint32_t> written;   ///< which half is in the file
    uint64_t file_bytes = 0;
    std::vector<RecordedRing> rings; ///< this and the next: of the half that was written
    std::vector<formats::Finding> findings;
    /// Whether data that should be in the file is not: exit status 3.
    bool has_losses = false;
};

/// Recovers from the bank that the device shows.  The file appears complete, or not at all.
/// Errors: not_found, when there is no bank, or nothing in it that was to be written; invalid, when
/// the module refused the
///         bank (and why); those of formats::parse_bank_half(); invalid, io for the output.
Result<RecoverSummary> recover_device(DeviceApi& device, const RecoverOptions& options);

/// The same from an image of a bank or of one half.
Result<RecoverSummary> recover_image(ByteView untrusted_image, const std::string& name,
                                     const RecoverOptions& options);

} // namespace daybreak::recorder
