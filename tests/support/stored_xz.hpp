// SPDX-License-Identifier: Apache-2.0
//
// An xz stream whose bytes are as they were: no compression, and no checksum over them.
//
// A byte that a fuzzer changes in what is packed otherwise ends at the checksum; here it is read.
#pragma once

#include "base/result.hpp"

#include <lzma.h>
#include <string>

namespace daybreak::test {

inline std::string stored_xz(const std::string& bytes) {
    const auto* in = reinterpret_cast<const uint8_t*>(bytes.data());
    std::string stream(2 * LZMA_STREAM_HEADER_SIZE + lzma_block_buffer_bound(bytes.size()) + 64,
                       '\0');
    auto* out = reinterpret_cast<uint8_t*>(stream.data());
    lzma_stream_flags flags = {};
    flags.check = LZMA_CHECK_NONE;
    DBK_ASSERT(lzma_stream_header_encode(&flags, out) == LZMA_OK);
    size_t at = LZMA_STREAM_HEADER_SIZE;
    lzma_filter filters[LZMA_FILTERS_MAX + 1] = {};
    lzma_block block = {};
    block.check = LZMA_CHECK_NONE;
    block.filters = filters;
    DBK_ASSERT(lzma_block_uncomp_encode(&block, in, bytes.size(), out, &at, stream.size()) ==
               LZMA_OK);
    lzma_index* index = lzma_index_init(nullptr);
    DBK_ASSERT(lzma_index_append(index, nullptr, lzma_block_unpadded_size(&block), bytes.size()) ==
               LZMA_OK);
    DBK_ASSERT(lzma_index_buffer_encode(index, out, &at, stream.size()) == LZMA_OK);
    flags.backward_size = lzma_index_size(index);
    lzma_index_end(index, nullptr);
    DBK_ASSERT(lzma_stream_footer_encode(&flags, out + at) == LZMA_OK);
    stream.resize(at + LZMA_STREAM_HEADER_SIZE);
    return stream;
}

} // namespace daybreak::test
