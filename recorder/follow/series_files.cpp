// SPDX-License-Identifier: Apache-2.0
//
// Which files a series has: found, pinned, cut, and removed for the budget.
#include "recorder/follow/series.hpp"

#include "formats/trace/file_reader.hpp"

#include <algorithm>

namespace daybreak::recorder {

namespace {

/// Of a name with its triggers; file systems take 255.
constexpr size_t kNameBytesMax = 200;

} // namespace

Result<void> FileSeries::scan() {
    DBK_TRY(std::vector<FolderEntry> entries, folder_.list());
    formats::HostClocks now = clocks_();
    files_.clear();
    symbols_bytes_.clear();
    for (const FolderEntry& entry : entries) {
        if (std::string boot = formats::boot_of_symbols_file(entry.name); !boot.empty())
            symbols_bytes_[boot] = entry.bytes;
        std::optional<SeriesName> parts = parse_series_name(entry.name);
        if (!parts)
            continue;
        SeriesFile file;
        file.name = entry.name;
        file.parts = *parts;
        file.bytes = file.synced_bytes = entry.bytes;
        file.wall_ns = entry.wall_ns;
        // The wall clock is asked once; from here on ages are of CLOCK_BOOTTIME.
        uint64_t age_ns = now.wall_ns > entry.wall_ns ? now.wall_ns - entry.wall_ns : 0;
        file.closed_boot_ns = static_cast<int64_t>(now.boot_ns) - static_cast<int64_t>(age_ns);
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
    // Those that no removal of a file would take along do not count.
    std::erase_if(symbols_bytes_, [&](const auto& symbols) {
        return symbols.first != boot_ && !has_files_of(symbols.first);
    });
    // Made, and killed before the first block.
    while (!files_.empty() && files_.back().parts.boot == boot_ && files_.back().bytes == 0 &&
           folder_.remove(files_.back().name).ok())
        files_.pop_back();
    if (!files_.empty() && files_.back().parts.boot == boot_)
        last_number_ = files_.back().parts.number;
    return {};
}

void FileSeries::set_times(const std::string& name, uint64_t first_mono_ns, uint64_t last_mono_ns) {
    for (SeriesFile& file : files_)
        if (file.name == name) {
            file.first_mono_ns = first_mono_ns;
            file.last_mono_ns = last_mono_ns;
        }
}

bool FileSeries::has_files_of(const std::string& boot) const {
    return std::any_of(files_.begin(), files_.end(),
                       [&](const SeriesFile& file) { return file.parts.boot == boot; });
}

/// Returns whether the folder has trace files of the boot that are not of a series.
bool FileSeries::has_others_of(const std::string& boot) const {
    Result<std::vector<FolderEntry>> entries = folder_.list();
    return !entries.ok() ||
           std::any_of(entries->begin(), entries->end(), [&](const FolderEntry& entry) {
               if (!entry.name.ends_with(formats::kTraceSuffix) || entry.name.starts_with('.') ||
                   parse_series_name(entry.name) ||
                   !formats::boot_of_symbols_file(entry.name).empty())
                   return false;
               Result<Bytes> beginning =
                   folder_.read_beginning(entry.name, formats::kBeginningBytes);
               std::optional<formats::TraceHeader> header;
               if (beginning.ok())
                   header = formats::find_header(*base::memory_source(std::move(*beginning)));
               return header && boot_name(header->boot_uuid) == boot;
           });
}

uint64_t FileSeries::total_bytes() const {
    uint64_t total = 0;
    for (const auto& [boot, bytes] : symbols_bytes_)
        total += bytes;
    for (const SeriesFile& file : files_)
        total += file.bytes;
    return total;
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
        bool gone = !done.ok() && done.error().code() == ErrorCode::not_found;
        all_done = all_done && (done.ok() || gone);
        if (gone && !being_written) // an administrator removed it
            files_.erase(files_.begin() + static_cast<ptrdiff_t>(i--));
    }
    (void)folder_.sync();
    if (all_done)
        std::erase_if(pins_, [&](const Pin& pin) { return pin.to_mono_ns < now_mono_ns; });
}

/// Cuts off what was given up.  A file of which nothing was synced goes, and its number can be had
/// again, so that numbers have no holes; when it is not the last it stays, empty.
void FileSeries::drop_tails() {
    for (size_t i = files_.size(); i-- > 0;) {
        SeriesFile& file = files_[i];
        if (!file.has_tail)
            continue;
        bool goes = file.synced_bytes == 0 && file.parts.number == last_number_;
        Result<void> done =
            goes ? folder_.remove(file.name) : folder_.cut(file.name, file.synced_bytes);
        bool gone = !done.ok() && done.error().code() == ErrorCode::not_found;
        if (!done.ok() && !gone)
            continue;
        file.bytes = file.synced_bytes;
        file.has_tail = false;
        last_number_ -= goes;
        if (goes || gone)
            files_.erase(files_.begin() + static_cast<ptrdiff_t>(i));
    }
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
    if (file.parts.boot != boot_ && !has_files_of(file.parts.boot)) {
        if (!has_others_of(file.parts.boot))
            (void)folder_.remove(
                formats::symbols_file_name(file.parts.boot)); // another process may have
        symbols_bytes_.erase(file.parts.boot);
    }
    return true;
}

} // namespace daybreak::recorder
