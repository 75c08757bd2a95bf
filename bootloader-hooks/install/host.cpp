// SPDX-License-Identifier: Apache-2.0
//
// Files that are replaced whole, and programs that are run.
#include "bootloader-hooks/install/host.hpp"

#include "base/byte_reader.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <spawn.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace daybreak::install {

using base::errno_errorf;
using base::ErrorCode;
using base::errorf;
using base::Result;

namespace {

constexpr const char* kLockPath = "/run/daybreak-install.lock";
/// Where the system's programs are that PATH of an ordinary user leaves out.
constexpr const char* kProgramFolders =
    "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin";

std::string folder_of(const std::string& path) {
    return path.substr(0, std::max<size_t>(path.rfind('/'), 1));
}

std::string text_of(const base::Bytes& bytes) {
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

std::string find_program(const std::string& name) {
    if (name.find('/') != name.npos)
        return ::access(name.c_str(), X_OK) == 0 ? name : "";
    const char* path = std::getenv("PATH");
    std::string folders = std::string(path ? path : "") + ":" + kProgramFolders;
    for (size_t at = 0; at < folders.size();) {
        size_t end = std::min(folders.find(':', at), folders.size());
        std::string file = folders.substr(at, end - at) + "/" + name;
        if (end > at && ::access(file.c_str(), X_OK) == 0)
            return file;
        at = end + 1;
    }
    return "";
}

std::string last_line(std::string text) {
    while (!text.empty() && text.back() == '\n')
        text.pop_back();
    return text.substr(text.rfind('\n') + 1);
}

} // namespace

Result<std::string> run_program(const std::vector<std::string>& words) {
    std::string program = find_program(words.at(0));
    if (program.empty())
        return errorf(ErrorCode::not_found, "there is no program %s", words[0].c_str());
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return errno_errorf("cannot make a pipe");
    base::ScopedFd from(ends[0]), to(ends[1]);
    std::vector<char*> arguments;
    for (const std::string& word : words)
        arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, to.get(), STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, to.get(), STDERR_FILENO);
    pid_t pid = 0;
    int failed = ::posix_spawn(&pid, program.c_str(), &actions, nullptr, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    to.reset();
    if (failed != 0) {
        errno = failed;
        return errno_errorf("cannot run %s", program.c_str());
    }
    auto printed = base::read_file("/proc/self/fd/" + std::to_string(from.get()));
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    DBK_TRY(base::Bytes bytes, std::move(printed));
    std::string text = text_of(bytes);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return errorf(ErrorCode::io, "%s failed: %s", words[0].c_str(), last_line(text).c_str());
    return text;
}

bool Host::exists(const std::string& path) const {
    struct stat status = {};
    return ::lstat(at(path).c_str(), &status) == 0;
}

bool Host::is_regular(const std::string& path) const {
    struct stat status = {};
    return ::stat(at(path).c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

bool Host::is_refused(const std::string& path) const {
    return ::faccessat(AT_FDCWD, at(path).c_str(), R_OK, AT_EACCESS) != 0 && errno == EACCES;
}

bool Host::is_read_only(const std::string& path) const {
    return ::access(at(path).c_str(), W_OK) != 0 && errno == EROFS;
}

Result<FileSystem> Host::file_system_of(std::string path) const {
    while (path.size() > 1 && !exists(path))
        path = folder_of(path);
    struct stat status = {};
    struct statvfs facts = {};
    if (::stat(at(path).c_str(), &status) != 0 || ::statvfs(at(path).c_str(), &facts) != 0)
        return errno_errorf("cannot ask how much room %s has", path.c_str());
    uint64_t block_bytes = std::max<uint64_t>(facts.f_frsize, 1);
    bool is_known = facts.f_blocks != 0;
    return FileSystem{status.st_dev, is_known ? facts.f_bfree * block_bytes : UINT64_MAX,
                      block_bytes};
}

Result<std::optional<std::string>> Host::read(const std::string& path) const {
    struct stat status = {};
    if (::lstat(at(path).c_str(), &status) != 0 && errno == ENOENT)
        return std::optional<std::string>();
    if (S_ISLNK(status.st_mode))
        return errorf(ErrorCode::invalid, "%s is a link: install does not replace what it names",
                      path.c_str());
    if (status.st_mode != 0 && !S_ISREG(status.st_mode))
        return errorf(ErrorCode::invalid, "%s is not a regular file", path.c_str());
    return read_through(path);
}

Result<std::optional<std::string>> Host::read_through(const std::string& path) const {
    auto bytes = base::read_file(at(path));
    if (!bytes.ok() && bytes.error().code() == ErrorCode::not_found)
        return std::optional<std::string>();
    DBK_TRY(base::Bytes content, std::move(bytes));
    return std::optional(text_of(content));
}

std::vector<std::string> Host::list(const std::string& folder) const {
    std::vector<std::string> names;
    std::error_code none;
    for (std::filesystem::directory_iterator file(at(folder), none), end; !none && file != end;
         file.increment(none))
        names.push_back(file->path().filename());
    std::sort(names.begin(), names.end());
    return names;
}

Result<void> Host::sync_folder_of(const std::string& path) {
    base::ScopedFd folder(::open(folder_of(at(path)).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder.valid())
        return {};
    // Some file systems have nothing to do for a folder.
    if (::fsync(folder.get()) != 0 && errno != EINVAL && errno != ENOTSUP)
        return errno_errorf("cannot write the folder of %s", path.c_str());
    return {};
}

Result<void> Host::write_new(const std::string& path, const std::string& content, mode_t mode) {
    std::string temporary = at(path) + kNewSuffix;
    struct stat before = {};
    bool replaces = ::lstat(at(path).c_str(), &before) == 0;
    if (::unlink(temporary.c_str()) != 0 && errno != ENOENT)
        return errno_errorf("cannot remove %s%s", path.c_str(), kNewSuffix);
    base::ScopedFd fd(
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!fd.valid())
        return errno_errorf("cannot write %s", path.c_str());
    DBK_TRY_VOID(base::write_all(fd.get(), base::as_bytes(content), path));
    if (replaces && ::fchown(fd.get(), before.st_uid, before.st_gid) != 0)
        return errno_errorf("cannot write %s", path.c_str());
    if (::fchmod(fd.get(), replaces ? before.st_mode & 07777 : mode) != 0 ||
        ::fsync(fd.get()) != 0 || ::close(fd.release()) != 0)
        return errno_errorf("cannot write %s", path.c_str());
    if (::rename(temporary.c_str(), at(path).c_str()) != 0)
        return errno_errorf("cannot put %s in place", path.c_str());
    return sync_folder_of(path);
}

Result<void> Host::replace(const std::string& path, const std::string& content, mode_t mode) {
    std::error_code failed;
    std::filesystem::create_directories(folder_of(at(path)), failed);
    if (failed)
        return errorf(ErrorCode::io, "cannot make the folder of %s: %s", path.c_str(),
                      failed.message().c_str());
    Result<void> done = write_new(path, content, mode);
    if (!done.ok())
        ::unlink((at(path) + kNewSuffix).c_str());
    return done;
}

Result<void> Host::remove(const std::string& path) {
    for (const std::string& name : {path + kNewSuffix, path})
        if (::unlink(at(name).c_str()) != 0 && errno != ENOENT && errno != ENOTDIR)
            return errno_errorf("cannot remove %s", name.c_str());
    return sync_folder_of(path);
}

std::string shell_word(const std::string& word) {
    constexpr const char* kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                   "0123456789_./@:=+-";
    if (!word.empty() && word.find_first_not_of(kPlain) == word.npos)
        return word;
    std::string text = "'";
    for (char c : word)
        text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

Lock::~Lock() {
    if (fd_.valid())
        ::unlink(path_.c_str()); // one who waits for it sees that it is another file by then
}

Result<Lock> Host::lock(std::chrono::milliseconds wait) const {
    constexpr std::chrono::milliseconds kPause{50};
    std::string path = at(kLockPath);
    std::error_code none;
    std::filesystem::create_directories(folder_of(path), none);
    for (auto waited = std::chrono::milliseconds::zero(); waited <= wait; waited += kPause) {
        base::ScopedFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (!fd.valid())
            return errno_errorf("cannot open %s", kLockPath);
        struct stat locked = {}, there = {};
        if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0 && ::fstat(fd.get(), &locked) == 0 &&
            ::lstat(path.c_str(), &there) == 0 && locked.st_ino == there.st_ino) {
            static_cast<void>(::ftruncate(fd.get(), 0)); // of a process that was killed
            ::dprintf(fd.get(), "%d", ::getpid());
            return Lock(std::move(fd), path);
        }
        std::this_thread::sleep_for(kPause);
    }
    auto holder = read(kLockPath);
    return errorf(
        ErrorCode::busy,
        "another daybreak install or uninstall, process %s, has been at work for %lld s: wait for "
        "it, or end it",
        (holder.ok() ? holder->value_or("") : "").c_str(),
        static_cast<long long>(std::chrono::duration_cast<std::chrono::seconds>(wait).count()));
}

void Host::remove_empty_folder(const std::string& path) {
    ::rmdir(at(path).c_str());
}

} // namespace daybreak::install
