// SPDX-License-Identifier: Apache-2.0
//
// Where dtrace's output goes.
#include "cmd/dtrace/output.hpp"

#include "cmd/dtrace/messages.hpp"

#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace daybreak::cmd {

void DtraceOutput::write(std::string_view untrusted_text) {
    const std::string shown = for_stream(file_.fd(), untrusted_text);
    std::string_view text = shown;
    while (!text.empty() && !closed_) {
        ssize_t written = ::write(file_.fd(), text.data(), text.size());
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
    const bool has_detail = message.kind == analyze::Message::Kind::drop && !is_testing();
    say(options_.name, tag + (has_detail ? message.with_detail() : message.text));
}

} // namespace daybreak::cmd
