// SPDX-License-Identifier: Apache-2.0
//
// The flattened form of a dump (makedumpfile -F, QEMU's dump-guest-memory -z): pieces of the file
// in the order they were made, for outputs that cannot seek.
//
//     0      "makedumpfile" and zeros to 16, then u64 type 1, u64 version 1
//     4096   pieces: i64 offset, i64 bytes, then the bytes; the last one has both -1
//
// Numbers are big-endian.  A later piece overwrites an earlier one.  The pieces are not read here,
// only where they lie is noted; that needs a file, not a pipe.
#include "formats/dump/scan.hpp"

#include <algorithm>
#include <cinttypes>
#include <endian.h>
#include <map>

namespace daybreak::formats {

namespace {

using base::errorf;

constexpr std::string_view kSignature("makedumpfile\0\0\0\0", 16);
constexpr uint64_t kPiecesOffset = 4096;
/// Writers gather 16 KiB or more: this is a dump of a quarter of a terabyte.
constexpr size_t kPiecesMax = 1u << 24;
constexpr uint64_t kEndMark = ~uint64_t{0};

struct FilePiece {
    uint64_t end = 0;         ///< of the plain file
    uint64_t file_offset = 0; ///< of its first byte in the flattened one
};

class PlainFile : public DumpInput {
public:
    PlainFile(DumpInput& flattened, std::map<uint64_t, FilePiece> pieces)
        : flattened_(flattened), pieces_(std::move(pieces)) {}

    /// What no piece covers is zeros, as in a file with holes.
    Result<size_t> read_at(uint64_t offset, std::span<std::byte> to) override {
        uint64_t size = pieces_.empty() ? 0 : pieces_.rbegin()->second.end;
        if (offset >= size)
            return size_t{0};
        to = to.first(static_cast<size_t>(std::min<uint64_t>(to.size(), size - offset)));
        size_t done = 0;
        auto next = pieces_.upper_bound(offset);
        if (next != pieces_.begin())
            --next;
        while (done < to.size()) {
            uint64_t at = offset + done;
            while (next != pieces_.end() && next->second.end <= at)
                ++next;
            std::span<std::byte> rest = to.subspan(done);
            if (next->first > at) { // a hole
                size_t zeros =
                    static_cast<size_t>(std::min<uint64_t>(rest.size(), next->first - at));
                std::fill_n(rest.begin(), zeros, std::byte{0});
                done += zeros;
                continue;
            }
            size_t now =
                static_cast<size_t>(std::min<uint64_t>(rest.size(), next->second.end - at));
            DBK_TRY(size_t got, flattened_.read_at(next->second.file_offset + (at - next->first),
                                                   rest.first(now)));
            done += got;
            if (got < now)
                break;
        }
        return done;
    }
    bool is_seekable() const override { return true; }
    std::optional<uint64_t> size_bytes() const override {
        return pieces_.empty() ? 0 : pieces_.rbegin()->second.end;
    }

private:
    DumpInput& flattened_;
    std::map<uint64_t, FilePiece> pieces_;
};

/// Makes room for start..end: what lay there was overwritten.
void cut_out(std::map<uint64_t, FilePiece>& pieces, uint64_t start, uint64_t end) {
    auto at = pieces.upper_bound(start);
    if (at != pieces.begin())
        --at;
    while (at != pieces.end() && at->first < end) {
        auto [first, piece] = *at;
        if (piece.end <= start) {
            ++at;
            continue;
        }
        at = pieces.erase(at);
        if (first < start)
            pieces[first] = {start, piece.file_offset};
        if (piece.end > end)
            pieces[end] = {piece.end, piece.file_offset + (end - first)};
    }
}

} // namespace

bool is_flattened(ByteView head) {
    return head.size() >= kSignature.size() &&
           std::memcmp(head.data(), kSignature.data(), kSignature.size()) == 0;
}

Result<std::unique_ptr<DumpInput>> unflatten(DumpInput& input) {
    if (!input.is_seekable())
        return errorf(ErrorCode::unsupported,
                      "a flattened dump cannot be read from a pipe: save it to a file, or give it "
                      "through makedumpfile -R FILE");
    std::map<uint64_t, FilePiece> pieces;
    for (uint64_t at = kPiecesOffset;;) {
        uint64_t head[2];
        DBK_TRY(size_t got, input.read_at(at, std::as_writable_bytes(std::span(head))));
        if (got < sizeof(head))
            break; // cut: the reader of what is there will tell
        uint64_t offset = be64toh(head[0]), bytes = be64toh(head[1]), end;
        if (offset == kEndMark || bytes == kEndMark)
            break;
        at += sizeof(head);
        uint64_t next;
        if (offset > INT64_MAX || bytes > INT64_MAX ||
            __builtin_add_overflow(offset, bytes, &end) || __builtin_add_overflow(at, bytes, &next))
            return errorf(ErrorCode::corrupt,
                          "a piece of the flattened dump at 0x%" PRIx64 " claims %" PRIu64
                          " bytes at %" PRIu64,
                          at, bytes, offset);
        if (bytes != 0) {
            cut_out(pieces, offset, end);
            auto before = pieces.lower_bound(offset);
            bool joins = before != pieces.begin() && (--before)->second.end == offset &&
                         before->second.file_offset + (offset - before->first) == at;
            if (joins)
                before->second.end = end;
            else
                pieces[offset] = {end, at};
        }
        if (pieces.size() > kPiecesMax)
            return errorf(ErrorCode::limit, "the flattened dump has more than %zu pieces",
                          kPiecesMax);
        at = next;
    }
    return std::unique_ptr<DumpInput>(std::make_unique<PlainFile>(input, std::move(pieces)));
}

} // namespace daybreak::formats
