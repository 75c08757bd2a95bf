// SPDX-License-Identifier: Apache-2.0
//
// zlib and zstd by their libraries, LZO1X and snappy by hand.  All input is untrusted: no byte is
// read past its end, none is written past the room's.
#include "formats/dump/unpack.hpp"

#include <algorithm>
#include <new>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

namespace daybreak::formats {

namespace {

using base::ByteView;
using base::ErrorCode;
using base::errorf;
using base::Result;

/// A page being filled from the left.
class Output {
public:
    explicit Output(std::span<std::byte> room) : room_(room) {}
    bool full() const { return done_ == room_.size(); }

    /// Copies as much as there is room for.
    void literals(ByteView bytes) {
        size_t now = std::min(bytes.size(), room_.size() - done_);
        std::copy_n(bytes.begin(), now, room_.begin() + static_cast<ptrdiff_t>(done_));
        done_ += now;
    }
    /// Repeats bytes that were written before; false when the distance leads out of the page.
    bool repeat(size_t distance, size_t bytes) {
        if (distance == 0 || distance > done_)
            return false;
        for (size_t left = std::min(bytes, room_.size() - done_); left > 0; left--, done_++)
            room_[done_] = room_[done_ - distance];
        return true;
    }

private:
    std::span<std::byte> room_;
    size_t done_ = 0;
};

/// Reads input; after its end every read is 0 and ended() is true.
class Input {
public:
    explicit Input(ByteView bytes) : bytes_(bytes) {}
    bool ended() const { return ended_; }
    uint32_t byte() {
        if (at_ == bytes_.size()) {
            ended_ = true;
            return 0;
        }
        return static_cast<uint32_t>(bytes_[at_++]);
    }
    uint32_t little_endian(size_t bytes) {
        uint32_t value = 0;
        for (size_t i = 0; i < bytes; i++)
            value |= byte() << (8 * i);
        return value;
    }
    ByteView take(size_t bytes) {
        if (bytes > bytes_.size() - at_)
            ended_ = true;
        ByteView view = bytes_.subspan(at_, std::min(bytes, bytes_.size() - at_));
        at_ += view.size();
        return view;
    }

private:
    ByteView bytes_;
    size_t at_ = 0;
    bool ended_ = false;
};

/// LZO1X, as the kernel's documentation describes its stream: instructions that copy bytes from
/// before, each followed by up to 3 literals (the state), or a run of literals.
class Lzo {
public:
    Lzo(ByteView packed, std::span<std::byte> room) : in_(packed), out_(room) {}

    bool run() {
        uint32_t first = in_.byte();
        if (first > 17) {
            uint32_t count = first - 17;
            out_.literals(in_.take(count));
            state_ = std::min(count, kRun);
            first = in_.byte();
        }
        for (uint32_t code = first; !out_.full(); code = in_.byte()) {
            if (in_.ended() || !step(code))
                return false;
        }
        return true;
    }

private:
    static constexpr uint32_t kRun = 4; // after a run of literals

    bool step(uint32_t code) {
        if (code >= 64)
            return match((code >> 5) + 1, (in_.byte() << 3) + ((code >> 2) & 7) + 1, code & 3);
        if (code >= 32) {
            size_t bytes = length(code & 31, 31) + 2;
            uint32_t far = in_.little_endian(2);
            return match(bytes, (far >> 2) + 1, far & 3);
        }
        if (code >= 16) {
            size_t bytes = length(code & 7, 7) + 2;
            uint32_t far = in_.little_endian(2);
            size_t distance = 16384 + ((code & 8) << 11) + (far >> 2);
            return distance != 16384 && match(bytes, distance, far & 3); // 16384: the end
        }
        if (state_ == 0) {
            out_.literals(in_.take(length(code, 15) + 3));
            state_ = kRun;
            return true;
        }
        bool after_run = state_ == kRun;
        uint32_t distance = (in_.byte() << 2) + (code >> 2) + 1;
        return match(after_run ? 3 : 2, distance + (after_run ? 2048 : 0), code & 3);
    }

    /// 0 means: so many, and 255 for each zero byte that follows, and the byte after them.
    size_t length(uint32_t bits, size_t base) {
        if (bits != 0)
            return bits;
        size_t sum = base;
        uint32_t next;
        while ((next = in_.byte()) == 0 && !in_.ended())
            sum += 255;
        return sum + next;
    }

    bool match(size_t bytes, size_t distance, uint32_t literals) {
        if (in_.ended() || !out_.repeat(distance, bytes))
            return false;
        out_.literals(in_.take(literals));
        state_ = literals;
        return true;
    }

    Input in_;
    Output out_;
    uint32_t state_ = 0;
};

/// Snappy: a length, then literals and copies, distinguished by two bits.
bool unpack_snappy(ByteView packed, std::span<std::byte> room) {
    Input in(packed);
    Output out(room);
    for (int i = 0; i < 5 && (in.byte() & 0x80) != 0; i++) {
    }
    while (!out.full()) {
        uint32_t tag = in.byte();
        size_t upper = tag >> 2, bytes = upper + 1, distance = 0;
        switch (tag & 3) {
        case 0:
            if (upper >= 60)
                bytes = size_t{in.little_endian(upper - 59)} + 1;
            out.literals(in.take(bytes));
            break;
        case 1:
            bytes = 4 + (upper & 7);
            distance = ((upper >> 3) << 8) | in.byte();
            break;
        case 2:
            distance = in.little_endian(2);
            break;
        default:
            distance = in.little_endian(4);
        }
        if ((tag & 3) != 0 && !out.repeat(distance, bytes))
            return false;
        if (in.ended() && !out.full())
            return false;
    }
    return true;
}

} // namespace

struct PageUnpacker::State {
    z_stream zlib = {};
    bool zlib_ready = false;
    ZSTD_DCtx* zstd = nullptr;

    ~State() {
        if (zlib_ready)
            inflateEnd(&zlib);
        ZSTD_freeDCtx(zstd);
    }

    bool unpack_zlib(ByteView packed, std::span<std::byte> room) {
        if (zlib_ready ? inflateReset(&zlib) != Z_OK : inflateInit(&zlib) != Z_OK)
            return false;
        zlib_ready = true;
        zlib.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data()));
        zlib.avail_in = static_cast<uInt>(packed.size());
        zlib.next_out = reinterpret_cast<Bytef*>(room.data());
        zlib.avail_out = static_cast<uInt>(room.size());
        int end = inflate(&zlib, Z_SYNC_FLUSH);
        return zlib.avail_out == 0 && (end == Z_OK || end == Z_STREAM_END || end == Z_BUF_ERROR);
    }

    bool unpack_zstd(ByteView packed, std::span<std::byte> room) {
        if (zstd == nullptr)
            zstd = ZSTD_createDCtx();
        if (zstd == nullptr)
            throw std::bad_alloc();
        ZSTD_DCtx_reset(zstd, ZSTD_reset_session_only);
        ZSTD_inBuffer in = {packed.data(), packed.size(), 0};
        ZSTD_outBuffer out = {room.data(), room.size(), 0};
        while (out.pos < out.size) {
            size_t before = out.pos, left = ZSTD_decompressStream(zstd, &out, &in);
            if (ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation)
                throw std::bad_alloc();
            if (ZSTD_isError(left) || (out.pos == before && in.pos == in.size) || left == 0)
                break;
        }
        return out.pos == out.size;
    }
};

PageUnpacker::PageUnpacker() : state_(std::make_unique<State>()) {}
PageUnpacker::~PageUnpacker() = default;

Result<void> PageUnpacker::unpack(PagePacking packing, ByteView packed, std::span<std::byte> room) {
    bool done = false;
    switch (packing) {
    case PagePacking::none:
        done = packed.size() >= room.size();
        std::copy_n(packed.begin(), done ? room.size() : 0, room.begin());
        break;
    case PagePacking::zlib:
        done = state_->unpack_zlib(packed, room);
        break;
    case PagePacking::lzo:
        done = Lzo(packed, room).run();
        break;
    case PagePacking::snappy:
        done = unpack_snappy(packed, room);
        break;
    case PagePacking::zstd:
        done = state_->unpack_zstd(packed, room);
        break;
    default:
        return errorf(ErrorCode::unsupported, "a packing of number 0x%x is not known",
                      static_cast<uint32_t>(packing));
    }
    if (!done)
        return errorf(ErrorCode::corrupt, "the page does not unpack");
    return {};
}

} // namespace daybreak::formats
