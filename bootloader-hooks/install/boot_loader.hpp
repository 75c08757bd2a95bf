// SPDX-License-Identifier: Apache-2.0
//
// The boot loaders, by what install asks of one.
//
// A loader is a row of boot_loaders().
#pragma once

#include "bootloader-hooks/install/manifest.hpp"
#include "bootloader-hooks/install/plan.hpp"

#include <memory>
#include <span>

namespace daybreak::install {

/// What a kernel is to be booted with.
struct TracedKernel {
    std::string release;
    std::string arguments; ///< of the kernel
};

/// Returns the name of a kernel's archive: daybreak-RELEASE.cpio.
std::string cpio_name(const std::string& release);

/// A file that is ours as a whole.
struct OwnFile {
    std::string path, content;
    bool is_text = true;
    mode_t mode = 0644;
    bool is_helper = false; ///< a boot does not need it
};

/// Entries for the kernels, as files of our own or as our part of a file.
struct Entries {
    std::vector<OwnFile> files;
    std::optional<Step> part; ///< of path(), as it is and as it will be
};

class BootLoader {
public:
    virtual ~BootLoader() = default;

    /// Returns where the archive of a kernel lies.
    virtual std::string cpio_path(const std::string& release) const {
        return "/boot/" + cpio_name(release);
    }
    /// Returns what is to lie at cpio_path() of a kernel: the archive, or what has it inside.
    /// Errors: those of entries().
    virtual base::Result<std::string> archive(const TracedKernel&, std::string cpio) {
        return cpio;
    }
    /// Why what lies at cpio_path() is booted only with a signature; "" when it needs none.
    virtual std::string signature_demand(const TracedKernel&) { return ""; }
    /// Why what lies at cpio_path() is not made from what the machine boots now, or not booted; ""
    /// when it is, or when nothing of that is in it.
    virtual std::string archive_trouble(const TracedKernel&) { return ""; }
    /// Whether an entry whose archive is not there boots as usual.  Without that, nothing that is
    /// armed may be replaced.
    virtual bool looks_for_cpio() const = 0;
    /// Returns an entry for each kernel; without any our part is taken out.  `can_arm`: the entry
    /// notes that it was tried.
    /// Errors: invalid: a kernel has no entry to copy, or an argument that is ours; corrupt: our
    /// part was damaged; unsupported; io.
    virtual base::Result<Entries> entries(const std::vector<TracedKernel>& kernels, bool can_arm,
                                          const std::optional<Manifest>& placed) = 0;
    /// Returns the files that are ours by their names, entries first.
    virtual std::vector<std::string> own_files() = 0;
    /// Returns the path of the file that has our entries as a part, "" when there is none.
    virtual std::string path() const { return ""; }
    /// Returns our part of that file's content, "" when there is none.  Error: corrupt.
    virtual base::Result<std::string> part_of(const std::string&) { return std::string(); }
    /// Returns the kernel that is booted when nothing is chosen for one boot; "" when that is
    /// something that install adds no entry for.  Empty: not known.
    virtual std::optional<std::string> default_release() = 0;
    /// Why our entries of these kernels would be booted when nothing is chosen; "" when they would
    /// not.  entries() refuses such ones.
    virtual std::string default_trouble(const std::vector<TracedKernel>&) { return ""; }
    /// Error: unsupported, with the reason: a boot that dies would not end the tracing.
    virtual base::Result<void> check_can_arm() = 0;
    /// Returns the kernel that the next boot is to trace; "" when it is a usual boot.
    /// Error: busy: another entry was chosen for the next boot.
    virtual base::Result<std::string> armed() = 0;
    /// Whether our entry of that kernel is there, changed or not: without it the boot is a usual
    /// one.
    virtual bool has_entry(const std::string& release) = 0;
    /// Returns the kernel whose entry was tried and did not come up yet; "": none.
    virtual std::string tried() = 0;
    /// Returns the variables that arm() and a boot change, as they are before.
    virtual std::vector<Variable> variables() { return {}; }
    /// Returns the steps after which the boot that was tried is known to have come up.
    virtual std::vector<Step> forget_tried() = 0;
    /// Returns the steps after which the next boot takes our entry of that kernel, and what was
    /// tried is forgotten.  `anew`: also when it is armed now, which steps before them undo.
    virtual std::vector<Step> arm(const std::string& release, bool anew = false) = 0;
    /// Returns the steps after which it does not, and the variables are what they were.
    virtual std::vector<Step> disarm(const std::vector<Variable>& before) = 0;
    /// Returns the steps after which boots are not traced any more, where what is armed stays so
    /// after a boot; what was tried is not forgotten.
    virtual std::vector<Step> end_arming() { return {}; }
    /// What a boot that dies can do to the machine for all that, with what helps; "": nothing.
    virtual std::string risk() const { return ""; }
};

struct KnownBootLoader {
    const char* name;
    /// Whether the machine boots by it, as far as files say.
    bool (*is_used)(const Host& host);
    base::Result<std::unique_ptr<BootLoader>> (*open)(Host& host);
    /// Files and folders that open() reads, those of them that are there.
    std::span<const char* const> reads;
    /// Returns the steps after which the next boot is a usual one, as far as that needs no file of
    /// those that open() did not find.
    std::vector<Step> (*disarm)(Host& host);
    /// Not a boot loader: what makes the distribution's initramfs, and so needs none.
    bool is_initramfs = false;
};

/// Returns the files of a folder that are ours by their names: daybreak-...SUFFIX.
std::vector<std::string> own_files_of(const Host& host, const std::string& folder,
                                      const char* suffix);

/// Returns all, the surest sign first: the first one that is used is the machine's.
std::span<const KnownBootLoader> boot_loaders();

/// Returns the machine's boot loader.  `in_initramfs`: what makes its initramfs.
/// Errors: unsupported: install does not know it; not_found.
base::Result<std::unique_ptr<BootLoader>> open_boot_loader(Host& host, std::string* name_ret,
                                                           bool in_initramfs = false);

/// Whether that is the name of what makes an initramfs.
bool is_initramfs(const std::string& name);

/// Returns the one of that name, whether the machine uses it or not.  Error: unsupported.
base::Result<std::unique_ptr<BootLoader>> open_boot_loader_named(Host& host,
                                                                 const std::string& name);

constexpr const char* kGrubConfig = "/boot/grub/grub.cfg";
constexpr const char* kGrubEnvironment = "/boot/grub/grubenv";
constexpr const char* kGrubCustom = "/boot/grub/custom.cfg";
constexpr const char* kGrubReads[] = {kGrubConfig, kGrubEnvironment, kGrubCustom};

/// GRUB: a part of custom.cfg, and next_entry of grubenv.
bool grub_is_used(const Host& host);
base::Result<std::unique_ptr<BootLoader>> open_grub(Host& host);

/// Where the file system may be mounted that systemd-boot reads entries from.  With two of them
/// loader.conf is on the EFI system partition, which is the later one here.
constexpr const char* kBootFolders[] = {"/boot", "/boot/efi", "/efi"};

/// systemd-boot: for each kernel a file of loader/entries, or a unified kernel image where the
/// distribution's is one; and LoaderEntryOneShot.
bool systemd_boot_is_used(const Host& host);
base::Result<std::unique_ptr<BootLoader>> open_systemd_boot(Host& host);
std::vector<Step> disarm_systemd_boot(Host& host);

/// The initramfs that initramfs-tools or dracut makes, where no boot loader can be prepared: it
/// loads the module itself.
constexpr const char* kInitramfsState = "/var/lib/daybreak/initramfs";
constexpr const char* kInitramfsReads[] = {kInitramfsState};
/// There in a boot whose initramfs loaded it, with the reason if it was unloaded again.
constexpr const char* kInitramfsMark = "/run/daybreak-early";
constexpr const char* kDracutFolder = "/usr/lib/dracut/modules.d/01daybreak";
bool initramfs_tools_is_used(const Host& host);
base::Result<std::unique_ptr<BootLoader>> open_initramfs_tools(Host& host);
bool dracut_is_used(const Host& host);
base::Result<std::unique_ptr<BootLoader>> open_dracut(Host& host);

} // namespace daybreak::install
