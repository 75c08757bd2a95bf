// SPDX-License-Identifier: Apache-2.0
//
// Profiles: those that are built in, and files of folders.
#include "cmd/watch/profiles.hpp"

#include "analyze/diff/questions.hpp"
#include "base/file.hpp"
#include "cmd/program.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <utility>

namespace daybreak::cmd {

namespace {

namespace fs = std::filesystem;

constexpr analyze::Question kProfiles[] = {
#include "watch_profiles.inc"
};
/// Words that people know from elsewhere, and the profile that they mean.
constexpr std::pair<std::string_view, const char*> kOtherNames[] = {
    {"execve", "execsnoop"}, {"open", "opensnoop"}, {"kill", "killsnoop"},
    {"io", "biosnoop"},      {"tcp", "tcpstates"},  {"chmod", "chmodsnoop"},
};
constexpr const char* kSuffix = ".d";
/// More than any profile needs: what is there may not be one at all.
constexpr size_t kProfileBytesMax = 1 << 20;

base::Result<Profile> read_profile(const fs::path& path) {
    std::error_code absent;
    if (!fs::is_regular_file(path, absent)) // opening a pipe would wait
        return base::errorf(base::ErrorCode::invalid, "%s: not a regular file", path.c_str());
    DBK_TRY(base::Bytes bytes, base::read_file(path, kProfileBytesMax));
    DBK_TRY(std::string text, script_text(path, bytes));
    return Profile{path.stem(), std::move(text), path};
}

} // namespace

std::string Profile::title() const {
    return std::string(analyze::Question{name, text}.title());
}

std::vector<std::string> profile_folders() {
    std::vector<std::string> folders;
    const char* settings = std::getenv("XDG_CONFIG_HOME");
    const char* home = std::getenv("HOME");
    if (settings != nullptr && settings[0] == '/')
        folders.push_back(std::string(settings) + "/daybreak/watch");
    else if (home != nullptr && home[0] == '/')
        folders.push_back(std::string(home) + "/.config/daybreak/watch");
    folders.push_back("/etc/daybreak/watch");
    return folders;
}

std::vector<std::string_view> all_other_names() {
    std::vector<std::string_view> words;
    for (const auto& [other, meant] : kOtherNames)
        words.push_back(other);
    return words;
}

std::string other_names(const std::string& profile) {
    std::string text;
    for (const auto& [other, meant] : kOtherNames)
        if (profile == meant)
            text += ", " + std::string(other);
    return text;
}

Profiles all_profiles(const std::vector<std::string>& folders) {
    Profiles all;
    std::map<std::string, Profile> by_name;
    for (const std::string& folder : folders) {
        std::error_code absent; // a folder that is not there has none
        for (fs::directory_iterator at(folder, absent), end; !absent && at != end;
             at.increment(absent)) {
            const fs::path& path = at->path();
            if (path.extension() != kSuffix || by_name.count(path.stem()) != 0)
                continue;
            auto profile = read_profile(path);
            if (profile.ok())
                by_name.emplace(profile->name, std::move(*profile));
            else
                all.problems.push_back(profile.error().message());
        }
    }
    for (const analyze::Question& built_in : kProfiles)
        by_name.try_emplace(std::string(built_in.name),
                            Profile{std::string(built_in.name), std::string(built_in.text), ""});
    for (auto& [name, profile] : by_name)
        all.profiles.push_back(std::move(profile));
    return all;
}

base::Result<std::optional<Profile>> find_profile(const std::string& name,
                                                  const std::vector<std::string>& folders) {
    if (name.empty() || name.find('/') != name.npos)
        return std::optional<Profile>();
    for (const std::string& folder : folders) {
        fs::path path = fs::path(folder) / (name + kSuffix);
        std::error_code absent;
        if (fs::exists(fs::symlink_status(path, absent))) {
            DBK_TRY(Profile profile, read_profile(path));
            return std::optional<Profile>(std::move(profile));
        }
    }
    auto found = std::find_if(std::begin(kProfiles), std::end(kProfiles),
                              [&name](const analyze::Question& one) { return one.name == name; });
    for (const auto& [other, meant] : kOtherNames)
        if (name == other)
            return find_profile(meant, folders);
    if (found == std::end(kProfiles))
        return std::optional<Profile>();
    return std::optional<Profile>({name, std::string(found->text), ""});
}

} // namespace daybreak::cmd
