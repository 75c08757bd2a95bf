// SPDX-License-Identifier: Apache-2.0
//
// An installation that ends at any system call that changes something, as a power cut ends it.
//
// A child installs, installs something else or uninstalls, and is killed as it enters its Nth such
// call, for every N.  Then: the distribution's grub.cfg is untouched, custom.cfg is the old one or
// the new one, an entry that is armed is there with its archive, no archive is named without a
// look whether it is there, and uninstall (and install and uninstall) bring every file back.  With
// systemd-boot: its configuration and the distribution's entries are untouched, no entry that is
// armed misses anything, and the same brings every file back.  With neither: each initramfs is one
// whole.
#include "bootloader-hooks/install/installation.hpp"
#include "bootloader-hooks/install/unified_image.hpp"
#include "tests/support/initramfs_machine.hpp"
#include "tests/support/systemd_boot_machine.hpp"

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <functional>
#include <set>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>

using namespace daybreak;
using namespace daybreak::install;
using test::DracutMachine;
using test::InitramfsMachine;
using test::MachineFolder;
using test::SystemdBootMachine;
using test::UnifiedMachine;

namespace {

const std::string kNewest = "6.12.1-amd64", kOld = "6.1.0-5-amd64";
const std::string kCustom = "/boot/grub/custom.cfg", kConfig = "/boot/grub/grub.cfg";

Request first_request() {
    Request request;
    request.mode = Mode::once;
    request.programs = {"boot"};
    request.kernels = {{kOld, "old"}, {kNewest, "new"}};
    request.helpers = {{.path = "/var/lib/daybreak/boot.d", .content = "x", .is_helper = true}};
    request.running_release = kNewest; // which an unknown boot loader boots
    return request;
}

Request other_request() {
    Request request = first_request();
    request.mode = Mode::every;
    request.bank = "64M@0x10000000";
    request.kernels = {{kNewest, "changed"}};
    return request;
}

/// What a kernel's hook asks for when the kernel that is armed was removed.
Request request_without_newest() {
    Request request = first_request();
    request.kernels.pop_back();
    request.again = true;
    return request;
}

bool carry_out(MachineFolder& machine, const base::Result<Plan>& plan) {
    return plan.ok() && apply(machine.host, *plan).ok();
}

bool install_it(MachineFolder& machine, Request request) {
    std::string armed;
    if (machine.has(InitramfsMachine::image(kNewest))) {
        request.bank.clear();      // there is no command line to reserve it by
        request.mode = Mode::once; // which only steps after the boot end
    }
    return carry_out(machine, plan_install(machine.host, request, &armed));
}

bool uninstall_it(MachineFolder& machine) {
    return carry_out(machine, plan_uninstall(machine.host, false));
}

/// Whether a system call, as it is entered, is about to change something that lasts.
bool changes(const user_regs_struct& call) {
    static const std::set<unsigned long long> always = {
        SYS_rename, SYS_renameat, SYS_renameat2, SYS_unlink, SYS_unlinkat, SYS_mkdir, SYS_mkdirat,
        SYS_rmdir,  SYS_fchmod,   SYS_fchown,    SYS_fsync,  SYS_pwrite64, SYS_write};
    constexpr unsigned long long kWrites = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC;
    return always.count(call.orig_rax) || (call.orig_rax == SYS_openat && (call.rdx & kWrites)) ||
           (call.orig_rax == SYS_open && (call.rsi & kWrites));
}

/// Runs `work` in a child, killed as it enters its call number `fatal` (from 0).  Returns whether
/// it was killed; a child that came to its end must have succeeded.
bool run_and_kill(const std::function<bool()>& work, int fatal) {
    pid_t child = ::fork();
    if (child == 0) {
        ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
        ::raise(SIGSTOP);
        ::_exit(work() ? 0 : 1);
    }
    int status = 0, count = 0;
    bool entering = true;
    REQUIRE(::waitpid(child, &status, 0) == child);
    ::ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
    for (;;) {
        ::ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
        REQUIRE(::waitpid(child, &status, 0) == child);
        if (WIFEXITED(status)) {
            CHECK(WEXITSTATUS(status) == 0);
            return false;
        }
        if (!WIFSTOPPED(status) || WSTOPSIG(status) != (SIGTRAP | 0x80))
            continue;
        user_regs_struct call = {};
        ::ptrace(PTRACE_GETREGS, child, nullptr, &call);
        if (entering && changes(call) && count++ == fatal) {
            ::kill(child, SIGKILL);
            ::waitpid(child, &status, 0);
            return true;
        }
        entering = !entering;
    }
}

/// What must hold at any moment: the machine boots.
void check_bootable(const MachineFolder& machine, const std::map<std::string, std::string>& before,
                    const std::set<std::string>& customs) {
    auto now = machine.files();
    CHECK(now.at(kConfig) == before.at(kConfig));
    std::string custom = now.count(kCustom) ? now.at(kCustom) : "";
    CHECK(customs.count(custom) == 1);
    for (size_t at = 0; (at = custom.find("set daybreak_initrd=/", at)) != custom.npos; at++) {
        size_t path = custom.find('/', at);
        std::string archive = custom.substr(path, custom.find('\n', path) - path);
        CHECK(custom.rfind("if [ -f " + archive + " ]; then", at) != custom.npos);
    }
    std::string next = machine.variable("next_entry");
    if (!next.empty()) {
        CHECK(custom.find("--id " + next + " {") != custom.npos);
        CHECK(now.count("/boot/" + next + ".cpio") == 1);
    }
}

void check_bootable(const SystemdBootMachine& machine,
                    const std::map<std::string, std::string>& before,
                    const std::set<std::string>&) {
    auto now = machine.files();
    for (const auto& [path, content] : before)
        CHECK(now[path] == content);
    std::string next = machine.loader_variable("LoaderEntryOneShot");
    if (next.empty())
        return;
    INFO(next);
    if (next.ends_with(".efi")) {
        auto image = parse_unified_image(now[machine.boot_folder + "/EFI/Linux/" + next]);
        REQUIRE(image.ok());
        CHECK(image->section(".initrd")->ends_with("initramfs of " + image->release()));
        return;
    }
    std::string entry = now[machine.boot_folder + "/loader/entries/" + next];
    size_t initrd = entry.find("\ninitrd /daybreak-");
    REQUIRE(initrd != std::string::npos);
    CHECK(entry.back() == '\n');
    size_t path = entry.find('/', initrd);
    CHECK(now.count(machine.boot_folder + entry.substr(path, entry.find('\n', path) - path)) == 1);
}

void check_bootable(const InitramfsMachine& machine, const std::map<std::string, std::string>&,
                    const std::set<std::string>&) {
    std::string state = machine.read("/var/lib/daybreak/initramfs");
    for (const std::string& release : {kNewest, kOld}) {
        INFO(release << ": " << state);
        std::string image = machine.read(InitramfsMachine::image(release)),
                    plain = InitramfsMachine::plain(release);
        CHECK((image == plain || image == plain + "new" || image == plain + "changed"));
        if (image != plain) // what takes it out again knows
            CHECK(state.find(release) != std::string::npos);
    }
}

/// Without the one that a process may have created and not written; it is not in the firmware.
std::map<std::string, std::string> lasting_files(const MachineFolder& machine) {
    auto files = machine.files();
    std::erase_if(files, [](const auto& file) {
        return file.second.empty() && file.first.starts_with("/sys/firmware/efi/efivars/");
    });
    return files;
}

/// Every Nth call of `work`, on a machine that `prepare` made.
template <class Machine>
void kill_everywhere(const std::function<void(MachineFolder&)>& prepare,
                     const std::function<bool(MachineFolder&)>& work) {
    constexpr bool is_grub = std::is_same_v<Machine, MachineFolder>;
    auto add_own = [](MachineFolder& machine) {
        if (!is_grub)
            return;
        machine.write(kCustom, "# the user's own, without a line end");
        machine.set_variable("saved_entry", "");
    };
    // custom.cfg before, prepared, and of a machine on which nothing was killed.
    std::set<std::string> customs;
    {
        Machine whole;
        add_own(whole);
        customs.insert(whole.read(kCustom));
        prepare(whole);
        customs.insert(whole.read(kCustom));
        REQUIRE(work(whole));
        customs.insert(whole.read(kCustom));
    }
    int fatal = 0, last_fatal = -1;
    for (bool again : {false, true}) {
        for (fatal = 0;; fatal++) {
            Machine machine;
            add_own(machine);
            auto before = machine.files();
            prepare(machine);
            bool killed = run_and_kill([&] { return work(machine); }, fatal);
            if (!killed)
                break;
            INFO("call " << fatal << (again ? ", installed again" : ""));
            check_bootable(machine, before, customs);
            if (again)
                REQUIRE(install_it(machine, other_request()));
            REQUIRE(uninstall_it(machine));
            CHECK(lasting_files(machine) == before);
        }
        CHECK(fatal > 8);
        CHECK((last_fatal == -1 || last_fatal == fatal));
        last_fatal = fatal;
    }
}

} // namespace

TEMPLATE_TEST_CASE("an installation that ends at any system call leaves a machine that boots",
                   "[install][fault]", MachineFolder, SystemdBootMachine, UnifiedMachine,
                   InitramfsMachine, DracutMachine) {
    kill_everywhere<TestType>(
        [](MachineFolder&) {},
        [](MachineFolder& machine) { return install_it(machine, first_request()); });
}

TEMPLATE_TEST_CASE("so does one that replaces another", "[install][fault]", MachineFolder,
                   SystemdBootMachine, UnifiedMachine, InitramfsMachine, DracutMachine) {
    kill_everywhere<TestType>(
        [](MachineFolder& machine) { REQUIRE(install_it(machine, first_request())); },
        [](MachineFolder& machine) { return install_it(machine, other_request()); });
}

TEMPLATE_TEST_CASE("so does one for the kernels that are left", "[install][fault]", MachineFolder,
                   SystemdBootMachine, UnifiedMachine, InitramfsMachine, DracutMachine) {
    kill_everywhere<TestType>(
        [](MachineFolder& machine) { REQUIRE(install_it(machine, first_request())); },
        [](MachineFolder& machine) { return install_it(machine, request_without_newest()); });
}

TEMPLATE_TEST_CASE("so does an uninstallation", "[install][fault]", MachineFolder,
                   SystemdBootMachine, UnifiedMachine, InitramfsMachine, DracutMachine) {
    kill_everywhere<TestType>(
        [](MachineFolder& machine) { REQUIRE(install_it(machine, first_request())); },
        [](MachineFolder& machine) { return uninstall_it(machine); });
}

TEMPLATE_TEST_CASE("so does what is done after a boot", "[install][fault]", MachineFolder,
                   SystemdBootMachine, UnifiedMachine, InitramfsMachine, DracutMachine) {
    auto came_up = [](MachineFolder& machine) {
        auto boot = read_this_boot(machine.host);
        LastBoot last = {BootResult::collected, boot->boot_id, boot->release, "", {}};
        return carry_out(machine, plan_after_boot(machine.host, last));
    };
    kill_everywhere<TestType>(
        [](MachineFolder& machine) {
            std::string arguments = machine.read("/proc/cmdline");
            REQUIRE(install_it(machine, other_request()));
            machine.boot();
            machine.write("/proc/cmdline", arguments);
            machine.remove("/run/daybreak-early");
        },
        came_up);
}
