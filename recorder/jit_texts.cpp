// SPDX-License-Identifier: Apache-2.0
//
// Looking for the files of runtimes.
#include "recorder/jit_texts.hpp"

#include "base/file.hpp"
#include "formats/trace/jit_dump.hpp"
#include "formats/trace/jit_names.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cinttypes>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <linux/openat2.h>
#include <map>
#include <optional>
#include <set>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace daybreak::recorder {

namespace {

using base::ScopedFd;
using base::strprintf;

std::optional<uint32_t> number_of(std::string_view text) {
    uint32_t number = 0;
    auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty() || parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size())
        return std::nullopt;
    return number;
}

/// Opens a folder or file for looking at it only, a link as itself: not even a device notices.
ScopedFd look_at(int folder, const char* name, int flags = 0) {
    return ScopedFd(::openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC | flags));
}

/// Who a process is, by its file "status".
struct Process {
    std::string number; ///< in its own namespace: the last of "NSpid:"
    bool is_of_ours;    ///< its namespace of processes is the recorder's, or in none of its own
    uid_t user = 0;     ///< the second of "Uid:", which files that it makes get
};

std::optional<Process> read_process(const std::string& folder) {
    auto bytes = base::read_file(folder + "/status");
    if (!bytes.ok())
        return std::nullopt;
    std::string text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    auto words_of = [&](const char* key) {
        std::vector<std::string> words;
        size_t at = text.find(key);
        if (at == std::string::npos)
            return words;
        size_t begin = at + std::strlen(key), end = std::min(text.find('\n', begin), text.size());
        while ((begin = text.find_first_not_of("\t ", begin)) < end) {
            size_t stop = std::min(text.find_first_of("\t ", begin), end);
            words.push_back(text.substr(begin, stop - begin));
            begin = stop;
        }
        return words;
    };
    std::vector<std::string> numbers = words_of("\nNSpid:"), users = words_of("\nUid:");
    auto user = users.size() < 2 ? std::nullopt : number_of(users[1]);
    if (numbers.empty() || !number_of(numbers.back()) || !user)
        return std::nullopt;
    return Process{numbers.back(), numbers.size() == 1, *user};
}

/// Opens what a path leads to for looking at it, if no link is in it.  The kernel wrote it down
/// without: one is there only if it was put there later.
ScopedFd look_at_without_links(const std::string& path) {
    struct open_how how = {};
    how.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
    how.resolve = RESOLVE_NO_SYMLINKS;
    return ScopedFd(
        static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof(how))));
}

/// Of a process that has mapped more no dump is looked for: of each line a user chooses 4 KiB.
constexpr size_t kMapsBytesMax = 16u << 20;

/// Returns where a file of that name is mapped as code, as "7f0000001000-7f0000002000", "":
/// nowhere. Runtimes map their dump so for perf to find it.
std::string mapped_at(const std::string& maps, const std::string& name) {
    auto bytes = base::read_file(maps, kMapsBytesMax);
    std::string_view text =
        bytes.ok() ? std::string_view(reinterpret_cast<const char*>(bytes->data()), bytes->size())
                   : std::string_view();
    while (!text.empty()) {
        std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        size_t blank = line.find(' ');
        if (line.ends_with("/" + name) && line.substr(blank + 1, 4).find('x') != line.npos)
            return std::string(line.substr(0, blank));
    }
    return "";
}

class Collector {
public:
    /// In a file of `known` bytes there is nothing new.
    Collector(const std::string& tmp, uint64_t bytes_known)
        : tmp_(look_at(AT_FDCWD, tmp.c_str(), O_DIRECTORY)), bytes_known_(bytes_known) {}

    /// Takes a process's files: the one that it sees in /tmp, and the dump that it has mapped.  Who
    /// may not look into the process sees only the own /tmp, which is likely to be its, too, and
    /// the dump where the recording says it was.
    void take_of(uint32_t pid, const std::string& folder, const std::string& known_dump) {
        auto process = read_process(folder);
        if (!process)
            return;
        std::vector<Source> sources;
        // The process's root is a link of the kernel's; a link in it would lead out of it.
        ScopedFd root(::open((folder + "/root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
        const bool is_closed = !root.valid() && errno != ENOENT && process->is_of_ours;
        ScopedFd tmp = look_at(root.get(), "tmp", O_DIRECTORY);
        const int seen = root.valid() ? tmp.get() : is_closed ? tmp_.get() : -1;
        std::string name = "perf-" + process->number + ".map";
        if (seen >= 0)
            look(sources, look_at(seen, name.c_str()), name, pid, process->user);
        name = formats::jit_dump_name(process->number);
        if (std::string at = mapped_at(folder + "/maps", name); !at.empty()) {
            // A link of the kernel's to that very file, whatever its path leads to now.
            at = folder + "/map_files/" + at;
            look(sources, ScopedFd(::open(at.c_str(), O_PATH | O_CLOEXEC)), name, pid,
                 process->user, Place::mapped_dump);
        } else if (process->is_of_ours && !known_dump.empty()) {
            look(sources, look_at_without_links(known_dump), name, pid, process->user, Place::dump);
        }
        take(pid, std::move(sources));
    }

    /// Takes the files of a process that is gone: of one whose user is not known only root's, as
    /// any other may be of who would like to name that process's code.
    void take_left(uint32_t pid, const formats::KnownProcess& process) {
        const uid_t user = process.user.value_or(0);
        const char* others = process.is_of_several
                                 ? "not of root, and its number was of several users"
                             : process.user ? kOfAnother
                                            : "not of root, and its process's user is not known";
        std::vector<Source> sources;
        std::string name = "perf-" + std::to_string(pid) + ".map";
        if (tmp_.valid())
            look(sources, look_at(tmp_.get(), name.c_str()), name, pid, user, Place::map, others);
        name = formats::jit_dump_name(std::to_string(pid));
        if (!process.dump.empty())
            look(sources, look_at_without_links(process.dump), name, pid, user, Place::dump,
                 others);
        take(pid, std::move(sources));
    }

    /// The bytes of the files of the last process of which some were taken; empty: of none.
    std::optional<uint64_t> bytes_seen() const { return bytes_seen_; }

    JitTexts result() {
        for (const auto& [why, files] : refused_)
            result_.findings.add(formats::FindingKind::no_made_names, files.first_where,
                                 files.count == 1 ? why
                                                  : strprintf("%s, like %" PRIu64 " more",
                                                              why.c_str(), files.count - 1));
        return std::move(result_);
    }

private:
    /// How a file was found; one by a mapping is that very file, under whatever names.
    enum class Place : uint8_t { map, dump, mapped_dump };
    static constexpr const char* kOfAnother = "of another user than its process";

    struct Files {
        std::string first_where;
        uint64_t count = 0;
    };

    /// A file that is only looked at yet.
    struct Source {
        ScopedFd file;
        std::string where;
        uint64_t bytes;
        bool is_dump;
    };

    static const char* why_not(const struct stat& status, bool is_mapped) {
        if (S_ISLNK(status.st_mode))
            return "a symbolic link is not followed";
        if (!S_ISREG(status.st_mode))
            return "not a regular file";
        if (status.st_nlink != 1 && !is_mapped)
            return "a file that has another name, too";
        return nullptr;
    }

    void refuse(const std::string& where, const std::string& why) {
        Files& files = refused_[why];
        if (files.count++ == 0)
            files.first_where = where;
    }

    /// Adds a file once, if it is of user `owner`.  errno is of opening it.
    void look(std::vector<Source>& sources, ScopedFd file, const std::string& name, uint32_t pid,
              uid_t owner, Place place = Place::map, const char* why_not_others = kOfAnother) {
        if (!file.valid() && errno == ENOENT)
            return; // this process makes no code
        std::string where = strprintf("%s of process %u", name.c_str(), pid);
        if (bytes_left_ == 0 || seen_.size() >= formats::kJitTextsMax)
            return refuse(where, "after more files, or bytes, than are taken");
        struct stat status = {};
        if (!file.valid() || ::fstat(file.get(), &status) != 0)
            return refuse(where, "could not be looked at");
        if (const char* why = why_not(status, place == Place::mapped_dump))
            return refuse(where, why);
        if (status.st_uid != owner)
            return refuse(where, why_not_others);
        if (seen_.emplace(status.st_dev, status.st_ino).second)
            sources.push_back({std::move(file), std::move(where),
                               static_cast<uint64_t>(status.st_size), place != Place::map});
    }

    /// Takes what the files of a process have, one after the other, unless they have not grown.
    void take(uint32_t pid, std::vector<Source> sources) {
        uint64_t bytes = 0;
        for (const Source& source : sources)
            bytes += source.bytes;
        if (bytes == bytes_known_)
            return;
        std::string text;
        size_t functions_left = formats::kJitFunctionsMax;
        for (const Source& source : sources) {
            const std::string same = strprintf("/proc/self/fd/%d", source.file.get());
            ScopedFd opened(::open(same.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
            if (!opened.valid()) {
                refuse(source.where, "could not be opened");
                continue;
            }
            bytes_seen_ = bytes;
            const uint64_t room =
                std::min<uint64_t>(formats::kJitTextBytesMax - text.size(), bytes_left_);
            const std::string more = source.is_dump ? read_dump(opened.get(), room, source.where)
                                                    : read_lines(opened.get(), room, source);
            std::string damage = formats::lines_left_out(more, functions_left).text("line");
            if (!damage.empty())
                refuse(source.where, damage);
            text += more;
        }
        if (!text.empty())
            result_.texts.push_back({pid, std::move(text)});
    }

    /// Its runtime may write on, and others cut it: what is there is taken, in whole lines.
    std::string read_lines(int file, uint64_t room, const Source& source) {
        std::string text(std::min(source.bytes, room), '\0');
        size_t done = 0;
        ssize_t got = 0;
        while (done < text.size() && (got = ::pread(file, text.data() + done, text.size() - done,
                                                    static_cast<off_t>(done))) > 0)
            done += static_cast<size_t>(got);
        bytes_left_ -= done; // whatever of it is kept
        if (got < 0)
            refuse(source.where, "could not be read to its end");
        text.resize(text.rfind('\n', done) + 1); // npos + 1 is 0
        if (source.bytes > room)
            refuse(source.where, "more bytes than are taken: only its beginning is");
        return text;
    }

    std::string read_dump(int file, uint64_t room, const std::string& where) {
        auto read = [file](uint64_t at, uint8_t* bytes, size_t count) {
            ssize_t got = ::pread(file, bytes, count, static_cast<off_t>(at));
            return static_cast<size_t>(std::max<ssize_t>(got, 0));
        };
        auto dump = formats::text_of_jit_dump(read, room, records_left_);
        bytes_left_ -= dump.text.size();
        if (dump.problem != nullptr)
            refuse(where, dump.problem);
        if (std::string damage = dump.left_out.text("record"); !damage.empty())
            refuse(where, damage);
        return std::move(dump.text);
    }

    JitTexts result_;
    std::map<std::string, Files> refused_; // by reason
    std::set<std::pair<dev_t, ino_t>> seen_;
    size_t bytes_left_ = formats::kJitTextsBytesMax, records_left_ = formats::kJitDumpRecordsMax;
    const ScopedFd tmp_; // as the recorder sees it
    const uint64_t bytes_known_;
    std::optional<uint64_t> bytes_seen_;
};

} // namespace

JitTexts read_jit_texts(const formats::KnownProcesses& known, const std::string& proc,
                        const std::string& tmp) {
    Collector collector(tmp, 0);
    std::set<uint32_t> living;
    std::error_code failed; // what cannot be listed is not there
    for (std::filesystem::directory_iterator at(proc, failed), end; at != end && !failed;
         at.increment(failed)) {
        const std::filesystem::directory_entry& entry = *at;
        auto pid = number_of(entry.path().filename().string());
        if (!pid || !living.insert(*pid).second)
            continue;
        const formats::KnownProcess* process = known.find(*pid);
        collector.take_of(*pid, entry.path().string(), process ? process->dump : "");
    }
    for (const auto& [pid, process] : known.all())
        if (!living.contains(pid))
            collector.take_left(pid, process);
    return collector.result();
}

JitTexts read_jit_text_of(uint32_t pid, uint64_t& bytes_known, const std::string& proc) {
    Collector collector("/tmp", bytes_known);
    collector.take_of(pid, proc + "/" + std::to_string(pid), "");
    bytes_known = collector.bytes_seen().value_or(bytes_known);
    return collector.result();
}

} // namespace daybreak::recorder
