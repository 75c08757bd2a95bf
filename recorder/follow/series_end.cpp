// SPDX-License-Identifier: Apache-2.0
//
// The file that is being written: synced, ended, given up (docs/design/0024-disks-that-fail.md).
#include "base/counted.hpp"
#include "formats/trace/message.hpp"
#include "recorder/follow/packed_pieces.hpp"
#include "recorder/follow/series.hpp"

#include <algorithm>
#include <cinttypes>
#include <map>

namespace daybreak::recorder {

namespace {

using base::strprintf;
using formats::HostClocks;
using formats::Piece;

/// Texts are at most half of what a file may have, and an eighth of it when they are compressed.
constexpr uint64_t kJitTextsPart = 2;

} // namespace

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

/// Names are worth less than records: they take no more than a part of a file, and what finds no
/// room is left out.
Result<void> FileSeries::put_jit_names(formats::Findings& findings) {
    if (!options_.jit_texts)
        return {};
    JitTexts made = options_.jit_texts(known_);
    known_.clear(); // a process that ends is in the file that has its end
    findings.append(made.findings);
    for (const formats::Finding& finding : made.findings.list())
        say_(finding.where + ": " + finding.text);
    uint64_t left = file_bytes_max() / kJitTextsPart, left_out = 0;
    for (const formats::JitText& text : made.texts) {
        bool has_room = text.text.size() <= left;
        Result<void> done =
            has_room ? writer_->add_block(DBK_TRACE_JIT_NAMES, formats::encode_jit_text(text))
                     : Result<void>();
        if (!done.ok() && !file_->is_usable())
            return done;
        if (has_room && done.ok())
            left -= text.text.size();
        else
            left_out++;
    }
    if (left_out != 0)
        findings.add(formats::FindingKind::no_made_names, "names of code that processes made",
                     base::counted(left_out, "process", "processes") +
                         " left out: the file has no room");
    return {};
}

Result<void> FileSeries::rotate() {
    DBK_TRY_VOID(flush());
    if (!file_)
        return {};
    formats::Findings findings;
    Result<void> done = put_jit_names(findings);
    formats::TraceSummary summary;
    summary.findings = findings.list();
    summary.clocks = clocks_();
    if (done.ok())
        done = writer_->finish(summary);
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

} // namespace daybreak::recorder
