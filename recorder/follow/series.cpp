// SPDX-License-Identifier: Apache-2.0
//
// Writing and ending the files of a series (docs/design/0024-disks-that-fail.md).
#include "recorder/follow/series.hpp"

#include "base/padded.hpp"
#include "formats/segment/piece.hpp"
#include "formats/trace/file_reader.hpp"
#include "recorder/symbols.hpp"

#include <algorithm>
#include <cinttypes>
#include <set>

namespace daybreak::recorder {

namespace {

/// A block is no larger than a file may be, so that small files on a small disk can be written.
constexpr size_t kBlockBytesMin = DBK_SEGMENT_BYTES_DEFAULT, kBlockBytesMax = 256u << 10;

using base::strprintf;
using formats::HostClocks;
using formats::Piece;

constexpr uint64_t kFileBytesMax = uint64_t{64} << 20;
constexpr uint64_t kFilesPerBudget = 16;
/// Names in a row that belong to other files, at most, before it is an error.
constexpr int kTakenNamesMax = 1000;

bool is_of_the_piece(ErrorCode code) {
    return code == ErrorCode::corrupt || code == ErrorCode::truncated ||
           code == ErrorCode::unsupported || code == ErrorCode::busy;
}

/// What a piece takes in a block.
size_t packed_bytes(const Piece& piece) {
    return base::padded_to_8(piece.committed_bytes);
}

using PieceKey = std::pair<formats::PieceKind, UnsyncedSegment>;

PieceKey key_of(const Piece& piece) {
    const dbk_segment_header& header = piece.segment;
    return {piece.kind, {header.ring_id, header.cpu, header.sequence}};
}

/// Calls each(piece, its bytes) for pieces that lie back to back.
template <typename Each>
void for_each_piece(ByteView pieces, Each each) {
    while (!pieces.empty()) {
        Result<Piece> piece = formats::parse_piece(pieces);
        if (!piece.ok())
            return;
        size_t bytes = std::min(packed_bytes(piece.value()), pieces.size());
        each(piece.value(), pieces.first(bytes));
        pieces = pieces.subspan(bytes);
    }
}

} // namespace

FileSeries::FileSeries(FolderApi& folder, const SeriesOptions& options, formats::TraceHeader header,
                       Clocks clocks, Say say)
    : folder_(folder), options_(options), header_(std::move(header)), clocks_(std::move(clocks)),
      say_(std::move(say)), boot_(boot_name(header_.boot_uuid)) {}

uint64_t FileSeries::file_bytes_max() const {
    if (options_.file_bytes_max != 0)
        return options_.file_bytes_max;
    return std::min(options_.total_bytes_max / kFilesPerBudget, kFileBytesMax);
}

uint64_t FileSeries::rotation_boot_ns() const {
    return file_ && options_.file_age_ns_max != 0 ? opened_boot_ns_ + options_.file_age_ns_max : 0;
}

/// Removes the oldest file, but only on a disk that has just synced what was written.  Returns
/// whether there was none.
Result<bool> FileSeries::cannot_make_room() {
    if (is_dirty_ || failing_) {
        DBK_TRY_VOID(sync_file());
        // What was written is on the disk now; what is gathered for the next block is not.
        std::set<UnsyncedSegment> gathered;
        if (writer_)
            for_each_piece(writer_->unwritten(), [&](const Piece& piece, ByteView) {
                gathered.insert(key_of(piece).second);
            });
        std::erase_if(unsynced_,
                      [&](const UnsyncedSegment& one) { return !gathered.contains(one); });
    }
    return !remove_oldest();
}

/// The sink of the trace writer: the block is in the file, or nothing of it.
Result<void> FileSeries::append(ByteView block) {
    bool has_room = failing_;
    while (!has_room && total_bytes() + block.size() > options_.total_bytes_max) {
        DBK_TRY(has_room, cannot_make_room());
    }
    for (;;) {
        Result<void> done = file_->append(block);
        if (done.ok()) {
            files_.back().bytes += block.size();
            bytes_written_ += block.size();
            is_dirty_ = true;
            said_full_ = false;
            return {};
        }
        if (done.error().code() != ErrorCode::full || !file_->is_usable())
            return done;
        DBK_TRY(bool is_over, cannot_make_room());
        if (is_over)
            return done;
        if (!said_full_)
            say_(strprintf("%s: the disk is full: the oldest files make room",
                           folder_.path().c_str()));
        said_full_ = true;
    }
}

/// Makes the next file, under the next number that no other file has.
Result<void> FileSeries::create_file(const HostClocks& now) {
    for (int taken = 0;;) {
        SeriesFile file;
        file.parts = {boot_, last_number_ + 1, ""};
        for (const Pin& pin : pins_)
            if (pin.to_mono_ns >= now.mono_ns)
                file.parts = pinned(file.parts, pin.word);
        file.name = series_name(file.parts);
        Result<std::unique_ptr<AppendFile>> made = folder_.create(file.name);
        if (made.ok()) {
            file_ = std::move(made).value();
            files_.push_back(std::move(file));
            last_number_++;
            is_named_ = false;
            return {};
        }
        ErrorCode code = made.error().code();
        if (code == ErrorCode::busy && taken++ < kTakenNamesMax)
            last_number_++;
        else if (code != ErrorCode::full || (failing_ && !folder_.sync().ok()) || !remove_oldest())
            return std::move(made).error();
    }
}

Result<void> FileSeries::open_file() {
    if (file_)
        return {};
    drop_tails();
    HostClocks now = clocks_();
    DBK_TRY_VOID(create_file(now));
    opened_boot_ns_ = now.boot_ns;
    header_.clocks = now;
    header_.file_number = last_number_;
    Result<formats::TraceWriter> writer = formats::TraceWriter::create(
        [this](ByteView block) { return append(block); }, header_,
        {.zstd_level = options_.zstd_level,
         .block_raw_bytes = std::clamp<size_t>(file_bytes_max(), kBlockBytesMin, kBlockBytesMax),
         .columns = options_.columns});
    if (!writer.ok()) { // not even its beginning
        files_.back().has_tail = true;
        close_file();
        drop_tails();
        return std::move(writer).error();
    }
    writer_.emplace(std::move(writer).value());
    metadata_new_.clear();
    for (const auto& [key, piece] : metadata_)
        metadata_new_.push_back(key);
    return {};
}

void FileSeries::put_metadata(Bytes packed_piece) {
    Result<Piece> piece = formats::parse_piece(packed_piece);
    if (!piece.ok())
        return;
    const dbk_meta_header& header = piece.value().meta;
    BlockKey key{header.ring_id, header.kind, header.index, header.part};
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

/// After an error that is more than a lack of room the next file may be on a disk that works; a
/// file that alone fills its disk must end, so that it can go; and after a failed sync, for want of
/// room as well, a sync that succeeds says nothing about what was written before.
void FileSeries::give_up_if_unusable(const Error& error) {
    if (file_ && (sync_failed_ || error.code() != ErrorCode::full || !file_->is_usable() ||
                  files_.size() == 1))
        abandon_file();
}

/// Ends the file where it was synced last.  When it was an append that failed, what it has may be
/// synced still.
void FileSeries::abandon_file() {
    bool on_disk = !failing_ && !sync_failed_ && sync_file().ok();
    keep_left(on_disk);
    failing_ = !on_disk;
    SeriesFile& file = files_.back();
    file.has_tail = file.bytes != file.synced_bytes || file.bytes == 0 || !file_->is_usable();
    close_file();
    drop_tails();
}

/// Leaves for the next file what this one does not have on the disk, and notes as lost what is not
/// in memory any more.  Of a segment that grew between two copies the longer one is left.
void FileSeries::keep_left(bool on_disk) {
    std::vector<ByteView> pieces;
    std::map<PieceKey, size_t> places;
    std::map<UnsyncedSegment, size_t>
        copies; // of a segment: added to this file, less those in memory
    for (const UnsyncedSegment& one : unsynced_)
        copies[one]++;
    auto keep = [&](const Piece& piece, ByteView bytes) {
        if (piece.kind == formats::PieceKind::metadata)
            return;
        auto added = copies.find(key_of(piece).second);
        if (piece.kind == formats::PieceKind::segment && added != copies.end() &&
            added->second != 0)
            added->second--;
        auto [at, is_new] = places.emplace(key_of(piece), pieces.size());
        if (is_new)
            pieces.push_back(bytes);
        else if (bytes.size() > pieces[at->second].size())
            pieces[at->second] = bytes;
    };
    if (!on_disk)
        for_each_piece(ByteView(left_).first(left_put_), keep);
    if (writer_)
        for_each_piece(writer_->unwritten(), keep);
    for_each_piece(ByteView(left_).subspan(left_put_), keep);
    Bytes kept;
    for (ByteView piece : pieces)
        kept.insert(kept.end(), piece.begin(), piece.end());
    left_ = std::move(kept);
    if (on_disk)
        skips_.erase(skips_.begin(), skips_.begin() + static_cast<ptrdiff_t>(skips_put_));
    else
        for (const auto& [one, written] : copies)
            if (written != 0)
                lost_.push_back(one);
    unsynced_.clear();
    left_put_ = skips_put_ = 0;
}

void FileSeries::close_file() {
    HostClocks now = clocks_();
    if (!files_.empty() && file_) {
        files_.back().closed_boot_ns = static_cast<int64_t>(now.boot_ns);
        files_.back().last_mono_ns = now.mono_ns;
        files_.back().wall_ns = now.wall_ns;
    }
    writer_.reset();
    file_.reset();
    is_dirty_ = sync_failed_ = false;
}

/// Confirms the blocks that were written; what is gathered is not among them.
Result<void> FileSeries::sync_file() {
    Result<void> done = file_->sync();
    if (done.ok() && !is_named_)
        done = folder_.sync();
    sync_failed_ = !done.ok();
    if (!done.ok())
        return done;
    files_.back().synced_bytes = files_.back().bytes;
    is_named_ = true;
    is_dirty_ = failing_ = false;
    syncs_++;
    return {};
}

/// All that was put is on the disk.
void FileSeries::settle() {
    unsynced_.clear();
    left_.erase(left_.begin(), left_.begin() + static_cast<ptrdiff_t>(left_put_));
    skips_.erase(skips_.begin(), skips_.begin() + static_cast<ptrdiff_t>(skips_put_));
    left_put_ = skips_put_ = 0;
}

Result<void> FileSeries::sync() {
    DBK_TRY_VOID(flush());
    apply_pins();
    if (!file_)
        return {};
    if (file_->is_gone()) {
        say_(folder_.path() + "/" + files_.back().name + " was removed by another process");
        keep_left(false); // what came since the last sync may have come since it was removed
        close_file();
        files_.pop_back();
        return {};
    }
    if (is_dirty_) {
        Result<void> done = sync_file();
        if (!done.ok()) {
            abandon_file();
            return done;
        }
        settle();
    }
    files_.back().last_mono_ns = clocks_().mono_ns;
    uint64_t rotation = rotation_boot_ns();
    if (files_.back().bytes >= file_bytes_max() || (rotation != 0 && clocks_().boot_ns >= rotation))
        DBK_TRY_VOID(rotate());
    keep_budget();
    return {};
}

Result<void> FileSeries::rotate() {
    DBK_TRY_VOID(flush());
    if (!file_)
        return {};
    formats::TraceSummary summary;
    summary.clocks = clocks_();
    Result<void> done = writer_->finish(summary);
    if (done.ok())
        done = sync_file();
    if (!done.ok()) {
        abandon_file();
        return done;
    }
    settle();
    close_file();
    return {};
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
