// SPDX-License-Identifier: Apache-2.0
//
// Completeness note: whether everything that was recorded is here, in sentences.
#pragma once

#include "analyze/decode/window.hpp"
#include "formats/segment/recording.hpp"

#include <string>
#include <vector>

namespace daybreak::analyze {

/// Exit statuses that a recording advises; see cmd/.
constexpr int kStatusComplete = 0;
constexpr int kStatusLosses = 3;

/// What is said of a program that the deadman ended (engine/api/engine.h), in DTrace's words.
inline constexpr const char* kUnresponsive = "Abort due to systemic unresponsiveness";

struct CompletenessNote {
    /// Nothing was overwritten, dropped or lost since the first probe fired.
    bool complete = true;
    /// "complete up to ...", when recording went on after the copy was made; else empty.
    std::string until;
    /// Data that should be here is not.  Overwriting is what a ring is for and no loss.
    bool losses = false;
    /// The description of a ring is not here, without which its records cannot be read; another
    /// file of the boot may have it.
    bool undescribed = false;
    /// What is not here, a sentence per ring and CPU and reason; empty when complete.
    std::vector<std::string> reasons;
    uint64_t records_present = 0;
    /// How the machine ended, a sentence; empty when it is not known to have.
    std::string end;
    /// Where the clock of records jumped, a sentence; empty when it did not.
    std::string clock;
    /// Descriptions of clauses that matched no probe, whatever else is here: typing mistakes.
    std::vector<std::string> unmatched;
    /// It is about a window, or the recording is a snapshot of one: what is outside does not count.
    bool is_window = false;

    /// Returns "complete: every record since the first probe is here" ("of the window"), or "not
    /// complete: " and the reasons; after either, what matched nothing, what its clock did and how
    /// the machine ended.
    std::string verdict() const;
    /// Returns the exit status that the recording advises.
    int advised_status() const { return losses ? kStatusLosses : kStatusComplete; }
};

/// Of a window only what is missing between its two times counts; the window that a snapshot was
/// made for is all of the snapshot.
CompletenessNote completeness_of(const formats::Recording& recording,
                                 const TimeWindow& window = {});

/// What a CPU had counted when the last of its records was copied: what came later is not of the
/// copy.
struct CopiedCounts {
    uint64_t records = 0, firings = 0;
};

CopiedCounts copied_counts(const formats::Completeness& cpu);

/// Returns the descriptions of the ring's clauses that no probe matched, neither at first nor when
/// modules brought new ones, sorted: its ECBs name the clause that each was made for.  Empty where
/// something of the recording is lost, for it may be the ECBs.
std::vector<std::string> unmatched_of(const formats::Recording& recording,
                                      const formats::RingRecording& ring);

} // namespace daybreak::analyze
