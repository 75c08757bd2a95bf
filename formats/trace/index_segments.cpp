// SPDX-License-Identifier: Apache-2.0
//
// Segments out of the heads that an index block has.
#include "formats/trace/index_segments.hpp"

#include <algorithm>
#include <cinttypes>

namespace daybreak::formats {

uint32_t IndexSegments::add(const BlockPlace& place, std::vector<uint32_t> blocks) {
    groups_.push_back({place, std::move(blocks), 0, 0});
    return static_cast<uint32_t>(groups_.size() - 1);
}

uint32_t IndexSegments::add_unseen(const BlockPlace& place, uint32_t blocks) {
    groups_.push_back({place, {}, blocks, store_->reserve(file_, prefix_, blocks)});
    return static_cast<uint32_t>(groups_.size() - 1);
}

/// Returns the number in the store of a data block of the group.
uint32_t IndexSegments::block_of(const Group& group, size_t number, const IndexBlock& block) {
    if (number < group.blocks.size())
        return group.blocks[number];
    if (number >= group.unseen)
        return kNotTaken;
    uint32_t in_store = group.first + static_cast<uint32_t>(number);
    if (!store_->is_placed(in_store)) {
        dbk_trace_block header;
        if (!read_header(*file_, block.file_offset, header) || !has_pieces(header) ||
            header.number != block.block_number || !has_known_version(header) ||
            !fills(block, header)) {
            header = {};
            header.number = block.block_number; // the store reports it when it is wanted
        }
        store_->place(in_store, header, block.file_offset);
    }
    return in_store;
}

uint32_t IndexSegments::stream(const StreamKey& key) {
    return streams_.try_emplace(key, static_cast<uint32_t>(streams_.size())).first->second;
}

void IndexSegments::add_finding(FindingKind kind, uint32_t group, const std::string& text) {
    const BlockPlace& place = groups_[group].place;
    store_->add_late(kind,
                     prefix_ + base::strprintf("block %u at 0x%" PRIx64, place.header.number,
                                               place.offset_bytes),
                     text);
}

void IndexSegments::add_changed(uint32_t group) {
    add_finding(FindingKind::bad_block, group, "the index does not have the segments that it had");
}

/// Of an index block that cannot be read the data blocks are looked at instead.
Result<std::vector<IndexBlock>> IndexSegments::index_of(uint32_t group) {
    const Group& wanted = groups_[group];
    Result<std::vector<IndexBlock>> index = read_index(*file_, wanted.place);
    if (index.ok())
        return index;
    uint64_t from = group == 0 ? 0 : groups_[group - 1].place.offset_bytes;
    size_t count = wanted.blocks.empty() ? wanted.unseen : wanted.blocks.size();
    Result<std::vector<IndexBlock>> again =
        index_again(*file_, from, wanted.place, count, again_, counter_);
    if (!again.ok()) {
        add_finding(FindingKind::bad_block, group,
                    index.error().message() + ", and " + again.error().message());
        return again;
    }
    add_finding(FindingKind::spare_block, group,
                index.error().message() + "; its segments were found without it");
    for (const IndexBlock& block : *again)
        if (block.is_lost) {
            groups_[group].has_holes = true;
            store_->add_late(FindingKind::bad_block,
                             prefix_ + base::strprintf("block %u at 0x%" PRIx64,
                                                       block.block_number, block.file_offset),
                             "it cannot be read");
        }
    return again;
}

Result<IndexSegments::Read> IndexSegments::read(uint32_t group) {
    const Group& wanted = groups_[group];
    DBK_TRY(std::vector<IndexBlock> blocks, index_of(group));
    std::vector<std::vector<SegmentInfo>> streams(streams_.size());
    for (size_t i = 0; i < blocks.size(); i++) {
        uint32_t block = block_of(wanted, i, blocks[i]);
        if (block == kNotTaken && wanted.blocks.empty() && !blocks[i].pieces.empty()) {
            add_changed(group);
            return base::errorf(ErrorCode::corrupt, "it has more than %u blocks", wanted.unseen);
        }
        if (block != kNotTaken)
            store_->tell_epids(block, blocks[i].epids);
        for (const PieceHead& head : blocks[i].pieces) {
            auto segment = segment_of(head, *store_, block);
            auto stream = segment ? streams_.find(segment->first) : streams_.end();
            if (stream == streams_.end())
                continue;
            if (block == kNotTaken)
                segment->second.bytes = {};
            streams[stream->second].push_back(segment->second);
        }
    }
    Read read{group, 0, {}};
    for (std::vector<SegmentInfo>& stream : streams) {
        read.bytes += stream.size() * sizeof(SegmentInfo);
        read.streams.push_back(std::make_shared<const std::vector<SegmentInfo>>(std::move(stream)));
    }
    return read;
}

SegmentSource::Segments IndexSegments::segments(uint32_t group, uint32_t stream) {
    auto known = std::find_if(kept_.begin(), kept_.end(),
                              [&](const Read& one) { return one.group == group; });
    if (known != kept_.end()) {
        std::rotate(known, known + 1, kept_.end());
        return kept_.back().streams[stream];
    }
    Result<Read> now = read(group);
    if (!now.ok())
        return nullptr; // and index_of() has said why
    kept_bytes_ += now->bytes;
    kept_.push_back(std::move(*now));
    while (kept_bytes_ > kKeptBytes && kept_.size() > 1) {
        kept_bytes_ -= kept_.front().bytes;
        kept_.pop_front();
    }
    return kept_.back().streams[stream];
}

} // namespace daybreak::formats
