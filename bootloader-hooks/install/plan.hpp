// SPDX-License-Identifier: Apache-2.0
//
// What is to be done, before it is done: a list of steps, printed or carried out in order.
#pragma once

#include "bootloader-hooks/install/host.hpp"

namespace daybreak::install {

/// One step: a file is put in place, a file is removed, or a program is run.
struct Step {
    std::string path;                         ///< of the file; "" when a program is run
    std::optional<std::string> before, after; ///< its content; after is empty: removed
    bool is_text = false;                     ///< shown as a diff
    std::vector<std::string> command;         ///< with paths as the machine has them
    std::string what;                         ///< for people: what the program does
    mode_t mode = 0644;                       ///< of a file that is not there yet
};

struct Plan {
    std::vector<Step> steps;
    std::vector<std::string> notes; ///< what is left out, and why
};

/// Returns a unified diff of two versions of a file, empty when they are the same.
std::string unified_diff(const std::string& path, const std::optional<std::string>& before,
                         const std::optional<std::string>& after);

/// Returns the plan as people read it: a diff for each text, a line for anything else.
std::string describe(const Plan& plan);

/// Error: full: at some moment, as a file and the one that replaces it are both there, the files
/// take more room than their file system has.
base::Result<void> check_room(const Host& host, const Plan& plan);

/// Carries the steps out, the first one first.  The first failure ends it; what was done stays.
base::Result<void> apply(Host& host, const Plan& plan);

} // namespace daybreak::install
