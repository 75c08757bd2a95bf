// SPDX-License-Identifier: Apache-2.0
//
// IndexSegments: the segments of a file that are known by runs, read again from its index.
#pragma once

#include "formats/trace/block_store.hpp"
#include "formats/trace/index_reader.hpp"

#include <deque>
#include <map>

namespace daybreak::formats {

/// A group is what one index block has.
class IndexSegments : public SegmentSource {
public:
    /// What is unpacked of the groups that were asked for last.
    static constexpr size_t kKeptBytes = 8u << 20;
    /// Groups of longer index blocks are not kept as runs.
    static constexpr uint32_t kIndexBytesMax = 4u << 20;
    static constexpr uint32_t kNotTaken = UINT32_MAX;

    /// `prefix` as in read_blocks().
    IndexSegments(std::shared_ptr<base::ByteSource> file, const std::string& prefix,
                  const std::shared_ptr<BlockStore>& store)
        : file_(std::move(file)), prefix_(prefix), store_(store) {
        again_.add_file(file_->size());
    }

    /// Adds a group.  `blocks` has the number in the store of each of its data blocks; kNotTaken: of
    /// it nothing is in a run.  Returns the group's number.
    uint32_t add(const BlockPlace& place, std::vector<uint32_t> blocks);
    /// Adds a group of so many data blocks that nothing has looked at.
    uint32_t add_unseen(const BlockPlace& place, uint32_t blocks);
    /// What knows the ECBs, for segments of an index block that cannot be read.
    void count_by(PieceCounter counter) { counter_ = std::move(counter); }
    /// Returns the number of a stream.
    uint32_t stream(const StreamKey& key);

    Segments segments(uint32_t group, uint32_t stream) override;
    void add_changed(uint32_t group) override;
    bool has_holes(uint32_t group) const override { return groups_[group].has_holes; }

private:
    struct Group {
        BlockPlace place;
        std::vector<uint32_t> blocks; // in the store
        uint32_t unseen = 0;          // or so many from `first` on, which are placed when it is read
        uint32_t first = 0;
        bool has_holes = false; // read without its index block, a data block could not be read
    };
    /// Of a group, by stream.
    struct Read {
        uint32_t group = 0;
        size_t bytes = 0;
        std::vector<Segments> streams;
    };

    Result<Read> read(uint32_t group);
    Result<std::vector<IndexBlock>> index_of(uint32_t group);
    void add_finding(FindingKind kind, uint32_t group, const std::string& text);
    uint32_t block_of(const Group& group, size_t number, const IndexBlock& block);

    const std::shared_ptr<base::ByteSource> file_;
    const std::string prefix_;
    const std::shared_ptr<BlockStore> store_;
    std::vector<Group> groups_;
    std::map<StreamKey, uint32_t> streams_;
    PieceCounter counter_;
    RawBudget again_; // of groups whose index block cannot be read
    std::deque<Read> kept_; // the one used last at the back
    size_t kept_bytes_ = 0;
};

} // namespace daybreak::formats
