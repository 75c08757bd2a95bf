// SPDX-License-Identifier: Apache-2.0
//
// debuginfod's own program: its library comes with curl, and our programs are linked statically.
#include "cmd/debuginfod.hpp"

#include "recorder/boot_units.hpp"

#include <climits>
#include <cstdlib>

namespace daybreak::cmd {

namespace {

constexpr const char* kProgram = "debuginfod-find";
/// It gives up by itself (DEBUGINFOD_TIMEOUT) when nothing comes; a large file may take long.
constexpr uint64_t kTimeoutNs = 600'000'000'000;

} // namespace

void add_debuginfod_option(Command command, bool& may_ask) {
    command.add_flag("--debuginfod", may_ask,
                     "Ask the servers of DEBUGINFOD_URLS for programs that are not here");
}

base::Result<analyze::ObjectFetch> debuginfod_fetch(bool may_ask) {
    if (!may_ask)
        return analyze::ObjectFetch();
    const char* servers = std::getenv("DEBUGINFOD_URLS");
    if (servers == nullptr || *servers == '\0')
        return base::errorf(base::ErrorCode::invalid,
                            "--debuginfod: DEBUGINFOD_URLS in the environment names no server");
    if (auto there = recorder::printed_by({kProgram, "--version"}, PATH_MAX, kTimeoutNs);
        !there.ok())
        return base::errorf(base::ErrorCode::not_found,
                            "--debuginfod needs the program %s, of the package debuginfod: %s",
                            kProgram, there.error().message().c_str());
    return analyze::ObjectFetch([](const char* kind, const std::string& build_id) {
        auto path = recorder::printed_by({kProgram, kind, build_id}, PATH_MAX, kTimeoutNs);
        return path.ok() ? path->substr(0, path->find('\n')) : "";
    });
}

} // namespace daybreak::cmd
