// SPDX-License-Identifier: Apache-2.0
//
// daybreak record --follow: the recorder that goes on.
#pragma once

#include "cmd/commands/enabling.hpp"
#include "formats/status/status.hpp"

#include <string>

namespace daybreak::cmd {

/// Where a recorder says what it does, when it may write there.
inline constexpr const char* kStatusPath = "/run/daybreak/recorder.json";

/// The options of --follow, as given.
struct FollowArguments {
    std::string folder; ///< empty: not asked for
    std::string max_size = "1g", max_age, max_files, file_size, file_age, sync = "1s";
    std::string trigger_before = "30s", trigger_after = "5s";
    std::string status_file;  ///< empty: kStatusPath, else DIR/status.json
    std::string metrics_file; ///< empty: none
    bool wait = false;
    bool rows = false;
    EnablingArguments enabling; ///< -s and its kin: what to enable
    std::vector<uint16_t> rings;
};

/// Reads a recorder's status file.  Errors: not_found, with what to do; corrupt; io.
base::Result<formats::RecorderStatus> read_status(const std::string& path);

/// Adds the options to `record`.
void add_follow_options(Command command, FollowArguments& arguments);

/// Follows until a signal ends it; returns the exit status.
int run_follow(const FollowArguments& arguments, bool quiet);

} // namespace daybreak::cmd
