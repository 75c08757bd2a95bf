// SPDX-License-Identifier: Apache-2.0
#include "cmd/terminal.hpp"

#include "base/visible.hpp"

#include <cerrno>
#include <cinttypes>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace daybreak::cmd {

bool is_testing() {
    return std::getenv("_DTRACE_TESTING") != nullptr;
}

namespace {

// Signal handlers and the stdout state are the process's, like stdout itself.
std::atomic<bool> interrupt_flag{false};
bool stdout_failed = false;
bool stdout_closed = false;

void on_interrupt(int) {
    interrupt_flag.store(true, std::memory_order_relaxed);
}

} // namespace

const std::atomic<bool>& interrupted = interrupt_flag;

bool is_interrupted() {
    return interrupted.load();
}

void install_interrupt() {
    struct sigaction action = {};
    action.sa_handler = on_interrupt;
    action.sa_flags = SA_RESETHAND; // the second Ctrl-C ends the program at once
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
}

bool wants_colour(int fd) {
    const char* term = std::getenv("TERM");
    const char* no_colour = std::getenv("NO_COLOR");
    return ::isatty(fd) && term && std::strcmp(term, "dumb") != 0 && !(no_colour && *no_colour);
}

std::string for_stream(int fd, std::string_view text) {
    return ::isatty(fd) ? base::visible(text) : std::string(text);
}

void say(std::string_view name, std::string_view message) {
    std::string line = base::visible(std::string(name) + ": " + std::string(message) + "\n");
    std::fflush(stdout);
    std::fputs(line.c_str(), stderr);
}

void complain(std::string_view message) {
    say("daybreak", message);
}

int misuse(const std::string& command, const std::string& what) {
    complain(what + " (daybreak " + command + " --help says more)");
    return static_cast<int>(Exit::usage);
}

int fail(const base::Error& error) {
    complain(error.message());
    return static_cast<int>(Exit::failed);
}

bool put(std::string_view untrusted_text) {
    const std::string shown = for_stream(STDOUT_FILENO, untrusted_text);
    std::string_view text = shown;
    while (!text.empty() && !stdout_failed && !stdout_closed) {
        ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
        if (written >= 0) {
            text.remove_prefix(static_cast<size_t>(written));
        } else if (errno == EPIPE) {
            stdout_closed = true;
        } else if (errno != EINTR) {
            complain(base::strprintf("cannot write the output: %s", std::strerror(errno)));
            stdout_failed = true;
        }
    }
    return !stdout_failed && !stdout_closed;
}

Exit finish_stdout() {
    return stdout_failed ? Exit::failed : Exit::ok;
}

} // namespace daybreak::cmd
