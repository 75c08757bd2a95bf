// SPDX-License-Identifier: Apache-2.0
//
// Unpacking the pages of a kdump-compressed dump: zlib, LZO1X, snappy, zstd.
//
// Most pages of a dump are only looked at: of those the first bytes are enough, and every algorithm
// here but zstd stops when the room is full.  LZO and snappy are small enough to be written down
// here; both libraries would be dependencies of a static program for a hundred lines each, and
// LZO's licence (GPL) is none that this program could take.
#pragma once

#include "base/byte_reader.hpp"

#include <memory>
#include <span>

namespace daybreak::formats {

/// How a page was packed; the values are those of the page descriptor's flags.
enum class PagePacking : uint32_t { none = 0, zlib = 1, lzo = 2, snappy = 4, zstd = 0x20 };

/// Unpacks pages; keeps what can be used again from page to page.
class PageUnpacker {
public:
    PageUnpacker();
    ~PageUnpacker();
    PageUnpacker(const PageUnpacker&) = delete;
    PageUnpacker& operator=(const PageUnpacker&) = delete;

    /// Fills `room` with the beginning of what `packed` holds.  Errors: corrupt, when it does not
    /// unpack or holds less; unsupported packing.
    base::Result<void> unpack(PagePacking packing, base::ByteView packed,
                              std::span<std::byte> room);

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace daybreak::formats
