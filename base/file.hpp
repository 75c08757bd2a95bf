// SPDX-License-Identifier: Apache-2.0
//
// Files: a descriptor that closes itself, whole-file reading, and output files that are whole or
// not there.
#pragma once

#include "base/byte_reader.hpp"
#include "base/result.hpp"

#include <optional>
#include <string>
#include <sys/types.h>
#include <utility>

namespace daybreak::base {

/// Owns a file descriptor; -1 when empty.  Movable, closes on destruction.
class ScopedFd {
public:
    ScopedFd() = default;
    explicit ScopedFd(int fd) : fd_(fd) {}
    ScopedFd(ScopedFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    ScopedFd& operator=(ScopedFd&& other) noexcept;
    ~ScopedFd() { reset(); }

    int get() const { return fd_; }
    bool valid() const { return fd_ >= 0; }
    int release() { return std::exchange(fd_, -1); }
    void reset();

private:
    int fd_ = -1;
};

/// Opens for reading.  Errors: not_found, io; the message names the path.
Result<ScopedFd> open_for_reading(const std::string& path);

/// Returns the whole content.  Works on /proc files, and on pipes and devices of at most 1 GiB: one
/// may have no end.  A directory is an Error.  Error invalid when it has more than `bytes_max`.
Result<Bytes> read_file(const std::string& path, size_t bytes_max = SIZE_MAX);

/// Returns whether `path` leads to a pipe that has no name of its own: a shell's <(COMMAND), or
/// /dev/stdin after a |.  Opening it never waits for a writer, as a FIFO's does.
bool is_nameless_pipe(const std::string& path);

/// Writes everything, through short writes and EINTR.  `path` is for the message.
Result<void> write_all(int fd, ByteView bytes, const std::string& path);

/// Returns `stem` + `suffix`, or the first of STEM-2SUFFIX ... that names nothing yet.
std::string free_path(const std::string& stem, const std::string& suffix);

/// An output file that appears under its name only when complete: written beside it as
/// ".<name>.XXXXXX", then fsync, rename, fsync of the folder.  Destroyed uncommitted: removed.
/// A path that is not a regular file (/dev/null, a pipe) is written directly; of a link in /dev or
/// /proc to a regular file (/dev/stdout) that file is written, any other link is replaced.
class OutputFile {
public:
    /// Of what a kernel recorded: addresses, stacks, other users' data.
    static constexpr mode_t kSecretMode = 0600;

    /// The file gets `mode` less the umask; one of the caller's own that is there keeps its mode,
    /// unless it has another link or is one.
    /// Errors: invalid when `path` is a directory, another user's FIFO, or another user's link to
    /// what is not a regular file; io when its folder is not there or not writable.
    static Result<OutputFile> create(const std::string& name, mode_t mode = 0666);

    OutputFile(OutputFile&& other) noexcept;
    OutputFile& operator=(OutputFile&&) = delete;
    ~OutputFile();

    int fd() const { return fd_.get(); }
    const std::string& path() const { return path_; }
    Result<void> write(ByteView bytes) { return write_all(fd_.get(), bytes, path_); }
    /// Makes the file appear.  Call once; on an Error nothing is left over.
    Result<void> commit();

private:
    OutputFile(ScopedFd fd, std::string path, std::string temporary)
        : fd_(std::move(fd)), path_(std::move(path)), temporary_(std::move(temporary)) {}

    ScopedFd fd_;
    std::string path_;
    std::string temporary_; // empty: written in place, or committed
};

/// Puts a short text in place of whatever `path` names, by rename, not synced.  Follows no symbolic
/// link and opens nothing that is there, so that the folder may be another user's.
Result<void> replace_text(const std::string& path, const std::string& text, mode_t mode);

} // namespace daybreak::base
