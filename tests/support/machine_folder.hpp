// SPDX-License-Identifier: Apache-2.0
//
// A folder that stands for a Debian machine: kernels, GRUB's files as grub-mkconfig writes them,
// and the two programs of GRUB that install asks.
#pragma once

#include "base/file.hpp"
#include "bootloader-hooks/install/host.hpp"
#include "bootloader-hooks/install/installation.hpp"
#include "tests/support/temp_folder.hpp"

#include <algorithm>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <unistd.h>

namespace daybreak::test {

/// What differs between machines in grub.cfg.
struct GrubShape {
    const char* name;
    const char* kernels; ///< the folder of the kernels as GRUB sees it
    const char* device;  ///< the lines that find it
    const char* abstraction = "";
    const char* file_system = "ext2";
    bool has_submenu = true;
};

constexpr GrubShape kPlain = {
    "plain", "/boot/",
    "\tinsmod part_msdos\n\tinsmod ext2\n\tsearch --no-floppy --fs-uuid --set=root 1111-22\n"};
constexpr GrubShape kShapes[] = {
    kPlain,
    {"separate /boot", "/",
     "\tinsmod part_gpt\n\tinsmod ext2\n\tset root='hd0,gpt2'\n\tif [ "
     "x$feature_platform_search_hint = xy ]; then\n\t  search --no-floppy --fs-uuid --set=root "
     "--hint-bios=hd0,gpt2  3333-44\n\telse\n\t  search --no-floppy --fs-uuid --set=root "
     "3333-44\n\tfi\n"},
    {"btrfs", "/@rootfs/boot/",
     "\tinsmod part_gpt\n\tinsmod btrfs\n\tsearch --no-floppy --fs-uuid --set=root 5555-66\n", "",
     "btrfs"},
    {"LVM", "/boot/",
     "\tinsmod part_gpt\n\tinsmod lvm\n\tinsmod ext2\n\tset root='lvmid/abc/def'\n\tsearch "
     "--no-floppy --fs-uuid --set=root 7777-88\n",
     "lvm"},
    {"LUKS", "/boot/",
     "\tinsmod part_gpt\n\tinsmod cryptodisk\n\tinsmod luks\n\tcryptomount -u 9999\n\tset "
     "root='cryptouuid/9999'\n",
     "cryptodisk luks"},
    {"no submenu", "/boot/", "\tinsmod ext2\n\tsearch --no-floppy --fs-uuid --set=root aaaa-bb\n",
     "", "ext2", false},
};

inline std::string grub_entry(const GrubShape& shape, const std::string& title,
                              const std::string& id, const std::string& release,
                              const std::string& arguments, const char* margin) {
    std::string body = std::string("\tload_video\n\tinsmod gzio\n\tif [ x$grub_platform = xxen ]; "
                                   "then insmod xzio; insmod lzopio; fi\n") +
                       shape.device + "\techo\t'Loading Linux " + release + " ...'\n\tlinux\t" +
                       shape.kernels + "vmlinuz-" + release + " root=UUID=1111-22 ro " + arguments +
                       "\n\techo\t'Loading initial ramdisk ...'\n\tinitrd\t" + shape.kernels +
                       "initrd.img-" + release + "\n";
    std::string text =
        std::string(margin) + "menuentry '" + title +
        "' --class debian --class gnu-linux --class gnu --class os $menuentry_id_option '" + id +
        "' {\n";
    std::istringstream lines(body);
    for (std::string line; std::getline(lines, line);)
        text += margin + line + "\n";
    return text + margin + "}\n";
}

/// The newest kernel first, as grub-mkconfig has them.
inline std::string grub_config(const GrubShape& shape, const std::vector<std::string>& releases,
                               const std::string& chosen = "0") {
    std::string text =
        "if [ -s $prefix/grubenv ]; then\n  set have_grubenv=true\n  load_env\nfi\n"
        "if [ \"${next_entry}\" ] ; then\n   set default=\"${next_entry}\"\n   set next_entry=\n"
        "   save_env next_entry\n   set boot_once=true\nelse\n   set default=\"" +
        chosen +
        "\"\nfi\n"
        "function gfxmode {\n\tset gfxpayload=\"${1}\"\n}\n";
    text += grub_entry(shape, "Debian GNU/Linux", "gnulinux-simple-1111-22", releases.at(0),
                       "quiet", "");
    const char* margin = shape.has_submenu ? "\t" : "";
    if (shape.has_submenu)
        text += "submenu 'Advanced options for Debian GNU/Linux' $menuentry_id_option "
                "'gnulinux-advanced-1111-22' {\n";
    for (const std::string& release : releases) {
        std::string title = "Debian GNU/Linux, with Linux " + release;
        text += grub_entry(shape, title, "gnulinux-" + release + "-advanced-1111-22", release,
                           "quiet", margin);
        text += grub_entry(shape, title + " (recovery mode)",
                           "gnulinux-" + release + "-recovery-1111-22", release, "single", margin);
    }
    if (shape.has_submenu)
        text += "}\n";
    return text + "if [ -f  ${config_directory}/custom.cfg ]; then\n  source "
                  "${config_directory}/custom.cfg\n"
                  "elif [ -z \"${config_directory}\" -a -f  $prefix/custom.cfg ]; then\n  source "
                  "$prefix/custom.cfg\nfi\n";
}

/// An environment block with these lines, as grub-editenv pads it.
inline std::string grub_environment(const std::string& lines) {
    std::string block = "# GRUB Environment Block\n" + lines;
    return block + std::string(1024 - block.size(), '#');
}

class MachineFolder {
public:
    virtual ~MachineFolder() = default;
    explicit MachineFolder(const GrubShape& shape = kPlain,
                           std::vector<std::string> releases = {"6.12.1-amd64", "6.1.0-5-amd64"})
        : host(folder_.path, [this](const std::vector<std::string>& words) { return run(words); }),
          shape_(shape) {
        for (const std::string& release : releases) {
            write("/boot/vmlinuz-" + release, "kernel " + release);
            write("/lib/modules/" + release + "/modules.dep", "");
            write("/lib/modules/" + release + "/updates/dkms/daybreak.ko", "module " + release);
        }
        write("/boot/grub/grub.cfg", grub_config(shape, releases));
        write("/boot/grub/grubenv", grub_environment(""));
        write("/proc/sys/kernel/osrelease", releases.back() + "\n");
        write("/proc/sys/kernel/random/boot_id", "11111111-2222-3333-4444-555555555555\n");
        write("/proc/cmdline", "root=/dev/vda1 ro\n");
    }

    void write(const std::string& path, const std::string& text) const {
        std::filesystem::create_directories(std::filesystem::path(host.at(path)).parent_path());
        std::ofstream(host.at(path), std::ios::binary) << text;
    }
    std::string read(const std::string& path) const {
        std::ifstream file(host.at(path), std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    void remove(const std::string& path) const { std::filesystem::remove(host.at(path)); }
    bool has(const std::string& path) const { return std::filesystem::exists(host.at(path)); }
    /// Every file and its content.
    std::map<std::string, std::string> files() const {
        std::map<std::string, std::string> all;
        for (const auto& file : std::filesystem::recursive_directory_iterator(folder_.path))
            if (file.is_regular_file()) {
                std::string path = file.path().string().substr(folder_.path.string().size());
                all[path] = read(path);
            }
        return all;
    }
    /// What GRUB does at a boot: takes next_entry and forgets it; our entry notes that it is tried.
    virtual std::string boot() const {
        std::string next = variable("next_entry");
        if (!next.empty())
            set_variable("next_entry", "");
        if (next.starts_with("daybreak-") && has("/boot/" + next + ".cpio"))
            set_variable("daybreak_tried", next.substr(sizeof("daybreak-") - 1));
        bool is_traced = next.starts_with("daybreak-") && has("/boot/" + next + ".cpio");
        write("/proc/cmdline", is_traced ? "root=/dev/vda1 rdinit=/daybreak/early-init panic=30\n"
                                         : "root=/dev/vda1 ro\n");
        return next;
    }
    std::string variable(const std::string& name) const {
        std::string block = read("/boot/grub/grubenv");
        size_t at = block.find("\n" + name + "=");
        return at == block.npos ? ""
                                : block.substr(at + name.size() + 2,
                                               block.find('\n', at + 1) - at - name.size() - 2);
    }
    void set_variable(const std::string& name, const std::string& value) const {
        (void)edit({"grub-editenv", host.at("/boot/grub/grubenv"), "set", name + "=" + value});
    }

    std::vector<std::string> ran;

protected:
    virtual base::Result<std::string> run(const std::vector<std::string>& words) {
        ran.push_back(words.at(0));
        if (words[0] == "grub-probe")
            return std::string(words.at(1) == "--target=fs" ? shape_.file_system
                                                            : shape_.abstraction) +
                   "\n";
        if (words[0] == "grub-editenv")
            return edit(words);
        return base::errorf(base::ErrorCode::not_found, "there is no program %s", words[0].c_str());
    }

private:
    /// As grub-editenv: the block is written in place, in one piece.
    static base::Result<std::string> edit(const std::vector<std::string>& words) {
        std::ifstream file(words.at(1), std::ios::binary);
        std::string block((std::istreambuf_iterator<char>(file)), {}),
            name = words.at(3).substr(0, words[3].find('='));
        block.erase(block.find_last_not_of('#') + 1);
        size_t at = block.find("\n" + name + "=");
        if (words.at(2) == "unset" && at != block.npos)
            block.erase(at + 1, block.find('\n', at + 1) - at);
        else if (words[2] == "set" && at != block.npos)
            block.replace(at + 1, block.find('\n', at + 1) - at - 1, words[3]);
        else if (words[2] == "set")
            block += words[3] + "\n";
        block.append(1024 - block.size(), '#');
        base::ScopedFd fd(::open(words[1].c_str(), O_WRONLY | O_CLOEXEC));
        if (::pwrite(fd.get(), block.data(), block.size(), 0) != 1024)
            return base::errno_errorf("cannot write %s", words[1].c_str());
        return std::string();
    }

    TempFolder folder_;

public:
    install::Host host;

private:
    GrubShape shape_;
};

/// The status as lines "label: text", a "!" before what is wrong; of a machine that has a `host`.
template <typename Machine> std::string status_of(Machine& machine) {
    auto lines = install::installation_status(machine.host, "");
    if (!lines.ok())
        return "no status: " + lines.error().message();
    std::string text;
    for (const install::StatusLine& line : *lines)
        text += (line.is_wrong ? "!" : "") + line.label + ": " + line.text + "\n";
    return text;
}

} // namespace daybreak::test
