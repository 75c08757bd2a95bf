// SPDX-License-Identifier: Apache-2.0
//
// Target: the processes of -c and -p.
#include "live/process/target.hpp"

#include "base/file.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace daybreak::live {

using base::ErrorCode;
using base::errorf;

namespace {

std::vector<std::string> words_of(const std::string& command) {
    std::vector<std::string> words;
    size_t at = 0;
    while ((at = command.find_first_not_of(" \t\n", at)) != std::string::npos) {
        size_t end = std::min(command.find_first_of(" \t\n", at), command.size());
        words.push_back(command.substr(at, end - at));
        at = end;
    }
    return words;
}

/// Whether a process that is not our child has ended, be it that its parent has not collected it.
bool has_ended(pid_t pid) {
    if (::kill(pid, 0) != 0 && errno == ESRCH)
        return true;
    char state = state_of(pid);
    return state == 'Z' || state == 'X';
}

/// The child's way to its exec; never returns.
[[noreturn]] void become(char** argv, int error_pipe) {
    std::signal(SIGPIPE, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::execvp(argv[0], argv);
    int error = errno;
    static_cast<void>(!::write(error_pipe, &error, sizeof(error)));
    ::_exit(127);
}

} // namespace

char state_of(pid_t pid) {
    // "7 (a name) Z ...": the state follows the last parenthesis.
    auto bytes = base::read_file("/proc/" + std::to_string(pid) + "/stat");
    if (!bytes.ok())
        return 0;
    std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    size_t name_end = text.rfind(')');
    return name_end == std::string_view::npos || name_end + 2 >= text.size() ? '\0'
                                                                             : text[name_end + 2];
}

base::Result<Target> Target::start(const std::string& command) {
    std::vector<std::string> words = words_of(command);
    if (words.empty())
        return errorf(ErrorCode::invalid, "failed to execute %s: no command", command.c_str());
    std::vector<char*> argv;
    for (std::string& word : words)
        argv.push_back(word.data());
    argv.push_back(nullptr);
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return base::errno_errorf("cannot make a pipe");
    pid_t pid = ::fork();
    if (pid == 0)
        become(argv.data(), ends[1]);
    ::close(ends[1]);
    if (pid < 0) {
        int error = errno;
        ::close(ends[0]);
        return errorf(ErrorCode::io, "failed to execute %s: %s", command.c_str(),
                      std::strerror(error));
    }
    int failure = 0;
    ssize_t got;
    do
        got = ::read(ends[0], &failure, sizeof(failure));
    while (got < 0 && errno == EINTR);
    ::close(ends[0]);
    // At its exec the child stops for us; one that failed has ended.
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (got == static_cast<ssize_t>(sizeof(failure)))
        return errorf(ErrorCode::io, "failed to execute %s: %s", words[0].c_str(),
                      std::strerror(failure));
    return Target(pid, true, WIFSTOPPED(status));
}

base::Result<Target> Target::watch(pid_t pid) {
    if ((::kill(pid, 0) != 0 && errno != EPERM) || has_ended(pid))
        return base::Error(ErrorCode::not_found, std::strerror(ESRCH));
    return Target(pid, false, false);
}

Target::Target(Target&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)), at_end_(std::move(other.at_end_)), child_(other.child_),
      held_(std::exchange(other.held_, false)), gone_(other.gone_),
      handed_over_(other.handed_over_), status_(other.status_) {}

void Target::end() {
    if (pid_ == 0 || !child_ || is_gone())
        return;
    ending(); // killed, it does not stop at its exit
    ::kill(pid_, SIGKILL);
    // Its threads may stop at their exit, and it does not end before they have.
    int status = 0;
    pid_t got;
    while ((got = ::waitpid(-1, &status, __WALL)) > 0 && (got != pid_ || WIFSTOPPED(status)))
        ::ptrace(PTRACE_CONT, got, nullptr, nullptr);
    gone_ = true;
    held_ = false;
}

std::string Target::end_text() const {
    if (WIFSIGNALED(status_))
        return base::strprintf("pid %d terminated by signal %d (%s)", pid_, WTERMSIG(status_),
                               ::strsignal(WTERMSIG(status_)));
    if (WEXITSTATUS(status_) != 0)
        return base::strprintf("pid %d exited with status %d", pid_, WEXITSTATUS(status_));
    return base::strprintf("pid %d has exited", pid_);
}

void Target::let_go() {
    if (!std::exchange(held_, false))
        return;
    // Without TRACEEXEC an exec would be a signal, SIGTRAP.
    constexpr uintptr_t kOptions = PTRACE_O_TRACEEXIT | PTRACE_O_TRACEEXEC;
    bool watched = at_end_ && ::ptrace(PTRACE_SETOPTIONS, pid_, nullptr, kOptions) == 0;
    ::ptrace(watched ? PTRACE_CONT : PTRACE_DETACH, pid_, nullptr, nullptr);
}

/// Lets a watched command go on from where it stopped.
void Target::pass_stop(int status) {
    int event = status >> 16;
    uintptr_t signal = event == 0 ? static_cast<uintptr_t>(WSTOPSIG(status)) : 0;
    siginfo_t info = {};
    // Without facts of a signal it is stopped by one, SIGSTOP: it stays so, unwatched.
    bool is_stopped =
        event == 0 && ::ptrace(PTRACE_GETSIGINFO, pid_, nullptr, &info) != 0 && errno == EINVAL;
    if (event == PTRACE_EVENT_EXIT)
        ending();
    if (event == PTRACE_EVENT_EXIT || is_stopped)
        ::ptrace(PTRACE_DETACH, pid_, nullptr, nullptr);
    else
        ::ptrace(PTRACE_CONT, pid_, nullptr, signal);
}

bool Target::is_gone() {
    if (gone_ || handed_over_)
        return gone_;
    if (child_) {
        int status = 0;
        pid_t got;
        while ((got = ::waitpid(pid_, &status, WNOHANG)) == pid_ && WIFSTOPPED(status))
            pass_stop(status);
        gone_ = got == pid_ || (got < 0 && errno == ECHILD);
        if (got == pid_ && gone_)
            status_ = status;
    } else {
        gone_ = has_ended(pid_);
    }
    return gone_;
}

} // namespace daybreak::live
