// SPDX-License-Identifier: Apache-2.0
//
// The folder by POSIX calls, all of them relative to its descriptor.
#include "recorder/follow/posix_file.hpp"

#include "base/byte_source.hpp"

#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace daybreak::recorder {

namespace {

using base::ScopedFd;
using base::strprintf;

constexpr mode_t kFolderMode = 0700, kFileMode = 0600;

class PosixFolder : public FolderApi {
public:
    explicit PosixFolder(std::string path) : path_(std::move(path)) {}

    Result<void> open() {
        folder_ = ScopedFd(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (!folder_.valid())
            return disk_error("cannot open " + path_);
        bool locked = ::flock(folder_.get(), LOCK_EX | LOCK_NB) == 0;
        if (!locked && errno == EWOULDBLOCK)
            return busy();
        bool is_possible = errno != EBADF && errno != EINVAL && errno != ENOLCK;
        if (!locked && is_possible && errno != EOPNOTSUPP)
            return disk_error("cannot lock " + path_);
        return {};
    }

    Result<std::vector<FolderEntry>> list() override {
        DBK_TRY_VOID(follow_path());
        int copy = ::openat(folder_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR* stream = copy < 0 ? nullptr : ::fdopendir(copy);
        if (!stream) {
            Error error = disk_error("cannot list " + path_);
            if (copy >= 0)
                ::close(copy);
            return error;
        }
        std::vector<FolderEntry> entries;
        while (dirent* one = ::readdir(stream)) {
            struct stat status = {};
            if (::fstatat(folder_.get(), one->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
                !S_ISREG(status.st_mode))
                continue;
            entries.push_back({one->d_name, static_cast<uint64_t>(status.st_size),
                               static_cast<uint64_t>(status.st_mtim.tv_sec) * 1'000'000'000 +
                                   static_cast<uint64_t>(status.st_mtim.tv_nsec)});
        }
        ::closedir(stream);
        return entries;
    }

    Result<Bytes> read(const std::string& name) override {
        return base::read_file(path_ + "/" + name);
    }

    Result<Bytes> read_beginning(const std::string& name, size_t bytes_max) override {
        DBK_TRY(auto source, base::open_source(path_ + "/" + name));
        return base::read_beginning(*source, bytes_max);
    }

    Result<std::unique_ptr<AppendFile>> create(const std::string& name) override {
        DBK_TRY_VOID(follow_path());
        ScopedFd fd(::openat(folder_.get(), name.c_str(),
                             O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kFileMode));
        if (!fd.valid())
            return disk_error("cannot create " + path_ + "/" + name);
        return std::unique_ptr<AppendFile>(new PosixFile(std::move(fd), path_ + "/" + name, 0));
    }

    Result<void> cut(const std::string& name, uint64_t keep_bytes) override {
        DBK_TRY(ScopedFd fd, open_there(name, O_WRONLY));
        if (::ftruncate(fd.get(), static_cast<off_t>(keep_bytes)) != 0)
            return disk_error("cannot cut " + path_ + "/" + name);
        return {};
    }

    Result<void> sync_file(const std::string& name) override {
        DBK_TRY(ScopedFd fd, open_there(name, O_RDONLY));
        if (::fdatasync(fd.get()) != 0 && errno != EINVAL && errno != EROFS)
            return disk_error("cannot write " + path_ + "/" + name + " to the disk");
        return {};
    }

    Result<void> rename(const std::string& from, const std::string& to) override {
        if (::renameat(folder_.get(), from.c_str(), folder_.get(), to.c_str()) != 0)
            return disk_error("cannot rename " + path_ + "/" + from);
        return {};
    }

    Result<void> remove(const std::string& name) override {
        if (::unlinkat(folder_.get(), name.c_str(), 0) != 0)
            return disk_error("cannot remove " + path_ + "/" + name);
        return {};
    }

    Result<void> replace(const std::string& name, ByteView content) override {
        std::string temporary = "." + name + ".new";
        ScopedFd fd(::openat(folder_.get(), temporary.c_str(),
                             O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, kFileMode));
        if (!fd.valid())
            return disk_error("cannot create " + path_ + "/" + temporary);
        PosixFile file(std::move(fd), path_ + "/" + temporary, 0);
        Result<void> done = file.append(content);
        if (done.ok())
            done = file.sync();
        if (done.ok() &&
            ::renameat(folder_.get(), temporary.c_str(), folder_.get(), name.c_str()) != 0)
            done = disk_error("cannot put " + path_ + "/" + name + " in place");
        if (!done.ok())
            ::unlinkat(folder_.get(), temporary.c_str(), 0);
        return done;
    }

    Result<void> sync() override {
        if (::fsync(folder_.get()) != 0 && errno != EINVAL && errno != EROFS)
            return disk_error("cannot write " + path_ + " to the disk");
        return {};
    }

    const std::string& path() const override { return path_; }

private:
    /// A user who may read a folder may lock it.
    Error busy() const {
        struct stat status = {};
        bool wide = ::fstat(folder_.get(), &status) == 0 && (status.st_mode & 0044) != 0;
        std::string text = "another daybreak records to " + path_;
        if (wide)
            text += ", or a user who may read it holds its lock (chmod 700 prevents that)";
        return Error(ErrorCode::busy, text);
    }

    Result<ScopedFd> open_there(const std::string& name, int how) {
        ScopedFd fd(::openat(folder_.get(), name.c_str(), how | O_CLOEXEC | O_NOFOLLOW));
        if (!fd.valid())
            return disk_error("cannot open " + path_ + "/" + name);
        return fd;
    }

    /// The path may lead elsewhere by now: a disk was mounted, or the folder was moved and made
    /// again. A folder that has gone is not made again: its disk may just not be mounted.
    Result<void> follow_path() {
        struct stat mine = {}, there = {};
        if (::stat(path_.c_str(), &there) != 0)
            return disk_error("cannot open " + path_);
        if (::fstat(folder_.get(), &mine) == 0 && mine.st_dev == there.st_dev &&
            mine.st_ino == there.st_ino)
            return {};
        PosixFolder other(path_);
        DBK_TRY_VOID(other.open());
        folder_ = std::move(other.folder_);
        return {};
    }

    std::string path_;
    ScopedFd folder_; ///< locked
};

} // namespace

Result<std::unique_ptr<FolderApi>> open_folder(const std::string& path) {
    struct stat status = {};
    if (::stat(path.c_str(), &status) != 0 && ::mkdir(path.c_str(), kFolderMode) != 0 &&
        errno != EEXIST)
        return disk_error("cannot make " + path);
    auto folder = std::make_unique<PosixFolder>(path);
    DBK_TRY_VOID(folder->open());
    return std::unique_ptr<FolderApi>(std::move(folder));
}

} // namespace daybreak::recorder
