// SPDX-License-Identifier: Apache-2.0
//
// Whether libdw may run the programs of an .eh_frame.
//
// It runs what a file has: a register's number is the size of an array, each remembered state is a
// copy of it, and both are the file's to choose.
#pragma once

#include "analyze/symbols/elf_file.hpp"

namespace daybreak::analyze {

enum class FramePrograms {
    none,      ///< no .eh_frame is there
    plausible, ///< all that libdw can reach is what compilers write
    implausible,
};

/// Reads the programs of .eh_frame, and which entries its index and its FDEs refer to.
FramePrograms check_frame_programs(ElfFile& untrusted_file);

} // namespace daybreak::analyze
