// SPDX-License-Identifier: Apache-2.0
//
// What printing does outside of itself: where its text goes, freopen(), ftruncate() and system().
//
// The hooks are only for programs that the user runs now, or asks to have carried out: a recording
// may come from anywhere, and so may the commands in it.
#pragma once

#include "analyze/session/consumer.hpp"
#include "base/result.hpp"

#include <functional>
#include <string>

namespace daybreak::cmd {

/// Standard output, or a file in its place.  freopen() points the same descriptor elsewhere, as
/// freopen(3) does: what system() starts then writes there too, when it is standard output.
class OutputFile {
public:
    OutputFile() = default;
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;
    /// A file of its own is closed; standard output stays what it was made.
    ~OutputFile();

    /// Appends to a file from here on, instead of standard output.  Error: io, and nothing changed.
    base::Result<void> open(const std::string& path);
    /// Appends to that file; "" is what it was before the first time.  Error: io, and nothing
    /// changed; the message is the reason alone.
    base::Result<void> reopen(const std::string& path);
    /// Empties what it is now, if that is a file.
    void truncate();

    int fd() const { return fd_; }

private:
    int fd_ = 1;
    int original_ = -1; // what fd_ was before the first reopen()
};

/// Returns hooks that run commands with /bin/sh and point `output` elsewhere and back.  `flush`
/// writes what is not in `output` yet, and is called before.  `output` must outlive the hooks.
analyze::ConsumerHooks outside_hooks(
    OutputFile& output, std::function<void()> flush = [] {});

} // namespace daybreak::cmd
