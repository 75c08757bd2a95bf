// SPDX-License-Identifier: Apache-2.0
#include "cmd/trace_sink.hpp"

#include "base/counted.hpp"

#include <cinttypes>
#include <unistd.h>

namespace daybreak::cmd {

namespace {

/// A person reads lines as they come; a pipe gets blocks.
constexpr size_t kBlockBytes = 64u << 10;
/// Enough to see of what addresses they are.
constexpr uint64_t kFaultLines = 5;

} // namespace

void TerminalSink::write(std::string_view text) {
    buffer_.append(text);
    if (buffer_.size() >= kBlockBytes)
        flush();
}

void TerminalSink::message(const analyze::Message& message) {
    flush();
    if (message.kind == analyze::Message::Kind::fault && options_.details &&
        ++faults_[message.group] > kFaultLines)
        return;
    std::string tag = options_.drop_tags && !message.tag.empty() ? "[" + message.tag + "] " : "";
    say(options_.name, tag + (options_.details ? message.with_detail() : message.text));
}

void TerminalSink::flush() {
    put(buffer_);
    buffer_.clear();
}

void TerminalSink::finish() {
    flush();
    for (const auto& [group, count] : faults_)
        if (count > kFaultLines)
            say(options_.name,
                base::counted(count - kFaultLines, "more time") + ": " + group);
    faults_.clear();
}

} // namespace daybreak::cmd
