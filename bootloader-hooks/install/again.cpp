// SPDX-License-Identifier: Apache-2.0
//
// Installing again when no person asks: the kernels of the machine, or Daybreak, are others.
// docs/design/0052-new-kernels.md has the reasons.
#include "bootloader-hooks/install/installation.hpp"

namespace daybreak::install {

namespace {

/// The folders of scripts that the packages of kernels run.  A folder that is not there has no
/// package that would run what is in it.
constexpr const char* kHookFolders[] = {"/etc/kernel/postinst.d", "/etc/kernel/postrm.d",
                                        "/etc/kernel/header_postinst.d"};
/// They run in the order of their names: after dkms, which builds the module, and after
/// zz-systemd-boot and zz-update-grub, which write the entries that ours are copies of.
constexpr const char* kHookName = "zzz-daybreak";

} // namespace

std::vector<OwnFile> kernel_hooks(const Host& host, const std::string& program) {
    std::string text = "#!/bin/sh\n"
                       "# Placed by `daybreak install`, taken away by `daybreak uninstall`: where "
                       "boots are traced, a kernel\n"
                       "# that was installed is traced too, and nothing is left of one that was "
                       "removed. Never fails.\n"
                       "daybreak=" +
                       shell_word(program) +
                       "\n[ ! -x \"$daybreak\" ] || \"$daybreak\" install --again || :\n";
    std::vector<OwnFile> files;
    for (const char* folder : kHookFolders)
        if (host.exists(folder))
            files.push_back({.path = std::string(folder) + "/" + kHookName,
                             .content = text,
                             .mode = 0755,
                             .is_helper = true});
    return files;
}

bool is_to_be_armed(Host& host, BootLoader& loader, Mode mode) {
    auto armed = loader.armed();
    if (!armed.ok() || mode == Mode::menu)
        return false;
    if (!armed->empty() || mode == Mode::once)
        return !armed->empty();
    auto last = read_last_boot(host);
    return loader.tried().empty() && last.ok() && (!*last || goes_on_after((*last)->result));
}

} // namespace daybreak::install
