// SPDX-License-Identifier: Apache-2.0
//
// BlockStore: the data blocks of a reading's files, unpacked when a piece of one is wanted.
//
//     PieceBytes{block 7, offset, size} --load()--> block 7 unpacked --> bytes, pinned
//                                                     |
//                             kept while pinned, or among the last kKeptBytes and kKeptBlocks
//
// The index also says of which ECBs the records of a block are: a block that has none of those
// asked for stays packed (docs/design/0073-blocks-by-probe.md).
//
// When each block was unpacked kAgain times, in an order that no machine records, more of them are
// kept, kManyBytes: else a small file would take hours.
//
// What is pinned by cursors is not unpacked twice.  When more than kPinnedBytes are unpacked at
// once (a merge of very many CPUs, or of huge blocks), a piece is handed out as a copy of its own.
#pragma once

#include "formats/segment/piece_bytes.hpp"
#include "formats/trace/block.hpp"
#include "formats/trace/unpack_ahead.hpp"

#include <deque>
#include <map>

namespace daybreak::formats {

class BlockStore : public PieceStore {
public:
    static constexpr size_t kKeptBytes = 16u << 20, kPinnedBytes = 48u << 20;
    static constexpr size_t kKeptBlocks = 256;
    static constexpr size_t kManyBytes = 192u << 20;
    static constexpr uint64_t kAgain = 8;
    /// So many different sets of EPIDs are kept; most blocks have one of a few.
    static constexpr size_t kEpidSets = 4096;

    /// `jobs` is how many threads may unpack, the caller's among them: blocks that are wanted one
    /// after the other are unpacked before they are.
    explicit BlockStore(unsigned jobs = 1) : jobs_(jobs) {}

    /// Takes note of a block of `file` and returns its number in the store.  `name` is its place
    /// for findings: "block 7 at 0x1234".
    uint32_t add(std::shared_ptr<base::ByteSource> file, const std::string& prefix,
                 const dbk_trace_block& header, uint64_t offset_bytes);
    /// Takes note of so many blocks of `file` of which nothing is known before place() says it.
    /// Returns the first's number; theirs follow each other.
    uint32_t reserve(std::shared_ptr<base::ByteSource> file, const std::string& prefix,
                     uint32_t blocks);
    void place(uint32_t block, const dbk_trace_block& header, uint64_t offset_bytes);
    bool is_placed(uint32_t block) const { return blocks_[block].header.magic != 0; }
    /// Takes note of which ECBs the block's records are; as in IndexBlock.
    void tell_epids(uint32_t block, const std::vector<uint32_t>& epids);
    /// Keeps the block that was unpacked just now, as far as there is room.
    void keep(uint32_t block, Bytes raw);

    /// Unpacks a block that has no pieces and hands it to `use`; it is not kept.
    /// Error: it does not unpack any more, or that of `use`; late_findings() has it then.
    using UseBlock = std::function<Result<void>(ByteView raw)>;
    Result<void> take(uint32_t block, const UseBlock& use);

    Result<PinnedBytes> load(const PieceBytes& piece) override;
    Result<std::shared_ptr<const ColumnBlock>> columns(uint32_t block) override;
    bool may_have(uint32_t block, std::span<const uint32_t> epids) const override;
    void add_late(FindingKind kind, std::string where, std::string text) override;
    const Findings& late_findings() const override { return late_; }

    /// Bytes unpacked and not yet given back: now, and the most there were.
    size_t resident_bytes() const { return resident_->now; }
    size_t resident_bytes_peak() const { return resident_->peak; }
    uint64_t blocks_unpacked() const { return blocks_unpacked_; }

private:
    struct Block {
        uint32_t file = 0;     ///< index into files_
        uint32_t epid_set = 0; ///< index into epid_sets_
        uint64_t offset_bytes = 0;
        dbk_trace_block header{};
        std::weak_ptr<const Bytes> unpacked;
    };
    struct File {
        std::shared_ptr<base::ByteSource> source;
        std::string prefix;
    };
    struct Resident {
        size_t now = 0, peak = 0;
        Bytes spare; ///< of a block that went: the next one is unpacked into it
    };
    struct Columns;
    using Unpacked = std::shared_ptr<const Bytes>;

    Unpacked counted(Bytes raw) const;
    void keep_unpacked(const Unpacked& unpacked);
    size_t kept_bytes_max() const {
        return blocks_unpacked_ < kAgain * blocks_.size() ? kKeptBytes : kManyBytes;
    }
    Result<void> read_stored(const Block& block);
    Result<void> unpack_payload(const Block& block, PayloadPart part, Bytes& payload);
    void begin_next(uint32_t number, PayloadPart part);
    Result<Unpacked> unpack(Block& block);
    Result<Unpacked> block_of(const PieceBytes& piece);
    Error refuse(const Block& block, uint32_t offset_bytes, const std::string& why);

    std::vector<File> files_;
    std::vector<Block> blocks_;
    std::vector<const std::vector<uint32_t>*> epid_sets_{nullptr}; // null: not known
    std::map<std::vector<uint32_t>, uint32_t> epid_set_numbers_;   // in epid_sets_
    std::deque<Unpacked> kept_; // the ones used last at the back
    size_t kept_bytes_ = 0;
    std::shared_ptr<Resident> resident_ = std::make_shared<Resident>();
    uint64_t blocks_unpacked_ = 0;
    PayloadUnpacker unpacker_;
    StoredBlock stored_; // the block that is being unpacked
    const unsigned jobs_;
    std::unique_ptr<UnpackAhead> ahead_; // once blocks were wanted one after the other
    uint32_t last_ = 0;                  // the block that was unpacked last
    std::shared_ptr<Columns> columns_;   // handed out last
    Findings late_;
};

} // namespace daybreak::formats
