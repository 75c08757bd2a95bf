// SPDX-License-Identifier: Apache-2.0
//
// PieceFinder: segments, metadata blocks and aggregation buffers out of memory that passes by once.
//
// On each 4 KiB page a piece may begin.  Its header says where it lies; when that is not here, it
// is a copy in another buffer and is left out.  Else the pages that follow are gathered until
// its committed bytes are there, by physical address:
//
//     page    0x1000     0x2000    (0x3000)    0x4000
//             [DBKS ........|..........  hole  ..........]   committed 4 pages
//             kept: the first two, cut there; 4096 bytes are missing
//
// Memory is needed for what was found, not for what is looked through: a header's claims allocate
// nothing.  Two pieces never share memory, so of two that overlap one is what was left over in
// freed memory: the outer one counts only when its checksum holds.
#pragma once

#include "formats/dump/dump.hpp"
#include "formats/segment/piece.hpp"

#include <map>

namespace daybreak::formats {

/// One piece, as it lay in the dump.
struct DumpPiece {
    Piece piece;                ///< its header, after any cut
    Bytes bytes;                ///< committed ones, as packed_piece() takes them
    uint64_t phys_addr = 0;     ///< where it lay
    uint32_t missing_bytes = 0; ///< committed, but in pages that the dump does not have
    bool unusable = false;      ///< no use without what is missing (a part of a DOF image)
};

/// What was passed by, and why.
struct FinderCounts {
    uint64_t stale_copies = 0; ///< elsewhere than they say
    uint64_t overlapped = 0;   ///< partly overwritten by other pieces
    uint64_t being_opened = 0; ///< segments between their old contents and their new ones
};

class PieceFinder : public PageSink {
public:
    Result<void> pages(uint64_t phys_addr, ByteView bytes) override;
    bool wants(uint64_t phys_addr, ByteView first_bytes) override;

    /// Call once, after the last page.  Returns the pieces by physical address, the best copy of
    /// each address; the finder is empty then.
    std::vector<DumpPiece> finish();
    const FinderCounts& counts() const { return counts_; }
    /// Headers that contradict themselves, checksums that do not hold.
    const Findings& findings() const { return findings_; }

private:
    /// A piece of which pages are still to come.
    struct Open {
        DumpPiece found;
        uint64_t next = 0;        ///< address of the page that should come next
        uint32_t whole_bytes = 0; ///< before the first hole
        bool holed = false;
        bool overlapped = false; ///< another piece begins inside of it
    };

    void page(uint64_t phys_addr, ByteView bytes);
    void feed(uint64_t phys_addr, ByteView bytes);
    void begin(uint64_t phys_addr, ByteView bytes);
    void close(Open open);
    void cut(Open& open) const;
    void keep(DumpPiece found);

    std::vector<Open> open_;
    std::map<uint64_t, DumpPiece> found_;
    FinderCounts counts_;
    Findings findings_;
};

} // namespace daybreak::formats
