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

/// What systemd-boot leaves for the system that it booted: its name in UTF-16.
constexpr const char* kLoaderInfo =
    "/sys/firmware/efi/efivars/LoaderInfo-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f";

bool systemd_boot_is_used(const Host& host) {
    auto info = host.read_through(kLoaderInfo);
    if (!info.ok() || !*info)
        return !grub_is_used(host) &&
               (host.exists("/boot/loader/entries") || host.exists("/boot/efi/loader/entries") ||
                host.exists("/efi/loader/entries"));
    std::string name = **info;
    std::erase(name, '\0');
    return name.find("systemd-boot") != std::string::npos;
}

constexpr KnownBootLoader kLoaders[] = {
    {"systemd-boot", systemd_boot_is_used, nullptr},
    {"GRUB", grub_is_used, open_grub},
};

} // namespace

std::span<const KnownBootLoader> boot_loaders() {
    return kLoaders;
}

Result<std::unique_ptr<BootLoader>> open_boot_loader(Host& host, std::string* name_ret) {
    for (const KnownBootLoader& loader : boot_loaders()) {
        if (!loader.is_used(host))
            continue;
        if (!loader.open)
            return errorf(
                ErrorCode::unsupported,
                "the boot loader is %s: not supported yet by install; docs/boot.md says how "
                "by hand",
                loader.name);
        *name_ret = loader.name;
        return loader.open(host);
    }
    return errorf(ErrorCode::not_found,
                  "no boot loader found: expected /boot/grub/grub.cfg (is /boot "
                  "mounted?); docs/boot.md says what a boot needs");
}

Result<std::unique_ptr<BootLoader>> open_boot_loader_named(Host& host, const std::string& name) {
    for (const KnownBootLoader& loader : boot_loaders())
        if (name == loader.name && loader.open)
            return loader.open(host);
    return errorf(ErrorCode::unsupported,
                  "%s names the boot loader '%s', which this daybreak does not know", kManifestPath,
                  name.c_str());
}

} // namespace daybreak::install
