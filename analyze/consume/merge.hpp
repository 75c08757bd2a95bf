// SPDX-License-Identifier: Apache-2.0
//
// RecordMerge: the records of all CPUs and rings in the order of time.
//
// Each CPU of each ring is a run that is in order by itself; a heap of the runs yields the earliest
// record next.  Records of the same instant come in the order of rings and CPUs, so the result does
// not depend on how the recording was put together.  One ring is merged by its ticks; several are
// by CLOCK_MONOTONIC, which their clocks have in common.
#pragma once

#include "formats/segment/recording.hpp"

#include <optional>
#include <vector>

namespace daybreak::analyze {

/// A record and where it came from.
struct MergedRecord {
    size_t ring = 0; ///< index into Recording::rings
    uint16_t cpu = 0;
    formats::RecordView record;
    uint32_t next_epid = 0; ///< of the CPU's next record; 0 when this is its last
};

class RecordMerge {
public:
    /// The recording must outlive the merge.
    explicit RecordMerge(const formats::Recording& recording);

    /// Yields the next record; false at the end.
    bool next(MergedRecord& merged);

private:
    struct Run {
        size_t ring = 0;
        const formats::RingRecording* recording = nullptr;
        const formats::CpuInfo* cpu = nullptr;
        size_t segment = 0; // the next one to be opened
        std::optional<formats::RecordCursor> cursor;
        formats::RecordView current, following;
        bool has_following = false;
        uint64_t key = 0;
    };

    bool advance(Run& run);
    bool read(Run& run, formats::RecordView& record);
    bool later(size_t a, size_t b) const;

    bool by_nanoseconds_;
    std::vector<Run> runs_;
    std::vector<size_t> heap_; // of indexes into runs_, the earliest in front
};

} // namespace daybreak::analyze
