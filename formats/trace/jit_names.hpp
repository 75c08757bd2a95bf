// SPDX-License-Identifier: Apache-2.0
//
// JitNames: functions that a process made while it ran, as its runtime names them.
//
// A virtual machine that compiles (Java with perf-map-agent, Node with --perf-basic-prof) writes
// /tmp/perf-PID.map: a line "ADDRESS SIZE NAME" of each function, both in hexadecimal.  The
// recorder takes the text as it is, and makes such lines of a jitdump (jit_dump.hpp); who reads a
// recording takes it apart, as untrusted as it came.
#pragma once

#include "base/counted.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace daybreak::formats {

/// The text of a process's file.
struct JitText {
    uint32_t pid = 0;
    std::string text;
};

/// What is taken of one file, and of all: a Java server of 100 000 methods has 8 MiB.
constexpr size_t kJitTextBytesMax = 16u << 20, kJitTextsBytesMax = 48u << 20;
/// Files that are taken: one for a process.
constexpr size_t kJitTextsMax = 10000;

/// Functions that are taken of one process.
constexpr size_t kJitFunctionsMax = 1u << 18;

/// Returns the lines of an untrusted text that JitNames leaves out: those that do not hold, and
/// functions when `functions_left` are taken already; leaves how many more may come.
base::LeftOut lines_left_out(std::string_view untrusted, size_t& functions_left);

class JitNames {
public:
    struct Match {
        std::string_view name;
        uint64_t offset = 0; ///< from the function's start
    };

    /// A text takes the place of an older one of its process, and is taken apart when that is next
    /// asked for.  Returns whether there was room: for what a recorder takes, no more.
    bool add(JitText untrusted);
    bool add(JitNames other);
    bool empty() const { return texts_.empty(); }
    /// Looks among the lines that hold; of functions at one place the last one is meant, as the
    /// runtime has put it where another was.
    std::optional<Match> find(uint64_t pid, uint64_t address);

private:
    struct Function {
        uint64_t bytes = 0;
        std::string name;
    };
    using Functions = std::map<uint64_t, Function>; // by address

    Functions& functions_of(uint64_t pid);

    std::map<uint64_t, std::string> texts_; // by pid
    size_t bytes_ = 0;                      // of these
    size_t functions_left_ = 1u << 21;
    std::map<uint64_t, Functions> processes_; // by pid: those that were asked for
};

} // namespace daybreak::formats
