// SPDX-License-Identifier: Apache-2.0
//
// RecordingSet: the recordings of a replay, as the command line names and cuts them.
#pragma once

#include "analyze/replay/replayed_probes.hpp"
#include "cmd/trace_files.hpp"
#include "cmd/user_symbols.hpp"
#include "cmd/window_options.hpp"

#include <memory>

namespace daybreak::cmd {

/// The name of the host that a recording is of; "" when it had none yet.
std::string vmname_of(const formats::Trace& trace);
/// The UUID of its boot, as far as it is known.
std::string bootid_of(const formats::Trace& trace);

/// A ring of a recording, with its program.
struct OpenRing {
    size_t index = 0;
    const formats::RingRecording* ring = nullptr;
    std::unique_ptr<analyze::RingProgram> program;
    std::unique_ptr<analyze::CaptureTable> table;
};

/// One of them, open.
struct OpenRecording {
    formats::Trace trace;
    std::string vmname, bootid;
    std::string name; ///< for messages: "web-1", of two boots of a machine "web-1, boot 1122aabb"
    analyze::TimeWindow window;
    std::vector<OpenRing> rings; ///< that describe their records; at least one
    uint64_t event_ns = 0;       ///< of what they are aligned by
};

class RecordingSet {
public:
    /// Opens them; they are in the order of machines and boots, whatever that of the paths is.
    /// Errors: as of read_recordings().
    static base::Result<std::unique_ptr<RecordingSet>> open(const TraceFiles& files);

    /// Gives each the symbols that --symbols names.  Errors: as cmd::take_symbols().
    base::Result<void> take_symbols(const SymbolsArguments& symbols);
    /// Cuts each to what was asked for, by its own time.  One that has nothing of it is left out,
    /// which is said, unless that would be all.
    /// Errors: as of apply_window_options().
    base::Result<void> cut(const WindowOptions& options);
    /// Finds the rings of each, and what their records hold.
    /// Error: not_found, when there is none.
    base::Result<void> prepare();
    /// Finds their common time; `event` is a probe description, "" is the wall clock.  Returns what
    /// is to be said of it: "" of one recording.
    /// Errors: invalid, not_found.
    base::Result<std::string> align(const std::string& event);

    bool is_of_several() const { return all_.size() > 1; }
    /// The rings of all of them.
    std::vector<const OpenRing*> rings() const;
    const std::vector<std::unique_ptr<OpenRecording>>& all() const { return all_; }
    std::vector<const formats::Trace*> traces() const;
    /// For user_names_of().
    const analyze::ObjectPlaces& places() const { return places_; }
    /// For ReplayedProbes, once they are aligned.
    std::span<const analyze::ReplayedRecording> replayed() const { return replayed_; }
    /// What a message about one of several begins with: "web-1: ".
    std::string prefix(const OpenRecording& one) const {
        return is_of_several() ? one.name + ": " : "";
    }

private:
    void name_all();
    base::Result<void> find_events(const std::string& event);

    std::vector<std::unique_ptr<OpenRecording>> all_;
    analyze::ObjectPlaces places_;
    analyze::CaptureSlots slots_;
    std::vector<analyze::ReplayedRecording> replayed_;
};

} // namespace daybreak::cmd
