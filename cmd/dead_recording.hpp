// SPDX-License-Identifier: Apache-2.0
//
// DeadRecording: the recording of a machine that died, wherever it lies.
//
//     FILE or FOLDER   a trace file is read as it is
//     BANK             memory that outlived the reset: recovered
//     DUMP             memory of the dead machine: extracted
//     nothing          /proc/vmcore (a crash kernel), the bank of /dev/daybreak, the newest of what was
//                      saved of crashes, the newest earlier boot of the recorder's folder
#pragma once

#include "cmd/trace_files.hpp"

namespace daybreak::cmd {

/// Where postmortem looks.
struct DeadPlaces {
    std::string given;  ///< what the user named; empty: it finds one
    std::string root;   ///< a folder that stands for the machine, for tests; then no device is asked
    std::string output; ///< where what was recovered or extracted is written; empty: nowhere
    std::string boot;   ///< which boot, by ID prefix; empty: the one that died
};

struct DeadRecording {
    formats::Trace trace;
    std::string path;               ///< of what it was taken from
    std::string origin;             ///< "recovered from", "extracted from", "read from"
    std::vector<std::string> notes; ///< what else was looked at, a sentence each
};

/// Finds it and reads it.  What is recovered or extracted without an output is gone from the disk
/// once it is read.
/// Errors: not_found, with all places that were looked at; those of recover, extract and
///         read_trace_files().
base::Result<DeadRecording> find_dead_recording(const DeadPlaces& places);

} // namespace daybreak::cmd
