// SPDX-License-Identifier: Apache-2.0
//
// Where dtrace's output goes.
#include "cmd/dtrace/output.hpp"

#include "cmd/dtrace/messages.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace daybreak::cmd {

DtraceOutput::~DtraceOutput() {
    if (reopened_ >= 0)
        ::close(reopened_);
    if (base_ > STDERR_FILENO)
        ::close(base_);
}

base::Result<void> DtraceOutput::open(const std::string& path) {
    int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0)
        return base::errorf(base::ErrorCode::io, "failed to open output file '%s': %s",
                            path.c_str(), std::strerror(errno));
    base_ = fd;
    return {};
}

base::Result<void> DtraceOutput::reopen(const std::string& path) {
    int fd = -1;
    if (!path.empty()) {
        fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        if (fd < 0)
            return base::errorf(base::ErrorCode::io, "%s", std::strerror(errno));
    }
    if (reopened_ >= 0)
        ::close(reopened_);
    reopened_ = fd;
    return {};
}

void DtraceOutput::truncate() {
    // What is no file, a terminal or a pipe, cannot be emptied: nothing to say.
    if (::ftruncate(fd(), 0) == 0)
        static_cast<void>(::lseek(fd(), 0, SEEK_SET));
}

void DtraceOutput::write(std::string_view text) {
    while (!text.empty() && !closed_) {
        ssize_t written = ::write(fd(), text.data(), text.size());
        if (written >= 0) {
            text.remove_prefix(static_cast<size_t>(written));
        } else if (errno == EPIPE) {
            closed_ = true;
        } else if (errno != EINTR) {
            closed_ = failed_ = true;
            say(options_.name, std::string("cannot write the output: ") + std::strerror(errno));
        }
    }
}

void DtraceOutput::message(const analyze::Message& message) {
    std::string tag = options_.drop_tags && !message.tag.empty() ? "[" + message.tag + "] " : "";
    say(options_.name, tag + message.text);
}

} // namespace daybreak::cmd
