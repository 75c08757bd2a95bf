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
#include <string_view>
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

/// All there are, by name, each once, and what is wrong with files that are none.
struct Profiles {
    std::vector<Profile> profiles;
    std::vector<std::string> problems;
};
Profiles all_profiles(const std::vector<std::string>& folders);

/// Returns what else a profile is called, ", NAME"; "" for most.
std::string other_names(const std::string& profile);

/// Returns all the other names that profiles have.
std::vector<std::string_view> all_other_names();

/// Returns one; empty when there is none.  Errors: io; invalid: not a regular file, or no text.
base::Result<std::optional<Profile>> find_profile(const std::string& name,
                                                  const std::vector<std::string>& folders);

} // namespace daybreak::cmd
