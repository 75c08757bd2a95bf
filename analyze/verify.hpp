// SPDX-License-Identifier: Apache-2.0
//
// Verification: every record of a recording read, its report as a checksum, and its holes.
#pragma once

#include "analyze/completeness.hpp"
#include "analyze/print/sink.hpp"

#include <functional>

namespace daybreak::analyze {

/// What reading all records one by one found.
struct RecordCount {
    uint64_t segments = 0, records = 0; ///< read
    /// Segments whose records are more, fewer or of other ECBs than their file's index says.
    uint64_t miscounted = 0;
    /// Segments of a CPU, one after the other, whose block cannot be read.
    struct Unreadable {
        uint16_t ring_id = 0, cpu = 0;
        uint64_t segments = 0, records = 0; ///< that were counted of them
        uint64_t from_mono_ns = 0, to_mono_ns = 0;
    };
    std::vector<Unreadable> unreadable;
};
/// `interrupted` is asked at each segment, with the records so far, and ends it; may be empty.
RecordCount count_records(const formats::Recording& recording,
                          const std::function<bool(uint64_t)>& interrupted = {});

/// What was printed, without keeping it.
struct OutputDigest {
    uint64_t bytes = 0;
    uint32_t crc32c = 0;

    bool operator==(const OutputDigest&) const = default;
};

class DigestSink : public Sink {
public:
    void write(std::string_view text) override;
    void message(const Message& message) override;

    const OutputDigest& all() const { return all_; }   ///< messages included
    const OutputDigest& text() const { return text_; } ///< without them

private:
    OutputDigest all_, text_;
};

/// Prints a line for each place where something is missing, and one for each interval of drops: CPU
/// (and ring, of several), how many of what, and the time after boot.  What is not a loss says so.
/// Returns how many lines.
uint64_t print_holes(const formats::Recording& recording, const RecordCount& count, Sink& sink);

} // namespace daybreak::analyze
