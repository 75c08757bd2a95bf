// SPDX-License-Identifier: Apache-2.0
//
// Another program over bytes: cpp over a D program, openssl over an image.
#pragma once

#include "base/byte_reader.hpp"
#include "base/result.hpp"

#include <string>
#include <vector>

namespace daybreak::cmd {

/// What a program printed, and whether it ended with 0.
struct Filtered {
    std::string output;
    bool ended_well = false;
};

struct FilterOptions {
    bool takes_errors = false; ///< what it says on standard error is output too, else it goes there
    /// A signal that the caller holds ends what it started as well; it cannot ask at the terminal.
    bool is_group = false;
};

/// Runs a command with `input` as its standard input, a file.  Errors: not_found when it cannot be
/// started, with `what` needs it; interrupted: by a signal that the caller holds (HeldSignals); io.
base::Result<Filtered> run_filter(const std::string& what, std::vector<std::string> words,
                                  base::ByteView input, FilterOptions options = {});

} // namespace daybreak::cmd
