// SPDX-License-Identifier: Apache-2.0
#include "bootloader-hooks/install/initramfs_text.hpp"
#include "tests/support/initramfs_machine.hpp"
#include "tests/support/installing.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using namespace daybreak::install;
using namespace daybreak::test;

namespace {

const std::string kState = "/var/lib/daybreak/initramfs", kTried = "/etc/daybreak-tried";

/// A boot, and what the unit does after it; `comes_up`: else it dies, and the next one is that
/// boot.
BootResult boot_it(MachineFolder& machine, bool comes_up = true) {
    machine.boot();
    if (!comes_up)
        machine.boot();
    auto boot = read_this_boot(machine.host);
    REQUIRE(boot.ok());
    LastBoot last = untraced_boot(machine.host, *boot);
    if (boot->chosen)
        last = {BootResult::collected, boot->boot_id, boot->release, "", {}};
    auto plan = plan_after_boot(machine.host, last);
    REQUIRE(plan.ok());
    REQUIRE(apply(machine.host, *plan).ok());
    return last.result;
}

} // namespace

TEMPLATE_TEST_CASE("the initramfs loads the module, and is made anew without",
                   "[install][initramfs]", InitramfsMachine, DracutMachine) {
    TestType machine;
    auto before = machine.files();
    Plan plan = plan_of(machine, request_of(Mode::once));
    CHECK(contains(describe(plan), "# the initramfs is made anew"));
    REQUIRE(plan.notes.size() == 1);
    CHECK(contains(plan.notes[0], "daybreak=off"));
    CHECK(machine.files() == before);
    REQUIRE(apply(machine.host, plan).ok());
    CHECK(machine.has_archive(kOld));
    CHECK(!machine.has_archive(kNewest));
    CHECK(plan_of(machine, request_of(Mode::once)).steps.empty());
    CHECK(contains(status_of(machine), "next boot: traced, kernel " + kOld + "\n"));

    CHECK(boot_it(machine) == BootResult::collected);
    CHECK(!machine.has_archive(kOld));
    CHECK(!machine.has(kState));
    CHECK(!machine.has(kTried));
    CHECK(contains(status_of(machine), "next boot: not traced: it was armed for one boot"));
    CHECK(contains(status_of(machine), "daybreak install --once --initramfs "));
    machine.remove("/run/daybreak-early");
    uninstall_it(machine);
    CHECK(machine.files() == before);
}

TEST_CASE("each boot is traced by one initramfs, until one dies", "[install][initramfs]") {
    InitramfsMachine machine;
    auto before = machine.files();
    install_it(machine, request_of(Mode::every));
    for (int boot = 0; boot < 2; boot++) {
        machine.ran.clear();
        CHECK(boot_it(machine) == BootResult::collected);
        CHECK(machine.ran.empty());
        CHECK(machine.has_archive(kOld));
    }
    CHECK(boot_it(machine, false) == BootResult::died);
    CHECK(machine.read(InitramfsMachine::image(kOld)) == InitramfsMachine::plain(kOld));
    std::string status = status_of(machine);
    CHECK(contains(status, "!next boot: not traced: the traced boot of kernel " + kOld +
                               " did not come up; to arm again: daybreak install --initramfs"));
    CHECK(contains(status, "!last boot: this one, kernel " + kOld +
                               ": not traced: a boot before it was to be traced and did not come"));
    install_it(machine, request_of(Mode::every)); // a person has seen it
    CHECK(machine.has_archive(kOld));
    CHECK(!machine.has(kTried));
    uninstall_it(machine);
    CHECK(machine.files() == before);
}

TEST_CASE("the kernel that a person or an update has booted is the next one",
          "[install][initramfs]") {
    InitramfsMachine machine;
    install_it(machine, request_of(Mode::every));
    machine.write("/proc/sys/kernel/osrelease", kNewest + "\n");
    CHECK(boot_it(machine) == BootResult::not_armed);
    CHECK(machine.has_archive(kNewest));
    CHECK(machine.read(InitramfsMachine::image(kOld)) == InitramfsMachine::plain(kOld));
    CHECK(boot_it(machine) == BootResult::collected);
}

TEST_CASE("other programs, or another kernel, are in an initramfs made anew",
          "[install][initramfs]") {
    InitramfsMachine machine;
    auto before = machine.files();
    install_it(machine, request_of(Mode::every));
    install_it(machine, request_of(Mode::every, "other"));
    CHECK(machine.has_archive(kOld));
    Request request = request_of(Mode::every, "other");
    request.running_release = kNewest;
    install_it(machine, request);
    CHECK(machine.read(InitramfsMachine::image(kOld)) == InitramfsMachine::plain(kOld));
    CHECK(machine.has_archive(kNewest));
    machine.remove(InitramfsMachine::image(kNewest)); // the kernel was removed
    before.erase(InitramfsMachine::image(kNewest));
    machine.write("/var/lib/daybreak/installed", "nonsense\n");
    uninstall_it(machine, true);
    CHECK(machine.files() == before);
}

TEST_CASE("what a boot loader would have to do is refused", "[install][initramfs]") {
    InitramfsMachine machine;
    CHECK(contains(refusal(machine, request_of(Mode::menu)), "--menu adds an entry to a boot"));
    Request request = request_of(Mode::every);
    request.bank = "64M@0x10000000";
    CHECK(
        contains(refusal(machine, request), "--bank reserves memory by the kernel's command line"));
    machine.remove(InitramfsMachine::image(kNewest));
    CHECK(
        contains(refusal(machine, request_of(Mode::every)),
                 "kernel " + kNewest + " has no initramfs: expected /boot/initrd.img-" + kNewest));

    MachineFolder grub;
    request = request_of(Mode::every);
    request.initramfs = true;
    CHECK(contains(refusal(grub, request), "--initramfs needs update-initramfs or dracut"));
    grub.write("/usr/sbin/update-initramfs", "");
    install_it(grub, request_of(Mode::every)); // by GRUB, which is there
    CHECK(contains(refusal(grub, request), "installed by GRUB already, this would be by "
                                           "initramfs-tools: run daybreak uninstall first"));
}

TEST_CASE("a boot that was not noted is said", "[install][initramfs]") {
    InitramfsMachine machine;
    install_it(machine, request_of(Mode::every));
    machine.write("/run/daybreak-early", "it was unloaded: /root/etc/daybreak-tried is missing\n");
    auto boot = read_this_boot(machine.host);
    LastBoot last = untraced_boot(machine.host, *boot);
    CHECK(last.result == BootResult::not_loaded);
    CHECK(last.detail == "it was unloaded: /root/etc/daybreak-tried is missing");
}

TEST_CASE("the scripts of the initramfs are well written", "[install][initramfs]") {
    TempFolder folder;
    std::string script = folder.path / "script";
    for (const char* text : {kFirstScript, kLastScript, kInitramfsToolsHook, kDracutModule}) {
        std::ofstream(script) << text;
        auto checked = run_program({"shellcheck", script});
        INFO(text << (checked.ok() ? "" : checked.error().message()));
        CHECK((checked.ok() || checked.error().code() == base::ErrorCode::not_found));
        CHECK(run_program({"bash", "-n", script}).ok());
    }
    // What asks initramfs-tools for, of each.
    std::ofstream(script) << kFirstScript;
    CHECK(*run_program({"sh", script, "prereqs"}) == "");
}
