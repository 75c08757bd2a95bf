// SPDX-License-Identifier: Apache-2.0
//
// The follower: keeps what the kernel's rings record, in a folder, for as long as it runs.
//
//     rings --look, copy--> pieces --FileSeries--> DIR/BOOT-000001.dbrk ...
//
// It claims nothing and releases nothing: the rings go on whether it keeps up or not, and no event
// wakes it per record.  It looks a few times in the time that the fastest CPU needs to fill its
// ring; what a CPU overwrote before is a gap, reported with its cause.
//
// A segment reaches the files once it is closed, and as it is at each sync while it is open.  The
// files tell a restarted follower where to go on: (ring, CPU, sequence) is there or is not.
#pragma once

#include "formats/status/status.hpp"
#include "recorder/follow/series.hpp"
#include "recorder/follow/write_queue.hpp"
#include "recorder/programs.hpp"
#include "recorder/symbols.hpp"

namespace daybreak::recorder {

/// What woke the follower.
struct FollowEvents {
    bool stop = false;    ///< finish: SIGTERM, SIGINT
    bool rotate = false;  ///< end the file now: SIGHUP
    bool trigger = false; ///< keep what is around now: SIGUSR1
};

/// What the follower asks of the process it runs in.
class FollowHost {
public:
    virtual ~FollowHost() = default;
    virtual formats::HostClocks clocks() = 0;
    /// Returns when something happened or the time is over.
    virtual FollowEvents wait(uint64_t timeout_ns) = 0;
    /// Opens the device.  Error not_found: it is not there now.
    virtual Result<std::unique_ptr<DeviceApi>> open_device() = 0;
    /// Takes the status after each sync; pid, tool, folder and processor time are for it to fill
    /// in.
    virtual void publish(const formats::RecorderStatus& status) = 0;
    /// A message for people, once per event; one line.  Called from any thread.
    virtual void say(const std::string& line) = 0;
};

struct FollowOptions {
    SeriesOptions series;
    formats::TraceHeader header; ///< host facts; origin and number are filled in
    uint64_t sync_ns = 1'000'000'000;
    bool wait = false;           ///< for the device and a first ring
    std::vector<uint16_t> rings; ///< only these; empty: all
    std::vector<NamedProgram> programs; ///< enabled when no ring has them; they go on without us
    uint64_t trigger_before_ns = 30'000'000'000, trigger_after_ns = 5'000'000'000;
    bool threaded = true; ///< false: writes between two looks, for tests
    size_t queue_bytes = WriteQueue::kRoomBytes;
    uint64_t finish_ns = 20'000'000'000; ///< how long the disk may take at the end
};

struct FollowSummary {
    uint64_t bytes = 0;      ///< of pieces copied
    uint64_t file_bytes = 0; ///< written
    uint64_t skipped = 0;    ///< segments that were overwritten before they were copied
    bool has_losses() const { return skipped != 0; }
};

/// Follows until it is stopped.
/// Errors: not_found, when there is no device or no ring and `wait` is not set; those of the folder
///         when not even the first file can be made.
Result<FollowSummary> follow(FollowHost& host, FolderApi& folder, SymbolSource& symbols,
                             const FollowOptions& options);

} // namespace daybreak::recorder
