// SPDX-License-Identifier: Apache-2.0
//
// The file that is being written: made, appended to, within a budget (docs/design/0024-disks-that-fail.md).
#include "recorder/follow/packed_pieces.hpp"
#include "recorder/follow/series.hpp"

#include "formats/trace/file_reader.hpp"

#include <algorithm>
#include <cinttypes>
#include <set>

namespace daybreak::recorder {

namespace {

using base::strprintf;
using formats::HostClocks;
using formats::Piece;

/// A block is no larger than a file may be, so that small files on a small disk can be written.
constexpr size_t kBlockBytesMin = DBK_SEGMENT_BYTES_DEFAULT, kBlockBytesMax = 256u << 10;
constexpr uint64_t kFileBytesMax = uint64_t{64} << 20;
constexpr uint64_t kFilesPerBudget = 16;
/// Names in a row that belong to other files, at most, before it is an error.
constexpr int kTakenNamesMax = 1000;

} // namespace

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

void FileSeries::keep_budget() {
    drop_tails();
    auto now_boot_ns = static_cast<int64_t>(clocks_().boot_ns);
    auto too_many = [&] {
        return total_bytes() > options_.total_bytes_max ||
               (options_.files_max != 0 && files_.size() > options_.files_max);
    };
    while (too_many() && remove_oldest())
        ;
    if (options_.age_ns_max == 0)
        return;
    for (size_t i = files_.size() - (file_ ? 1 : 0); i-- > 0;)
        if (now_boot_ns - files_[i].closed_boot_ns > static_cast<int64_t>(options_.age_ns_max))
            (void)remove_file(i);
}

} // namespace daybreak::recorder
