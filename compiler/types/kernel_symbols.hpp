// SPDX-License-Identifier: Apache-2.0
//
// Which functions a kernel image has that can be traced.
//
// A kernel carries the names of its symbols for itself, packed (scripts/kallsyms.c of the kernel),
// and the addresses of the calls that ftrace patches.  A stripped vmlinux has nothing else that
// names them, and nothing says where the two are: the first is found by its shape, and names the
// second.  Layouts of 5.x to 6.12 are known, on 64-bit machines with relative addresses.
#pragma once

#include "base/byte_reader.hpp"
#include "base/result.hpp"

#include <string>
#include <vector>

namespace daybreak::compiler {

struct KernelFunction {
    std::string name;
    bool is_alias = false; ///< another name of the function before it
};

/// Returns a vmlinux's functions that ftrace can patch, in the order of their addresses.  `what`
/// names the image in messages.  Errors: unsupported (no symbols of a known layout), corrupt.
base::Result<std::vector<KernelFunction>> traceable_functions(base::ByteView untrusted_vmlinux,
                                                              const std::string& what);

} // namespace daybreak::compiler
