// SPDX-License-Identifier: Apache-2.0
//
// Pieces: the check of one segment, metadata block or aggregation buffer by its header.
//
// Used by the builder (which looks for pieces) and by packed_piece() (which cuts and seals one).
#pragma once

#include "formats/segment/recording.hpp"

namespace daybreak::formats {

enum class PieceKind : uint8_t { segment, metadata, aggregation };

/// A piece whose header holds.  For segments and aggregation buffers `segment` and `losses` are
/// set, for metadata blocks `meta`.
struct Piece {
    PieceKind kind = PieceKind::segment;
    dbk_segment_header segment{};
    dbk_segment_losses losses{};
    dbk_meta_header meta{};
    uint32_t room_bytes = 0;      ///< of the whole piece in a ring
    uint32_t committed_bytes = 0; ///< valid ones
    uint64_t boot_id = 0;
    uint64_t phys_addr = 0;
};

/// Returns the kind of piece that starts with this magic, empty when none does.
std::optional<PieceKind> piece_kind(uint32_t magic);

/// Puts metadata blocks first: a file that is cut still explains its segments.
void metadata_first(std::vector<ByteView>& pieces);

/// Checks the header at the start of `untrusted`, which may reach further than the piece, or end
/// before its committed bytes.  The checksum is not looked at.
/// Errors: truncated when not even the header is whole; unsupported version; corrupt.
Result<Piece> parse_piece(ByteView untrusted);

/// Returns whether a metadata block's checksum holds, or it has none for what is committed.
/// `bytes` are the committed ones, all of them.
bool metadata_checksum_holds(const dbk_meta_header& header, ByteView bytes);

/// Returns the checksum of a segment: over `bytes` (committed ones) with the field itself 0.
uint32_t segment_checksum(ByteView bytes);

/// Returns how the UUID begins whose first 8 bytes these are, as /proc/sys/kernel/random/boot_id
/// has it: 1b4e28ba-2fa1-11d2.
std::string boot_name(uint64_t boot_id);

/// Returns whether the boot's UUID begins with `text`; dashes and capitals make no difference, nor
/// does what follows the first 8 bytes of a whole UUID.
bool boot_begins_with(uint64_t boot_id, std::string_view text);

} // namespace daybreak::formats
