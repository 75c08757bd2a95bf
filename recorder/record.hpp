// SPDX-License-Identifier: Apache-2.0
//
// Recording: what an embedded program recorded becomes a trace file.
//
// claim -> stop (END fires) -> copy metadata, segments, aggregations -> summary ->
// rename. With `keep` nothing is claimed or stopped: all rings are copied while writing goes on.
//
// The recorder never decodes a record and never runs D: it copies pieces and counts records by
// their lengths.  The trace file appears under its name complete, or not at all.
#pragma once

#include "formats/segment/coverage.hpp"
#include "formats/trace/writer.hpp"
#include "recorder/device.hpp"
#include "recorder/jit_texts.hpp"
#include "recorder/symbols.hpp"

#include <functional>

namespace daybreak::recorder {

struct RecordOptions {
    std::string output_path;
    bool replace = false;        ///< a file at output_path; else it is an error
    bool keep = false;           ///< copy, and leave the rings as they are
    uint16_t ring_id = 0;        ///< the ring to claim; 0: the oldest without an owner
    bool with_symbols = true;    ///< false: they lie in a file of their own
    formats::TraceHeader header; ///< host facts; origin and modules are filled in
    formats::TraceWriterOptions writer;
    /// What runtimes call the code that they make, asked when the recording has maps of processes;
    /// may be empty.
    std::function<JitTexts(const formats::KnownProcesses&)> jit_texts;
    std::function<formats::HostClocks()> clocks; ///< for the end's reading; may be empty
};

enum class RecordStep : uint8_t { symbols, claiming, stopping, copying, finishing };

/// Called now and then; done and total count bytes of regions and are 0 but while copying.
using RecordProgress = std::function<void(RecordStep step, uint64_t done, uint64_t total)>;
/// Asked now and then; true ends the copying early.
using StopRequested = std::function<bool()>;

/// One ring of the file that was written.
struct RecordedRing {
    uint16_t ring_id = 0;
    std::string name;
    formats::Completeness sum;
};

/// Returns what `recording` has of each ring.
std::vector<RecordedRing> recorded_rings(const formats::Recording& recording);

struct RecordSummary {
    uint64_t file_bytes = 0;
    std::string symbols_path;    ///< has the file's symbols; empty: it has them itself
    bool interrupted = false;    ///< a good file, but shorter than it could be
    uint32_t anonymous_left = 0; ///< anonymous rings that are still to be claimed
    std::vector<RecordedRing> rings;
    std::vector<formats::Finding> findings;
    /// Of a snapshot of a window, CLOCK_MONOTONIC; window_to_ns 0: everything.
    uint64_t window_from_ns = 0, window_to_ns = 0;
    std::vector<formats::CpuCoverage> uncovered; ///< CPUs of which the window is not whole

    /// Whether data that should be in the file is not: exit status 3.  That is: drops of any
    /// cause, records or segments lost to damage, findings of a kind that is a loss, or an
    /// interruption.  Records that a ring overwrote are what a ring is for, and no loss.
    bool has_losses = false;
};

/// Records.  `progress` and `stop_requested` may be empty.
///
/// A stop request while rings are being copied ends that; metadata, symbols and the segments copied
/// so far make a good shorter file, marked interrupted.  Before the ring was claimed it is an Error
/// (interrupted) and nothing has changed.
///
/// The output file is made, and the room on its disk looked at, before anything is claimed: a ring
/// that was claimed goes when the device is closed.  So when writing fails after the claim, the
/// file stays as far as it was written, and the Error says so.
///
/// Errors: not_found, when there is no boot recording (or, with keep, no ring); busy; unsupported,
///         when the module speaks another version; invalid, io for the output; io for the device.
Result<RecordSummary> claim_and_record(DeviceApi& device, SymbolSource& symbols,
                                       const RecordOptions& options,
                                       const RecordProgress& progress = {},
                                       const StopRequested& stop_requested = {});

} // namespace daybreak::recorder
