// SPDX-License-Identifier: Apache-2.0
//
// WriteQueue: what waits between the copying and the disk.
//
// The disk may be slow, full or gone; the copying must not wait for it, and the memory is bounded:
//
//     follower thread --add()--> | jobs, room_bytes at most | --drain()--> FileSeries (writer
//     thread)
//
// A job that fails stays the first and is tried again, less and less often, until a sync succeeds:
// an append that reached the page cache proves nothing.  Meanwhile the queue
// fills, the follower stops copying, and the kernel overwrites its rings: what is skipped then is a
// SKIPPED job, with the cause that state() gives, in the place where the segments would have been.
#pragma once

#include "recorder/follow/series.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace daybreak::recorder {

struct WriteJob {
    enum class Kind : uint8_t { piece, metadata, skipped, forget, sync, rotate, pin, symbols };
    Kind kind = Kind::piece;
    Bytes bytes;                        ///< piece, metadata (packed)
    UnsyncedSegment segment{};          ///< what add() read in a piece that is one
    uint16_t ring_id = 0;               ///< forget
    formats::SkippedSegments skipped{}; ///< skipped
    std::string trigger;                ///< pin
    uint64_t from_mono_ns = 0, to_mono_ns = 0;
    std::shared_ptr<const formats::SymbolTable> symbols;
};

/// What the writing side looks like from outside.
struct WriteState {
    bool failing = false;
    formats::SkipCause cause = formats::SkipCause::disk_slow; ///< of what would be skipped now
    std::string error;                                        ///< the last, while failing
    uint64_t failures = 0, file_bytes = 0;
    uint64_t bytes_written = 0, disk_bytes = 0, files = 0, pinned_files = 0, files_removed = 0;
    std::string current;           ///< name of the file being written; "": none
    uint64_t rotation_boot_ns = 0; ///< when it ends for its age; 0: it does not
    uint64_t rotation_bytes = 0;   ///< what it may still grow
    uint64_t synced = 0;           ///< sync jobs done
};

class WriteQueue {
public:
    static constexpr size_t kRoomBytes = 32u << 20;

    WriteQueue(FileSeries& series, FileSeries::Say say, size_t room_bytes = kRoomBytes)
        : series_(series), say_(std::move(say)), room_bytes_(room_bytes) {}
    ~WriteQueue();

    /// How many bytes of pieces can be added now.
    size_t room_bytes() const;
    /// Adds a job; one that is larger than the room only makes the room 0.
    void add(WriteJob job);
    WriteState state() const;
    /// Why there is no room.
    formats::SkipCause hindrance() const;
    /// What was written, is not on the disk, and is not in a later copy on its way there: to be
    /// copied again.  Each is returned once.
    std::vector<UnsyncedSegment> take_lost();

    /// Does what can be done now, in the caller's thread.  Returns when to try again after a
    /// failure, in ns from now; 0: the queue is empty.
    uint64_t drain();
    /// From now on a thread of its own drains.
    void start_thread();
    /// Waits until the queue is empty, at most that long; whether it is.
    bool wait_empty(uint64_t timeout_ns);
    /// The same, and ends the thread.  No job may be added any more.
    bool finish(uint64_t timeout_ns);

private:
    /// Between two tries to write.
    static constexpr uint64_t kBackoffMinNs = 100'000'000, kBackoffMaxNs = 5'000'000'000;

    Result<void> run(const WriteJob& job);
    void write_symbols();
    void note_failure(const Error& error);
    void note_state();
    void loop();

    FileSeries& series_;
    FileSeries::Say say_;
    std::shared_ptr<const formats::SymbolTable> symbols_; ///< not written yet; the drainer's
    bool said_symbols_ = false;
    const size_t room_bytes_;

    mutable std::mutex mutex_; ///< all below
    std::condition_variable changed_;
    std::deque<WriteJob> jobs_;
    size_t jobs_bytes_ = 0;
    WriteState state_;
    std::vector<UnsyncedSegment> lost_;
    uint64_t backoff_ns_ = 0;
    uint64_t failed_syncs_ = 0; ///< how many syncs there had been at the last failure
    bool ending_ = false, given_up_ = false;
    bool is_awaited_ = false; ///< the pauses of a failing disk are short
    bool idle_ = true;        ///< the thread has nothing to do
    std::thread thread_;
};

} // namespace daybreak::recorder
