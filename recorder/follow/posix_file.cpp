// SPDX-License-Identifier: Apache-2.0
//
// PosixFile: a file that only grows, by POSIX calls.
#include "recorder/follow/posix_file.hpp"

#include <cerrno>
#include <sys/stat.h>
#include <unistd.h>

namespace daybreak::recorder {

Error disk_error(const std::string& what) {
    int error = errno;
    ErrorCode code = ErrorCode::io;
    if (error == ENOSPC || error == EDQUOT || error == EFBIG)
        code = ErrorCode::full;
    else if (error == ENOENT || error == ESTALE)
        code = ErrorCode::not_found;
    else if (error == EEXIST)
        code = ErrorCode::busy;
    errno = error;
    return Error(code, base::errno_errorf("%s", what.c_str()).message());
}

Result<void> PosixFile::append(ByteView bytes) {
    if (!usable_)
        return base::errorf(ErrorCode::io, "%s holds half a block", path_.c_str());
    size_t put = 0;
    while (put < bytes.size()) {
        ssize_t now = ::pwrite(fd_.get(), bytes.data() + put, bytes.size() - put,
                               static_cast<off_t>(bytes_ + put));
        if (now < 0 && errno == EINTR)
            continue;
        if (now <= 0) {
            Error error = disk_error("cannot write " + path_);
            usable_ = put == 0 || ::ftruncate(fd_.get(), static_cast<off_t>(bytes_)) == 0;
            return error;
        }
        put += static_cast<size_t>(now);
    }
    bytes_ += put;
    return {};
}

Result<void> PosixFile::sync() {
    if (::fdatasync(fd_.get()) == 0)
        return {};
    return disk_error("cannot write " + path_ + " to the disk");
}

bool PosixFile::is_gone() const {
    struct stat mine = {};
    return ::fstat(fd_.get(), &mine) != 0 || mine.st_nlink == 0;
}

} // namespace daybreak::recorder
