// SPDX-License-Identifier: Apache-2.0
//
// Where dtrace's output goes: standard output, the -o file, or what freopen() names.
#pragma once

#include "analyze/print/sink.hpp"
#include "base/result.hpp"
#include "cmd/outside.hpp"

#include <string>

namespace daybreak::cmd {

class DtraceOutput : public analyze::Sink {
public:
    struct Options {
        std::string name = "dtrace"; ///< what messages begin with
        bool drop_tags = false;      ///< -x droptags
    };
    explicit DtraceOutput(Options options) : options_(std::move(options)) {}
    DtraceOutput(const DtraceOutput&) = delete;
    DtraceOutput& operator=(const DtraceOutput&) = delete;

    /// -o: appends to a file from here on.
    base::Result<void> open(const std::string& path) { return file_.open(path); }
    /// What freopen() and ftruncate() are about.
    OutputFile& file() { return file_; }

    void write(std::string_view untrusted_text) override;
    void message(const analyze::Message& message) override;

    /// Whether there is no reader any more, or nothing more can be written: stop.
    bool closed() const { return closed_; }
    /// Whether writing failed for another reason than a closed pipe; it has been reported.
    bool failed() const { return failed_; }

private:
    Options options_;
    OutputFile file_;
    bool closed_ = false, failed_ = false;
};

} // namespace daybreak::cmd
