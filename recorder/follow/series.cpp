// SPDX-License-Identifier: Apache-2.0
//
// Writing, ending and removing the files of a series.
#include "recorder/follow/series.hpp"

#include "formats/segment/piece.hpp"

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
/// Of a name with its triggers; file systems take 255.
constexpr size_t kNameBytesMax = 200;

bool is_of_the_piece(ErrorCode code) {
    return code == ErrorCode::corrupt || code == ErrorCode::truncated ||
           code == ErrorCode::unsupported || code == ErrorCode::busy;
}

} // namespace

FileSeries::FileSeries(FolderApi& folder, const SeriesOptions& options, formats::TraceHeader header,
                       Clocks clocks, Say say)
    : folder_(folder), options_(options), header_(std::move(header)), clocks_(std::move(clocks)),
      say_(std::move(say)), boot_(boot_name(header_.boot_uuid)) {}

Result<void> FileSeries::scan() {
    DBK_TRY(std::vector<FolderEntry> entries, folder_.list());
    HostClocks now = clocks_();
    files_.clear();
    for (const FolderEntry& entry : entries) {
        std::optional<SeriesName> parts = parse_series_name(entry.name);
        if (!parts)
            continue;
        if (entry.bytes == 0 && parts->boot == boot_ && folder_.remove(entry.name).ok())
            continue; // made, and killed before the first block
        SeriesFile file;
        file.name = entry.name;
        file.parts = *parts;
        file.bytes = entry.bytes;
        file.wall_ns = entry.wall_ns;
        // The wall clock is asked once; from here on ages are of CLOCK_BOOTTIME.
        uint64_t age_ns = now.wall_ns > entry.wall_ns ? now.wall_ns - entry.wall_ns : 0;
        file.closed_boot_ns = static_cast<int64_t>(now.boot_ns) - static_cast<int64_t>(age_ns);
        if (parts->boot == boot_)
            last_number_ = std::max(last_number_, parts->number);
        files_.push_back(std::move(file));
    }
    std::sort(files_.begin(), files_.end(), [&](const SeriesFile& a, const SeriesFile& b) {
        bool a_now = a.parts.boot == boot_, b_now = b.parts.boot == boot_;
        if (a_now != b_now)
            return b_now;
        if (a.parts.boot != b.parts.boot)
            return a.wall_ns < b.wall_ns;
        return a.parts.number < b.parts.number;
    });
    return {};
}

void FileSeries::set_times(const std::string& name, uint64_t first_mono_ns, uint64_t last_mono_ns) {
    for (SeriesFile& file : files_)
        if (file.name == name) {
            file.first_mono_ns = first_mono_ns;
            file.last_mono_ns = last_mono_ns;
        }
}

uint64_t FileSeries::file_bytes_max() const {
    if (options_.file_bytes_max != 0)
        return options_.file_bytes_max;
    return std::min(options_.total_bytes_max / kFilesPerBudget, kFileBytesMax);
}

uint64_t FileSeries::total_bytes() const {
    uint64_t total = symbols_bytes_;
    for (const SeriesFile& file : files_)
        total += file.bytes;
    return total;
}

uint64_t FileSeries::rotation_boot_ns() const {
    return file_ && options_.file_age_ns_max != 0 ? opened_boot_ns_ + options_.file_age_ns_max : 0;
}

/// The sink of the trace writer: the block is in the file, or nothing of it.
Result<void> FileSeries::append(ByteView block) {
    while (total_bytes() + block.size() > options_.total_bytes_max && remove_oldest())
        ;
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
        if (!remove_oldest())
            return done;
        if (!said_full_)
            say_(strprintf("%s: the disk is full: the oldest files make room",
                           folder_.path().c_str()));
        said_full_ = true;
    }
}

Result<void> FileSeries::open_file() {
    if (file_)
        return {};
    HostClocks now = clocks_();
    SeriesFile file;
    file.parts = {boot_, last_number_ + 1, ""};
    for (const Pin& pin : pins_)
        if (pin.to_mono_ns >= now.mono_ns)
            file.parts = pinned(file.parts, pin.word);
    file.name = series_name(file.parts);
    Result<std::unique_ptr<AppendFile>> made = folder_.create(file.name);
    while (!made.ok() && made.error().code() == ErrorCode::full && remove_oldest())
        made = folder_.create(file.name);
    if (!made.ok())
        return std::move(made).error();
    file_ = std::move(made).value();
    files_.push_back(std::move(file));
    last_number_++;
    opened_boot_ns_ = now.boot_ns;
    header_.clocks = now;
    header_.file_number = last_number_;
    Result<formats::TraceWriter> writer = formats::TraceWriter::create(
        [this](ByteView block) { return append(block); }, header_,
        {options_.zstd_level,
         std::clamp<size_t>(file_bytes_max(), kBlockBytesMin, kBlockBytesMax)});
    if (!writer.ok()) { // not even its beginning: the number can be had again
        (void)folder_.remove(files_.back().name);
        files_.pop_back();
        file_.reset();
        last_number_--;
        return std::move(writer).error();
    }
    writer_.emplace(std::move(writer).value());
    metadata_new_.clear();
    for (const auto& [key, piece] : metadata_)
        metadata_new_.push_back(key);
    (void)folder_.sync(); // the next sync of the file tells what is wrong with the disk
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

/// Gathers what a file that became unusable did not take, and metadata that is new.
Result<void> FileSeries::put_waiting() {
    DBK_TRY_VOID(open_file());
    while (!metadata_new_.empty()) {
        auto piece = metadata_.find(metadata_new_.back());
        if (piece != metadata_.end())
            DBK_TRY_VOID(add(piece->second));
        metadata_new_.pop_back();
    }
    while (!left_.empty()) {
        DBK_TRY(Piece piece, formats::parse_piece(left_));
        size_t bytes = (size_t{piece.committed_bytes} + 7) & ~size_t{7};
        DBK_TRY_VOID(add(ByteView(left_).first(bytes)));
        left_.erase(left_.begin(), left_.begin() + static_cast<ptrdiff_t>(bytes));
    }
    return {};
}

Result<void> FileSeries::add(ByteView piece) {
    Result<void> added = writer_->add_piece(piece);
    if (added.ok()) {
        note(piece);
        return {};
    }
    if (is_of_the_piece(added.error().code())) {
        say_("a piece of the ring contradicts itself: " + added.error().message());
        return {};
    }
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
    // Between two syncs a busy machine fills more than one file.
    if (file_ && files_.back().bytes >= file_bytes_max()) {
        DBK_TRY_VOID(rotate());
        keep_budget();
    }
    DBK_TRY_VOID(put_waiting());
    return add(piece);
}

Result<void> FileSeries::put_skipped(const formats::SkippedSegments& skipped) {
    DBK_TRY_VOID(put_waiting());
    Result<void> done = writer_->add_skipped(std::span(&skipped, 1));
    if (!done.ok())
        give_up_if_unusable(done.error());
    return done;
}

Result<void> FileSeries::flush() {
    if (!file_ && left_.empty() && metadata_new_.empty())
        return {};
    DBK_TRY_VOID(put_waiting());
    Result<void> done = writer_->flush();
    if (!done.ok())
        give_up_if_unusable(done.error());
    return done;
}

/// After an error that is more than a lack of room the next file may be on a disk that works; and
/// a file that alone fills its disk must end, so that it can go.
void FileSeries::give_up_if_unusable(const Error& error) {
    if (file_ && (error.code() != ErrorCode::full || !file_->is_usable() || files_.size() == 1))
        abandon_file();
}

void FileSeries::abandon_file() {
    if (writer_) {
        ByteView rest = writer_->unwritten();
        left_.insert(left_.end(), rest.begin(), rest.end());
    }
    close_file();
    for (const UnsyncedSegment& segment : unsynced_)
        if (!left_behind(segment))
            lost_.push_back(segment);
    unsynced_.clear();
    is_dirty_ = false;
}

/// Whether the segment is gathered for the next file.
bool FileSeries::left_behind(const UnsyncedSegment& segment) const {
    for (ByteView rest(left_); !rest.empty();) {
        Result<Piece> piece = formats::parse_piece(rest);
        if (!piece.ok())
            return false;
        const dbk_segment_header& header = piece.value().segment;
        if (piece.value().kind == formats::PieceKind::segment &&
            header.ring_id == segment.ring_id && header.cpu == segment.cpu &&
            header.sequence == segment.sequence)
            return true;
        rest = rest.subspan(std::min<size_t>(
            rest.size(), (size_t{piece.value().committed_bytes} + 7) & ~size_t{7}));
    }
    return false;
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
}

Result<void> FileSeries::sync() {
    DBK_TRY_VOID(flush());
    apply_pins();
    if (!file_)
        return {};
    if (is_dirty_) {
        Result<void> done = file_->sync();
        if (!done.ok()) {
            abandon_file();
            return done;
        }
        is_dirty_ = false;
    }
    unsynced_.clear();
    files_.back().last_mono_ns = clocks_().mono_ns;
    if (file_->is_gone()) {
        say_(folder_.path() + "/" + files_.back().name + " was removed by somebody else");
        close_file();
        files_.pop_back();
        return {};
    }
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
        done = file_->sync();
    if (!done.ok()) {
        abandon_file();
        return done;
    }
    unsynced_.clear();
    is_dirty_ = false;
    close_file();
    return {};
}

Result<void> FileSeries::write_symbols(const formats::SymbolTable& symbols) {
    Bytes content;
    header_.clocks = clocks_();
    header_.file_number = 0;
    auto sink = [&content](ByteView bytes) -> Result<void> {
        content.insert(content.end(), bytes.begin(), bytes.end());
        return {};
    };
    DBK_TRY(formats::TraceWriter writer,
            formats::TraceWriter::create(sink, header_, {options_.zstd_level}));
    DBK_TRY_VOID(writer.add_symbols(symbols));
    formats::TraceSummary summary;
    summary.clocks = header_.clocks;
    DBK_TRY_VOID(writer.finish(summary));
    DBK_TRY_VOID(folder_.replace(symbols_name(boot_), content));
    symbols_bytes_ = content.size();
    return folder_.sync();
}

void FileSeries::pin(const std::string& name, uint64_t from_mono_ns, uint64_t to_mono_ns) {
    pins_.push_back({trigger_file_word(name), from_mono_ns, to_mono_ns});
    apply_pins();
}

SeriesName FileSeries::pinned(SeriesName parts, const std::string& word) {
    std::string triggers = parts.triggers + "+";
    SeriesName more = parts;
    more.triggers += "+" + word;
    bool has_it = triggers.find("+" + word + "+") != std::string::npos;
    return has_it || series_name(more).size() > kNameBytesMax ? parts : more;
}

/// Renames the files that overlap a window; what failed is tried again at the next sync.
void FileSeries::apply_pins() {
    if (pins_.empty())
        return;
    uint64_t now_mono_ns = clocks_().mono_ns;
    bool all_done = true;
    for (size_t i = 0; i < files_.size(); i++) {
        SeriesFile& file = files_[i];
        bool being_written = file_ && i + 1 == files_.size();
        uint64_t last = being_written ? now_mono_ns : file.last_mono_ns;
        if (file.parts.boot != boot_ || file.first_mono_ns == 0)
            continue;
        SeriesName parts = file.parts;
        for (const Pin& pin : pins_)
            if (file.first_mono_ns <= pin.to_mono_ns && last >= pin.from_mono_ns)
                parts = pinned(parts, pin.word);
        if (parts.triggers == file.parts.triggers)
            continue;
        Result<void> done = folder_.rename(file.name, series_name(parts));
        if (done.ok()) {
            file.parts = parts;
            file.name = series_name(parts);
        }
        all_done = all_done && done.ok();
    }
    (void)folder_.sync();
    if (all_done)
        std::erase_if(pins_, [&](const Pin& pin) { return pin.to_mono_ns < now_mono_ns; });
}

/// Removes the file that is worth least; false: there is none to remove.
bool FileSeries::remove_oldest() {
    auto end = files_.end() - (file_ ? 1 : 0);
    auto victim =
        std::find_if(files_.begin(), end, [](const SeriesFile& file) { return !file.is_pinned(); });
    if (victim == end)
        victim = files_.begin();
    return victim != end && remove_file(static_cast<size_t>(victim - files_.begin()));
}

bool FileSeries::remove_file(size_t index) {
    SeriesFile file = files_[index];
    Result<void> done = folder_.remove(file.name);
    if (!done.ok() && done.error().code() != ErrorCode::not_found)
        return false;
    files_.erase(files_.begin() + static_cast<ptrdiff_t>(index));
    files_removed_++;
    bool last_of_boot = std::none_of(files_.begin(), files_.end(), [&](const SeriesFile& other) {
        return other.parts.boot == file.parts.boot;
    });
    if (last_of_boot && file.parts.boot != boot_)
        (void)folder_.remove(symbols_name(file.parts.boot));
    return true;
}

void FileSeries::keep_budget() {
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

std::vector<UnsyncedSegment> FileSeries::take_unsynced() {
    return std::exchange(lost_, {});
}

} // namespace daybreak::recorder
