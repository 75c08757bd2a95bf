// SPDX-License-Identifier: Apache-2.0
//
// A small archive as the kernel unpacks it: our segment of an initramfs.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

namespace daybreak::install {

struct CpioFile {
    std::string path; ///< without a leading slash
    mode_t mode = 0;  ///< with the type: S_IFDIR | 0755
    std::string content;
};

/// Returns a newc archive, all of it root's and of 1970; the same files give the same bytes.  It is
/// padded to 512 bytes, so that another archive may follow.
std::string make_cpio(const std::vector<CpioFile>& files);

/// Returns the archive with which a boot is traced: /daybreak/early-init and /daybreak/daybreak.ko.
std::string make_boot_cpio(const std::string& early_init, const std::string& module);

} // namespace daybreak::install
