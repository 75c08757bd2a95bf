// SPDX-License-Identifier: Apache-2.0
//
// GRUB as install uses it: our part of custom.cfg, which grub.cfg reads, and next_entry of grubenv,
// which GRUB clears before it boots what it names.  docs/design/0048-installing.md says why.
#include "bootloader-hooks/install/boot_loader.hpp"
#include "bootloader-hooks/install/grub_text.hpp"
#include "bootloader-hooks/install/kernel_arguments.hpp"

#include <algorithm>
#include <sstream>

namespace daybreak::install {

using base::ErrorCode;
using base::errorf;
using base::Result;

namespace {

constexpr const char* kFolder = "/boot/grub";
constexpr const char* kNext = "next_entry";
constexpr const char* kTried = "daybreak_tried";

/// What GRUB cannot write to, as Debian's /etc/grub.d/00_header has it; and what lies inside LUKS.
constexpr const char* kReadOnly[] = {"diskfilter", "lvm",   "mdraid09", "mdraid1x", "cryptodisk",
                                     "luks",       "luks2", "btrfs",    "cpiofs",   "newc",
                                     "odc",        "romfs", "squash4",  "tarfs",    "zfs"};

/// Error: corrupt, with what to do.
Result<PartedFile> parted_custom(const std::string& content) {
    auto parted = find_part(content);
    if (parted.ok())
        return parted;
    return errorf(ErrorCode::corrupt,
                  "%s: %s: take the lines of Daybreak out by hand (uninstall --force leaves the "
                  "file as it is)",
                  kGrubCustom, parted.error().message().c_str());
}

class Grub final : public BootLoader {
public:
    Grub(Host& host, GrubConfig config, std::string environment)
        : host_(host), config_(std::move(config)), environment_(std::move(environment)) {}

    bool looks_for_cpio() const override { return true; }
    Result<Entries> entries(const std::vector<TracedKernel>& kernels, bool can_arm,
                            const std::optional<Manifest>& placed) override;
    Result<std::string> part_of(const std::string& content) override {
        DBK_TRY(PartedFile parted, parted_custom(content));
        return parted.part;
    }
    std::vector<std::string> own_files() override { return own_files_of(host_, "/boot", ".cpio"); }
    std::string path() const override { return kGrubCustom; }
    std::optional<std::string> default_release() override {
        return config_.default_release(variable("saved_entry").value_or(""));
    }
    Result<void> check_can_arm() override;
    Result<std::string> armed() override;
    bool has_entry(const std::string& release) override {
        auto text = host_.read(kGrubCustom);
        return text.ok() && *text &&
               (*text)->find("--id " + grub_entry_id(release) + " {") != std::string::npos;
    }
    std::string tried() override { return variable(kTried).value_or(""); }
    std::vector<Variable> variables() override {
        return {{kNext, variable(kNext)}, {kTried, variable(kTried)}};
    }
    std::vector<Step> forget_tried() override;
    std::vector<Step> arm(const std::string& release, bool anew) override;
    std::vector<Step> disarm(const std::vector<Variable>& before) override;

private:
    std::optional<std::string> variable(const std::string& name) const {
        return grub_variable(environment_, name);
    }
    Result<std::string> entry_text(const TracedKernel& kernel, bool can_arm) const;
    Step set(const std::string& name, const std::optional<std::string>& value,
             const char* what) const;

    Host& host_;
    GrubConfig config_;
    std::string environment_;
};

Result<std::string> Grub::entry_text(const TracedKernel& kernel, bool can_arm) const {
    std::vector<const GrubEntry*> found =
        config_.entries_of(kernel.release, variable("saved_entry").value_or(""));
    if (found.size() > 1)
        return errorf(ErrorCode::invalid,
                      "%s has entries of kernel %s that differ, '%s' and '%s', and which one is "
                      "this system's is not known: name other kernels with --kernel, or make the "
                      "right one the default",
                      kGrubConfig, kernel.release.c_str(), found[0]->title.c_str(),
                      found[1]->title.c_str());
    const GrubEntry* entry = found.empty() ? nullptr : found[0];
    if (!entry)
        return errorf(
            ErrorCode::invalid,
            "%s has no entry of kernel %s with an initramfs to copy (expected a menuentry with "
            "`linux .../vmlinuz-%s`): run update-grub",
            kGrubConfig, kernel.release.c_str(), kernel.release.c_str());
    std::string arguments = entry_arguments(
        kernel.arguments, [entry](const char* name) { return entry->argument(name).has_value(); });
    return grub_entry_text(*entry, {cpio_name(kernel.release), arguments, can_arm});
}

Result<Entries> Grub::entries(const std::vector<TracedKernel>& kernels, bool can_arm,
                              const std::optional<Manifest>& placed) {
    if (!kernels.empty() && !config_.reads_custom)
        return errorf(ErrorCode::unsupported,
                      "%s does not read custom.cfg: make /etc/grub.d/41_custom executable and run "
                      "update-grub",
                      kGrubConfig);
    DBK_TRY(std::optional<std::string> before, host_.read(kGrubCustom));
    DBK_TRY(PartedFile parted, parted_custom(before.value_or("")));
    std::string body;
    for (const TracedKernel& kernel : kernels) {
        DBK_TRY(std::string text, entry_text(kernel, can_arm));
        body += text;
    }
    Step step{.path = kGrubCustom, .before = before, .is_text = true};
    if (!kernels.empty()) {
        step.after = parted.with(body);
        return Entries{{}, step};
    }
    step.after = before ? std::optional(parted.without()) : std::nullopt;
    bool made = placed &&
                std::any_of(placed->parts.begin(), placed->parts.end(), [](const PlacedPart& one) {
                    return one.path == kGrubCustom && one.made;
                });
    if (made && step.after == "")
        step.after.reset();
    return Entries{{}, step};
}

Result<void> Grub::check_can_arm() {
    if (!config_.takes_next_entry)
        return errorf(ErrorCode::unsupported,
                      "%s has nothing that chooses next_entry: run update-grub", kGrubConfig);
    if (environment_.empty())
        return errorf(ErrorCode::unsupported,
                      "%s is not there: make it with `grub-editenv %s create`", kGrubEnvironment,
                      kGrubEnvironment);
    for (const char* target : {"abstraction", "fs"}) {
        DBK_TRY(std::string printed,
                host_.run({"grub-probe", std::string("--target=") + target, host_.at(kFolder)}));
        std::istringstream words(printed);
        for (std::string word; words >> word;)
            if (std::find(std::begin(kReadOnly), std::end(kReadOnly), word) != std::end(kReadOnly))
                return errorf(
                    ErrorCode::unsupported,
                    "%s is on %s, where GRUB cannot write: it could not note that a boot was "
                    "tried, and one that dies would be tried for ever",
                    kFolder, word.c_str());
    }
    return {};
}

Result<std::string> Grub::armed() {
    std::string next = variable(kNext).value_or("");
    if (next.empty())
        return next;
    std::string prefix = grub_entry_id("");
    if (!next.starts_with(prefix))
        return errorf(
            ErrorCode::busy,
            "the next boot is to take the entry '%s' already: boot it first, or forget it with "
            "`grub-editenv - unset next_entry`",
            next.c_str());
    return next.substr(prefix.size());
}

Step Grub::set(const std::string& name, const std::optional<std::string>& value,
               const char* what) const {
    std::vector<std::string> command = {"grub-editenv", host_.at(kGrubEnvironment),
                                        value ? "set" : "unset",
                                        value ? name + "=" + *value : name};
    return {.command = std::move(command), .what = what};
}

std::vector<Step> Grub::forget_tried() {
    if (!variable(kTried))
        return {};
    return {set(kTried, std::nullopt, "what became of the last traced boot is known")};
}

std::vector<Step> Grub::arm(const std::string& release, bool anew) {
    std::vector<Step> steps = forget_tried();
    if (anew || variable(kNext) != grub_entry_id(release))
        steps.push_back(set(kNext, grub_entry_id(release), "the next boot is traced"));
    return steps;
}

std::vector<Step> Grub::disarm(const std::vector<Variable>& before) {
    std::vector<Step> steps;
    for (const Variable& one : before) {
        std::optional<std::string> now = variable(one.name), wanted = one.before;
        if (one.name == kNext) {
            bool is_ours = now && now->starts_with(grub_entry_id(""));
            if (now && !now->empty() && !is_ours)
                wanted = now; // a choice of the user's own stays
            else if (wanted)
                wanted = ""; // one from before install was for a boot that is over
        }
        if (now != wanted)
            steps.push_back(set(one.name, wanted, "as it was before install"));
    }
    return steps;
}

} // namespace

bool grub_is_used(const Host& host) {
    return host.exists(kGrubConfig);
}

Result<std::unique_ptr<BootLoader>> open_grub(Host& host) {
    DBK_TRY(std::optional<std::string> config, host.read_through(kGrubConfig));
    if (!config)
        return errorf(ErrorCode::not_found, "%s is not there: is /boot mounted?", kGrubConfig);
    DBK_TRY(std::optional<std::string> environment, host.read_through(kGrubEnvironment));
    return std::unique_ptr<BootLoader>(
        std::make_unique<Grub>(host, parse_grub_config(*config), environment.value_or("")));
}

} // namespace daybreak::install
