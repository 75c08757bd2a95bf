// SPDX-License-Identifier: Apache-2.0
//
// What a machine has that a boot can be traced with: kernels, a module for each, memory.
#pragma once

#include "bootloader-hooks/install/host.hpp"

namespace daybreak::install {

struct InstalledKernel {
    std::string release;
    std::string image;  ///< /boot/vmlinuz-RELEASE
    std::string module; ///< daybreak.ko, perhaps compressed; "" when there is none for this kernel
};

/// Where daybreak.ko is looked for, below /lib/modules/RELEASE.
constexpr const char* kModuleFolders[] = {"updates/dkms", "updates", "extra"};

/// Returns the path of a kernel's daybreak.ko, perhaps compressed; "" when there is none.
std::string module_file(const Host& host, const std::string& release);

/// Returns the kernels with an image in /boot and a folder of modules, by release.
std::vector<InstalledKernel> installed_kernels(const Host& host);

/// Returns why this machine's kernel takes no module that is not signed; "" when it does.
std::string signature_demand(const Host& host);

/// Returns an address for reserved memory of that size, by the text of /proc/iomem: the middle of
/// the largest piece of RAM, where neither firmware nor boot loaders put anything. Errors: invalid:
/// a size that is not whole MiB; unsupported: addresses are hidden, or no piece of RAM is four
/// times as large.
base::Result<uint64_t> bank_address(const std::string& untrusted_iomem, uint64_t bytes);

} // namespace daybreak::install
