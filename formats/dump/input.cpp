// SPDX-License-Identifier: Apache-2.0
//
// Files by pread(2), pipes by read(2).
#include "formats/dump/input.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace daybreak::formats {

namespace {

using base::errno_errorf;
using base::errorf;

class FileInput : public DumpInput {
public:
    FileInput(base::ScopedFd fd, std::string name, uint64_t size_bytes)
        : fd_(std::move(fd)), name_(std::move(name)), size_bytes_(size_bytes) {}

    Result<size_t> read_at(uint64_t offset, std::span<std::byte> to) override {
        size_t done = 0;
        while (done < to.size() && offset + done <= INT64_MAX) {
            ssize_t got = ::pread(fd_.get(), to.data() + done, to.size() - done,
                                  static_cast<off_t>(offset + done));
            if (got < 0 && errno == EINTR)
                continue;
            if (got < 0)
                return errno_errorf("cannot read %s at 0x%llx", name_.c_str(),
                                    static_cast<unsigned long long>(offset + done));
            if (got == 0)
                break;
            done += static_cast<size_t>(got);
        }
        return done;
    }
    bool is_seekable() const override { return true; }
    std::optional<uint64_t> size_bytes() const override {
        return size_bytes_ != 0 ? std::optional(size_bytes_) : std::nullopt;
    }

private:
    base::ScopedFd fd_;
    std::string name_;
    uint64_t size_bytes_;
};

class PipeInput : public DumpInput {
public:
    PipeInput(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}

    Result<size_t> read_at(uint64_t offset, std::span<std::byte> to) override {
        DBK_TRY_VOID(fill_head());
        size_t done = 0;
        if (offset < head_.size()) {
            done = std::min<size_t>(to.size(), head_.size() - static_cast<size_t>(offset));
            std::copy_n(head_.begin() + static_cast<ptrdiff_t>(offset), done, to.begin());
        }
        if (done == to.size() || (head_.size() < kHeadBytes && offset + done >= head_.size()))
            return done;
        if (offset + done < position_)
            return errorf(ErrorCode::unsupported,
                          "%s is a pipe, and what is needed of it has passed by: give the dump as "
                          "a file",
                          name_.c_str());
        DBK_TRY_VOID(skip_to(offset + done));
        DBK_TRY(size_t got, read_on(to.subspan(done)));
        return done + got;
    }
    bool is_seekable() const override { return false; }
    std::optional<uint64_t> size_bytes() const override { return std::nullopt; }

private:
    Result<void> fill_head() {
        if (position_ != 0)
            return {};
        Bytes head(kHeadBytes);
        DBK_TRY(size_t got, read_on(head));
        head.resize(got);
        head_ = std::move(head);
        return {};
    }

    Result<void> skip_to(uint64_t offset) {
        Bytes waste;
        while (position_ < offset && !ended_) {
            waste.resize(kHeadBytes);
            uint64_t left = std::min<uint64_t>(offset - position_, waste.size());
            DBK_TRY_VOID(read_on(std::span(waste).first(static_cast<size_t>(left))));
        }
        return {};
    }

    Result<size_t> read_on(std::span<std::byte> to) {
        size_t done = 0;
        while (done < to.size() && !ended_) {
            ssize_t got = ::read(fd_, to.data() + done, to.size() - done);
            if (got < 0 && errno == EINTR)
                continue;
            if (got < 0)
                return errno_errorf("cannot read %s", name_.c_str());
            ended_ = got == 0;
            done += static_cast<size_t>(got);
        }
        position_ += done;
        return done;
    }

    int fd_;
    std::string name_;
    Bytes head_;
    uint64_t position_ = 0;
    bool ended_ = false;
};

class MemoryInput : public DumpInput {
public:
    explicit MemoryInput(ByteView bytes) : bytes_(bytes) {}

    Result<size_t> read_at(uint64_t offset, std::span<std::byte> to) override {
        if (offset >= bytes_.size())
            return size_t{0};
        ByteView view = bytes_.subspan(static_cast<size_t>(offset));
        view = view.first(std::min(view.size(), to.size()));
        std::copy(view.begin(), view.end(), to.begin());
        return view.size();
    }
    bool is_seekable() const override { return true; }
    std::optional<uint64_t> size_bytes() const override { return bytes_.size(); }

private:
    ByteView bytes_;
};

} // namespace

Result<Bytes> DumpInput::exactly(uint64_t offset, size_t bytes, const char* what) {
    Bytes read(bytes);
    DBK_TRY(size_t got, read_at(offset, read));
    if (got < bytes)
        return errorf(ErrorCode::truncated, "the dump ends in its %s: %zu bytes are there of %zu",
                      what, got, bytes);
    return read;
}

std::unique_ptr<DumpInput> pipe_input(int fd, std::string name) {
    return std::make_unique<PipeInput>(fd, std::move(name));
}

std::unique_ptr<DumpInput> memory_input(ByteView bytes) {
    return std::make_unique<MemoryInput>(bytes);
}

Result<std::unique_ptr<DumpInput>> open_dump_input(const std::string& path) {
    base::ScopedFd fd;
    if (path == "-") {
        fd = base::ScopedFd(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
        if (!fd.valid())
            return errno_errorf("cannot read standard input");
    } else {
        DBK_TRY(fd, base::open_for_reading(path));
    }
    std::string name = path == "-" ? "standard input" : path;
    struct stat status = {};
    if (::fstat(fd.get(), &status) != 0)
        return errno_errorf("cannot read %s", name.c_str());
    if (S_ISDIR(status.st_mode))
        return errorf(ErrorCode::invalid, "%s is a folder, not a dump", name.c_str());
    off_t end = S_ISREG(status.st_mode) || S_ISBLK(status.st_mode) ? ::lseek(fd.get(), 0, SEEK_END)
                                                                   : off_t{-1};
    if (end < 0 && S_ISREG(status.st_mode))
        end = status.st_size; // /proc/vmcore of some kernels
    if (end >= 0) {
        ::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
        return std::unique_ptr<DumpInput>(
            std::make_unique<FileInput>(std::move(fd), name, static_cast<uint64_t>(end)));
    }
    class OwningPipe : public PipeInput {
    public:
        OwningPipe(base::ScopedFd fd, std::string name)
            : PipeInput(fd.get(), std::move(name)), owned_(std::move(fd)) {}

    private:
        base::ScopedFd owned_;
    };
    return std::unique_ptr<DumpInput>(std::make_unique<OwningPipe>(std::move(fd), name));
}

} // namespace daybreak::formats
