// SPDX-License-Identifier: Apache-2.0
//
// TerminalSink: what the analyzers hand out, on standard output and standard error.
#pragma once

#include "analyze/print/sink.hpp"
#include "cmd/terminal.hpp"

#include <string>

namespace daybreak::cmd {

/// Gathers text into large writes; messages go to standard error in the order they belong.
class TerminalSink : public analyze::Sink {
public:
    struct Options {
        bool drop_tags = false;        ///< -x droptags: "[DTRACEDROP_PRINCIPAL] "
        const char* name = "daybreak"; ///< what messages begin with
        bool details = true;           ///< say what DTrace would not: when, on which probe
    };
    explicit TerminalSink(const Options& options) : options_(options) {}
    ~TerminalSink() override { flush(); }

    void write(std::string_view text) override;
    void message(const analyze::Message& message) override;
    void flush();

private:
    Options options_;
    std::string buffer_;
};

} // namespace daybreak::cmd
