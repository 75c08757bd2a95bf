// SPDX-License-Identifier: Apache-2.0
//
// A folder that stands for a machine whose boot loader install does not know: an initramfs for each
// kernel, and what makes it, initramfs-tools or dracut.
#pragma once

#include "tests/support/machine_folder.hpp"

namespace daybreak::test {

class InitramfsMachine : public MachineFolder {
public:
    explicit InitramfsMachine(std::string tool = "/usr/sbin/update-initramfs",
                              std::string hook = "/etc/initramfs-tools/hooks/daybreak")
        : hook_(std::move(hook)) {
        std::filesystem::remove_all(host.at("/boot/grub"));
        write(tool, "");
        write("/etc/hostname", "a file of the machine's\n");
        for (const char* release : {"6.12.1-amd64", "6.1.0-5-amd64"})
            write(image(release), plain(release));
    }

    static std::string image(const std::string& release) { return "/boot/initrd.img-" + release; }
    static std::string plain(const std::string& release) { return "initramfs of " + release; }
    /// Whether the initramfs of a kernel loads what is placed for it.
    bool has_archive(const std::string& release) const {
        return read(image(release)) ==
                   plain(release) + read("/var/lib/daybreak/daybreak-" + release + ".cpio") &&
               read(image(release)) != plain(release);
    }
    /// Boots a kernel: the first script and the last one of the initramfs.
    std::string boot() const override {
        std::string release = read("/proc/sys/kernel/osrelease");
        release.pop_back();
        remove("/run/daybreak-early");
        if (read(image(release)) == plain(release) || has("/etc/daybreak-tried"))
            return "";
        write("/run/daybreak-early", "");
        write("/etc/daybreak-tried", release + "\n");
        return release;
    }

protected:
    base::Result<std::string> run(const std::vector<std::string>& words) override {
        ran.push_back(words.at(0));
        if (words[0] == "update-initramfs") {
            std::string path = words.at(5) + "/initrd.img-" + words.at(3);
            make(words[3], path + ".new");
            std::filesystem::rename(path + ".new", path);
        } else if (words[0] == "dracut") {
            make(words.at(4), words.at(3));
        } else if (words[0] == "mv") {
            std::filesystem::rename(words.at(2), words.at(3));
        } else if (words[0] != "sync") {
            return MachineFolder::run(words);
        }
        return std::string();
    }

private:
    /// As the hook has it.
    void make(const std::string& release, const std::string& path) const {
        std::string state = read("/var/lib/daybreak/initramfs");
        bool is_added = has(hook_) && state.substr(0, state.find_first_of(" \n")) == release;
        std::ofstream(path) << plain(release) + (is_added ? read("/var/lib/daybreak/daybreak-" +
                                                                 release + ".cpio")
                                                          : "");
    }

    std::string hook_;
};

class DracutMachine final : public InitramfsMachine {
public:
    DracutMachine()
        : InitramfsMachine("/usr/bin/dracut",
                           "/usr/lib/dracut/modules.d/01daybreak/module-setup.sh") {}
};

} // namespace daybreak::test
