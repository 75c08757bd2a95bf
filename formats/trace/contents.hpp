// SPDX-License-Identifier: Apache-2.0
//
// The table of contents of a file with many index blocks: made while it is written, found by a
// reader who wants a part of it (docs/design/0070-runs-of-segments.md).
#pragma once

#include "base/byte_source.hpp"
#include "formats/segment/clock_pairs.hpp"
#include "formats/trace/metadata.hpp"

#include <map>
#include <optional>

namespace daybreak::formats {

/// Gathers what a file's blocks are.
class ContentsMaker {
public:
    /// A file with fewer index blocks needs none.
    static constexpr size_t kGroupsMin = 8;

    /// A block that is neither of pieces nor an index.
    void add_other(uint64_t offset_bytes) { contents_.other_offsets.push_back(offset_bytes); }
    void add_index(uint64_t offset_bytes, const TraceIndex& index);
    void add_raw_bytes(uint64_t bytes) { contents_.raw_data_bytes += bytes; }
    /// Returns the contents of all blocks so far; empty when they are not worth a block.
    std::optional<TraceContents> take();

private:
    bool add_runs(const TraceIndex& index);

    TraceContents contents_;
    std::map<uint16_t, ClockPairs> pairs_; // by ring
    bool too_many_ = false;                // runs: nothing is gathered any more
};

/// Where a file says that the table is, and what it says.
struct FoundContents {
    uint64_t offset_bytes = 0;
    uint32_t blocks = 0; ///< of the file before its last
    TraceContents contents;
};

/// Returns the table of contents of a file that ends as its writer ended it.  `may_unpack` is asked
/// before so many bytes are unpacked.
std::optional<FoundContents>
find_contents(base::ByteSource& untrusted_file,
              const std::function<bool(uint64_t raw_bytes)>& may_unpack);

} // namespace daybreak::formats
