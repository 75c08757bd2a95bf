// SPDX-License-Identifier: Apache-2.0
#include "cmd/outside.hpp"

#include "base/file.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <unistd.h>

namespace daybreak::cmd {

namespace {

/// Standard output as it was before the first freopen().
struct Original {
    int fd = -1;
    ~Original() {
        if (fd >= 0)
            ::close(fd);
    }
};

/// Points standard output at `fd`.
std::optional<std::string> redirect(int fd) {
    if (::dup2(fd, STDOUT_FILENO) < 0)
        return std::string(std::strerror(errno));
    return std::nullopt;
}

/// Returns why it could not be done.
std::optional<std::string> reopen(Original& original, const std::string& file) {
    if (original.fd < 0)
        original.fd = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (original.fd < 0)
        return std::string(std::strerror(errno));
    if (file.empty())
        return redirect(original.fd);
    int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0)
        return std::string(std::strerror(errno));
    auto wrong = redirect(fd);
    ::close(fd);
    return wrong;
}

} // namespace

analyze::ConsumerHooks outside_hooks(TerminalSink& sink) {
    auto original = std::make_shared<Original>();
    analyze::ConsumerHooks hooks;
    hooks.system = [&sink](const std::string& command) -> std::optional<std::string> {
        sink.flush();
        if (std::system(command.c_str()) == -1)
            return std::string(std::strerror(errno));
        return std::nullopt;
    };
    hooks.freopen = [&sink, original](const std::string& file) {
        sink.flush();
        return reopen(*original, file);
    };
    hooks.ftruncate = [&sink] {
        sink.flush();
        // Of a pipe or terminal it fails, which is as well: there is nothing to take back.
        if (::ftruncate(STDOUT_FILENO, 0) == 0)
            static_cast<void>(::lseek(STDOUT_FILENO, 0, SEEK_SET));
    };
    return hooks;
}

} // namespace daybreak::cmd
