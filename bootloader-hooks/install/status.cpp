// SPDX-License-Identifier: Apache-2.0
//
// What `daybreak status` says of an installation, and the command that mends it.
#include "base/contains.hpp"
#include "bootloader-hooks/install/installation.hpp"
#include "bootloader-hooks/install/machine.hpp"

#include <algorithm>

namespace daybreak::install {

using base::Result;

namespace {

/// Whether something that install would replace was changed by others.
bool has_changes(const Host& host, BootLoader* loader, const Manifest& placed) {
    for (const PlacedFile& file : placed.files)
        if (host.exists(file.path) && !file_trouble(host, placed, file.path).empty())
            return true;
    if (!loader || loader->path().empty())
        return false;
    auto text = host.read(loader->path());
    auto part = loader->part_of(text.ok() ? text->value_or("") : "");
    return part.ok() && !part->empty() && !placed.placed_part(loader->path(), *part);
}

/// Returns the `install` that arms the same again.  `also`: a kernel that is to be traced besides.
std::string install_command(const Host& host, const Manifest& placed, const std::string& also) {
    std::string command = "daybreak install";
    if (placed.mode != Mode::every)
        command += std::string(" --") + mode_word(placed.mode);
    if (is_initramfs(placed.loader))
        command += " --initramfs";
    std::vector<std::string> kernels;
    if (placed.kernels_named)
        kernels = placed.kernels;
    if (placed.kernels_named && !also.empty() && !base::contains(kernels, also))
        kernels.push_back(also);
    for (const std::string& release : kernels)
        command += " --kernel " + release;
    if (!placed.module.empty() && kernels.size() == 1)
        command += " --module " + shell_word(placed.module);
    if (!placed.bank.empty())
        command += " --bank " + placed.bank.substr(0, placed.bank.find('@'));
    if (!placed.sign_key.empty())
        command += " --sign " + shell_word(placed.sign_key) + " --certificate " +
                   shell_word(placed.certificate);
    if (placed.native)
        command += " --native";
    if (!placed.sources.empty())
        command += " --sources " + shell_word(placed.sources);
    for (const std::string& name : placed.programs)
        command += " " + (file_trouble(host, placed, program_path(name)).empty()
                              ? shell_word(program_path(name))
                              : "PATH/" + name + ".d");
    return command;
}

/// Whether the kernel or the firmware asks for signatures, and none were made.
bool wants_key(const Host& host, BootLoader* loader, const Manifest& placed) {
    if (!placed.sign_key.empty())
        return false;
    std::vector<TracedKernel> kernels = traced_kernels(placed);
    return !signature_demand(host).empty() ||
           (loader && std::any_of(kernels.begin(), kernels.end(), [&](const TracedKernel& kernel) {
                return !loader->signature_demand(kernel).empty();
            }));
}

/// What a line of the status is made of.
struct Installation {
    Host& host;
    BootLoader& loader;
    const Manifest& placed;
    std::string repair; ///< the command

    StatusLine next_boot() const;
    StatusLine armed_boot(const std::string& armed,
                          const std::optional<std::string>& release) const;
    std::string entries_trouble() const;
    bool awaits_unit() const;
};

/// Why our entries are not what install would write now; "" when they are.
std::string Installation::entries_trouble() const {
    if (placed.kernels.empty())
        return "";
    std::vector<TracedKernel> kernels = traced_kernels(placed);
    auto entries = loader.entries(kernels, placed.mode != Mode::menu, placed);
    if (!entries.ok())
        return entries.error().message();
    std::vector<OwnFile> wanted = entries->files;
    if (entries->part && entries->part->after)
        wanted.push_back({loader.path(), *entries->part->after});
    for (const TracedKernel& kernel : kernels) {
        if (std::string trouble = loader.archive_trouble(kernel); !trouble.empty())
            return trouble + ": " + repair;
    }
    for (const OwnFile& file : wanted) {
        auto content = host.read(file.path);
        if (!content.ok())
            return content.error().message();
        if (*content != file.content)
            return file.path +
                   (*content ? ": our entry is not that of the distribution's entry as it is now: "
                             : " is missing: ") +
                   repair;
    }
    return "";
}

/// What the machine boots when nothing is chosen.
std::string booted_text(const std::string& release) {
    return release.empty() ? "the machine boots an entry without a kernel and its initramfs"
                           : "the machine boots kernel " + release;
}

/// Whether this boot is a traced one that its unit has not looked at yet.
bool Installation::awaits_unit() const {
    auto boot = read_this_boot(host);
    auto last = read_last_boot(host);
    return boot.ok() && boot->chosen && last.ok() && (!*last || (*last)->boot_id != boot->boot_id);
}

StatusLine Installation::armed_boot(const std::string& armed,
                                    const std::optional<std::string>& release) const {
    if (!loader.has_entry(armed))
        return {"next boot",
                "not traced: our entry of kernel " + armed +
                    " is missing, and the machine boots as usual without: " + repair,
                true};
    if (!is_initramfs(placed.loader) && !host.exists(loader.cpio_path(armed)))
        return {"next boot",
                "not traced: " + loader.cpio_path(armed) +
                    (loader.looks_for_cpio()
                         ? " is missing, and the entry boots as usual without: " + repair
                         : " is missing, and the entry cannot be booted without: " + repair +
                               ", or daybreak uninstall"),
                true};
    bool is_other = release && *release != armed;
    std::string text = "traced, kernel " + armed;
    if (is_other)
        text += "; without that, " + booted_text(*release);
    if (is_other && placed.mode == Mode::every && !release->empty())
        text += ": " + install_command(host, placed, *release);
    return {"next boot", text,
            !base::contains(placed.kernels, armed) || (is_other && placed.mode == Mode::every)};
}

StatusLine Installation::next_boot() const {
    if (std::string trouble = loader.default_trouble(traced_kernels(placed)); !trouble.empty())
        return {"next boot", trouble + "; run daybreak uninstall", true};
    auto armed = loader.armed();
    if (!armed.ok())
        return {"next boot", "not traced: " + armed.error().message(), placed.mode != Mode::menu};
    std::optional<std::string> release = loader.default_release();
    if (!armed->empty())
        return armed_boot(*armed, release);
    if (placed.mode == Mode::menu)
        return {"next boot", "as the boot menu's entry '..., with Daybreak' is chosen, or not",
                false};
    for (const std::string& one : placed.kernels)
        if (!host.exists(loader.cpio_path(one)) || !loader.has_entry(one))
            return {"next boot",
                    "not traced: what install placed for kernel " + one +
                        " is not all there: " + repair,
                    true};
    if (awaits_unit())
        return {"next boot",
                "not known before daybreak-boot.service has taken this boot's recording "
                "(systemctl status daybreak-boot)",
                false};
    if (std::string tried = loader.tried(); !tried.empty())
        return {"next boot",
                "not traced: the traced boot of kernel " + tried +
                    " did not come up; to arm again: " + repair,
                true};
    bool is_only_one = placed.mode == Mode::once && placed.kernels_named;
    if (release && !base::contains(placed.kernels, *release) && !is_only_one) {
        std::string text = "not traced: " + booted_text(*release) + ", which is not installed for";
        if (!release->empty())
            text += ": " + install_command(host, placed, *release);
        return {"next boot", text, true};
    }
    if (placed.mode == Mode::once)
        return {"next boot", "not traced: it was armed for one boot; to arm again: " + repair,
                false};
    return {"next boot",
            "not traced: daybreak-boot.service arms it at the end of a boot, or " + repair, true};
}

/// Returns a file or folder of the boot loader, or a file that was placed, that this user may not
/// read; "" when there is none.
std::string refused_path(const Host& host, const Manifest& placed) {
    for (const KnownBootLoader& known : boot_loaders())
        for (const char* path : known.reads)
            if (known.name == placed.loader && host.is_refused(path))
                return path;
    for (const PlacedFile& file : placed.files)
        if (host.is_refused(file.path))
            return file.path;
    return "";
}

std::string as_installed_text(const Manifest& placed, const std::string& release) {
    if (!placed.native)
        return "as installed";
    std::string why = placed.why_interpreted(release);
    return why.empty() ? "as installed, native" : "as installed, interpreted: " + why;
}

void add_loader_lines(Host& host, const Manifest& placed, std::vector<StatusLine>& lines) {
    if (std::string refused = refused_path(host, placed); !refused.empty()) {
        lines.push_back({"next boot", "not known: only root may read " + refused});
        return;
    }
    auto loader = open_boot_loader_named(host, placed.loader);
    if (!loader.ok()) { // where archives lie is not known
        lines.push_back({"next boot", loader.error().message(), true});
        return;
    }
    Installation installation = {host, **loader, placed, repair_command(host, placed)};
    for (const std::string& release : placed.kernels) {
        std::string trouble = file_trouble(host, placed, (*loader)->cpio_path(release));
        lines.push_back(
            {"kernel",
             release + ": " +
                 (trouble.empty() ? as_installed_text(placed, release) : trouble + ": " + installation.repair),
             !trouble.empty()});
    }
    std::string demand = signature_demand(host);
    if (!demand.empty() && placed.sign_key.empty() && !placed.kernels.empty())
        lines.push_back({"unsigned",
                         demand + ", and the modules that install placed have no signature: " +
                             installation.repair,
                         true});
    if (std::string trouble = installation.entries_trouble(); !trouble.empty())
        lines.push_back({"entry", trouble, true});
    lines.push_back(installation.next_boot());
}

} // namespace

std::string repair_command(Host& host, const Manifest& placed) {
    auto opened = open_boot_loader_named(host, placed.loader);
    BootLoader* loader = opened.ok() ? opened->get() : nullptr;
    bool has_programs =
        std::all_of(placed.programs.begin(), placed.programs.end(), [&](const std::string& name) {
            return file_trouble(host, placed, program_path(name)).empty();
        });
    bool is_at_work =
        loader && (placed.mode == Mode::menu || is_to_be_armed(host, *loader, placed.mode));
    std::string force = has_changes(host, loader, placed) ? " --force" : "";
    if (wants_key(host, loader, placed))
        return install_command(host, placed, "") + force + " --sign KEY";
    return (has_programs && is_at_work ? "daybreak install --again"
                                       : install_command(host, placed, "")) +
           force;
}

Result<std::vector<StatusLine>> installation_status(Host& host, const std::string& version) {
    std::vector<StatusLine> lines;
    DBK_TRY(std::optional<Manifest> placed, read_manifest(host));
    if (!placed)
        return lines;
    std::string programs;
    for (const std::string& program : placed->programs)
        programs += (programs.empty() ? "" : ", ") + program;
    const char* modes[] = {"for every boot", "for one boot", "in the boot menu"};
    lines.push_back({"installed", std::string(modes[static_cast<size_t>(placed->mode)]) + ", by " +
                                      placed->loader + ": " + programs +
                                      (placed->bank.empty() ? "" : ", bank " + placed->bank)});
    if (placed->version != version)
        lines.push_back({"version",
                         (placed->version.empty() ? "made by an older Daybreak"
                                                  : "made by Daybreak " + placed->version) +
                             ", this is " + version + ": " +
                             (refused_path(host, *placed).empty() ? repair_command(host, *placed)
                                                                  : "daybreak install --again"),
                         true});
    add_loader_lines(host, *placed, lines);
    auto last = read_last_boot(host);
    if (last.ok() && *last) {
        bool is_wrong =
            (*last)->result != BootResult::collected && (*last)->result != BootResult::not_armed;
        lines.push_back({"last boot", last_boot_text(host, **last), is_wrong});
    } else {
        lines.push_back({"last boot",
                         last.ok() ? "none since the installation" : last.error().message(),
                         !last.ok()});
    }
    return lines;
}

} // namespace daybreak::install
