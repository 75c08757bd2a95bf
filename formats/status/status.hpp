// SPDX-License-Identifier: Apache-2.0
//
// RecorderStatus: what a recorder at work says of itself, for `daybreak status` and for monitoring.
//
// The recorder replaces its status file at each sync; status.capnp is the schema of the JSON in it.
// The same facts in Prometheus' text format are for node_exporter's textfile collector.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace daybreak::formats {

using base::Error;
using base::ErrorCode;
using base::Result;

/// Times are seconds; points in time are CLOCK_REALTIME.  Counts are since the recorder's start
/// unless they say otherwise.
struct RecorderStatus {
    struct Drop {
        std::string cause; ///< the tag of drops.h
        double count = 0;
        bool operator==(const Drop&) const = default;
    };
    struct Cpu {
        double cpu = 0;
        double records = 0; ///< committed since the ring was made
        double records_per_second = 0;
        double errors = 0;
        double bytes = 0;          ///< of memory that the ring has on this CPU
        double kept_seconds = 0;   ///< from the oldest segment in memory to now
        double newest_segment = 0; ///< sequence numbers
        double copied_segment = 0; ///< the last that is in the files
        double not_copied = 0;     ///< segments overwritten before they could be copied
        std::vector<Drop> drops;   ///< those that happened
        bool operator==(const Cpu&) const = default;
    };
    struct Ring {
        double id = 0;
        std::string name, activity, policy;
        std::vector<Cpu> cpus;
        bool operator==(const Ring&) const = default;
    };
    struct Disk {
        double used_bytes = 0, max_bytes = 0, files = 0;
        std::string file; ///< the one being written
        double file_bytes = 0;
        double rotation_bytes = 0;    ///< until the next file begins
        double rotation_seconds = -1; ///< the same by age; below 0: no limit
        double removed_files = 0;     ///< by the budget
        double failures = 0;          ///< writes that did not go well
        double pinned_files = 0;      ///< that hold a trigger's window
        double queued_bytes = 0;      ///< copied, and not yet written
        bool operator==(const Disk&) const = default;
    };
    struct Cost {
        double cpu_seconds = 0, written_bytes = 0, copied_bytes = 0;
        /// Over the latest interval.
        double cpu_per_second = 0, written_per_second = 0, copied_per_second = 0;
        double not_copied = 0; ///< segments overwritten before they could be copied
        bool operator==(const Cost&) const = default;
    };
    struct Trigger {
        std::string name; ///< "": none yet
        double at = 0;
        bool operator==(const Trigger&) const = default;
    };

    double pid = 0;
    std::string tool_version, boot_id, folder, last_error;
    std::string state; ///< "recording", "waiting", "disk full", "disk error", "disk slow"
    double started_at = 0, updated_at = 0;
    Disk disk;
    Cost cost;
    Trigger last_trigger;
    double triggers = 0;
    std::vector<Ring> rings;
    bool operator==(const RecorderStatus&) const = default;
};

/// Returns the status as JSON, indented, with a newline at the end.
std::string status_json(const RecorderStatus& status);
/// Reads what status_json() made.  Error: corrupt; `name` stands for the file in it.
Result<RecorderStatus> parse_status_json(std::string_view untrusted, const std::string& name);
/// Returns the status in Prometheus' text exposition format.
std::string status_metrics(const RecorderStatus& status);

} // namespace daybreak::formats
