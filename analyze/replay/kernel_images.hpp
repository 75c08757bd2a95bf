// SPDX-License-Identifier: Apache-2.0
//
// Kernel images: where the code of the kernel and of its modules lay in one boot.
//
//     vmlinux   _text ............................ _end      all that it linked, whatever the base
//     ext4      base | f g h ... last | to the end of the page
//
// Since 6.4 a module's code, constants and data are three pieces of memory, and only the first is
// where the module begins.  So an image of a module ends with its last function: what lies after it
// may be anything in the next boot.
#pragma once

#include "formats/aggstate/state.hpp"
#include "formats/trace/metadata.hpp"

namespace daybreak::analyze {

/// Returns those of the modules whose build ids are known and whose symbols say where they end.
std::vector<formats::StateImage> kernel_images(const std::vector<formats::ModuleInfo>& modules,
                                               const formats::SymbolTable& symbols);

} // namespace daybreak::analyze
