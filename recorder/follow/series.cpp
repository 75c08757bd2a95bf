// SPDX-License-Identifier: Apache-2.0
//
// What a series is given: pieces, metadata, symbols (docs/design/0024-disks-that-fail.md).
#include "recorder/follow/series.hpp"
#include "recorder/follow/packed_pieces.hpp"

#include "formats/trace/file_reader.hpp"
#include "recorder/symbols.hpp"

#include <algorithm>

namespace daybreak::recorder {

namespace {

using formats::Piece;

bool is_of_the_piece(ErrorCode code) {
    return code == ErrorCode::corrupt || code == ErrorCode::truncated ||
           code == ErrorCode::unsupported || code == ErrorCode::busy;
}

/// The module has at most so many blocks of maps at once (DBK_MAP_BLOCKS of kmod/state.h).
constexpr uint16_t kMapBlocksMax = 256;

} // namespace

FileSeries::FileSeries(FolderApi& folder, const SeriesOptions& options, formats::TraceHeader header,
                       Clocks clocks, Say say)
    : folder_(folder), options_(options), header_(std::move(header)), clocks_(std::move(clocks)),
      say_(std::move(say)), boot_(boot_name(header_.boot_uuid)) {}

void FileSeries::put_metadata(Bytes packed_piece) {
    Result<Piece> piece = formats::parse_piece(packed_piece);
    if (!piece.ok())
        return;
    const dbk_meta_header& header = piece.value().meta;
    BlockKey key{header.ring_id, header.kind, header.index, header.part};
    // Those of maps are filled anew under the next number: what they had of living processes is in
    // later ones, the rest is in the files before.
    if (header.kind == DBK_META_MAPS) {
        formats::ProcessMaps maps;
        static_cast<void>(
            maps.add(ByteView(packed_piece)
                         .first(packed_bytes(*piece))
                         .subspan(DBK_META_DATA_OFFSET))); // damage is for a reader to report
        known_.add(maps.known());
        std::erase_if(metadata_, [&](const auto& entry) {
            auto behind = static_cast<uint16_t>(header.index - entry.first[2]);
            return entry.first[1] == DBK_META_MAPS && behind >= kMapBlocksMax && behind < 0x8000;
        });
    }
    metadata_[key] = std::move(packed_piece);
    if (std::find(metadata_new_.begin(), metadata_new_.end(), key) == metadata_new_.end())
        metadata_new_.push_back(key);
}

void FileSeries::forget_ring(uint16_t ring_id) {
    std::erase_if(metadata_, [&](const auto& entry) { return entry.first[0] == ring_id; });
    std::erase_if(metadata_new_, [&](const BlockKey& key) { return key[0] == ring_id; });
}

/// Gathers what is left from files that were given up, and metadata that is new.
Result<void> FileSeries::put_waiting() {
    DBK_TRY_VOID(open_file());
    while (!metadata_new_.empty()) {
        auto piece = metadata_.find(metadata_new_.back());
        if (piece != metadata_.end())
            DBK_TRY_VOID(add(piece->second));
        metadata_new_.pop_back();
    }
    while (left_put_ < left_.size()) {
        ByteView rest = ByteView(left_).subspan(left_put_);
        DBK_TRY(Piece piece, formats::parse_piece(rest));
        DBK_TRY_VOID(add(rest.first(packed_bytes(piece))));
        left_put_ += packed_bytes(piece);
    }
    if (skips_put_ == skips_.size())
        return {};
    Result<void> done = writer_->add_skipped(std::span(skips_).subspan(skips_put_));
    if (done.ok())
        skips_put_ = skips_.size();
    else
        give_up_if_unusable(done.error());
    return done;
}

/// While the series is failing: what is left must reach the disk before anything else is taken.
Result<void> FileSeries::prove() {
    if (!failing_)
        return {};
    Result<void> done = put_waiting();
    if (done.ok())
        done = writer_->flush();
    if (done.ok())
        done = sync_file();
    if (done.ok()) {
        settle();
        keep_budget();
    } else if (file_) {
        abandon_file();
    }
    return done;
}

Result<void> FileSeries::refuse(const Error& error) {
    if (!is_of_the_piece(error.code()))
        return error;
    say_("a piece of the ring contradicts itself: " + error.message());
    return {};
}

Result<void> FileSeries::add(ByteView piece) {
    Result<void> added = writer_->add_piece(piece);
    if (added.ok()) {
        note(piece);
        return {};
    }
    if (is_of_the_piece(added.error().code()))
        return refuse(added.error());
    give_up_if_unusable(added.error());
    return added;
}

void FileSeries::note(ByteView piece) {
    Result<Piece> parsed = formats::parse_piece(piece);
    if (!parsed.ok() || parsed.value().kind != formats::PieceKind::segment)
        return;
    const dbk_segment_header& header = parsed.value().segment;
    unsynced_.push_back({header.ring_id, header.cpu, header.sequence});
    SeriesFile& file = files_.back();
    if (file.first_mono_ns == 0 || header.base_mono_ns < file.first_mono_ns)
        file.first_mono_ns = header.base_mono_ns;
}

Result<void> FileSeries::put(ByteView piece) {
    DBK_TRY_VOID(prove());
    // Between two syncs a busy machine fills more than one file.
    if (file_ && files_.back().bytes >= file_bytes_max()) {
        DBK_TRY_VOID(rotate());
        keep_budget();
    }
    Result<Piece> parsed = formats::parse_piece(piece);
    if (parsed.ok() && parsed.value().kind == formats::PieceKind::aggregation) {
        Result<Bytes> packed = formats::packed_piece(piece);
        if (!packed.ok())
            return refuse(packed.error());
        left_.insert(left_.end(), packed->begin(), packed->end());
        return {};
    }
    DBK_TRY_VOID(put_waiting());
    return add(piece);
}

Result<void> FileSeries::put_skipped(const formats::SkippedSegments& skipped) {
    DBK_TRY_VOID(prove());
    skips_.push_back(skipped);
    return {};
}

Result<void> FileSeries::flush() {
    DBK_TRY_VOID(prove());
    if (!file_ && left_.empty() && skips_.empty() && metadata_new_.empty())
        return {};
    DBK_TRY_VOID(put_waiting());
    Result<void> done = writer_->flush();
    if (!done.ok())
        give_up_if_unusable(done.error());
    return done;
}

Result<void> FileSeries::write_symbols(const formats::SymbolTable& symbols) {
    header_.clocks = clocks_();
    header_.file_number = 0;
    DBK_TRY(Bytes content, symbols_file(header_, symbols, options_.zstd_level));
    DBK_TRY_VOID(folder_.replace(formats::symbols_file_name(boot_), content));
    symbols_bytes_[boot_] = content.size();
    return folder_.sync();
}

std::vector<UnsyncedSegment> FileSeries::take_unsynced() {
    return std::exchange(lost_, {});
}

} // namespace daybreak::recorder
