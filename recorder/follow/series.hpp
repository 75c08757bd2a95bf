// SPDX-License-Identifier: Apache-2.0
//
// FileSeries: the series of trace files that a recorder leaves in its folder.
//
//     DIR/4f1c22d0-000011.dbrk           boot (its first 8 digits), number in that boot
//     DIR/4f1c22d0-000012+slow.dbrk      holds the window of a trigger named "slow"
//     DIR/4f1c22d0-symbols.dbrk          the kernel's symbols, once per boot
//
// Each file explains itself but for the symbols: it begins with the metadata as it is then.  It is
// only appended to.  What is put is gathered, and written as a block when there is enough or at
// flush(); sync() returns when it is on the disk.
//
// The budget removes files of the series, oldest first: those of earlier boots, then by number;
// those that hold a trigger's window only when no other is left; the one being written never.
// Symbols count, and go with the last file of their boot, unless a file that is not of a series, as
// snapshots are, has its symbols there.
//
// When a call fails, nothing of it is lost: what was put is still gathered, and flush() or sync()
// try again, with another file when this one cannot be used any more.
//
// Only what a sync confirmed counts as written.  After a sync that failed the kernel may have
// dropped the pages it was about and report the next sync as good, so the file is given up:
//
//     | synced blocks | not synced |      the tail is cut off, or the file removed when nothing of
//     '-- stays ------'--- void ---'      it was synced; its segments are copied again or reported
//
// From then on the series is failing.  It takes nothing, and removes no file that was synced, until
// what it has left is synced in the next file (the budget is exceeded by that much meanwhile).
#pragma once

#include "formats/trace/writer.hpp"
#include "recorder/follow/folder.hpp"
#include "recorder/jit_texts.hpp"

#include <functional>
#include <map>
#include <optional>

namespace daybreak::recorder {

struct SeriesOptions {
    uint64_t total_bytes_max = uint64_t{1} << 30;
    uint64_t age_ns_max = 0;      ///< 0: no limit
    uint64_t files_max = 0;       ///< 0: no limit
    uint64_t file_bytes_max = 0;  ///< 0: a sixteenth of the total, at most 64 MiB
    uint64_t file_age_ns_max = 0; ///< 0: no limit
    int zstd_level = 1;
    bool columns = true; ///< where they are smaller than rows
    /// Returns the names of the code that processes made, which each file ends with; null: none.
    std::function<JitTexts(const formats::KnownProcesses&)> jit_texts;
};

/// What a file's name says.
struct SeriesName {
    std::string boot; ///< 8 hexadecimal digits
    uint32_t number = 0;
    std::string triggers; ///< "+slow+oom", or ""
};

/// Returns what the name says; empty when it is not one of a series.
std::optional<SeriesName> parse_series_name(const std::string& name);
std::string series_name(const SeriesName& parts);
/// Returns the first 8 digits that stand for a boot in names: of its UUID.
std::string boot_name(const std::array<uint8_t, 16>& boot_uuid);
/// Returns the name with what could not stand in a file's name replaced by '_', at most 32 long.
std::string trigger_file_word(std::string_view name);

/// One file of the series.
struct SeriesFile {
    std::string name;
    SeriesName parts;
    uint64_t bytes = 0;
    uint64_t synced_bytes = 0; ///< of these on the disk; all, of a file from before
    bool has_tail = false;     ///< given up: what follows synced_bytes is to be cut off
    uint64_t wall_ns = 0;      ///< last written to
    int64_t closed_boot_ns =
        0; ///< CLOCK_BOOTTIME when it was last written to; before 0: earlier boots
    uint64_t first_mono_ns = 0; ///< of its first segment; 0: not known
    uint64_t last_mono_ns = 0;  ///< when it was last written to; 0: not known
    bool is_pinned() const { return !parts.triggers.empty(); }
};

/// A part of a segment's way to the disk: copied, and not yet synced.
struct UnsyncedSegment {
    uint16_t ring_id = 0, cpu = 0;
    uint64_t sequence = 0;
    auto operator<=>(const UnsyncedSegment&) const = default;
};

class FileSeries {
public:
    using Clocks = std::function<formats::HostClocks()>;
    using Say = std::function<void(const std::string&)>;

    /// `header` is what each file's begins with; its boot is the series'.
    FileSeries(FolderApi& folder, const SeriesOptions& options, formats::TraceHeader header,
               Clocks clocks, Say say);

    /// Reads what files are there.
    Result<void> scan();
    const std::vector<SeriesFile>& files() const { return files_; }
    /// Says what time a file of an earlier run is from; for pin().
    void set_times(const std::string& name, uint64_t first_mono_ns, uint64_t last_mono_ns);

    /// Adds a metadata block: to this file if it is not known yet, and to each later one.
    void put_metadata(Bytes packed_piece);
    /// The ring has gone: later files need not explain it.
    void forget_ring(uint16_t ring_id);
    /// Adds a segment or an aggregation snapshot, and writes when there is enough for a block.
    /// A snapshot is kept until it is synced: the kernel does not have it any more.
    Result<void> put(ByteView piece);

    /// Reports what could not be put.
    Result<void> put_skipped(const formats::SkippedSegments& skipped);

    Result<void> flush();
    /// flush(), then returns when all is on the disk.  Starts another file when this one is full or
    /// old, and applies the budget.
    Result<void> sync();
    /// Ends the file; the next piece starts another.
    Result<void> rotate();
    /// Writes the symbols of this boot.
    Result<void> write_symbols(const formats::SymbolTable& symbols);
    /// Files that overlap the window get the trigger's name, also those still to be made.
    void pin(const std::string& name, uint64_t from_mono_ns, uint64_t to_mono_ns);

    /// What was written since the last sync() and may not be on the disk; forgets it.  For when a
    /// file could not be synced: the caller copies it again.
    std::vector<UnsyncedSegment> take_unsynced();

    uint64_t bytes_written() const { return bytes_written_; }
    uint64_t total_bytes() const;
    uint64_t files_removed() const { return files_removed_; }
    /// How many syncs have confirmed what was written.
    uint64_t syncs() const { return syncs_; }
    /// The file being written, nullptr: none.
    const SeriesFile* current() const { return file_ ? &files_.back() : nullptr; }
    uint64_t file_bytes_max() const;
    /// When the file being written is to be ended for its age, CLOCK_BOOTTIME; 0: it is not.
    uint64_t rotation_boot_ns() const;

private:
    struct Pin {
        std::string word;
        uint64_t from_mono_ns, to_mono_ns;
    };

    static SeriesName pinned(SeriesName parts, const std::string& word);
    Result<void> create_file(const formats::HostClocks& now);
    Result<void> open_file();
    Result<void> prove();
    Result<void> put_waiting();
    Result<void> add(ByteView piece);
    Result<void> refuse(const Error& error);
    Result<void> put_jit_names(formats::Findings& findings);
    Result<void> sync_file();
    void settle();
    void give_up_if_unusable(const Error& error);
    void abandon_file();
    void keep_left(bool on_disk);
    void drop_tails();
    void close_file();
    Result<bool> cannot_make_room();
    Result<void> append(ByteView block);
    void note(ByteView piece);
    void apply_pins();
    bool remove_oldest();
    bool remove_file(size_t index);
    bool has_files_of(const std::string& boot) const;
    bool has_others_of(const std::string& boot) const;
    void keep_budget();

    FolderApi& folder_;
    SeriesOptions options_;
    formats::TraceHeader header_;
    Clocks clocks_;
    Say say_;
    std::string boot_;

    std::vector<SeriesFile> files_; ///< oldest first; the last is being written when file_ is set
    std::map<std::string, uint64_t> symbols_bytes_; ///< of each boot's symbols
    uint32_t last_number_ = 0;
    std::unique_ptr<AppendFile> file_;
    std::optional<formats::TraceWriter> writer_;
    uint64_t opened_boot_ns_ = 0;
    using BlockKey = std::array<uint16_t, 4>;     // ring, kind, index, part
    std::map<BlockKey, Bytes> metadata_;          ///< the newest copy of each block
    formats::KnownProcesses known_;               ///< since this file began
    std::vector<BlockKey> metadata_new_;          ///< that this file does not have yet
    Bytes left_;                                  ///< pieces that are kept until they are synced
    size_t left_put_ = 0;                         ///< bytes of these that were put into this file
    std::vector<formats::SkippedSegments> skips_; ///< the same for what could not be put
    size_t skips_put_ = 0;
    std::vector<UnsyncedSegment> unsynced_, lost_;
    std::vector<Pin> pins_;
    uint64_t bytes_written_ = 0, files_removed_ = 0, syncs_ = 0;
    bool is_dirty_ = false;    ///< something was written since the last sync
    bool is_named_ = false;    ///< the folder was synced since this file was made
    bool sync_failed_ = false; ///< of this file
    bool failing_ = false;     ///< the last sync failed
    bool said_full_ = false;
};

} // namespace daybreak::recorder
