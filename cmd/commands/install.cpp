// SPDX-License-Identifier: Apache-2.0
//
// daybreak install, uninstall: programs compiled and embedded for the kernels of this machine, and
// its boot loader prepared so that the next boot is traced.
#include "cmd/commands/install.hpp"
#include "cmd/commands/backfill.hpp"
#include "cmd/commands/install_request.hpp"
#include "cmd/commands/record.hpp"
#include "daybreak_version.hpp"

#include <memory>
#include <unistd.h>

namespace daybreak::cmd {

namespace {

using base::ErrorCode;
using install::Host;

constexpr const char* kRecordings = "/var/log/daybreak";

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

/// Runs a command that changes the installation while no other one does.
int alone(const char* command, const InstallArguments& arguments,
          int (*run)(Host&, const InstallArguments&)) {
    if (!may_write(arguments, command))
        return static_cast<int>(Exit::failed);
    Host host(arguments.root, install::run_program);
    if (arguments.dry_run)
        return run(host, arguments);
    auto lock = host.lock();
    return lock.ok() ? run(host, arguments) : fail(lock.error());
}

/// A crash kernel that takes this machine's arguments would not find early-init.
void warn_of_kdump(const Host& host) {
    auto bytes = host.read_through("/sys/kernel/kexec_crash_size");
    if (bytes.ok() && *bytes && **bytes != "0\n")
        complain("note: a crash kernel (kdump) that is loaded in a traced boot needs rdinit=/init "
                 "on its command line: docs/crash.md says how");
}

std::string outcome_text(const install::Request& request, const std::string& armed) {
    if (armed.empty() && request.mode != install::Mode::menu)
        return "the kernels are prepared again; the next boot is not traced";
    if (armed.empty())
        return std::string("the boot menu has an entry '..., with Daybreak'; what is traced goes "
                           "to ") +
               kRecordings;
    return "the next boot" +
           std::string(request.mode == install::Mode::every ? ", and each one after it," : "") +
           " is traced, kernel " + armed + "; the recording goes to " + kRecordings +
           ", and daybreak status says what became of it";
}

int carry_out_request(Host& host, const install::Request& request,
                      const InstallArguments& arguments) {
    std::string armed;
    auto plan = install::plan_install(host, request, &armed);
    if (!plan.ok())
        return fail(plan.error());
    if (plan->steps.empty()) {
        if (!request.again)
            complain("all of it is installed already: nothing was changed");
        return static_cast<int>(Exit::ok);
    }
    int status = carry_out(host, *plan, arguments.dry_run,
                           "the machine boots as before: install again when the cause is gone, or "
                           "daybreak uninstall removes what was placed");
    if (status == static_cast<int>(Exit::ok) && !arguments.dry_run)
        complain(outcome_text(request, armed));
    if (status == static_cast<int>(Exit::ok) && !request.again)
        warn_of_kdump(host);
    return status;
}

int run_install(Host& host, const InstallArguments& arguments) {
    auto request = make_request(host, arguments);
    if (!request.ok())
        return fail(request.error());
    return *request ? carry_out_request(host, **request, arguments)
                    : static_cast<int>(Exit::failed);
}

/// What the hooks of kernels' packages run, and our packages when they were updated.
int run_again(Host& host, const InstallArguments& arguments) {
    auto placed = install::read_manifest(host);
    if (!placed.ok())
        return fail(placed.error());
    if (!*placed) {
        complain("nothing is installed");
        return static_cast<int>(Exit::ok);
    }
    auto request = make_request_again(host, **placed, arguments);
    return request.ok() ? carry_out_request(host, *request, arguments) : fail(request.error());
}

int run_uninstall(Host& host, const InstallArguments& arguments) {
    auto placed = install::read_manifest(host);
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
    for (const char* folder : {install::kStateFolder, install::kDracutFolder})
        host.remove_empty_folder(folder);
    std::string done = "uninstalled: the boot loader's files are what they were";
    if (placed.ok() && *placed && install::is_initramfs((*placed)->loader))
        done = "uninstalled: the initramfs was made anew, without Daybreak";
    if (!plan->notes.empty())
        done = "uninstalled, but for what is said above";
    complain(done + "; recordings stay in " + kRecordings);
    return status;
}

/// Writes what the kernel kept of its start beside the recording.  Without it the boot is traced
/// all the same.
void add_kernel_start(const Host& host, install::LastBoot& last) {
    auto before = backfill_into(host.at(kRecordings), {.tracefs = host.at("/sys/kernel/tracing"),
                                                       .log = host.at("/dev/kmsg")});
    std::vector<std::string> losses;
    if (before.ok()) {
        last.files.push_back(before->path);
        losses = before->losses;
    } else {
        losses.push_back("without the seconds before the module: " + before.error().message());
    }
    for (const std::string& loss : losses) {
        complain(loss);
        last.detail += (last.detail.empty() ? "" : "; ") + loss;
    }
}

/// What daybreak-boot.service runs: takes the recording of this boot, and arms the next one.
int run_booted(const InstallArguments& arguments) {
    Host host(arguments.root, install::run_program);
    auto lock = host.lock();
    if (!lock.ok())
        return fail(lock.error());
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
        auto claimed = claim_all(host.at(kRecordings), (*placed)->programs, false, false, files);
        bool is_absent = !claimed.ok() && claimed.error().code() == ErrorCode::not_found;
        last.result = claimed.ok() ? install::BootResult::collected
                      : is_absent  ? install::BootResult::nothing_held
                                   : install::BootResult::not_read;
        last.detail = claimed.ok() ? (files.losses ? "with losses, daybreak info says which" : "")
                                   : claimed.error().message();
        last.files = files.paths;
        if (!claimed.ok())
            complain(claimed.error().message());
        if (boot->keeps_start)
            add_kernel_start(host, last);
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
void add_common(Command command, InstallArguments& arguments) {
    command.add_flag("--dry-run", arguments.dry_run,
                     "Print what would be done, as a diff; change nothing");
    command.add_flag("--force", arguments.force,
                     "Also replace or remove what was changed since it was installed");
    command.add_option("--root", arguments.root, "A folder that stands for the machine, for tests")
        .group("");
}

} // namespace

bool print_installation(const std::string& root, bool& is_wrong_ret) {
    Host host(root, install::run_program);
    auto lines = install::installation_status(host, DAYBREAK_VERSION);
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

int install_once(const std::string& program_path) {
    InstallArguments arguments;
    arguments.programs = {program_path};
    arguments.once = true;
    return alone("watch --boot", arguments, run_install);
}

void add_install(Command app, int& status) {
    auto arguments = std::make_shared<InstallArguments>();
    Command command =
        app.add_subcommand("install", "Prepare this machine so that its boots are traced");
    Option programs = command.add_option("PROGRAM", arguments->programs,
                                         "D programs (default: the standard one, boot.d)");
    Option once = command.add_flag("--once", arguments->once, "Trace the next boot only");
    Option menu = command
                      .add_flag("--menu", arguments->menu,
                                "Only add an entry to the boot menu, and arm nothing")
                      .excludes(once);
    Option initramfs =
        command
            .add_flag("--initramfs", arguments->initramfs,
                      "Have the initramfs load the module: no boot loader is changed")
            .excludes(menu);
    Option kernels = command
                         .add_option("--kernel", arguments->kernels,
                                     "Kernels to trace (default: all that have a module)")
                         .one_value_each()
                         .type_name("RELEASE");
    Option module =
        command
            .add_option("--module", arguments->module, "The daybreak.ko for the one kernel named")
            .type_name("FILE");
    Option bank =
        command.add_option("--bank", arguments->bank, "Reserve memory that outlives a crash: 64m")
            .type_name("SIZE");
    Option sign = command
                      .add_option("--sign", arguments->signer.key,
                                  "Sign the programs and the modules, for Secure Boot")
                      .type_name("KEY");
    command
        .add_option("--certificate", arguments->signer.certificate,
                    "The key's certificate (default: KEY with .pub in place of .key)")
        .type_name("FILE")
        .needs(sign);
    Option native = command.add_flag("--native", arguments->native,
                                     "Compile the programs into the modules: their probes cost less");
    command
        .add_option("--sources", arguments->sources,
                    "Where kmod/build is, for --native (default: of daybreak-dkms)")
        .type_name("FOLDER")
        .needs(native);
    Option again = command.add_flag("--again", arguments->again,
                                    "What was installed, for the kernels and the Daybreak that "
                                    "are there now");
    for (Option other : {programs, once, menu, initramfs, kernels, module, bank, sign, native})
        again.excludes(other);
    add_common(command, *arguments);
    command
        .add_flag("--booted", arguments->booted,
                  "Take this boot's recording: what daybreak-boot.service runs")
        .excludes("--dry-run")
        .excludes(again);
    command.add_option("--early-init", arguments->early_init, "The first program, for tests")
        .group("");
    command.footer("\nExample: trace the next boot, then look, as root\n"
                   "  daybreak install --once && reboot\n"
                   "  daybreak status; daybreak report /var/log/daybreak");
    command.callback([arguments, sign, &status] {
        arguments->signs = sign.count() > 0;
        status = arguments->booted
                     ? run_booted(*arguments)
                     : alone("install", *arguments, arguments->again ? run_again : run_install);
    });
}

void add_uninstall(Command app, int& status) {
    auto arguments = std::make_shared<InstallArguments>();
    Command command =
        app.add_subcommand("uninstall", "Take away what install placed, byte for byte");
    add_common(command, *arguments);
    command.footer("\nExample: what would be taken away?\n"
                   "  daybreak uninstall --dry-run");
    command.callback(
        [arguments, &status] { status = alone("uninstall", *arguments, run_uninstall); });
}

} // namespace daybreak::cmd
