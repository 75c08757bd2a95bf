// SPDX-License-Identifier: Apache-2.0
//
// Coverage: what parts have read between them, and what none of them has.
//
// Of each CPU a part has runs of segments, in its window of time; so parts are rectangles:
//
//     sequence  |#########|       | part 1: segments 1..9, all of the time
//               |         |###|   | part 2: segments 10..14, up to 20 s
//               |         |   |?  | in no part: 10..14 from 20 s on
//               +------------------->
//
// Two that overlap would count records twice: that is an error.  Holes are said.
#pragma once

#include "formats/aggstate/state.hpp"

#include <map>
#include <memory>
#include <set>

namespace daybreak::formats {

struct CoverageReport {
    uint64_t parts = 0, boots = 0;
    uint64_t records = 0, firings = 0;
    /// What is missing, or was lost before: sentences, the first kHolesReported of each sort.
    std::vector<std::string> missing;
    /// What is to be said besides, and does not mean a loss.
    std::vector<std::string> notes;
};

/// Holes that are named one by one.
constexpr size_t kHolesReported = 20;

class CoverageMerge {
public:
    /// A part that was not added yet, and the file that it came in.
    void add(const StatePart& part, const std::string& file);
    /// Errors: invalid: two parts have the same records; limit: the parts are too many to compare.
    Result<CoverageReport> finish() const;

private:
    struct Part {
        uint64_t replay_drops = 0;
        std::string file;
    };
    using Parts = std::map<PartIdentity, Part>;
    /// What a part has of one CPU.
    struct Piece {
        CoveredRun run;
        uint64_t since_ns = 0, until_ns = 0;
        const Parts::value_type* part = nullptr;
    };
    struct Cpu {
        uint64_t committed = 0, first_kept = 0, newest = 0, faults = 0;
        DropCounts drops{};
        std::vector<Piece> pieces;
    };
    struct Boot { ///< in one ring
        std::string host;
        uint64_t parts = 0;
        uint64_t since_ns = UINT64_MAX, until_ns = 0;
        uint64_t from_ns = UINT64_MAX, to_ns = 0; ///< of the records
        bool keeps_thread_state = false;
        bool holds_firings = false;
        std::set<Digest> digests; ///< more than one: the parts have other segments
        std::map<uint16_t, Cpu> cpus;
    };
    void find_rings_of_one_time(std::vector<std::string>& losses) const;
    class Sweep;
    static std::string part_text(const Parts::value_type& part);

    std::map<std::pair<uint64_t, uint16_t>, Boot> boots_; // by boot and ring
    Parts parts_;
    bool keeps_global_state_ = false, has_ticks_ = false;
    uint64_t records_ = 0, firings_ = 0;
};

} // namespace daybreak::formats
