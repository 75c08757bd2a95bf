// SPDX-License-Identifier: Apache-2.0
//
// What `install` is asked to place: programs compiled for kernels, in archives that a boot loads.
#pragma once

#include "bootloader-hooks/install/installation.hpp"
#include "bootloader-hooks/install/machine.hpp"
#include "cmd/signature.hpp"

namespace daybreak::cmd {

struct InstallArguments {
    std::vector<std::string> programs, names, kernels;
    std::string module, bank, root, early_init;
    std::string sources; ///< of the module, for `native`; "": those of daybreak-dkms
    Signer signer; ///< of programs, modules and images; empty: they are not signed
    bool once = false, menu = false, dry_run = false, force = false, booted = false, again = false,
         signs = false, native = false, initramfs = false;
};

/// Returns the first program of a boot: that file, or with "" the one that comes with this program.
/// Errors: not_found, io.
base::Result<std::string> read_early_init(const std::string& named);

/// What takes the recording after a boot.
constexpr const char* kUnit = "daybreak-boot.service";
/// Error: not_found: it is not installed.
base::Result<void> check_unit(const install::Host& host);

/// What is to be installed; empty when a program is wrong, which was said.
base::Result<std::optional<install::Request>> make_request(const install::Host& host,
                                                           InstallArguments arguments);

/// Returns what was installed, for the kernels that are there now.  Of a kernel that cannot be
/// prepared that is said; what was prepared for it before stays, unless its entry is gone.
/// Errors: not_found: a program, or this machine's boot loader; invalid: a program was changed;
/// unsupported.
base::Result<install::Request> make_request_again(install::Host& host,
                                                  const install::Manifest& placed,
                                                  InstallArguments arguments);

/// Returns the module's file, unpacked.  Error: invalid: not ours, for another kernel, of another
/// Daybreak, or it holds programs already.
base::Result<base::Bytes> read_kernel_module(const install::Host& host,
                                             const install::InstalledKernel& kernel, bool is_named);

} // namespace daybreak::cmd
