// SPDX-License-Identifier: Apache-2.0
//
// A folder that stands for a Debian machine with systemd-boot: entries as kernel-install writes
// them, the loader's EFI variables as files, and bootctl.
#pragma once

#include "tests/support/machine_folder.hpp"
#include "tests/support/pe_image.hpp"

namespace daybreak::test {

inline std::string loader_entry(const std::string& release, const std::string& more = "") {
    return "# Boot Loader Specification type#1 entry\n"
           "title      Debian GNU/Linux 12 (bookworm)\nversion    " +
           release +
           "\nmachine-id 0123456789abcdef0123456789abcdef\nsort-key   debian\n"
           "options    root=UUID=1111-22 ro quiet\nlinux      /0123/" +
           release + "/linux\ninitrd     /0123/" + release + "/initrd.img-" + release + "\n" + more;
}

class SystemdBootMachine : public MachineFolder {
public:
    explicit SystemdBootMachine(std::string folder = "/boot/efi",
                                const std::vector<std::string>& releases = {"6.12.1-amd64",
                                                                            "6.1.0-5-amd64"})
        : MachineFolder(kPlain, releases), boot_folder(std::move(folder)) {
        std::filesystem::remove_all(host.at("/boot/grub"));
        for (const std::string& release : releases)
            write(entry_path("0123-" + release), loader_entry(release));
        write(boot_folder + "/loader/loader.conf", "timeout 3\nconsole-mode keep\n");
        set_loader_variable("LoaderInfo", "systemd-boot 252.39-1~deb12u2");
    }

    std::string entry_path(const std::string& name) const {
        return boot_folder + "/loader/entries/" + name + ".conf";
    }
    static std::string variable_path(const std::string& name) {
        return "/sys/firmware/efi/efivars/" + name + "-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f";
    }
    std::string loader_variable(const std::string& name) const {
        std::string bytes = read(variable_path(name)), text;
        for (size_t at = 4; at + 2 < bytes.size(); at += 2)
            text += bytes[at];
        return text;
    }
    /// In one write, as the firmware does it; "" removes it.
    void set_loader_variable(const std::string& name, const std::string& text) const {
        if (text.empty())
            return remove(variable_path(name));
        std::string bytes("\7\0\0\0", 4);
        for (char c : text + '\0')
            bytes += std::string(1, c) + '\0';
        write(variable_path(name), bytes);
    }
    /// What systemd-boot does at a boot: takes LoaderEntryOneShot and forgets it.  An entry without
    /// its archive does not boot, and the machine comes back in the usual one.
    std::string boot() const override {
        std::string id = loader_variable("LoaderEntryOneShot"), name = id.substr(0, id.rfind('.'));
        set_loader_variable("LoaderEntryOneShot", "");
        bool boots = id.ends_with(".efi") ? has(boot_folder + "/EFI/Linux/" + id)
                                          : has(boot_folder + "/loader/entries/" + id) &&
                                                has(boot_folder + "/" + name + ".cpio");
        write("/proc/cmdline", boots ? "root=UUID=1111-22 ro quiet rdinit=/daybreak/early-init\n"
                                     : "root=UUID=1111-22 ro quiet\n");
        return id;
    }

    std::string boot_folder;
    bool has_bootctl = true;

protected:
    base::Result<std::string> run(const std::vector<std::string>& words) override {
        if (words.at(0) != "bootctl" || !has_bootctl)
            return MachineFolder::run(words);
        if (words.at(1) == "--version")
            return std::string("systemd 252 (252.39-1~deb12u2)\n");
        ran.push_back("bootctl");
        set_loader_variable("LoaderEntryOneShot", words.at(2));
        return std::string();
    }
};

/// One whose entries are unified kernel images.
class UnifiedMachine final : public SystemdBootMachine {
public:
    UnifiedMachine() {
        std::filesystem::remove_all(host.at(boot_folder + "/loader/entries"));
        for (const char* release : {"6.12.1-amd64", "6.1.0-5-amd64"})
            write(image_path(std::string("debian-") + release), unified_image(release));
    }
    std::string image_path(const std::string& name) const {
        return boot_folder + "/EFI/Linux/" + name + ".efi";
    }
};

} // namespace daybreak::test
