// SPDX-License-Identifier: Apache-2.0
//
// Copying a segment or metadata block out of memory that a CPU may be writing to.
//
// The reader's half of segment.md: load the sequence, load committed_bytes, copy that many bytes,
// load the sequence again.  Unchanged and not 0: the copy is of one segment, its records are whole.
#pragma once

#include "formats/abi/segment.h"
#include "formats/segment/finding.hpp"

namespace daybreak::live {

using base::Bytes;
using base::ByteView;

/// How often a copy is tried before its place is given up: the writer takes a microsecond to
/// reopen a segment, and many to fill one.
constexpr int kCopyAttemptsMax = 1000;

enum class CopyOutcome : uint8_t {
    copied,  ///< `bytes` is a piece, header to committed bytes
    nothing, ///< no piece starts here
    busy,    ///< it changed under every attempt
    refused, ///< its sizes contradict themselves
};

struct LiveCopy {
    CopyOutcome outcome = CopyOutcome::nothing;
    Bytes bytes;
    size_t room_bytes = 0; ///< of the piece in memory, when copied
};

/// Returns the aligned word at an offset of memory that a CPU may be writing to, in one load
/// with acquire order.
template <typename T>
T live_word(ByteView live, size_t offset) {
    return __atomic_load_n(reinterpret_cast<const T*>(live.data() + offset), __ATOMIC_ACQUIRE);
}

/// In a region every piece begins at a multiple of it.
constexpr size_t kPieceAlignBytes = DBK_SEGMENT_ALIGN_BYTES;

/// Copies the piece that starts at the beginning of `live`, which is 8-aligned, a multiple of 8
/// long, and may reach further than the piece.
LiveCopy copy_live_piece(ByteView live);

/// Copies the pieces that lie one after the other in a region of metadata, up to where none is.
std::vector<Bytes> copy_live_blocks(ByteView live);

} // namespace daybreak::live
