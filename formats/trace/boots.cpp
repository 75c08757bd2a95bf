// SPDX-License-Identifier: Apache-2.0
//
// Which boots the files and folders of a command line are of, for a reader of several recordings.
#include "formats/trace/boots.hpp"

#include "base/file.hpp"
#include "formats/trace/file_reader.hpp"

#include <map>
#include <set>
#include <sys/stat.h>

namespace daybreak::formats {

namespace {

/// What is wanted of one path.
struct PathBoots {
    bool is_folder = false;
    bool is_unknown = false; ///< a file that does not say its boot: it was cut off, or is damaged
    std::map<uint64_t, uint64_t> newest_wall_ns; ///< of each boot: when its newest file was begun
};

std::string name_of(const std::string& path) {
    return path.substr(path.rfind('/') + 1); // npos + 1 is 0
}

/// Adds the boot that a file says, or those that its pieces do.
Result<void> add_file(const std::string& path, const ReadOptions& options, PathBoots& found) {
    DBK_TRY(std::shared_ptr<base::ByteSource> file, options.open_file(path));
    std::optional<TraceHeader> header = find_header(*file);
    uint64_t boot_id = header ? boot_of(header->boot_uuid) : 0;
    if (boot_id == 0) {
        DBK_TRY(Trace trace, parse_trace(file, path, options));
        boot_id = trace.recording.boot_id;
    }
    found.is_unknown |= boot_id == 0;
    if (boot_id == 0)
        return {};
    uint64_t& wall_ns = found.newest_wall_ns[boot_id];
    wall_ns = std::max(wall_ns, header ? header->clocks.wall_ns : 0);
    return {};
}

Result<PathBoots> boots_at(const std::string& path, const ReadOptions& options) {
    PathBoots found;
    struct stat status = {};
    if (::stat(path.c_str(), &status) != 0)
        return base::errno_errorf("cannot open %s", path.c_str());
    found.is_folder = S_ISDIR(status.st_mode);
    if (!found.is_folder) {
        if (boot_of_symbols_file(name_of(path)).empty())
            DBK_TRY_VOID(add_file(path, options, found));
        return found;
    }
    DBK_TRY(std::vector<std::string> names, list_trace_files(path));
    std::optional<base::Error> wrong; // a finding of the boot that is read, if one is
    for (const std::string& name : names)
        if (boot_of_symbols_file(name).empty()) {
            auto done = add_file(path + "/" + name, options, found);
            if (!done.ok() && !wrong)
                wrong = done.error();
        }
    if (found.newest_wall_ns.empty() && wrong)
        return *wrong;
    if (found.newest_wall_ns.empty() && !found.is_unknown)
        return base::errorf(ErrorCode::not_found, "%s holds no trace files (*.dbrk)", path.c_str());
    return found;
}

/// Of a folder the running boot, else the newest.
uint64_t wanted_of(const PathBoots& found, const std::string& running) {
    uint64_t newest = 0, newest_ns = 0;
    for (auto [boot_id, wall_ns] : found.newest_wall_ns) {
        if (!running.empty() && boot_begins_with(boot_id, running))
            return boot_id;
        if (newest == 0 || wall_ns >= newest_ns) {
            newest = boot_id;
            newest_ns = wall_ns;
        }
    }
    return newest;
}

} // namespace

Result<WantedBoots> find_boots(std::span<const std::string> paths, const ReadOptions& options,
                               bool all_of_folders) {
    std::vector<PathBoots> found;
    std::set<uint64_t> wanted, there;
    for (const std::string& path : paths) {
        DBK_TRY(PathBoots boots, boots_at(path, options));
        for (auto [boot_id, wall_ns] : boots.newest_wall_ns) {
            there.insert(boot_id);
            if (!boots.is_folder || all_of_folders)
                wanted.insert(boot_id);
        }
        if (boots.is_folder && !boots.newest_wall_ns.empty())
            wanted.insert(wanted_of(boots, options.running_boot));
        found.push_back(std::move(boots));
    }
    WantedBoots result;
    result.left_out = there.size() - wanted.size();
    for (uint64_t boot_id : wanted) {
        WantedBoot& boot = result.boots.emplace_back();
        boot.boot_id = boot_id;
        boot.name = boot_name(boot_id);
        for (size_t i = 0; i < paths.size(); i++) {
            std::string symbols_of = boot_of_symbols_file(name_of(paths[i]));
            if (found[i].newest_wall_ns.contains(boot_id) || found[i].is_unknown ||
                (!symbols_of.empty() && boot.name.starts_with(symbols_of)))
                boot.paths.push_back(paths[i]);
        }
    }
    return result;
}

} // namespace daybreak::formats
