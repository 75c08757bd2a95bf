// SPDX-License-Identifier: Apache-2.0
//
// Merged: partial states put together, and what their program prints of them.
//
//     files --once--> parts: one program, each once, what they cover     MergedStates::add()
//           --again-> states, symbols --> AggregationTable               MergedStates::run()
//                     BEGIN, the states, END, what was not printed
//
// Parts may come in any order and any number of times.  The states' sums are added as records would
// have been counted, so what is printed is what one replay over everything prints.
#pragma once

#include "analyze/live_report.hpp"
#include "analyze/replay/canonical.hpp"
#include "analyze/replay/file_frames.hpp"
#include "formats/aggstate/coverage.hpp"
#include "formats/aggstate/reader.hpp"

#include <functional>
#include <map>

namespace daybreak::analyze {

class MergedStates {
public:
    /// `objects` names functions that no part's machine could, and must outlive it; may be null.
    explicit MergedStates(ObjectFiles* objects = nullptr) { files_.look_in(objects); }

    /// Reads which parts a file has.  It is opened again by run().
    /// Errors: those of read_states(); invalid: of another program than the first.
    base::Result<void> add(const std::string& path);

    /// What all parts cover.  Errors: as CoverageMerge::finish().
    base::Result<formats::CoverageReport> coverage() const { return coverage_.finish(); }
    /// Parts that came again, and count once.
    uint64_t repeated() const { return repeated_; }
    /// All parts, each once.
    const std::map<formats::PartIdentity, formats::StatePart>& parts() const { return parts_; }
    /// Addresses whose names contradict each other; known after run().
    uint64_t unnamed() const { return unnamed_; }

    /// Called now and then while files are read; both may be empty.
    struct Watch {
        std::function<bool()> interrupted;
        std::function<void()> has_read; ///< a file, each of them twice
    };
    /// Parts whose states were added; fewer than there are when it was interrupted.
    uint64_t added() const { return added_; }

    /// Runs BEGIN, adds all states, runs END, prints.  Returns what the program gave to exit().
    /// Once only, after the last add().
    /// Errors: those of read_states() and Simulation::load(); invalid: a part's states differ from
    ///         those that came under its name before; limit: they do not fit into memory.
    base::Result<std::optional<int>> run(ReportOptions options, Sink& sink,
                                         const Watch& watch = {});

private:
    struct Adder;

    base::Result<void> read_symbols(const Watch& watch);
    base::Result<void> add_states(AggregationTable& table, const std::vector<std::string>& names,
                                  uint32_t source, const Watch& watch);

    std::vector<std::string> paths_;
    formats::CoverageMerge coverage_;
    std::map<formats::PartIdentity, formats::StatePart> parts_;
    uint64_t repeated_ = 0, unnamed_ = 0, added_ = 0;
    FramePlaces places_;
    PlacesByName places_by_name_;
    formats::SymbolTable symbols_;
    FileNames files_;
};

} // namespace daybreak::analyze
