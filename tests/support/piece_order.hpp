// SPDX-License-Identifier: Apache-2.0
//
// In which order a trace file has its pieces and symbols: what of it a cut file keeps.
#pragma once

#include "base/file.hpp"
#include "formats/segment/piece.hpp"
#include "formats/trace/block.hpp"

#include <string>

namespace daybreak::test {

/// Returns a letter for each piece and each block of symbols of a good file, in its order: m of
/// metadata, s of a segment, a of aggregations, y of symbols.
inline std::string piece_order(const std::string& path) {
    base::Bytes file = base::read_file(path).value();
    formats::Findings findings;
    formats::BlockScanner scanner(file, findings);
    std::string order;
    for (formats::BlockView block; scanner.next(block);) {
        if (block.header.type == DBK_TRACE_SORTED_SYMBOLS)
            order += 'y';
        if (!formats::has_pieces(block.header))
            continue;
        base::Bytes pieces = formats::unpack_block(block).value();
        for (base::ByteView rest = pieces; !rest.empty();) {
            formats::Piece piece = formats::parse_piece(rest).value();
            order += "sma"[static_cast<size_t>(piece.kind)];
            rest = rest.subspan((piece.committed_bytes + 7) & ~size_t{7});
        }
    }
    return order;
}

} // namespace daybreak::test
