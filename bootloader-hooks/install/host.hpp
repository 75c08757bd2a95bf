// SPDX-License-Identifier: Apache-2.0
//
// The files of a machine, and the programs that install asks.
//
// Everything lies under a root, so that a folder can stand for a machine.  A file is replaced in
// one way only: NAME.daybreak-new is written and synced, renamed over NAME, and its folder synced.
// A process that ends between two system calls leaves the old file or the new one, and at most a
// NAME.daybreak-new.
#pragma once

#include "base/byte_reader.hpp"
#include "base/file.hpp"
#include "base/result.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace daybreak::install {

/// Runs a program and returns what it printed.  Errors: not_found: there is no such program; io: it
/// failed, the message has its last line.
using RunProgram = std::function<base::Result<std::string>(const std::vector<std::string>& words)>;

/// Runs a program of this machine: a path, or a name that is looked for in PATH and in the folders
/// of the system's programs.
base::Result<std::string> run_program(const std::vector<std::string>& words);

constexpr std::chrono::seconds kLockWait{60};

/// What a file system has room for.
struct FileSystem {
    dev_t device = 0;
    uint64_t free_bytes = 0, block_bytes = 1;
};

/// What keeps other processes from changing the installation while it lives.
class Lock {
public:
    Lock(base::ScopedFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
    Lock(Lock&&) = default;
    ~Lock();

private:
    base::ScopedFd fd_;
    std::string path_;
};

/// Returns a word of a shell's command, quoted where it has to be.
std::string shell_word(const std::string& word);

class Host {
public:
    /// `root` is put before every path; "" for the machine itself.
    Host(std::string root, RunProgram run) : root_(std::move(root)), run_(std::move(run)) {}

    /// Returns where a path lies: below the root.
    std::string at(const std::string& path) const { return root_ + path; }
    bool exists(const std::string& path) const;
    /// Whether it is a regular file, or a link to one.
    bool is_regular(const std::string& path) const;
    /// Whether it is there, as far as this user may know, and this user may not read it.
    bool is_refused(const std::string& path) const;
    /// Whether it lies on a file system that is mounted read-only.
    bool is_read_only(const std::string& path) const;
    /// Returns the file system that a path is on, or will be.  Error: io.
    base::Result<FileSystem> file_system_of(std::string path) const;
    /// Returns the content; empty when there is no such file.  Errors: io; invalid: a link or not a
    /// regular file.
    base::Result<std::optional<std::string>> read(const std::string& path) const;
    /// The same of a file that may be a link, as those of /proc and /sys and kernels.
    base::Result<std::optional<std::string>> read_through(const std::string& path) const;
    /// Returns the names in a folder, sorted; none when there is no such folder.
    std::vector<std::string> list(const std::string& folder) const;
    base::Result<std::string> run(const std::vector<std::string>& words) const {
        return run_(words);
    }

    /// Puts a file there in place of what the path names, with the mode and owner of that, or
    /// `mode`. Folders that are missing are made.  Error: io.
    base::Result<void> replace(const std::string& path, const std::string& content, mode_t mode);
    /// Whether a process left the new file of a path beside it.
    bool has_left_over(const std::string& path) const { return exists(path + kNewSuffix); }
    /// Removes a file and the new one that a process may have left; fine when there is none.
    base::Result<void> remove(const std::string& path);
    /// Removes a folder if it is empty.
    void remove_empty_folder(const std::string& path);

    /// Keeps other processes from changing the installation, after waiting for one that is at it.
    /// Errors: busy: one was all the time; io.
    base::Result<Lock> lock(std::chrono::milliseconds wait = kLockWait) const;

private:
    static constexpr const char* kNewSuffix = ".daybreak-new";

    base::Result<void> write_new(const std::string& path, const std::string& content, mode_t mode);
    base::Result<void> sync_folder_of(const std::string& path);

    std::string root_;
    RunProgram run_;
};

} // namespace daybreak::install
