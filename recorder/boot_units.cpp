// SPDX-License-Identifier: Apache-2.0
//
// systemctl show, run and read.
#include "recorder/boot_units.hpp"

#include "base/file.hpp"
#include "recorder/host.hpp"

#include <charconv>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace daybreak::recorder {

using base::errno_errorf;
using base::ErrorCode;
using base::errorf;
using base::Result;
using formats::BootUnit;
using formats::BootUnits;

namespace {

constexpr uint64_t kNsPerUs = 1000, kNsPerMs = 1'000'000;

/// Ten times what a server of 3000 units prints.
constexpr size_t kPrintedBytesMax = 16u << 20;

/// A unit as it was printed.
struct PrintedUnit {
    BootUnit unit;
    std::vector<std::string> after;
};

/// Returns the microseconds as nanoseconds; 0 when no clock can have that.
uint64_t ns_of(std::string_view text) {
    uint64_t us = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), us);
    bool is_time = error == std::errc() && end == text.data() + text.size() &&
                   us <= INT64_MAX / kNsPerUs;
    return is_time ? us * kNsPerUs : 0;
}

/// Returns the words of a list, which systemctl quotes as a shell does: those with a backslash.
std::vector<std::string> words_of(std::string_view list) {
    std::vector<std::string> words(1);
    bool is_quoted = false;
    for (size_t at = 0; at < list.size(); at++) {
        char c = list[at];
        if (c == '"')
            is_quoted = !is_quoted;
        else if (c == ' ' && !is_quoted)
            words.emplace_back();
        else if (c == '\\' && is_quoted && at + 1 < list.size())
            words.back() += list[++at];
        else
            words.back() += c;
    }
    return words;
}

void take_line(std::string_view line, PrintedUnit& printed) {
    size_t equals = line.find('=');
    if (equals == line.npos)
        return;
    std::string_view name = line.substr(0, equals), value = line.substr(equals + 1);
    if (name == "Id")
        printed.unit.name = value;
    else if (name == "InactiveExitTimestampMonotonic")
        printed.unit.began_mono_ns = ns_of(value);
    else if (name == "ActiveEnterTimestampMonotonic")
        printed.unit.ready_mono_ns = ns_of(value);
    else if (name == "After")
        printed.after = words_of(value);
}

std::vector<PrintedUnit> printed_units(std::string_view text) {
    std::vector<PrintedUnit> units(1);
    for (size_t at = 0; at < text.size();) {
        size_t end = std::min(text.find('\n', at), text.size());
        if (end == at)
            units.emplace_back();
        else
            take_line(text.substr(at, end - at), units.back());
        at = end + 1;
    }
    return units;
}

/// A program that runs, and until when it may.
class Child {
public:
    Child(pid_t pid, std::string name, uint64_t timeout_ns)
        : pid_(pid), name_(std::move(name)), timeout_ns_(timeout_ns),
          end_ns_(read_clocks().mono_ns + timeout_ns) {}
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() {
        if (pid_ == 0)
            return;
        ::kill(pid_, SIGKILL);
        while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
        }
    }

    /// Reads until it closes its output.
    Result<std::string> output(int fd, size_t bytes_max) const {
        std::string text;
        char block[16384];
        for (;;) {
            DBK_TRY(int left_ms, left());
            pollfd wait{fd, POLLIN, 0};
            if (::poll(&wait, 1, left_ms) <= 0)
                continue;
            ssize_t got = ::read(fd, block, sizeof(block));
            if (got < 0 && errno != EINTR)
                return errno_errorf("cannot read what %s prints", name_.c_str());
            if (got == 0)
                return text;
            if (got > 0)
                text.append(block, static_cast<size_t>(got));
            if (text.size() > bytes_max)
                return errorf(ErrorCode::limit, "%s prints more than %zu bytes", name_.c_str(),
                              bytes_max);
        }
    }

    /// Waits for its end.
    Result<void> end() {
        int status = 0;
        for (pid_t ended = 0; ended <= 0;) {
            DBK_TRY([[maybe_unused]] int left_ms, left());
            ended = ::waitpid(pid_, &status, WNOHANG);
            if (ended == 0)
                ::poll(nullptr, 0, 1);
        }
        pid_ = 0;
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            return errorf(ErrorCode::io, "%s failed", name_.c_str());
        return {};
    }

private:
    /// Returns how many ms it still has, 1 at least.
    Result<int> left() const {
        uint64_t now_ns = read_clocks().mono_ns;
        if (now_ns >= end_ns_)
            return errorf(ErrorCode::io, "%s did not end in %u ms", name_.c_str(),
                          static_cast<unsigned>(timeout_ns_ / kNsPerMs));
        return static_cast<int>((end_ns_ - now_ns) / kNsPerMs + 1);
    }

    pid_t pid_; // 0: it has ended
    std::string name_;
    uint64_t timeout_ns_, end_ns_;
};

} // namespace

Result<std::string> printed_by(std::vector<std::string> words, size_t bytes_max,
                               uint64_t timeout_ns) {
    const std::string name = words.at(0);
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return errno_errorf("cannot make a pipe");
    base::ScopedFd from(ends[0]), to(ends[1]);
    std::vector<char*> arguments;
    for (std::string& word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, to.get(), STDOUT_FILENO);
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t pid = 0;
    int failed = ::posix_spawnp(&pid, name.c_str(), &actions, nullptr, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    to.reset();
    if (failed != 0)
        return errorf(ErrorCode::not_found, "cannot run %s: %s", name.c_str(),
                      std::strerror(failed));
    Child child(pid, name, timeout_ns);
    DBK_TRY(std::string text, child.output(from.get(), bytes_max));
    DBK_TRY_VOID(child.end());
    return text;
}

Result<BootUnits> parse_boot_units(std::string_view untrusted_text) {
    BootUnits boot;
    std::vector<PrintedUnit> printed = printed_units(untrusted_text);
    if (formats::is_unit_name(printed[0].unit.name))
        boot.default_target = printed[0].unit.name;
    std::map<std::string, size_t, std::less<>> indices;
    std::vector<const std::vector<std::string>*> after;
    for (PrintedUnit& one : printed) {
        bool began = one.unit.began_mono_ns != 0 && formats::is_unit_name(one.unit.name);
        if (!began || !indices.emplace(one.unit.name, boot.units.size()).second)
            continue; // the default target comes again, among all
        boot.units.push_back(std::move(one.unit));
        after.push_back(&one.after);
    }
    if (boot.units.size() > formats::kBootUnitsMax)
        return errorf(ErrorCode::limit, "%zu units have begun, %zu are the most",
                      boot.units.size(), formats::kBootUnitsMax);
    size_t orders = 0;
    for (size_t i = 0; i < boot.units.size(); i++)
        for (const std::string& name : *after[i])
            if (auto found = indices.find(name); found != indices.end()) {
                boot.units[i].after.push_back(static_cast<uint16_t>(found->second));
                orders++;
            }
    if (orders > formats::kBootUnitOrdersMax)
        return errorf(ErrorCode::limit, "units are ordered after %zu others, %zu are the most",
                      orders, formats::kBootUnitOrdersMax);
    return boot;
}

Result<BootUnits> ask_boot_units(uint64_t timeout_ns) {
    if (::access("/run/systemd/system", F_OK) != 0)
        return BootUnits();
    DBK_TRY(std::string text,
            printed_by({"systemctl", "show", "--all", "--no-pager", "--property=Id",
                        "--property=After", "--property=InactiveExitTimestampMonotonic",
                        "--property=ActiveEnterTimestampMonotonic", "default.target", "*"},
                       kPrintedBytesMax, timeout_ns));
    return parse_boot_units(text);
}

} // namespace daybreak::recorder
