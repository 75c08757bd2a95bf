// SPDX-License-Identifier: Apache-2.0
#include "cmd/outside.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace daybreak::cmd {

namespace {

base::Error system_error() {
    return base::errorf(base::ErrorCode::io, "%s", std::strerror(errno));
}

int open_to_append(const std::string& path) {
    return ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
}

/// Points `to` at what `from` is; only standard output is handed to the programs that are started.
bool redirect(int from, int to) {
    return ::dup3(from, to, to == STDOUT_FILENO ? 0 : O_CLOEXEC) >= 0;
}

/// The shell gets the signals and the terminal as if the user had typed it.
analyze::ConsumerHooks::Outcome run_shell(const std::string& command) {
    sigset_t child, before;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_UNBLOCK, &child, &before);
    analyze::ConsumerHooks::Outcome failed;
    if (std::system(command.c_str()) == -1)
        failed = std::strerror(errno);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    return failed;
}

} // namespace

OutputFile::~OutputFile() {
    if (original_ >= 0)
        ::close(original_);
    if (fd_ > STDERR_FILENO)
        ::close(fd_);
}

base::Result<void> OutputFile::open(const std::string& path) {
    int fd = open_to_append(path);
    if (fd < 0)
        return base::errorf(base::ErrorCode::io, "failed to open output file '%s': %s",
                            path.c_str(), std::strerror(errno));
    fd_ = fd;
    return {};
}

base::Result<void> OutputFile::reopen(const std::string& path) {
    if (original_ < 0)
        original_ = ::fcntl(fd_, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (original_ < 0)
        return system_error();
    if (path.empty()) {
        if (!redirect(original_, fd_))
            return system_error();
        return {};
    }
    int file = open_to_append(path);
    if (file < 0)
        return system_error();
    base::Result<void> done;
    if (!redirect(file, fd_))
        done = system_error();
    ::close(file);
    return done;
}

void OutputFile::truncate() {
    // Of a pipe or terminal it fails, which is as well: there is nothing to take back.
    if (::ftruncate(fd_, 0) == 0)
        static_cast<void>(::lseek(fd_, 0, SEEK_SET));
}

analyze::ConsumerHooks outside_hooks(OutputFile& output, std::function<void()> flush) {
    analyze::ConsumerHooks hooks;
    hooks.system = [flush](const std::string& command) {
        flush();
        return run_shell(command);
    };
    hooks.freopen = [&output, flush](const std::string& path) -> analyze::ConsumerHooks::Outcome {
        flush();
        auto done = output.reopen(path);
        if (done.ok())
            return std::nullopt;
        return done.error().message();
    };
    hooks.ftruncate = [&output, flush] {
        flush();
        output.truncate();
    };
    return hooks;
}

} // namespace daybreak::cmd
