// SPDX-License-Identifier: Apache-2.0
//
// POSIX file handling of file.hpp.
#include "base/file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <linux/magic.h>
#include <memory>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace daybreak::base {

namespace {

/// Of a pipe or device, which does not say how much comes: as much as a recorder's folder has by
/// default.
constexpr size_t kEndlessBytesMax = 1u << 30;

std::string folder_of(const std::string& path) {
    size_t slash = path.rfind('/');
    if (slash == std::string::npos)
        return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

std::string name_of(const std::string& path) {
    size_t slash = path.rfind('/');
    return slash == std::string::npos ? path : path.substr(slash + 1);
}

/// The pipe of a shell has no name and is whose the shell is.
bool is_named_fifo(const struct stat& status, const struct statfs& system) {
    return S_ISFIFO(status.st_mode) && system.f_type != PIPEFS_MAGIC;
}

bool is_foreign(const struct stat& status) {
    return status.st_uid != 0 && status.st_uid != ::geteuid();
}

/// Returns what another user put in the place of an output, to read what is written to it or to
/// have it written elsewhere; nullptr: nothing.
const char* trap_at(const std::string& path) {
    struct stat status = {};
    if (::lstat(path.c_str(), &status) != 0 || !is_foreign(status))
        return nullptr;
    return S_ISFIFO(status.st_mode) ? "FIFO" : S_ISLNK(status.st_mode) ? "link" : nullptr;
}

/// Opens what is there and is not a regular file.
Result<ScopedFd> open_special(const std::string& path) {
    if (const char* trap = trap_at(path))
        return errorf(ErrorCode::invalid, "%s is another user's %s", path.c_str(), trap);
    ScopedFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
    struct stat status = {};
    struct statfs system = {};
    if (!fd.valid() || ::fstat(fd.get(), &status) != 0 || ::fstatfs(fd.get(), &system) != 0)
        return errno_errorf("cannot write %s", path.c_str());
    // A link, or what a race put there.
    if (S_ISREG(status.st_mode))
        return errorf(ErrorCode::invalid, "%s was replaced while it was opened", path.c_str());
    if (is_named_fifo(status, system) && is_foreign(status))
        return errorf(ErrorCode::invalid, "%s is another user's FIFO", path.c_str());
    return fd;
}

std::optional<std::string> real_path(const std::string& path) {
    std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr), &std::free);
    return real ? std::optional<std::string>(real.get()) : std::nullopt;
}

/// Returns the file that a link in /dev or /proc leads to: /dev/stdout is the machine's, and is not
/// replaced.  Other links are (another user may have put them there).
std::string without_system_link(const std::string& path) {
    struct stat link = {}, target = {};
    if (::lstat(path.c_str(), &link) != 0 || !S_ISLNK(link.st_mode) ||
        ::stat(path.c_str(), &target) != 0 || !S_ISREG(target.st_mode))
        return path;
    std::string folder = real_path(folder_of(path)).value_or("") + "/";
    bool is_system = folder == "/dev/" || folder.starts_with("/proc/");
    return is_system ? real_path(path).value_or(path) : path;
}

} // namespace

ScopedFd& ScopedFd::operator=(ScopedFd&& other) noexcept {
    if (this != &other) {
        reset();
        fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
}

void ScopedFd::reset() {
    if (fd_ >= 0)
        ::close(fd_);
    fd_ = -1;
}

Result<ScopedFd> open_for_reading(const std::string& path) {
    ScopedFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd.valid())
        return errno_errorf("cannot open %s", path.c_str());
    return fd;
}

bool is_nameless_pipe(const std::string& path) {
    struct stat status = {};
    struct statfs system = {};
    return ::stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode) &&
           ::statfs(path.c_str(), &system) == 0 && !is_named_fifo(status, system);
}

Result<Bytes> read_file(const std::string& path, size_t bytes_max) {
    DBK_TRY(ScopedFd fd, open_for_reading(path));
    Bytes content;
    struct stat status = {};
    const bool is_regular = ::fstat(fd.get(), &status) == 0 && S_ISREG(status.st_mode);
    if (!is_regular)
        bytes_max = std::min(bytes_max, kEndlessBytesMax);
    else if (status.st_size > 0)
        content.reserve(static_cast<size_t>(status.st_size));
    std::byte buffer[65536];
    for (;;) {
        ssize_t got = ::read(fd.get(), buffer, sizeof(buffer));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return errno_errorf("cannot read %s", path.c_str());
        if (got == 0)
            return content;
        if (static_cast<size_t>(got) > bytes_max - content.size())
            return errorf(ErrorCode::invalid, "%s has more than %zu bytes", path.c_str(),
                          bytes_max);
        content.insert(content.end(), buffer, buffer + got);
    }
}

std::string free_path(const std::string& stem, const std::string& suffix) {
    struct stat status = {};
    std::string path = stem + suffix;
    for (int count = 2; ::lstat(path.c_str(), &status) == 0; count++)
        path = stem + strprintf("-%d", count) + suffix;
    return path;
}

Result<void> write_all(int fd, ByteView bytes, const std::string& path) {
    while (!bytes.empty()) {
        ssize_t put = ::write(fd, bytes.data(), bytes.size());
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return errno_errorf("cannot write %s", path.c_str());
        bytes = bytes.subspan(static_cast<size_t>(put));
    }
    return {};
}

Result<OutputFile> OutputFile::create(const std::string& name, mode_t mode) {
    const std::string path = without_system_link(name);
    struct stat status = {};
    bool exists = ::stat(path.c_str(), &status) == 0;
    if (exists && S_ISDIR(status.st_mode))
        return errorf(ErrorCode::invalid, "%s is a directory; name a file in it", path.c_str());
    if (exists && !S_ISREG(status.st_mode)) {
        DBK_TRY(ScopedFd fd, open_special(path));
        return OutputFile(std::move(fd), path, "");
    }
    std::string temporary = folder_of(path) + "/." + name_of(path) + ".XXXXXX";
    ScopedFd fd(::mkostemp(temporary.data(), O_CLOEXEC));
    if (!fd.valid())
        return errno_errorf("cannot create %s", path.c_str());
    mode_t mask = ::umask(0);
    ::umask(mask);
    // Another user's file, or a link to one of the same user, may have been put there to have its mode.
    bool keeps = ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
                 status.st_nlink == 1 && status.st_uid == ::geteuid();
    if (::fchmod(fd.get(), keeps ? status.st_mode & 07777 : mode & ~mask) != 0) {
        Error error = errno_errorf("cannot set the mode of %s", path.c_str());
        ::unlink(temporary.c_str());
        return error;
    }
    return OutputFile(std::move(fd), path, std::move(temporary));
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : fd_(std::move(other.fd_)), path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})) {}

OutputFile::~OutputFile() {
    if (!temporary_.empty())
        ::unlink(temporary_.c_str());
}

Result<void> OutputFile::commit() {
    if (temporary_.empty()) {
        fd_.reset();
        return {};
    }
    if (::fsync(fd_.get()) != 0)
        return errno_errorf("cannot write %s", path_.c_str());
    if (::close(fd_.release()) != 0)
        return errno_errorf("cannot write %s", path_.c_str());
    if (::rename(temporary_.c_str(), path_.c_str()) != 0)
        return errno_errorf("cannot put %s in place", path_.c_str());
    temporary_.clear();
    ScopedFd folder(::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.valid())
        (void)::fsync(folder.get()); // some file systems refuse it; the rename itself held
    return {};
}

Result<void> replace_text(const std::string& path, const std::string& text, mode_t mode) {
    std::string temporary = path + ".new";
    if (::unlink(temporary.c_str()) != 0 && errno != ENOENT)
        return errno_errorf("cannot remove %s", temporary.c_str());
    ScopedFd fd(
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    if (!fd.valid())
        return errno_errorf("cannot create %s", temporary.c_str());
    Result<void> done = write_all(fd.get(), as_bytes(text), temporary);
    if (done.ok() && ::rename(temporary.c_str(), path.c_str()) != 0)
        done = errno_errorf("cannot put %s in place", path.c_str());
    if (!done.ok())
        ::unlink(temporary.c_str());
    return done;
}

} // namespace daybreak::base
