// SPDX-License-Identifier: Apache-2.0
//
// The kernel's log: every record that it still has, on CLOCK_MONOTONIC.
#include "cmd/backfill/kernel_log.hpp"

#include "base/file.hpp"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace daybreak::cmd {

using Kind = StartEvent::Kind;

namespace {

/// The kernel's limit of a record of its log, and what one has with the keys after it.
constexpr size_t kRecordBytesMax = 8192;
constexpr size_t kLogBytesMax = 256u << 20;

struct LogRecords {
    std::vector<formats::KernelMessage> messages;
    bool overwritten = false; ///< the first are gone
};

/// Reads what there is.  A read of /dev/kmsg gives one record; keys of one begin with a blank.
LogRecords read_all(int fd) {
    std::string text;
    LogRecords log;
    ::lseek(fd, 0, SEEK_SET);
    std::vector<char> record(kRecordBytesMax);
    while (text.size() < kLogBytesMax) {
        ssize_t bytes = ::read(fd, record.data(), record.size());
        if (bytes < 0 && errno == EPIPE) {
            log.overwritten = true; // while we read
            continue;
        }
        if (bytes <= 0)
            break;
        text.append(record.data(), static_cast<size_t>(bytes));
    }
    bool first = true;
    for (size_t at = 0; at < text.size();) {
        size_t end = std::min(text.find('\n', at), text.size());
        std::string line = text.substr(at, end - at);
        at = end + 1;
        if (line.starts_with(' '))
            continue;
        auto message = formats::read_kernel_message(line);
        if (!message)
            continue;
        if (first && message->sequence != 0)
            log.overwritten = true;
        first = false;
        log.messages.push_back(std::move(*message));
    }
    return log;
}

void say_missing(KernelStart& start, const std::string& why) {
    start.losses.push_back({"the kernel's messages are not here" + why, {{Kind::message, 1}}});
}

} // namespace

void add_messages(const StartSource& source, StartClocks& clocks, KernelStart& start) {
    const std::string& path = source.log;
    base::ScopedFd file(::open(path.c_str(), O_RDWR | O_APPEND | O_NONBLOCK | O_CLOEXEC));
    if (!file.valid()) {
        say_missing(start, ": cannot open " + path + ": " + std::strerror(errno));
        return;
    }
    // The log's clock is not CLOCK_MONOTONIC: a message of our own has a time of both.
    uint64_t mark_ns = clocks.raw_ns();
    std::string mark = base::strprintf("daybreak: now it is %" PRIu64 " ns", mark_ns);
    std::string line = "<7>" + mark + "\n";
    if (::write(file.get(), line.data(), line.size()) < 0) {
        say_missing(start, ", as their times are not known: cannot write to " + path + ": " +
                               std::strerror(errno));
        return;
    }
    LogRecords log = read_all(file.get());
    if (log.overwritten)
        start.losses.push_back(
            {"the kernel's first messages were overwritten: boot with a larger log_buf_len=",
             {{Kind::message, 1}}});
    auto own = std::find_if(log.messages.rbegin(), log.messages.rend(),
                            [&mark](const auto& message) { return message.text == mark; });
    if (own == log.messages.rend()) {
        say_missing(start, ", as their times are not known: ours is not among them");
        return;
    }
    int64_t offset_ns = static_cast<int64_t>(mark_ns) - static_cast<int64_t>(own->stamp_ns);
    for (const formats::KernelMessage& message : log.messages) {
        int64_t ns = std::max<int64_t>(static_cast<int64_t>(message.stamp_ns) + offset_ns, 0);
        if (message.facility == 0)
            start.events.push_back({.kind = Kind::message,
                                    .mono_ns = static_cast<uint64_t>(ns),
                                    .text = message.text,
                                    .log_level = message.level});
    }
}

// kmod/main.c, dbk_module_init(): what each of its steps says.  "ring NAME: ..." is not here: rings
// come later too.
bool is_said_at_load(const std::string& message) {
    static constexpr const char* kBegins[] = {
        "bank of ",       "bank refused: ", "kernel symbols cannot be resolved",
        "no tracepoint ", "programs=",      "provider ",
        "recording: ",    "fbt: ",          "vprintk_emit() cannot be hooked"};
    static const std::string kOurs = "daybreak: ";
    return message.starts_with(kOurs) &&
           std::any_of(std::begin(kBegins), std::end(kBegins), [&message](const char* begin) {
               return message.compare(kOurs.size(), std::strlen(begin), begin) == 0;
           });
}

} // namespace daybreak::cmd
