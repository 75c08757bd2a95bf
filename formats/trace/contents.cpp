// SPDX-License-Identifier: Apache-2.0
//
// Making the table of contents, and finding it from the end of a file.
#include "formats/trace/contents.hpp"

#include "formats/trace/block.hpp"
#include "formats/trace/index_reader.hpp"
#include "formats/trace/message.hpp"

#include <algorithm>
#include <array>

namespace daybreak::formats {

namespace {

/// The last block is shorter.
constexpr size_t kEndBytesMax = 512;
/// More blocks that are to be read than so many are as good as all; and a table of more runs would
/// be larger than what it saves.
constexpr size_t kOthersMax = 1u << 20, kRunsMax = 1u << 18;
/// A data block has a header and a frame.
constexpr uint64_t kDataBytesMin = sizeof(dbk_trace_block) + 8;

/// Reads a block's payload, unpacked; empty when it is not there or not whole.
std::optional<Bytes> payload_at(base::ByteSource& file, uint64_t offset_bytes,
                                enum dbk_trace_type type,
                                const std::function<bool(uint64_t)>& may_unpack) {
    BlockPlace place{offset_bytes, {}};
    if (!read_header(file, offset_bytes, place.header) || place.header.type != type ||
        !has_known_version(place.header) || !may_unpack(place.header.raw_bytes))
        return std::nullopt;
    Result<Bytes> raw = read_payload(file, place);
    return raw.ok() ? std::optional(std::move(*raw)) : std::nullopt;
}

/// Returns where the END block that ends the file is; empty when it does not end with one.
std::optional<uint64_t> find_end(base::ByteSource& file) {
    uint64_t size = file.size();
    for (uint64_t back = sizeof(dbk_trace_block); back <= std::min<uint64_t>(size, kEndBytesMax);
         back += DBK_TRACE_ALIGN_BYTES) {
        dbk_trace_block header;
        if (read_header(file, size - back, header) && header.type == DBK_TRACE_END &&
            block_bytes(header) == back)
            return size - back;
    }
    return std::nullopt;
}

/// Returns whether what is said of runs can be: each group has its own, and a segment takes bytes.
bool are_possible(const TraceContents& contents, uint64_t file_bytes) {
    uint64_t runs = 0, segments = 0, blocks = 0;
    for (const TraceContents::Group& group : contents.groups) {
        runs += group.runs;
        blocks += group.blocks;
    }
    for (const TraceContents::Run& one : contents.runs)
        segments += one.run.count;
    return runs == contents.runs.size() && segments <= file_bytes &&
           blocks <= file_bytes / kDataBytesMin &&
           std::is_sorted(contents.other_offsets.begin(), contents.other_offsets.end()) &&
           std::is_sorted(contents.groups.begin(), contents.groups.end(),
                          [](const auto& a, const auto& b) { return a.file_offset < b.file_offset; });
}

} // namespace

void ContentsMaker::add_index(uint64_t offset_bytes, const TraceIndex& index) {
    if (too_many_)
        return;
    if (contents_.runs.size() > kRunsMax) {
        too_many_ = true;
        contents_ = {};
        pairs_.clear();
        return;
    }
    TraceContents::Group& group = contents_.groups.emplace_back();
    group.file_offset = offset_bytes;
    group.blocks = static_cast<uint32_t>(index.blocks.size());
    size_t before = contents_.runs.size();
    bool plain = add_runs(index);
    if (!plain) {
        contents_.runs.resize(before);
        add_other(offset_bytes);
    }
    group.runs = static_cast<uint32_t>(contents_.runs.size() - before);
    for (const IndexBlock& block : index.blocks)
        if (!plain || block.pieces.empty())
            add_other(block.file_offset);
}

/// Returns whether all segments of the index block are in runs now.
bool ContentsMaker::add_runs(const TraceIndex& index) {
    struct Stream {
        uint32_t count = 0, first = 0; ///< of the segments: so far, before those that wait
        std::vector<SegmentInfo> waiting; ///< for the end of their run
    };
    std::map<StreamKey, Stream> streams;
    auto end_run = [this](const StreamKey& key, Stream& stream) {
        if (stream.waiting.empty())
            return;
        SegmentRun run = run_of(stream.waiting.data(), stream.waiting.size());
        run.from = std::exchange(stream.first, stream.count);
        stream.waiting.clear();
        contents_.runs.push_back({key.ring_id, key.cpu, run});
    };
    bool any = false;
    for (const IndexBlock& block : index.blocks)
        for (const PieceHead& head : block.pieces) {
            auto segment = segment_of(head);
            if (!segment || !may_be_in_run(segment->second) || segment->second.drops_place != 0)
                return false;
            const auto& [key, info] = *segment;
            if (contents_.boot_id == 0)
                contents_.boot_id = key.boot_id;
            if (key.boot_id != contents_.boot_id)
                return false;
            Stream& stream = streams[key];
            if (!stream.waiting.empty() && !follows_in_run(stream.waiting.back(), info))
                end_run(key, stream);
            stream.waiting.push_back(info);
            stream.count++;
            if (info.says_tsc)
                pairs_[key.ring_id].add({info.recorded_ticks, info.base_mono_ns});
            any = true;
        }
    for (auto& [key, stream] : streams)
        end_run(key, stream);
    return any;
}

std::optional<TraceContents> ContentsMaker::take() {
    if (contents_.groups.size() < kGroupsMin || contents_.other_offsets.size() > kOthersMax ||
        too_many_)
        return std::nullopt;
    for (auto& [ring_id, pairs] : pairs_)
        contents_.pairs.push_back({ring_id, pairs.list()});
    std::sort(contents_.other_offsets.begin(), contents_.other_offsets.end());
    return std::exchange(contents_, {});
}

std::optional<FoundContents>
find_contents(base::ByteSource& untrusted_file,
              const std::function<bool(uint64_t raw_bytes)>& may_unpack) {
    std::optional<uint64_t> end_at = find_end(untrusted_file);
    if (!end_at)
        return std::nullopt;
    std::optional<Bytes> raw = payload_at(untrusted_file, *end_at, DBK_TRACE_END, may_unpack);
    if (!raw)
        return std::nullopt;
    Result<TraceEnd> end = decode_end(*raw);
    if (!end.ok() || end->bytes != *end_at || end->contents_offset == 0 ||
        end->contents_offset >= *end_at)
        return std::nullopt;
    raw = payload_at(untrusted_file, end->contents_offset, DBK_TRACE_CONTENTS, may_unpack);
    if (!raw)
        return std::nullopt;
    Result<TraceContents> contents = decode_contents(*raw);
    if (!contents.ok() || !are_possible(*contents, untrusted_file.size()))
        return std::nullopt;
    return FoundContents{end->contents_offset, end->blocks, std::move(*contents)};
}

} // namespace daybreak::formats
