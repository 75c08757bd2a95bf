// SPDX-License-Identifier: Apache-2.0
//
// Names that runtimes give to the code that they make: /tmp/perf-PID.map, and jit-PID.dump, which
// its process has mapped as code; read while a recording is written.
//
// Any user writes such files, and the recorder is root.  So no link is followed, not that of a
// folder either; what is not a regular file with one name, of the user whom its process runs as, or
// ended as, is not read.  Nothing waits: not for a FIFO's writer, not for who holds a lease of the
// file.
#pragma once

#include "formats/segment/finding.hpp"
#include "formats/segment/known_processes.hpp"
#include "formats/trace/jit_names.hpp"

#include <string>
#include <vector>

namespace daybreak::recorder {

struct JitTexts {
    std::vector<formats::JitText> texts;
    formats::Findings
        findings; ///< files that were refused or cut: one of each reason, with a count
};

/// Returns the files of the processes below `proc` that are there, each as its process sees it (in
/// a container by its own number), and of processes that are gone and that the recording knows
/// those in `tmp` and the dump that they had mapped.
JitTexts read_jit_texts(const formats::KnownProcesses& known, const std::string& proc = "/proc",
                        const std::string& tmp = "/tmp");
/// Returns the file of one process, if it is there and has other than `bytes_known`, which become
/// what it has.
JitTexts read_jit_text_of(uint32_t pid, uint64_t& bytes_known, const std::string& proc = "/proc");

} // namespace daybreak::recorder
