// SPDX-License-Identifier: Apache-2.0
//
// daybreak install, uninstall: programs compiled and embedded for the kernels of this machine, and
// its boot loader prepared so that the next boot is traced.
#include "cmd/commands/install.hpp"
#include "base/counted.hpp"
#include "base/file.hpp"
#include "bootloader-hooks/install/cpio.hpp"
#include "bootloader-hooks/install/installation.hpp"
#include "bootloader-hooks/install/machine.hpp"
#include "cmd/commands/enabling.hpp"
#include "cmd/commands/record.hpp"
#include "cmd/image_probes.hpp"
#include "cmd/possible_probes.hpp"
#include "cmd/quantity.hpp"
#include "compiler/types/decompress.hpp"
#include "formats/module/module_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <filesystem>
#include <memory>
#include <unistd.h>

namespace daybreak::cmd {

namespace {

using base::ErrorCode;
using base::errorf;
using base::Result;
using install::Host;
using install::InstalledKernel;

constexpr const char* kUnit = "daybreak-boot.service";
/// Where systemd looks for units.
constexpr const char* kUnitFolders[] = {"/etc/systemd/system", "/usr/local/lib/systemd/system",
                                        "/usr/lib/systemd/system", "/lib/systemd/system"};
constexpr const char* kRecordings = "/var/log/daybreak";

struct InstallArguments {
    std::vector<std::string> programs, names, kernels;
    std::string module, bank, root, early_init;
    bool once = false, menu = false, dry_run = false, force = false, booted = false;
};

/// Returns a file that comes with this program: where it is installed, or where it was built.
/// Error: not_found.
Result<std::string> own_file(const char* installed, const char* built) {
    std::error_code none;
    std::filesystem::path folder =
        std::filesystem::read_symlink("/proc/self/exe", none).parent_path();
    for (const char* path : {installed, built})
        if (std::filesystem::path file = folder / path; std::filesystem::exists(file, none))
            return file.lexically_normal().string();
    return errorf(ErrorCode::not_found,
                  "%s is not there: install Daybreak with `cmake --install build/release`",
                  (folder / installed).lexically_normal().c_str());
}

/// Error: not_found: nothing would take the recording after the boot.
Result<void> check_unit(const Host& host) {
    for (const char* folder : kUnitFolders)
        if (host.exists(std::string(folder) + "/" + kUnit))
            return {};
    return errorf(
        ErrorCode::not_found,
        "%s is not installed, so nothing would take the recording after a boot: install Daybreak "
        "with `cmake --install build/release`",
        kUnit);
}

/// Returns the kernels to trace, each with its module.  Errors: not_found, invalid.
Result<std::vector<InstalledKernel>> chosen_kernels(const Host& host,
                                                    const InstallArguments& arguments) {
    std::vector<InstalledKernel> there = install::installed_kernels(host), chosen;
    for (const std::string& release : arguments.kernels) {
        auto found =
            std::find_if(there.begin(), there.end(),
                         [&release](const InstalledKernel& one) { return one.release == release; });
        if (found == there.end())
            return errorf(
                ErrorCode::not_found,
                "kernel %s is not installed: expected /boot/vmlinuz-%s and /lib/modules/%s",
                release.c_str(), release.c_str(), release.c_str());
        if (std::none_of(chosen.begin(), chosen.end(),
                         [&release](const InstalledKernel& one) { return one.release == release; }))
            chosen.push_back(*found);
    }
    if (arguments.kernels.empty())
        chosen = there;
    if (!arguments.module.empty() && chosen.size() != 1)
        return errorf(ErrorCode::invalid,
                      "--module is for one kernel, %zu are chosen: name it with --kernel",
                      chosen.size());
    for (InstalledKernel& kernel : chosen)
        if (!arguments.module.empty())
            kernel.module = arguments.module;
    bool all = arguments.kernels.empty();
    for (const InstalledKernel& kernel : chosen) {
        if (!kernel.module.empty())
            continue;
        std::string text = base::strprintf(
            "kernel %s has no daybreak.ko in /lib/modules/%s/{updates/dkms,updates,extra}: "
            "build it with kmod/build and name it with --module",
            kernel.release.c_str(), kernel.release.c_str());
        if (!all)
            return errorf(ErrorCode::not_found, "%s", text.c_str());
        complain(text + "; left out");
    }
    std::erase_if(chosen, [](const InstalledKernel& kernel) { return kernel.module.empty(); });
    if (chosen.empty())
        return errorf(ErrorCode::not_found,
                      "no kernel to trace: none of the %zu in /boot has a module", there.size());
    return chosen;
}

/// Returns the module's file, unpacked.  Error: invalid: not ours, for another kernel, or it holds
/// programs already.
Result<base::Bytes> read_kernel_module(const Host& host, const InstalledKernel& kernel,
                                       bool is_named) {
    std::string path = is_named ? kernel.module : host.at(kernel.module);
    DBK_TRY(base::Bytes module, base::read_file(path));
    if (compiler::is_compressed(module)) {
        DBK_TRY(module, compiler::decompress(module, path));
    }
    auto info = formats::read_module(module);
    if (!info.ok())
        return std::move(info).error().with_context(path);
    if (info->release != kernel.release)
        return errorf(ErrorCode::invalid,
                      "%s is for kernel %s, expected %s: build it with kmod/build", path.c_str(),
                      info->release.c_str(), kernel.release.c_str());
    if (!info->images.empty())
        return errorf(ErrorCode::invalid,
                      "%s holds %s already: name a module that holds none", path.c_str(),
                      base::counted(info->images.size(), "program").c_str());
    return module;
}

/// Returns the archive for a kernel; empty when a program is wrong, which was said.
Result<std::optional<std::string>> make_archive(const Host& host, const InstallArguments& arguments,
                                                const InstalledKernel& kernel,
                                                const std::string& early_init) {
    DBK_TRY(base::Bytes module, read_kernel_module(host, kernel, !arguments.module.empty()));
    std::vector<formats::EmbeddedImage> images;
    for (const std::string& path : arguments.programs) {
        ProgramArguments program;
        program.script = path;
        program.kernel = host.at(kernel.image);
        auto compiled = compile_program(program, {probe_is_possible, similar_possible_probe});
        if (!compiled)
            return std::optional<std::string>();
        for (const std::string& line : unmatched_probes(compiled->program, *compiled->kernel))
            complain("warning: kernel " + kernel.release + ": " + line);
        images.push_back({arguments.names[images.size()], std::move(compiled->dof)});
    }
    DBK_TRY(base::Bytes embedded, formats::embed_images(module, images));
    return std::optional(install::make_boot_cpio(
        early_init, std::string(reinterpret_cast<const char*>(embedded.data()), embedded.size())));
}

/// Returns "64M@0x20000000": where it is already for a bank of that size, else a new place.
Result<std::string> bank_place(const Host& host, const std::string& size_text) {
    DBK_TRY(uint64_t bytes, parse_size("--bank", size_text));
    DBK_TRY(std::optional<install::Manifest> placed, install::read_manifest(host));
    std::string size = base::strprintf("%" PRIu64 "M@", bytes >> 20);
    if (placed && bytes % (1u << 20) == 0 && placed->bank.starts_with(size))
        return placed->bank;
    DBK_TRY(std::optional<std::string> iomem, host.read_through("/proc/iomem"));
    DBK_TRY(uint64_t address, install::bank_address(iomem.value_or(""), bytes));
    return size + base::strprintf("0x%" PRIx64, address);
}

/// Takes the standard program where none is named.
/// Errors: not_found: one cannot be read; invalid: two have one name.
Result<void> complete_programs(InstallArguments& arguments) {
    if (arguments.programs.empty()) {
        DBK_TRY(std::string standard, own_file("../share/daybreak/boot.d", "../packaging/boot.d"));
        arguments.programs.push_back(standard);
    }
    for (const std::string& path : arguments.programs)
        if (::access(path.c_str(), R_OK) != 0)
            return errorf(ErrorCode::not_found, "cannot open %s: %s", path.c_str(),
                          std::strerror(errno));
    DBK_TRY(arguments.names, program_names(arguments.programs));
    return {};
}

/// What is to be installed; empty when a program is wrong, which was said.
Result<std::optional<install::Request>> make_request(const Host& host, InstallArguments arguments) {
    using install::Mode;
    DBK_TRY_VOID(complete_programs(arguments));
    DBK_TRY_VOID(check_unit(host));
    if (std::string demand = install::signature_demand(host); !demand.empty())
        return errorf(ErrorCode::unsupported,
                      "%s: a module with a program in it has no valid signature, and install does "
                      "not sign yet; "
                      "sign it by hand, docs/boot.md says how to give it to the kernel",
                      demand.c_str());
    if (arguments.early_init.empty()) {
        DBK_TRY(arguments.early_init,
                own_file("../libexec/daybreak/early-init", "../bootloader-hooks/early-init"));
    }
    DBK_TRY(base::Bytes early_init, base::read_file(arguments.early_init));
    DBK_TRY(std::vector<InstalledKernel> kernels, chosen_kernels(host, arguments));
    install::Request request;
    request.mode = arguments.once ? Mode::once : arguments.menu ? Mode::menu : Mode::every;
    request.force = arguments.force;
    request.kernels_named = !arguments.kernels.empty();
    request.programs = arguments.names;
    if (!arguments.bank.empty()) {
        DBK_TRY(request.bank, bank_place(host, arguments.bank));
    }
    if (auto boot = install::read_this_boot(host); boot.ok())
        request.running_release = boot->release;
    for (const InstalledKernel& kernel : kernels) {
        DBK_TRY(std::optional<std::string> archive,
                make_archive(host, arguments, kernel,
                             std::string(reinterpret_cast<const char*>(early_init.data()),
                                         early_init.size())));
        if (!archive)
            return std::optional<install::Request>();
        request.kernels.push_back({kernel.release, *std::move(archive)});
    }
    return std::optional(std::move(request));
}

/// Prints a plan, or carries it out; `when_failed` says what is the case when that fails half way.
/// Returns the exit status.
int carry_out(Host& host, const install::Plan& plan, bool dry_run, const char* when_failed) {
    for (const std::string& note : plan.notes)
        complain(note);
    if (dry_run) {
        put(install::describe(plan));
        return static_cast<int>(finish_stdout());
    }
    auto done = install::apply(host, plan);
    if (done.ok())
        return static_cast<int>(Exit::ok);
    complain(done.error().message());
    complain(when_failed);
    return static_cast<int>(Exit::failed);
}

/// Whether a command may write to the machine; says what is missing.
bool may_write(const InstallArguments& arguments, const char* command) {
    if (arguments.dry_run || !arguments.root.empty() || ::geteuid() == 0)
        return true;
    complain(std::string(command) +
             " needs root: it writes to /boot (--dry-run only shows what it would do)");
    return false;
}

/// A crash kernel that takes this machine's arguments would not find early-init.
void warn_of_kdump(const Host& host) {
    auto bytes = host.read_through("/sys/kernel/kexec_crash_size");
    if (bytes.ok() && *bytes && **bytes != "0\n")
        complain("note: a crash kernel (kdump) that is loaded in a traced boot needs rdinit=/init "
                 "on its command line: docs/crash.md says how");
}

std::string outcome_text(const install::Request& request, const std::string& armed) {
    if (armed.empty())
        return std::string("the boot menu has an entry '..., with Daybreak'; what is traced goes "
                           "to ") +
               kRecordings;
    return "the next boot" +
           std::string(request.mode == install::Mode::every ? ", and each one after it," : "") +
           " is traced, kernel " + armed +
           "; the recording goes to " + kRecordings +
           ", and daybreak status says what became of it";
}

int run_install(const InstallArguments& arguments) {
    if (!may_write(arguments, "install"))
        return static_cast<int>(Exit::failed);
    Host host(arguments.root, install::run_program);
    auto request = make_request(host, arguments);
    if (!request.ok())
        return fail(request.error());
    if (!*request)
        return static_cast<int>(Exit::failed);
    std::string armed;
    auto plan = install::plan_install(host, **request, &armed);
    if (!plan.ok())
        return fail(plan.error());
    if (plan->steps.empty()) {
        complain("all of it is installed already: nothing was changed");
        return static_cast<int>(Exit::ok);
    }
    int status = carry_out(host, *plan, arguments.dry_run,
                           "the machine boots as before: install again when the cause is gone, or "
                           "daybreak uninstall removes what was placed");
    if (status == static_cast<int>(Exit::ok) && !arguments.dry_run)
        complain(outcome_text(**request, armed));
    if (status == static_cast<int>(Exit::ok))
        warn_of_kdump(host);
    return status;
}

int run_uninstall(const InstallArguments& arguments) {
    if (!may_write(arguments, "uninstall"))
        return static_cast<int>(Exit::failed);
    Host host(arguments.root, install::run_program);
    auto plan = install::plan_uninstall(host, arguments.force);
    if (!plan.ok())
        return fail(plan.error());
    if (plan->steps.empty()) {
        complain("nothing is installed");
        return static_cast<int>(Exit::ok);
    }
    int status = carry_out(host, *plan, arguments.dry_run,
                           "what was not taken away yet is there still: uninstall again when the "
                           "cause is gone");
    if (status != static_cast<int>(Exit::ok) || arguments.dry_run)
        return status;
    host.remove_empty_folder(install::kStateFolder);
    complain(std::string(plan->notes.empty()
                             ? "uninstalled: the boot loader's files are what they were"
                             : "uninstalled, but for what is said above") +
             "; recordings stay in " + kRecordings);
    return status;
}

/// What daybreak-boot.service runs: takes the recording of this boot, and arms the next one.
int run_booted(const InstallArguments& arguments) {
    Host host(arguments.root, install::run_program);
    auto boot = install::read_this_boot(host);
    if (!boot.ok())
        return fail(boot.error());
    auto known = install::read_last_boot(host);
    if (known.ok() && *known && (*known)->boot_id == boot->boot_id &&
        (*known)->result == install::BootResult::collected) {
        complain("the recording of this boot was taken already");
        return static_cast<int>(Exit::ok);
    }
    install::LastBoot last = install::untraced_boot(host, *boot);
    auto placed = install::read_manifest(host);
    if (!placed.ok())
        return fail(placed.error());
    if (boot->chosen && boot->loaded && *placed) {
        // Only what this installation traces: another's programs go on.
        ClaimedFiles files;
        auto claimed = claim_all(host.at(kRecordings), (*placed)->programs, false, files);
        bool is_absent = !claimed.ok() && claimed.error().code() == ErrorCode::not_found;
        last.result = claimed.ok() ? install::BootResult::collected
                      : is_absent  ? install::BootResult::nothing_held
                                   : install::BootResult::not_read;
        last.detail = claimed.ok() ? (files.losses ? "with losses, daybreak info says which" : "")
                                   : claimed.error().message();
        last.files = files.paths;
        if (!claimed.ok())
            complain(claimed.error().message());
    }
    auto plan = install::plan_after_boot(host, last);
    if (!plan.ok())
        return fail(plan.error());
    int status = carry_out(host, *plan, arguments.dry_run,
                           "what became of this boot is not kept, and the next one is not armed");
    bool has_failed = last.result == install::BootResult::not_read ||
                      last.result == install::BootResult::nothing_held;
    return has_failed ? static_cast<int>(Exit::failed) : status;
}

/// Options of install and uninstall both.
void add_common(CLI::App& command, InstallArguments& arguments) {
    command.add_flag("--dry-run", arguments.dry_run,
                     "Print what would be done, as a diff; change nothing");
    command.add_flag("--force", arguments.force,
                     "Also take away what was changed since it was installed");
    command.add_option("--root", arguments.root, "A folder that stands for the machine, for tests")
        ->group("");
}

} // namespace

bool print_installation(const std::string& root, bool& is_wrong_ret) {
    Host host(root, install::run_program);
    auto lines = install::installation_status(host);
    if (!lines.ok()) {
        complain(lines.error().message());
        is_wrong_ret = true;
        return true;
    }
    for (const install::StatusLine& line : *lines) {
        put(base::strprintf("%-10s %s\n", line.label.c_str(), line.text.c_str()));
        is_wrong_ret = is_wrong_ret || line.is_wrong;
    }
    if (!lines->empty())
        put("\n");
    return !lines->empty();
}

void add_install(CLI::App& app, int& status) {
    auto arguments = std::make_shared<InstallArguments>();
    CLI::App* command =
        app.add_subcommand("install", "Prepare this machine so that its boots are traced");
    command->add_option("PROGRAM", arguments->programs,
                        "D programs (default: the standard one, boot.d)");
    auto* once = command->add_flag("--once", arguments->once, "Trace the next boot only");
    command
        ->add_flag("--menu", arguments->menu, "Only add an entry to the boot menu, and arm nothing")
        ->excludes(once);
    command
        ->add_option("--kernel", arguments->kernels,
                     "Kernels to trace (default: all that have a module)")
        ->allow_extra_args(false)
        ->type_name("RELEASE");
    command->add_option("--module", arguments->module, "The daybreak.ko for the one kernel named")
        ->type_name("FILE");
    command->add_option("--bank", arguments->bank, "Reserve memory that outlives a crash: 64m")
        ->type_name("SIZE");
    add_common(*command, *arguments);
    command
        ->add_flag("--booted", arguments->booted,
                   "Take this boot's recording: what daybreak-boot.service runs")
        ->excludes("--dry-run");
    command->add_option("--early-init", arguments->early_init, "The first program, for tests")
        ->group("");
    command->footer("\nExample: trace the next boot, then look, as root\n"
                    "  daybreak install --once && reboot\n"
                    "  daybreak status; daybreak report /var/log/daybreak");
    command->callback([arguments, &status] {
        status = arguments->booted ? run_booted(*arguments) : run_install(*arguments);
    });
}

void add_uninstall(CLI::App& app, int& status) {
    auto arguments = std::make_shared<InstallArguments>();
    CLI::App* command =
        app.add_subcommand("uninstall", "Take away what install placed, byte for byte");
    add_common(*command, *arguments);
    command->footer("\nExample: what would be taken away?\n"
                    "  daybreak uninstall --dry-run");
    command->callback([arguments, &status] { status = run_uninstall(*arguments); });
}

} // namespace daybreak::cmd
