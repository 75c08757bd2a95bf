// SPDX-License-Identifier: Apache-2.0
//
// Which boot loader a machine has.
#include "bootloader-hooks/install/boot_loader.hpp"

#include <algorithm>

namespace daybreak::install {

using base::ErrorCode;
using base::errorf;
using base::Result;

namespace {

std::vector<Step> disarm_nothing(Host&) {
    return {};
}

constexpr KnownBootLoader kLoaders[] = {
    {"systemd-boot", systemd_boot_is_used, open_systemd_boot, kBootFolders, disarm_systemd_boot},
    // What it boots next lies beside grub.cfg.
    {"GRUB", grub_is_used, open_grub, kGrubReads, disarm_nothing},
    {"initramfs-tools", initramfs_tools_is_used, open_initramfs_tools, kInitramfsReads,
     disarm_nothing, true},
    {"dracut", dracut_is_used, open_dracut, kInitramfsReads, disarm_nothing, true},
};

} // namespace

std::string cpio_name(const std::string& release) {
    return "daybreak-" + release + ".cpio";
}

std::vector<std::string> own_files_of(const Host& host, const std::string& folder,
                                      const char* suffix) {
    std::vector<std::string> paths;
    for (const std::string& name : host.list(folder))
        if (name.starts_with("daybreak-") && name.ends_with(suffix))
            paths.push_back(folder + "/" + name);
    return paths;
}

std::span<const KnownBootLoader> boot_loaders() {
    return kLoaders;
}

bool is_initramfs(const std::string& name) {
    return std::any_of(std::begin(kLoaders), std::end(kLoaders), [&](const KnownBootLoader& one) {
        return one.is_initramfs && one.name == name;
    });
}

Result<std::unique_ptr<BootLoader>> open_boot_loader(Host& host, std::string* name_ret,
                                                     bool in_initramfs) {
    for (const KnownBootLoader& loader : boot_loaders()) {
        if ((in_initramfs && !loader.is_initramfs) || !loader.is_used(host))
            continue;
        *name_ret = loader.name;
        return loader.open(host);
    }
    if (in_initramfs)
        return errorf(ErrorCode::not_found,
                      "--initramfs needs update-initramfs or dracut, and neither is there");
    return errorf(ErrorCode::not_found,
                  "no boot loader found: expected /boot/grub/grub.cfg, or entries of systemd-boot "
                  "(is /boot mounted?); docs/boot.md says what a boot needs");
}

Result<std::unique_ptr<BootLoader>> open_boot_loader_named(Host& host, const std::string& name) {
    for (const KnownBootLoader& loader : boot_loaders())
        if (name == loader.name)
            return loader.open(host);
    return errorf(ErrorCode::unsupported,
                  "%s names the boot loader '%s', which this daybreak does not know", kManifestPath,
                  name.c_str());
}

} // namespace daybreak::install
