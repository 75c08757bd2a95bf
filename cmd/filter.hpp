// SPDX-License-Identifier: Apache-2.0
//
// Another program over bytes: cpp over a D program, openssl over an image.
#pragma once

#include "base/byte_reader.hpp"
#include "base/result.hpp"

#include <string>
#include <vector>

namespace daybreak::cmd {

/// What a program printed, and whether it ended with 0.  What it said on standard error went there.
struct Filtered {
    std::string output;
    bool ended_well = false;
};

/// Runs a command with `input` as its standard input, a file.  Errors: not_found when it cannot be
/// started, with `what` needs it; io.
base::Result<Filtered> run_filter(const std::string& what, std::vector<std::string> words,
                                  base::ByteView input);

} // namespace daybreak::cmd
