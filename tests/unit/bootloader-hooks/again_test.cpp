// SPDX-License-Identifier: Apache-2.0
#include "bootloader-hooks/install/installation.hpp"

#include "tests/support/systemd_boot_machine.hpp"

#include <catch2/catch.hpp>
#include <sys/stat.h>

using namespace daybreak;
using namespace daybreak::install;
using test::MachineFolder;
using test::SystemdBootMachine;
using test::UnifiedMachine;

namespace {

const std::string kNew = "6.13.0", kNewest = "6.12.1-amd64", kOld = "6.1.0-5-amd64";
const std::string kHook = "/etc/kernel/postinst.d/zzz-daybreak";

/// The kernels that the boot loader knows, the default one first.
void set_kernels(const MachineFolder& machine, const std::vector<std::string>& releases) {
    if (machine.has("/boot/grub/grub.cfg"))
        return machine.write("/boot/grub/grub.cfg", test::grub_config(test::kPlain, releases));
    bool is_unified = machine.has("/boot/efi/EFI/Linux");
    for (const std::string& release : {kNew, kNewest, kOld}) {
        machine.remove("/boot/efi/loader/entries/0123-" + release + ".conf");
        machine.remove("/boot/efi/EFI/Linux/debian-" + release + ".efi");
    }
    for (const std::string& release : releases)
        if (is_unified)
            machine.write("/boot/efi/EFI/Linux/debian-" + release + ".efi",
                          test::unified_image(release));
        else
            machine.write("/boot/efi/loader/entries/0123-" + release + ".conf",
                          test::loader_entry(release));
}

std::string next_boot(const MachineFolder& machine) {
    std::string name;
    auto loader = open_boot_loader(const_cast<Host&>(machine.host), &name);
    REQUIRE(loader.ok());
    auto armed = (*loader)->armed();
    return armed.ok() ? *armed : "another";
}

Request request_of(Mode mode, const std::vector<std::string>& releases, bool again) {
    Request request;
    request.mode = mode;
    request.programs = {"boot"};
    request.again = again;
    for (const std::string& release : releases)
        request.kernels.push_back({release, (again ? "again " : "cpio ") + release});
    return request;
}

/// Returns the kernel that is said to be armed.
std::string install_it(MachineFolder& machine, const Request& request) {
    std::string armed;
    auto plan = plan_install(machine.host, request, &armed);
    INFO((plan.ok() ? "" : plan.error().message()));
    REQUIRE(plan.ok());
    auto done = apply(machine.host, *plan);
    INFO((done.ok() ? "" : done.error().message()));
    REQUIRE(done.ok());
    CHECK(plan_install(machine.host, request, &armed)->steps.empty());
    return armed;
}

void keep_result(MachineFolder& machine, BootResult result) {
    auto plan = plan_after_boot(machine.host, {result, "boot", kNewest, "", {}});
    REQUIRE(plan.ok());
    REQUIRE(apply(machine.host, *plan).ok());
}

} // namespace

TEMPLATE_TEST_CASE("a new kernel is armed in place of the one before", "[install][again]",
                   MachineFolder, SystemdBootMachine, UnifiedMachine) {
    for (Mode mode : {Mode::once, Mode::every}) {
        TestType machine;
        auto before = machine.files();
        install_it(machine, request_of(mode, {kOld, kNewest}, false));
        set_kernels(machine, {kNew, kNewest, kOld});
        // It has no module yet.
        CHECK(install_it(machine, request_of(mode, {kOld, kNewest}, true)) == kNewest);
        CHECK(install_it(machine, request_of(mode, {kOld, kNewest, kNew}, true)) == kNew);
        CHECK(next_boot(machine) == kNew);
        // The newest was removed, then all of them.
        set_kernels(machine, {kNewest, kOld});
        CHECK(install_it(machine, request_of(mode, {kOld, kNewest}, true)) == kNewest);
        CHECK(next_boot(machine) == kNewest);
        CHECK(install_it(machine, request_of(mode, {}, true)).empty());
        CHECK(next_boot(machine).empty());
        auto lines = installation_status(machine.host, "");
        REQUIRE(lines.ok());
        CHECK(std::none_of(lines->begin(), lines->end(),
                           [](const StatusLine& line) { return line.label == "entry"; }));
        auto removal = plan_uninstall(machine.host, false);
        REQUIRE(removal.ok());
        REQUIRE(apply(machine.host, *removal).ok());
        CHECK(machine.files() == before);
    }
}

TEMPLATE_TEST_CASE("what is not to be traced any more is not armed again", "[install][again]",
                   MachineFolder, SystemdBootMachine, UnifiedMachine) {
    TestType used_up;
    install_it(used_up, request_of(Mode::once, {kOld, kNewest}, false));
    used_up.boot();
    keep_result(used_up, BootResult::collected);
    CHECK(install_it(used_up, request_of(Mode::once, {kOld, kNewest}, true)).empty());
    CHECK(next_boot(used_up).empty());

    TestType died;
    install_it(died, request_of(Mode::every, {kOld, kNewest}, false));
    died.boot();
    CHECK(install_it(died, request_of(Mode::every, {kOld, kNewest}, true)).empty());
    std::string name;
    CHECK((*open_boot_loader(died.host, &name))->tried() == kNewest);
    died.boot();
    keep_result(died, BootResult::died);
    CHECK(install_it(died, request_of(Mode::every, {kNewest}, true)).empty());
    CHECK(next_boot(died).empty());

    TestType menu;
    install_it(menu, request_of(Mode::menu, {kOld, kNewest}, false));
    CHECK(install_it(menu, request_of(Mode::menu, {kNewest}, true)).empty());
    CHECK(next_boot(menu).empty());
}

TEST_CASE("where each boot is traced, the unit's turn may be taken", "[install][again]") {
    MachineFolder machine;
    install_it(machine, request_of(Mode::every, {kOld, kNewest}, false));
    machine.boot();
    keep_result(machine, BootResult::collected);
    machine.set_variable("next_entry", "");
    CHECK(install_it(machine, request_of(Mode::every, {kOld, kNewest}, true)) == kNewest);
    // A choice of the user's stays.
    machine.set_variable("next_entry", "memtest");
    CHECK(install_it(machine, request_of(Mode::every, {kNewest}, true)).empty());
    CHECK(machine.variable("next_entry") == "memtest");
}

TEST_CASE("the hook of kernels' packages never fails", "[install][again]") {
    MachineFolder machine;
    CHECK(kernel_hooks(machine.host, "/usr/bin/daybreak").empty());
    for (const char* folder : {"/etc/kernel/postinst.d/zz-update-grub", "/etc/kernel/postrm.d/x"})
        machine.write(folder, "");
    Request request = request_of(Mode::once, {kOld, kNewest}, false);
    std::string program = machine.host.at("/it's here");
    request.helpers = kernel_hooks(machine.host, program);
    REQUIRE(request.helpers.size() == 2);
    CHECK(request.helpers[0].path == kHook);
    CHECK(request.helpers[0].path > "/etc/kernel/postinst.d/zz-update-grub");
    CHECK(request.helpers[1].path == "/etc/kernel/postrm.d/zzz-daybreak");
    install_it(machine, request);
    struct stat facts = {};
    REQUIRE(::stat(machine.host.at(kHook).c_str(), &facts) == 0);
    CHECK((facts.st_mode & 07777) == 0755);

    std::string hook = machine.host.at(kHook);
    auto run = [&hook] { return run_program({"sh", hook, "6.13.0", "/boot/vmlinuz-6.13.0"}); };
    REQUIRE(run().ok()); // the program is not there
    machine.write("/it's here", "#!/bin/sh\necho \"$@\"\nexit 1\n");
    ::chmod(program.c_str(), 0755);
    auto said = run();
    REQUIRE(said.ok());
    CHECK(*said == "install --again\n");
    auto checked = run_program({"shellcheck", hook});
    CHECK((checked.ok() || checked.error().code() == base::ErrorCode::not_found));

    // Neither a hook that is gone nor one that was edited keeps a boot from being traced.
    machine.write(kHook, "exit 0\n");
    machine.remove("/etc/kernel/postrm.d/zzz-daybreak");
    machine.write("/proc/cmdline", "root=x\n");
    CHECK(untraced_boot(machine.host, {"boot", kNewest, false, false}).result ==
          BootResult::not_armed);
    auto kept = plan_uninstall(machine.host, false);
    REQUIRE(!kept.ok());
    CHECK(kept.error().message().find(kHook + " was changed since it was installed") == 0);
}

TEST_CASE("the status says that another Daybreak made the archives", "[install][again][status]") {
    MachineFolder machine;
    Request request = request_of(Mode::once, {kOld, kNewest}, false);
    request.version = "0.1.0";
    install_it(machine, request);
    auto has_line = [&machine](const std::string& version) {
        auto lines = installation_status(machine.host, version);
        REQUIRE(lines.ok());
        return std::any_of(lines->begin(), lines->end(), [](const StatusLine& line) {
            return line.is_wrong && line.label == "version" &&
                   line.text ==
                       "made by Daybreak 0.1.0, this is 0.2.0: daybreak install --once PATH/boot.d";
        });
    };
    CHECK(!has_line("0.1.0"));
    CHECK(has_line("0.2.0"));
    request.version.clear(); // a manifest from before it had one
    install_it(machine, request);
    CHECK(installation_status(machine.host, "0.1.0")->at(1).text ==
          "made by an older Daybreak, this is 0.1.0: daybreak install --once PATH/boot.d");
}
