// SPDX-License-Identifier: Apache-2.0
//
// Profiles: D programs under one word, for `daybreak watch`.
//
// Those in profiles/ come with it.  /etc/daybreak/watch/NAME.d, and watch/NAME.d in the user's own
// folder of settings, are profiles too, and replace one of the same name.
#pragma once

#include "base/result.hpp"

#include <optional>
#include <string>
#include <vector>

namespace daybreak::cmd {

struct Profile {
    std::string name;
    std::string text;
    std::string path; ///< "" when it is built in

    /// What it prints, from the line "NAME.d - what it prints" of its first comment.
    std::string title() const;
};

/// The folders in which a user's own profiles are, the one that counts first first.
std::vector<std::string> profile_folders();

/// Returns all there are, by name, each once.  Error: io: a file that cannot be read.
base::Result<std::vector<Profile>> all_profiles(const std::vector<std::string>& folders);

/// Returns one; empty when there is none.  Error: io.
base::Result<std::optional<Profile>> find_profile(const std::string& name,
                                                  const std::vector<std::string>& folders);

} // namespace daybreak::cmd
