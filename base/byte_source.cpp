// SPDX-License-Identifier: Apache-2.0
//
// Sources of bytes: files by pread(2), and memory.
#include "base/byte_source.hpp"

#include "base/file.hpp"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace daybreak::base {

namespace {

class FileSource : public ByteSource {
public:
    FileSource(ScopedFd fd, std::string path, uint64_t size)
        : ByteSource(size), fd_(std::move(fd)), path_(std::move(path)) {}

private:
    Result<size_t> read_some(uint64_t offset, std::span<std::byte> out) override {
        for (;;) {
            ssize_t got = ::pread(fd_.get(), out.data(), out.size(), static_cast<off_t>(offset));
            if (got >= 0)
                return static_cast<size_t>(got);
            if (errno != EINTR)
                return errno_errorf("cannot read %s after its first %" PRIu64 " bytes",
                                    path_.c_str(), offset);
        }
    }

    ScopedFd fd_;
    std::string path_;
};

class MemorySource : public ByteSource {
public:
    explicit MemorySource(Bytes bytes)
        : ByteSource(bytes.size()), owned_(std::move(bytes)), bytes_(owned_) {}
    explicit MemorySource(ByteView bytes) : ByteSource(bytes.size()), bytes_(bytes) {}

private:
    Result<size_t> read_some(uint64_t offset, std::span<std::byte> out) override {
        std::memcpy(out.data(), bytes_.data() + offset, out.size());
        return out.size();
    }

    Bytes owned_;
    ByteView bytes_;
};

class WatchedSource : public ByteSource {
public:
    WatchedSource(std::shared_ptr<ByteSource> source, std::function<void(size_t)> has_read)
        : ByteSource(source->size()), source_(std::move(source)), has_read_(std::move(has_read)) {}

private:
    Result<size_t> read_some(uint64_t offset, std::span<std::byte> out) override {
        Result<size_t> got = read_some_of(*source_, offset, out);
        if (got.ok())
            has_read_(*got);
        return got;
    }

    std::shared_ptr<ByteSource> source_;
    std::function<void(size_t)> has_read_;
};

int open_to_read(const std::string& path) {
    return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

/// Reads a file that does not say its size, as those of /proc, whole.
Result<Bytes> read_sizeless(int fd, const std::string& path) {
    constexpr size_t kBytesMax = 64u << 20, kStrideBytes = 64u << 10;
    Bytes bytes;
    for (ssize_t got = 1; got != 0 && bytes.size() < kBytesMax;) {
        size_t before = bytes.size();
        bytes.resize(before + kStrideBytes);
        got = ::pread(fd, bytes.data() + before, kStrideBytes, static_cast<off_t>(before));
        if (got < 0 && errno != EINTR)
            return errno_errorf("cannot read %s after its first %zu bytes", path.c_str(), before);
        bytes.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    }
    return bytes;
}

/// Returns whether this process may have more files open than before.
bool raise_file_limit() {
    rlimit limit = {};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max)
        return false;
    limit.rlim_cur = limit.rlim_max;
    return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

} // namespace

bool ByteSource::try_read(uint64_t offset, std::span<std::byte> out) {
    if (offset > size_ || out.size() > size_ - offset)
        return false;
    for (size_t done = 0; done < out.size();) {
        Result<size_t> got = read_some(offset + done, out.subspan(done));
        if (!got.ok() || *got == 0)
            return false;
        done += *got;
    }
    return true;
}

size_t ByteSource::read(uint64_t offset, std::span<std::byte> out) {
    if (offset >= size_)
        return 0;
    out = out.first(std::min<uint64_t>(out.size(), size_ - offset));
    size_t done = 0;
    while (done < out.size()) {
        Result<size_t> got = read_some(offset + done, out.subspan(done));
        if (!got.ok())
            failure_ = std::move(got).error();
        if (!got.ok() || *got == 0) {
            size_ = offset + done;
            break;
        }
        done += *got;
    }
    return done;
}

Result<std::shared_ptr<ByteSource>> open_source(const std::string& path) {
    ScopedFd fd(open_to_read(path));
    if (!fd.valid() && errno == EMFILE && raise_file_limit())
        fd = ScopedFd(open_to_read(path));
    if (!fd.valid())
        return errno_errorf("cannot open %s", path.c_str());
    struct stat status = {};
    if (::fstat(fd.get(), &status) != 0)
        return errno_errorf("cannot read %s", path.c_str());
    if (!S_ISREG(status.st_mode))
        return errorf(ErrorCode::invalid, "%s is not a regular file", path.c_str());
    if (status.st_size == 0) {
        DBK_TRY(Bytes bytes, read_sizeless(fd.get(), path));
        return memory_source(std::move(bytes));
    }
    return std::shared_ptr<ByteSource>(
        std::make_shared<FileSource>(std::move(fd), path, static_cast<uint64_t>(status.st_size)));
}

std::shared_ptr<ByteSource> watched_source(std::shared_ptr<ByteSource> source,
                                           std::function<void(size_t bytes)> has_read) {
    return std::make_shared<WatchedSource>(std::move(source), std::move(has_read));
}

std::shared_ptr<ByteSource> memory_source(Bytes bytes) {
    return std::make_shared<MemorySource>(std::move(bytes));
}

std::shared_ptr<ByteSource> view_source(ByteView bytes) {
    return std::make_shared<MemorySource>(bytes);
}

Bytes read_beginning(ByteSource& source, size_t bytes_max) {
    Bytes bytes(std::min<uint64_t>(source.size(), bytes_max));
    bytes.resize(source.read(0, bytes));
    return bytes;
}

} // namespace daybreak::base
