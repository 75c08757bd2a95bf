// SPDX-License-Identifier: Apache-2.0
//
// Unpacking through zlib, liblzma, libzstd and liblz4.
#include "compiler/types/decompress.hpp"

#include <algorithm>
#include <cinttypes>
#include <lz4.h>
#include <lzma.h>
#include <memory>
#include <zlib.h>
#include <zstd.h>

namespace daybreak::compiler {

using base::Bytes;
using base::ByteView;
using base::Error;
using base::ErrorCode;
using base::errorf;
using base::Result;

namespace {

// 128 MiB: the largest window that the kernel's build asks xz or zstd for.
constexpr int kZstdWindowLogMax = 27;
constexpr uint64_t kLzmaMemoryMax = 256u << 20;
constexpr uint32_t kLz4LegacyMagic = 0x184c2102;
constexpr uint64_t kLz4BlockBytesMax = 8u << 20; // of the legacy format
constexpr size_t kStepBytes = 4u << 20;

enum class Packing : uint8_t { none, gzip, xz, zstd, lz4 };

Packing packing_of(ByteView bytes) {
    auto starts = [&](std::initializer_list<uint8_t> magic) {
        return bytes.size() >= magic.size() &&
               std::equal(magic.begin(), magic.end(), bytes.begin(),
                          [](uint8_t a, std::byte b) { return std::byte{a} == b; });
    };
    if (starts({0x1f, 0x8b, 0x08}))
        return Packing::gzip;
    if (starts({0xfd, '7', 'z', 'X', 'Z', 0x00}))
        return Packing::xz;
    if (starts({0x28, 0xb5, 0x2f, 0xfd}))
        return Packing::zstd;
    if (starts({0x02, 0x21, 0x4c, 0x18}))
        return Packing::lz4;
    return Packing::none;
}

Error too_large(const std::string& what, uint64_t bytes_max) {
    return errorf(ErrorCode::limit, "%s unpacks to more than %" PRIu64 " bytes", what.c_str(),
                  bytes_max);
}

Error cut_short(const std::string& what) {
    return errorf(ErrorCode::truncated, "%s: the compressed data ends early", what.c_str());
}

/// Makes room for more output; false when the bound is reached.  In small steps when a caller looks
/// at what has come out.
bool grow(Bytes& out, uint64_t bytes_max, const Enough& enough) {
    if (out.size() >= bytes_max)
        return false;
    size_t step = enough ? kStepBytes : std::max(kStepBytes, out.size() / 2);
    size_t size = std::min<uint64_t>(bytes_max, out.size() + step);
    // Room that is never written to costs nothing; moving what was unpacked does.
    if (enough && size > out.capacity())
        out.reserve(std::min<uint64_t>(bytes_max, std::max<size_t>(64u << 20, size * 2)));
    out.resize(size);
    return true;
}

Result<Bytes> unpack_gzip(ByteView in, const std::string& what, uint64_t bytes_max,
                          const Enough& enough) {
    z_stream stream = {};
    if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK)
        return errorf(ErrorCode::limit, "%s: zlib has no memory", what.c_str());
    std::unique_ptr<z_stream, int (*)(z_stream*)> owner(&stream, inflateEnd);
    Bytes out;
    size_t used = 0, written = 0;
    for (;;) {
        if (written == out.size() && enough && enough(out))
            return out;
        if (written == out.size() && !grow(out, bytes_max, enough))
            return too_large(what, bytes_max);
        // zlib counts in 32 bits.
        size_t in_step = std::min<size_t>(in.size() - used, 1u << 30);
        size_t out_step = std::min<size_t>(out.size() - written, 1u << 30);
        stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(in.data() + used));
        stream.avail_in = static_cast<uInt>(in_step);
        stream.next_out = reinterpret_cast<Bytef*>(out.data() + written);
        stream.avail_out = static_cast<uInt>(out_step);
        int status = inflate(&stream, Z_NO_FLUSH);
        used += in_step - stream.avail_in;
        written += out_step - stream.avail_out;
        if (status == Z_STREAM_END)
            break;
        if (status != Z_OK && status != Z_BUF_ERROR)
            return errorf(ErrorCode::corrupt, "%s: gzip data is damaged", what.c_str());
        if (used == in.size() && stream.avail_out != 0)
            return cut_short(what);
    }
    out.resize(written);
    return out;
}

Result<Bytes> unpack_xz(ByteView in, const std::string& what, uint64_t bytes_max,
                        const Enough& enough) {
    lzma_stream stream = LZMA_STREAM_INIT;
    if (lzma_stream_decoder(&stream, kLzmaMemoryMax, 0) != LZMA_OK)
        return errorf(ErrorCode::limit, "%s: liblzma has no memory", what.c_str());
    std::unique_ptr<lzma_stream, void (*)(lzma_stream*)> owner(&stream, lzma_end);
    Bytes out;
    stream.next_in = reinterpret_cast<const uint8_t*>(in.data());
    stream.avail_in = in.size();
    for (;;) {
        if (stream.total_out == out.size() && enough && enough(out))
            return out;
        if (stream.total_out == out.size() && !grow(out, bytes_max, enough))
            return too_large(what, bytes_max);
        stream.next_out = reinterpret_cast<uint8_t*>(out.data() + stream.total_out);
        stream.avail_out = out.size() - stream.total_out;
        lzma_ret status = lzma_code(&stream, LZMA_RUN);
        if (status == LZMA_STREAM_END)
            break;
        if (status == LZMA_MEMLIMIT_ERROR)
            return errorf(ErrorCode::limit, "%s: unpacking needs more than %" PRIu64 " bytes",
                          what.c_str(), kLzmaMemoryMax);
        if (status == LZMA_OPTIONS_ERROR)
            return errorf(ErrorCode::unsupported, "%s: liblzma does not know its options",
                          what.c_str());
        if (status != LZMA_OK && status != LZMA_BUF_ERROR)
            return errorf(ErrorCode::corrupt, "%s: xz data is damaged", what.c_str());
        if (stream.avail_in == 0 && stream.avail_out != 0)
            return cut_short(what);
    }
    out.resize(stream.total_out);
    return out;
}

Result<Bytes> unpack_zstd(ByteView in, const std::string& what, uint64_t bytes_max,
                          const Enough& enough) {
    std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(), ZSTD_freeDCtx);
    if (!context)
        return errorf(ErrorCode::limit, "%s: libzstd has no memory", what.c_str());
    ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, kZstdWindowLogMax);
    Bytes out;
    ZSTD_inBuffer input = {in.data(), in.size(), 0};
    size_t written = 0;
    for (;;) {
        if (written == out.size() && enough && enough(out))
            return out;
        if (written == out.size() && !grow(out, bytes_max, enough))
            return too_large(what, bytes_max);
        ZSTD_outBuffer output = {out.data(), out.size(), written};
        size_t status = ZSTD_decompressStream(context.get(), &output, &input);
        written = output.pos;
        if (ZSTD_isError(status))
            return errorf(ErrorCode::corrupt, "%s: zstd data is damaged: %s", what.c_str(),
                          ZSTD_getErrorName(status));
        if (status == 0)
            break;
        if (input.pos == input.size && output.pos < output.size)
            return cut_short(what);
    }
    out.resize(written);
    return out;
}

/// The legacy frame: magic, then blocks of {u32 compressed bytes, data}, each unpacking to 8 MiB
/// but the last.  The kernel's payload ends in its own size, which looks like one more block's.
Result<Bytes> unpack_lz4(ByteView in, const std::string& what, uint64_t bytes_max,
                         const Enough& enough) {
    base::ByteReader reader(in, what);
    Bytes out;
    DBK_TRY_VOID(reader.skip(sizeof(kLz4LegacyMagic)));
    while (reader.remaining() > sizeof(uint32_t)) {
        DBK_TRY(auto block_bytes, reader.read<uint32_t>());
        if (block_bytes == kLz4LegacyMagic)
            continue;
        if (block_bytes > static_cast<uint32_t>(LZ4_COMPRESSBOUND(kLz4BlockBytesMax)))
            return errorf(ErrorCode::corrupt, "%s: lz4 block of %u bytes", what.c_str(),
                          block_bytes);
        DBK_TRY(auto block, reader.bytes(block_bytes));
        size_t before = out.size();
        if (enough && enough(out))
            return out;
        if (before >= bytes_max)
            return too_large(what, bytes_max);
        uint64_t room = std::min<uint64_t>(kLz4BlockBytesMax, bytes_max - before);
        out.resize(before + room);
        int count = LZ4_decompress_safe(reinterpret_cast<const char*>(block.data()),
                                        reinterpret_cast<char*>(out.data() + before),
                                        static_cast<int>(block_bytes), static_cast<int>(room));
        if (count < 0)
            return errorf(ErrorCode::corrupt,
                          "%s: lz4 data is damaged, or larger than %" PRIu64 " bytes", what.c_str(),
                          bytes_max);
        out.resize(before + static_cast<size_t>(count));
    }
    return out;
}

} // namespace

bool is_compressed(ByteView bytes) {
    return packing_of(bytes) != Packing::none;
}

Result<Bytes> decompress(ByteView untrusted_bytes, const std::string& what, uint64_t bytes_max,
                         const Enough& enough) {
    switch (packing_of(untrusted_bytes)) {
    case Packing::gzip:
        return unpack_gzip(untrusted_bytes, what, bytes_max, enough);
    case Packing::xz:
        return unpack_xz(untrusted_bytes, what, bytes_max, enough);
    case Packing::zstd:
        return unpack_zstd(untrusted_bytes, what, bytes_max, enough);
    case Packing::lz4:
        return unpack_lz4(untrusted_bytes, what, bytes_max, enough);
    case Packing::none:
        break;
    }
    return errorf(ErrorCode::unsupported, "%s: packed in no known way (gzip, xz, zstd, lz4)",
                  what.c_str());
}

} // namespace daybreak::compiler
