// SPDX-License-Identifier: Apache-2.0
//
// TerminalSink: what the analyzers hand out, on standard output and standard error.
#pragma once

#include "analyze/print/sink.hpp"
#include "cmd/progress.hpp"
#include "cmd/terminal.hpp"

#include <map>
#include <string>

namespace daybreak::cmd {

/// Gathers text into large writes; messages go to standard error in the order they belong.  Of
/// faults that differ in nothing but the address the first few have a line each, and the others one
/// together, at the end.
class TerminalSink : public analyze::Sink {
public:
    struct Options {
        bool drop_tags = false;        ///< -x droptags: "[DTRACEDROP_PRINCIPAL] "
        const char* name = "daybreak"; ///< what messages begin with
        bool details = true; ///< say what DTrace would not: when, on which probe, how often
    };
    explicit TerminalSink(const Options& options) : options_(options) {}
    ~TerminalSink() override { finish(); }

    void write(std::string_view text) override;
    void message(const analyze::Message& message) override;
    void flush();
    /// Writes what is left, and the sums of faults.
    void finish();

private:
    Options options_;
    std::string buffer_;
    std::map<std::string, uint64_t> faults_; ///< by Message::group
};

/// Takes the line that shows how far it is away before anything else is written.
class CleanSink : public analyze::Sink {
public:
    CleanSink(TerminalSink& sink, Progress& progress) : sink_(sink), progress_(progress) {}
    void write(std::string_view text) override {
        progress_.clear();
        sink_.write(text);
    }
    void message(const analyze::Message& message) override {
        progress_.clear();
        sink_.message(message);
    }

private:
    TerminalSink& sink_;
    Progress& progress_;
};

} // namespace daybreak::cmd
