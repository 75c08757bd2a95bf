// SPDX-License-Identifier: Apache-2.0
//
// Installing, taking it back, and what a boot made of it.
//
// Order of the steps, which is what a power cut in between rests on: the manifest, so that whatever
// lies there is known; the cpios, which alone change nothing; the boot loader's entry, which with
// GRUB looks for its cpio and boots as usual without; last the choice of the next boot.
// Uninstalling goes the other way.  docs/design/0048-installing.md has the reasons.
#pragma once

#include "bootloader-hooks/install/boot_loader.hpp"

namespace daybreak::install {

constexpr const char* kLastBootPath = "/var/lib/daybreak/last-boot";

/// A kernel that is to be traced, and the archive for it.
struct KernelCpio {
    std::string release, cpio;
    bool is_placed = false; ///< it is what lies at its place, which may have the archive inside
    std::string why_interpreted = {}; ///< see Manifest
};

/// Returns an image of a kernel with a signature for the firmware.
using SignImage = std::function<base::Result<std::string>(const std::string& image)>;

struct Request {
    Mode mode = Mode::every;
    std::vector<std::string> programs; ///< names of their rings, for the status
    std::vector<KernelCpio> kernels;
    std::vector<OwnFile> helpers;      ///< files that a boot does not need
    std::string bank;                  ///< "64M@0x20000000", or ""
    std::string version;               ///< of the Daybreak that made the archives
    std::string module;                ///< of the one kernel, where it was named
    std::string sign_key, certificate; ///< files; "" where modules are not signed
    bool native = false;               ///< programs are compiled into the modules
    std::string sources;               ///< with these, where they were named
    SignImage sign_image;              ///< empty: images are not signed
    bool initramfs = false;            ///< the initramfs loads the module, whatever boots it
    bool kernels_named = false;        ///< people named them: one alone need not be the default
    std::string running_release;       ///< traced when the boot loader's default is not known
    bool force = false;                ///< take away what was changed since it was installed
    bool again = false;                ///< nothing is armed that was not to be armed before
};

/// Returns what has to be done; no steps when all is as requested already.
/// `armed_ret`: the kernel that the next boot traces, "" with Mode::menu.
/// Errors: busy: the next boot is chosen already; invalid: a file is there that install did not
/// place, or was changed since, or the kernel that boots is not among those; full; those of the
/// boot loader.
base::Result<Plan> plan_install(Host& host, const Request& request, std::string* armed_ret);

/// Returns the scripts that the packages of kernels run when a kernel or its headers were
/// installed, or a kernel was removed: `daybreak install --again` by that program.
std::vector<OwnFile> kernel_hooks(const Host& host, const std::string& program);

/// Whether the next boot is to be traced as far as people asked for: it is armed, or it will be by
/// the unit at the end of this one.
bool is_to_be_armed(Host& host, BootLoader& loader, Mode mode);

/// Returns what has to be done to make all files what they were.  No steps: nothing is installed.
base::Result<Plan> plan_uninstall(Host& host, bool force);

/// What became of a boot, as daybreak-boot.service found it.
enum class BootResult : uint8_t {
    collected,    ///< traced, and its recording is in files
    not_armed,    ///< a usual boot
    not_loaded,   ///< chosen, and the module is not there
    not_read,     ///< traced, and the recording could not be written
    nothing_held, ///< the module has no recording: it refused the programs, or another took it
    died,         ///< this is a usual boot; one before was to be traced and did not come up
    no_cpio,      ///< a usual boot, and something that install placed is not there
};

struct LastBoot {
    BootResult result = BootResult::not_armed;
    std::string boot_id, release;
    std::string detail;             ///< why
    std::vector<std::string> files; ///< what was written
};

/// What the boot that runs is, before its recording is taken.
struct ThisBoot {
    std::string boot_id, release;
    bool chosen = false;      ///< early-init was its first program
    bool loaded = false;      ///< the module is there
    bool keeps_start = false; ///< its entry has kKernelStartArguments
};
base::Result<ThisBoot> read_this_boot(const Host& host);

/// Returns what was kept of the last boot; empty when nothing was.  Error: io.
base::Result<std::optional<LastBoot>> read_last_boot(const Host& host);

/// Whether each boot goes on being traced after one that ended so: what did not work is not tried
/// again without a person; what was not tried, or only not written, is.
bool goes_on_after(BootResult result);

/// Returns what is to be written of a boot that was not traced.
LastBoot untraced_boot(Host& host, const ThisBoot& boot);

/// Returns the steps after a boot: its result is kept; the next one is armed where each is to be
/// traced, this one came up, and all files are as they were installed.
base::Result<Plan> plan_after_boot(Host& host, const LastBoot& boot);

/// Returns what became of a boot, for people.
std::string last_boot_text(const Host& host, const LastBoot& boot);

/// Returns the command that places what was installed again, over what was changed, and arms it
/// where it was armed: with the same programs, kernels and bank.
std::string repair_command(Host& host, const Manifest& placed);

/// A line of the status.
struct StatusLine {
    std::string label, text;
    bool is_wrong = false;
};
/// Returns what is installed, whether it is as it was installed, what the next boot does and what
/// the last one did.  Nothing is installed: no lines.  What only root may read is said to be not
/// known, and is not wrong.
/// `version`: of this Daybreak.
base::Result<std::vector<StatusLine>> installation_status(Host& host, const std::string& version);

/// Returns what the kernel is booted with; `bank` as in Request.
TracedKernel traced_kernel(const std::string& release, const std::string& bank);
std::vector<TracedKernel> traced_kernels(const Manifest& placed);

} // namespace daybreak::install
