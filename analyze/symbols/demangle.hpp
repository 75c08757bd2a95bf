// SPDX-License-Identifier: Apache-2.0
//
// Demangling: the name that a C++ or Rust programmer gave a function.
#pragma once

#include <string>

namespace daybreak::analyze {

/// Returns the name as its language writes it: of C++ with the parameters, of Rust (both manglings)
/// without the hash.  Any other name, and one that stands for more than 16 KiB, stays what it is.
std::string demangled(const std::string& untrusted_name);

} // namespace daybreak::analyze
