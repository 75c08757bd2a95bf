// SPDX-License-Identifier: Apache-2.0
//
// Findings: what a reader refused or missed in untrusted bytes, and went on.
//
// One bad piece never fails the whole.  It becomes a Finding that says what it was, where it lay
// and why it was refused; the analyzers print them, and completeness counts them as losses.
#pragma once

#include "base/byte_reader.hpp"
#include "base/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace daybreak::formats {

using base::Bytes;
using base::ByteView;
using base::Error;
using base::ErrorCode;
using base::Result;

/// X(name, whether data was lost by it, text)
#define DBK_FINDING_KINDS(X)                                                                       \
    X(bad_header, true, "a header that contradicts itself")                                        \
    X(bad_checksum, true, "a checksum that does not hold")                                         \
    X(bad_record, true, "a record that contradicts its segment or its ECB")                        \
    X(unknown_epid, true, "a record of an ECB that the metadata does not hold")                    \
    X(bad_metadata, true, "a metadata entry that contradicts itself")                              \
    X(missing_metadata, true, "records without the metadata that explains them")                   \
    X(missing_dof, true, "a part of a DOF image that was not found")                               \
    X(missing_segment, true, "a sequence number that should be there and is not")                  \
    X(truncated, true, "bytes that end early")                                                     \
    X(bad_block, true, "a block of a trace file that was lost")                                    \
    X(unreadable, true, "a file that could not be read to its end")                                \
    X(spare_block, false, "a damaged block of which nothing is missing")                           \
    X(foreign_file, false, "an entry of a folder that is not a trace file")                        \
    X(bad_aggregation, true, "an aggregation snapshot that contradicts itself")                    \
    X(unfinished, false, "a file that was not finished, or is still being written")                \
    X(unsealed, false, "segments that a machine left without a checksum")                          \
    X(header_copy, false, "a header that was lost, and could be done without")                     \
    X(missing_pages, true, "pages of memory that a dump does not have")                            \
    X(stale_copy, false, "a copy that lies elsewhere than it says")                                \
    X(other_boot, false, "data of another boot")                                                   \
    X(unknown_kind, false, "a kind that this version does not know")                               \
    X(bad_padding, false, "bytes between blocks that are not zero")                                \
    X(skipped, true, "segments that the recorder could not write")                                 \
    X(no_symbols, false, "symbols that could not be had")                                          \
    X(no_made_names, false, "names of code that processes made which could not be had")

enum class FindingKind : uint8_t {
#define DBK_FINDING_ENUM(name, loss, text) name,
    DBK_FINDING_KINDS(DBK_FINDING_ENUM)
#undef DBK_FINDING_ENUM
};

/// Returns the kind's identifier ("bad_checksum").
const char* finding_name(FindingKind kind);
/// Returns the kind in words, for a sentence that begins with a count.
const char* finding_text(FindingKind kind);
/// Returns whether a finding of this kind means that recorded data is not there.
bool finding_is_loss(FindingKind kind);
/// Returns the kind with that identifier, empty when there is none.
std::optional<FindingKind> finding_kind(std::string_view name);

struct Finding {
    FindingKind kind;
    std::string where; ///< "ring 1 cpu 0 segment 17", "vmcore at 0x1234000"
    std::string text;  ///< why, lower case, no full stop

    bool operator==(const Finding&) const = default;
};

/// A list of findings with an end: hostile input can make no more than kFindingsMax of them, the
/// rest is counted.
class Findings {
public:
    static constexpr size_t kFindingsMax = 1000;

    void add(FindingKind kind, std::string where, std::string text);
    void append(const Findings& other);
    /// Counts findings that are not listed anywhere.
    void add_unlisted(uint64_t count, bool any_loss);
    const std::vector<Finding>& list() const { return list_; }
    /// Returns how many were found in all; more than list().size() when the list is full.
    uint64_t count() const { return count_; }
    /// Returns whether any of them, listed or not, was a loss.
    bool any_loss() const { return any_loss_; }

private:
    std::vector<Finding> list_;
    uint64_t count_ = 0;
    bool any_loss_ = false;
};

} // namespace daybreak::formats
