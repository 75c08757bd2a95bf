// SPDX-License-Identifier: Apache-2.0
//
// Kdump-compressed dumps (kdump_format.hpp): the bitmap, the descriptors and the pages are read
// side by side, each in its own order.
//
// Every page is unpacked far enough to see whether a piece may begin in it, and wholly only then.
#include "formats/dump/kdump_format.hpp"
#include "formats/dump/scan.hpp"
#include "formats/dump/unpack.hpp"

#include <algorithm>
#include <bit>
#include <cinttypes>

namespace daybreak::formats {

namespace {

using base::errorf;
using base::strprintf;

constexpr uint32_t kBlockBytesMax = 64u << 10;
constexpr uint64_t kPfnMax = uint64_t{1} << 40; // 2^52 bytes of memory, what the processors have
constexpr size_t kBitmapBytes = 32u << 10;      // read at a time
constexpr size_t kDescriptorWindow = 256u << 10;

template <typename T>
T read_struct(ByteView bytes) {
    T value{};
    std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof(value)));
    return value;
}

class KdumpScan {
public:
    explicit KdumpScan(Scan& scan)
        : scan_(scan), memory_map_(scan.input, kBitmapBytes), dumped_map_(scan.input, kBitmapBytes),
          descriptors_(scan.input, kDescriptorWindow), pages_(scan.input),
          shared_(scan.input, kDumpPageBytes) {}

    Result<void> run() {
        if (!scan_.input.is_seekable())
            return errorf(ErrorCode::unsupported,
                          "a kdump-compressed dump cannot be read from a pipe: give it as a file");
        DBK_TRY_VOID(read_headers());
        page_.resize(header_.block_bytes);
        for (uint64_t pfn = 0; pfn < pfn_end_ && !scan_.facts.cut;) {
            DBK_TRY_VOID(scan_.tell(pfn, pfn_end_));
            DBK_TRY_VOID(read_frames(pfn));
            pfn += uint64_t{kBitmapBytes} * 8;
        }
        return {};
    }

private:
    Result<void> read_headers() {
        DBK_TRY(Bytes bytes, scan_.input.exactly(0, sizeof(KdumpHeader), "header"));
        header_ = read_struct<KdumpHeader>(bytes);
        block_ = header_.block_bytes;
        if (!std::has_single_bit(header_.block_bytes) || block_ < kDumpPageBytes ||
            block_ > kBlockBytesMax)
            return errorf(ErrorCode::corrupt, "the dump's header claims blocks of %u bytes",
                          header_.block_bytes);
        DBK_TRY(bytes, scan_.input.exactly(block_, sizeof(KdumpSubHeader), "sub-header"));
        sub_ = read_struct<KdumpSubHeader>(bytes);
        bool wide = header_.header_version >= 6;
        uint64_t frames = wide ? sub_.max_pfn_64 : header_.max_pfn;
        // 32-bit sizes and a 16-bit block: none of these sums wraps.
        bitmap_offset_ = (1 + uint64_t{header_.sub_header_blocks}) * block_;
        uint64_t bitmap_bytes = header_.bitmap_blocks * block_;
        descriptor_offset_ = bitmap_offset_ + bitmap_bytes;
        dumped_offset_ = bitmap_offset_ + bitmap_bytes / 2;
        pfn_end_ = std::min(frames, bitmap_bytes / 2 * 8);
        if (frames > kPfnMax || frames > bitmap_bytes / 2 * 8)
            return errorf(ErrorCode::corrupt,
                          "the dump's header claims %" PRIu64 " pages, its bitmaps have room for "
                          "%" PRIu64,
                          frames, bitmap_bytes / 2 * 8);
        first_pfn_ = 0;
        if (sub_.split != 0 && header_.header_version >= 2) {
            first_pfn_ = wide ? sub_.start_pfn_64 : sub_.start_pfn;
            pfn_end_ = std::min(pfn_end_, wide ? sub_.end_pfn_64 : sub_.end_pfn);
        }
        read_facts();
        return {};
    }

    void read_facts() {
        if (header_.status & kKdumpIncomplete)
            scan_.damaged(0, "the program that wrote the dump says that it is not complete");
        const char* release = header_.utsname[kUtsRelease];
        scan_.facts.release.assign(release, strnlen(release, sizeof(header_.utsname[kUtsRelease])));
        const char* host = header_.utsname[kUtsNode];
        scan_.facts.hostname.assign(host, strnlen(host, sizeof(header_.utsname[kUtsNode])));
        scan_.facts.crash_time_s = header_.time_s;
        if (header_.header_version < 3 || sub_.vmcoreinfo_bytes > kVmcoreinfoBytesMax)
            return;
        Bytes text(static_cast<size_t>(sub_.vmcoreinfo_bytes));
        Result<size_t> got = scan_.input.read_at(sub_.vmcoreinfo_offset, text);
        if (got.ok())
            read_vmcoreinfo({reinterpret_cast<const char*>(text.data()), *got}, scan_);
    }

    /// Reads the frames that one stretch of the bitmaps speaks of.
    Result<void> read_frames(uint64_t pfn) {
        size_t bytes =
            static_cast<size_t>(std::min<uint64_t>(kBitmapBytes, (pfn_end_ - pfn + 7) / 8));
        DBK_TRY(ByteView memory, memory_map_.at(bitmap_offset_ + pfn / 8, bytes));
        DBK_TRY(ByteView dumped, dumped_map_.at(dumped_offset_ + pfn / 8, bytes));
        if (dumped.size() < bytes || memory.size() < bytes) {
            cut("the dump ends in its bitmaps");
            return {};
        }
        for (size_t i = 0; i < bytes; i++) {
            auto in_dump = std::to_integer<unsigned>(dumped[i]);
            auto in_memory = std::to_integer<unsigned>(memory[i]) & ~in_dump;
            scan_.facts.bytes_excluded += static_cast<unsigned>(std::popcount(in_memory)) * block_;
            for (; in_dump != 0; in_dump &= in_dump - 1) {
                uint64_t now = pfn + i * 8 + static_cast<unsigned>(std::countr_zero(in_dump));
                if (now < first_pfn_ || now >= pfn_end_)
                    continue;
                DBK_TRY_VOID(read_page(now));
                if (scan_.facts.cut)
                    return {};
            }
        }
        return {};
    }

    void cut(std::string text) {
        scan_.facts.cut = true;
        scan_.damaged(0, std::move(text));
    }

    Result<void> read_page(uint64_t pfn) {
        uint64_t at = descriptor_offset_ + descriptor_index_++ * sizeof(KdumpPage);
        DBK_TRY(ByteView bytes, descriptors_.at(at, sizeof(KdumpPage)));
        if (bytes.size() < sizeof(KdumpPage)) {
            cut("the dump ends in its table of pages");
            return {};
        }
        auto descriptor = read_struct<KdumpPage>(bytes);
        bool shared = descriptor.offset < pages_end_;
        if (shared && descriptor.offset == shared_offset_ &&
            !scan_.sink.wants(pfn * block_, shared_first_)) {
            scan_.facts.bytes_present += block_;
            return {};
        }
        if (descriptor.bytes > block_ || descriptor.bytes == 0) {
            scan_.damaged(block_, strprintf("page frame 0x%" PRIx64 " claims %u bytes", pfn,
                                            descriptor.bytes));
            return {};
        }
        DBK_TRY(ByteView packed,
                (shared ? shared_ : pages_).at(descriptor.offset, descriptor.bytes));
        if (!shared)
            pages_end_ = descriptor.offset + descriptor.bytes;
        if (packed.size() < descriptor.bytes) {
            cut(strprintf("the dump ends before page frame 0x%" PRIx64, pfn));
            return {};
        }
        return unpack(pfn, descriptor, packed);
    }

    Result<void> unpack(uint64_t pfn, const KdumpPage& descriptor, ByteView packed) {
        auto packing = static_cast<PagePacking>(descriptor.flags);
        std::byte first[kDumpPeekBytes];
        // Larger pages hold several of our pages: each would have to be asked for.
        if (block_ == kDumpPageBytes) {
            Result<void> peeked = unpacker_.unpack(packing, packed, first);
            if (peeked.ok() && !scan_.sink.wants(pfn * block_, first)) {
                scan_.facts.bytes_present += block_;
                if (descriptor.offset + descriptor.bytes < pages_end_) {
                    shared_offset_ = descriptor.offset;
                    std::copy_n(first, kDumpPeekBytes, shared_first_);
                }
                return {};
            }
        }
        Result<void> unpacked = unpacker_.unpack(packing, packed, page_);
        if (!unpacked.ok()) {
            scan_.damaged(block_, strprintf("page frame 0x%" PRIx64 ": %s", pfn,
                                            unpacked.error().message().c_str()));
            return {};
        }
        return scan_.give(pfn * block_, page_);
    }

    Scan& scan_;
    Cursor memory_map_, dumped_map_, descriptors_, pages_, shared_;
    PageUnpacker unpacker_;
    KdumpHeader header_{};
    KdumpSubHeader sub_{};
    uint64_t block_ = 0;
    uint64_t bitmap_offset_ = 0, dumped_offset_ = 0, descriptor_offset_ = 0;
    uint64_t first_pfn_ = 0, pfn_end_ = 0, descriptor_index_ = 0;
    Bytes page_;
    uint64_t pages_end_ = 0; // of the pages read in order
    /// All pages of zeros share one, which lies after them: read once, with a window of its own.
    uint64_t shared_offset_ = 0;
    std::byte shared_first_[kDumpPeekBytes] = {};
};

} // namespace

Result<void> scan_kdump(Scan& scan) {
    return KdumpScan(scan).run();
}

} // namespace daybreak::formats
