// SPDX-License-Identifier: Apache-2.0
//
// systemd-boot as install uses it: an entry of our own for each kernel, and LoaderEntryOneShot,
// which systemd-boot clears before it boots what it names.
// docs/design/0051-installing-with-systemd-boot.md says why; 0053 of unified kernel images.
#include "bootloader-hooks/install/boot_loader.hpp"
#include "bootloader-hooks/install/loader_entry.hpp"

#include <algorithm>
#include <cstdlib>

namespace daybreak::install {

using base::ErrorCode;
using base::errorf;
using base::Result;

namespace {

constexpr const char* kVariables = "/sys/firmware/efi/efivars";
constexpr const char* kVendor = "-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f";
/// The first systemd-boot that sorts entries by their sort-key.
constexpr unsigned kSortKeyVersion = 250;
constexpr const char* kMachineIdPath = "/etc/machine-id";
/// The kernel whose entry was chosen for a boot that has not come up yet: systemd-boot notes
/// nothing itself.
constexpr const char* kTriedPath = "/var/lib/daybreak/tried";

/// Returns a variable of the loader: UTF-16 after four bytes of attributes.  Empty: not set.
std::optional<std::string> loader_variable(const Host& host, const std::string& name) {
    auto bytes = host.read_through(std::string(kVariables) + "/" + name + kVendor);
    if (!bytes.ok() || !*bytes || (*bytes)->size() < 4)
        return std::nullopt;
    std::string text;
    for (size_t at = 4; at + 1 < (*bytes)->size(); at += 2) {
        if ((**bytes)[at] == '\0' && (**bytes)[at + 1] == '\0')
            break;
        text += (**bytes)[at + 1] == '\0' ? (**bytes)[at] : '?';
    }
    return text;
}

/// Where the two types of entries lie below it.
struct EntryFolder {
    const char *path, *suffix;
    bool is_unified;
};
constexpr EntryFolder kEntryFiles = {"/loader/entries/", ".conf", false},
                      kUnifiedImages = {"/EFI/Linux/", ".efi", true};

std::vector<std::string> ids_in(const Host& host, const std::string& folder, EntryFolder type) {
    std::vector<std::string> ids = host.list(folder + type.path);
    std::erase_if(ids, [&](const std::string& id) {
        return !id.ends_with(type.suffix) || !host.is_regular(folder + type.path + id);
    });
    return ids;
}

/// Returns where the entries are; "" when they are nowhere.
std::string boot_folder(const Host& host) {
    for (const char* folder : kBootFolders)
        if (!ids_in(host, folder, kEntryFiles).empty() ||
            !ids_in(host, folder, kUnifiedImages).empty())
            return folder;
    return "";
}

/// Whether the firmware boots only what is signed.  Empty: not known.
std::optional<bool> has_secure_boot(const Host& host) {
    auto bytes = host.read_through(std::string(kVariables) +
                                   "/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c");
    if (!bytes.ok() || !*bytes || (*bytes)->size() != 5)
        return std::nullopt;
    return (**bytes)[4] != 0;
}

class SystemdBoot final : public BootLoader {
public:
    SystemdBoot(Host& host, std::string folder, std::vector<LoaderEntry> entries,
                std::vector<std::string> patterns)
        : host_(host), folder_(std::move(folder)), entries_(std::move(entries)),
          patterns_(std::move(patterns)) {}

    std::string cpio_path(const std::string& release) const override {
        return is_unified(release) ? entry_path(release) : folder_ + "/" + cpio_name(release);
    }
    Result<std::string> archive(const TracedKernel& kernel, std::string cpio) override;
    std::string signature_demand(const TracedKernel& kernel) override;
    std::string archive_trouble(const TracedKernel& kernel) override;
    bool looks_for_cpio() const override { return false; }
    Result<Entries> entries(const std::vector<TracedKernel>& kernels, bool can_arm,
                            const std::optional<Manifest>& placed) override;
    std::optional<std::string> default_release() override;
    std::string default_trouble(const std::vector<TracedKernel>& kernels) override;
    Result<void> check_can_arm() override;
    Result<std::string> armed() override;
    bool has_entry(const std::string& release) override {
        return host_.exists(entry_path(release));
    }
    std::vector<std::string> own_files() override {
        std::vector<std::string> paths;
        for (auto [folder, suffix] : {std::pair("/loader/entries", ".conf"),
                                      std::pair("/EFI/Linux", ".efi"), std::pair("", ".cpio")})
            for (std::string& path : own_files_of(host_, folder_ + folder, suffix))
                paths.push_back(std::move(path));
        return paths;
    }
    std::string tried() override;
    std::vector<Step> forget_tried() override;
    std::vector<Step> arm(const std::string& release, bool anew) override;
    std::vector<Step> disarm(const std::vector<Variable>& before) override;

private:
    std::vector<const LoaderEntry*> entries_of(const std::string& release) const;
    /// Returns the one entry that ours is a copy of; null when there is none, or not only one.
    const LoaderEntry* entry_of(const std::string& release) const;
    /// The same, with what is wrong.
    Result<const LoaderEntry*> copied_entry(const std::string& release) const;
    bool is_unified(const std::string& release) const {
        const LoaderEntry* entry = entry_of(release);
        // Ours stays where it is when the distribution's is gone.
        return entry ? entry->is_unified()
                     : host_.exists(folder_ + kUnifiedImages.path + loader_entry_id(release, true));
    }
    std::string entry_id(const std::string& release) const {
        return loader_entry_id(release, is_unified(release));
    }
    std::string entry_path(const std::string& release) const {
        return folder_ + (is_unified(release) ? kUnifiedImages : kEntryFiles).path +
               entry_id(release);
    }
    /// Returns the distribution's image of an entry.
    Result<UnifiedImage> read_image(const LoaderEntry& entry) const;
    Step one_shot(const std::string& id, const char* what) const {
        return {.command = {"bootctl", "set-oneshot", id}, .what = what};
    }

    Host& host_;
    std::string folder_;
    std::vector<LoaderEntry> entries_;  ///< the distribution's, as systemd-boot sorts them
    std::vector<std::string> patterns_; ///< of the default entry, the first that fits counts
};

std::vector<const LoaderEntry*> SystemdBoot::entries_of(const std::string& release) const {
    auto text = host_.read_through(kMachineIdPath);
    std::string machine_id = text.ok() ? text->value_or("") : "";
    return entries_to_copy(entries_, release, machine_id.substr(0, machine_id.find('\n')),
                           default_entry(entries_, patterns_));
}

const LoaderEntry* SystemdBoot::entry_of(const std::string& release) const {
    std::vector<const LoaderEntry*> found = entries_of(release);
    return found.size() == 1 ? found[0] : nullptr;
}

Result<const LoaderEntry*> SystemdBoot::copied_entry(const std::string& release) const {
    std::vector<const LoaderEntry*> found = entries_of(release);
    if (found.size() > 1)
        return errorf(ErrorCode::invalid,
                      "the entries %s and %s of kernel %s differ, and which one is this system's "
                      "is not known: name other kernels with --kernel, or make the right one the "
                      "default",
                      found[0]->id.c_str(), found[1]->id.c_str(), release.c_str());
    if (found.empty())
        return errorf(
            ErrorCode::invalid,
            "%s/loader/entries has no entry of kernel %s with an initramfs to copy (expected "
            "`version %s` and this system's machine-id), and EFI/Linux no image: run "
            "kernel-install "
            "add %s /boot/vmlinuz-%s",
            folder_.c_str(), release.c_str(), release.c_str(), release.c_str(), release.c_str());
    if (found[0]->value("sort-key").empty())
        return errorf(ErrorCode::unsupported,
                      "the entry %s has no sort-key, so an entry of Daybreak could become the "
                      "default one: write it anew with kernel-install",
                      found[0]->id.c_str());
    return found[0];
}

Result<Entries> SystemdBoot::entries(const std::vector<TracedKernel>& kernels, bool,
                                     const std::optional<Manifest>&) {
    Entries made;
    for (const TracedKernel& kernel : kernels) {
        DBK_TRY(const LoaderEntry* entry, copied_entry(kernel.release));
        if (entry->is_unified()) {
            // The image that is to lie at cpio_path() is all of it.
            auto image = archive(kernel, "");
            if (!image.ok())
                return std::move(image).error();
            continue;
        }
        DBK_TRY(std::string text,
                loader_entry_text(*entry, "/" + cpio_name(kernel.release), kernel.arguments));
        made.files.push_back({entry_path(kernel.release), text});
    }
    if (std::string trouble = default_trouble(kernels); !trouble.empty())
        return errorf(ErrorCode::unsupported, "%s", trouble.c_str());
    return made;
}

std::string SystemdBoot::default_trouble(const std::vector<TracedKernel>& kernels) {
    if (auto info = loader_variable(host_, "LoaderInfo"); info && !kernels.empty()) {
        size_t at = info->find_first_of("0123456789");
        unsigned version = at == std::string::npos ? 0 : std::strtoul(&(*info)[at], nullptr, 10);
        if (version < kSortKeyVersion)
            return base::strprintf("the loader calls itself '%s': systemd-boot before %u knows no "
                                   "sort-key, so it would boot an entry of Daybreak by default; "
                                   "update it with bootctl update",
                                   info->c_str(), kSortKeyVersion);
    }
    std::vector<LoaderEntry> all = entries_;
    for (const TracedKernel& kernel : kernels)
        if (const LoaderEntry* entry = entry_of(kernel.release))
            all.push_back(traced_entry(*entry));
    std::stable_sort(all.begin(), all.end(), comes_before);
    const LoaderEntry* booted = default_entry(all, patterns_);
    if (!booted || !booted->is_ours())
        return "";
    return "without a choice the machine would boot our entry " + booted->id +
           ", and so trace each boot: the entries before it have no try left (boot counting), or "
           "the default one is named so that ours fits";
}

Result<UnifiedImage> SystemdBoot::read_image(const LoaderEntry& entry) const {
    DBK_TRY(std::optional<std::string> bytes,
            host_.read_through(folder_ + kUnifiedImages.path + entry.id));
    auto image = parse_unified_image(bytes.value_or(""));
    if (!image.ok())
        return std::move(image).error().with_context(entry.id);
    return image;
}

Result<std::string> SystemdBoot::archive(const TracedKernel& kernel, std::string cpio) {
    const LoaderEntry* entry = entry_of(kernel.release);
    if (!entry || !entry->is_unified())
        return cpio;
    DBK_TRY(UnifiedImage image, read_image(*entry));
    return traced_image(*entry, image, cpio, kernel.arguments);
}

std::string SystemdBoot::signature_demand(const TracedKernel& kernel) {
    const LoaderEntry* entry = entry_of(kernel.release);
    if (!entry || !entry->is_unified())
        return "";
    std::optional<bool> is_on = has_secure_boot(host_);
    if (is_on)
        return *is_on ? "Secure Boot is on" : "";
    auto image = read_image(*entry);
    return image.ok() && image->is_signed ? entry->id + " is signed" : "";
}

std::string SystemdBoot::archive_trouble(const TracedKernel& kernel) {
    const LoaderEntry* entry = entry_of(kernel.release);
    auto placed = host_.read(entry_path(kernel.release));
    if (!entry || !entry->is_unified() || !placed.ok() || !*placed)
        return "";
    auto own = parse_unified_image(**placed);
    auto image = read_image(*entry);
    if (!own.ok() || !image.ok())
        return (own.ok() ? image : own).error().message();
    if (std::string demand = signature_demand(kernel); !demand.empty() && !own->is_signed)
        return entry_path(kernel.release) + " has no signature, and " + demand;
    // All but the archive itself, which lies before the initramfs.
    auto wanted = traced_image(*entry, *image, "", kernel.arguments);
    auto wanted_image = wanted.ok() ? parse_unified_image(*wanted) : std::move(wanted).error();
    if (!wanted_image.ok())
        return wanted_image.error().message();
    for (const ImageSection& section : wanted_image->sections) {
        std::string content = *wanted_image->section(section.name),
                    there = own->section(section.name).value_or("");
        if (section.name == ".initrd" ? !there.ends_with(content) : there != content)
            return entry_path(kernel.release) + ": our image is not made from " + entry->id +
                   " as it is now";
    }
    return "";
}

std::optional<std::string> SystemdBoot::default_release() {
    const LoaderEntry* entry = default_entry(entries_, patterns_);
    return entry && !entry->release.empty() ? std::optional(entry->release) : std::nullopt;
}

Result<void> SystemdBoot::check_can_arm() {
    if (!loader_variable(host_, "LoaderInfo"))
        return errorf(ErrorCode::unsupported,
                      "this boot was not made by systemd-boot, or %s is not mounted: the next one "
                      "cannot be chosen from here",
                      kVariables);
    DBK_TRY_VOID(host_.run({"bootctl", "--version"}));
    if (host_.is_read_only(kVariables))
        return errorf(ErrorCode::unsupported,
                      "%s is mounted read-only, so the next boot cannot be chosen: mount -o "
                      "remount,rw %s",
                      kVariables, kVariables);
    if (std::find(patterns_.begin(), patterns_.end(), "@saved") != patterns_.end())
        return errorf(ErrorCode::unsupported,
                      "the default entry is @saved, the one that was booted last: a traced boot "
                      "would be repeated for ever");
    return {};
}

Result<std::string> SystemdBoot::armed() {
    std::string next = loader_variable(host_, "LoaderEntryOneShot").value_or("");
    if (next.empty())
        return next;
    LoaderEntry entry = parse_loader_entry(next, "");
    if (!entry.is_ours())
        return errorf(ErrorCode::busy,
                      "the next boot is to take the entry '%s' already: boot it first, or forget "
                      "it with `bootctl set-oneshot ''`",
                      next.c_str());
    return release_of_id(next);
}

std::string SystemdBoot::tried() {
    auto text = host_.read(kTriedPath);
    auto next = armed();
    if (!text.ok() || !*text || !next.ok() || !next->empty())
        return "";
    return (*text)->substr(0, (*text)->find('\n'));
}

std::vector<Step> SystemdBoot::forget_tried() {
    auto text = host_.read(kTriedPath);
    if (!text.ok() || (!*text && !host_.has_left_over(kTriedPath)))
        return {};
    return {{.path = kTriedPath, .before = *text, .is_text = true}};
}

std::vector<Step> SystemdBoot::arm(const std::string& release, bool anew) {
    auto next = armed();
    if (!anew && next.ok() && *next == release)
        return {};
    auto before = host_.read(kTriedPath);
    // First: a boot that was chosen and did not come up is always known.
    Step note{.path = kTriedPath,
              .before = before.ok() && !anew ? *before : std::nullopt,
              .after = release + "\n",
              .is_text = true};
    std::vector<Step> steps;
    if (note.before != note.after)
        steps.push_back(note);
    steps.push_back(one_shot(entry_id(release), "the next boot is traced"));
    return steps;
}

std::vector<Step> SystemdBoot::disarm(const std::vector<Variable>&) {
    std::vector<Step> steps;
    if (auto next = armed(); next.ok() && !next->empty())
        steps.push_back(one_shot("", "as it was before install"));
    for (Step& step : forget_tried())
        steps.push_back(std::move(step));
    return steps;
}

} // namespace

bool systemd_boot_is_used(const Host& host) {
    if (auto info = loader_variable(host, "LoaderInfo"))
        return info->find("systemd-boot") != std::string::npos;
    return !grub_is_used(host) && !boot_folder(host).empty();
}

std::vector<Step> disarm_systemd_boot(Host& host) {
    return SystemdBoot(host, "", {}, {}).disarm({}); // variables of the firmware's, no file
}

Result<std::unique_ptr<BootLoader>> open_systemd_boot(Host& host) {
    std::string folder = boot_folder(host);
    if (folder.empty())
        return errorf(ErrorCode::not_found,
                      "no entries of systemd-boot in /boot, /boot/efi or /efi: "
                      "is the file system mounted, and may you read it?");
    std::vector<LoaderEntry> entries;
    for (EntryFolder type : {kEntryFiles, kUnifiedImages})
        for (const std::string& id : ids_in(host, folder, type)) {
            if (LoaderEntry{id, "", {}}.is_ours())
                continue;
            DBK_TRY(std::optional<std::string> content, host.read_through(folder + type.path + id));
            if (!type.is_unified) {
                entries.push_back(parse_loader_entry(id, content.value_or("")));
                continue;
            }
            auto image = parse_unified_image(content.value_or(""));
            if (image.ok() && image->section(".osrel")) // as systemd-boot decides it
                entries.push_back(unified_entry(id, *image));
        }
    std::stable_sort(entries.begin(), entries.end(), comes_before);
    std::vector<std::string> patterns = {loader_variable(host, "LoaderEntryDefault").value_or("")};
    std::string config;
    for (const char* one : kBootFolders) {
        DBK_TRY(std::optional<std::string> text,
                host.read_through(std::string(one) + "/loader/loader.conf"));
        config = text.value_or(config);
    }
    patterns.push_back(parse_loader_entry("loader.conf", config).value("default"));
    return std::unique_ptr<BootLoader>(
        std::make_unique<SystemdBoot>(host, folder, std::move(entries), std::move(patterns)));
}

} // namespace daybreak::install
