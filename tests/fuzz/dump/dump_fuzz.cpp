// SPDX-License-Identifier: Apache-2.0
//
// Fuzz target: a dump of any format, looked through as extract does.  Holds: no more memory is
// given on than the input can hold, what was found fits what its header says, and builds a
// Recording.
#include "formats/dump/dump.hpp"
#include "formats/dump/piece_finder.hpp"

#include <cstddef>
#include <cstdint>

using namespace daybreak;
using namespace daybreak::formats;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    ByteView bytes = std::as_bytes(std::span(data, size));
    PieceFinder finder;
    Result<DumpFacts> facts = scan_dump(*memory_input(bytes), finder, {});
    std::vector<DumpPiece> pieces = finder.finish();
    RecordingBuilder builder;
    for (const DumpPiece& found : pieces) {
        DBK_ASSERT(found.unusable || found.bytes.size() == found.piece.committed_bytes);
        DBK_ASSERT(found.phys_addr == found.piece.phys_addr);
        if (found.unusable)
            continue;
        DBK_ASSERT(packed_piece(found.bytes).ok());
        builder.add_bytes(found.bytes, {"dump", Packing::packed, std::nullopt});
    }
    Recording recording = builder.build();
    DBK_ASSERT(facts.ok() || !facts.error().message().empty());
    return 0;
}
