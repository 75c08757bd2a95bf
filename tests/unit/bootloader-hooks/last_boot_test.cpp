// SPDX-License-Identifier: Apache-2.0
#include "tests/support/installing.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using namespace daybreak::install;
using test::contains;
using test::kNewest;
using test::kOld;
using test::MachineFolder;
using test::status_of;

namespace {

std::string cpio_path(const std::string& release) {
    return "/boot/" + cpio_name(release);
}

void install_it(MachineFolder& machine, Mode mode) {
    Request request;
    request.mode = mode;
    request.programs = {"boot", "net"};
    request.kernels = {{kOld, "a"}, {kNewest, "b"}};
    request.bank = "64M@0x20000000";
    for (const std::string& name : request.programs)
        request.helpers.push_back(
            {.path = program_path(name), .content = "BEGIN", .is_helper = true});
    std::string armed;
    auto plan = plan_install(machine.host, request, &armed);
    REQUIRE(plan.ok());
    REQUIRE(apply(machine.host, *plan).ok());
}

/// One boot of the kernel that is not the default, which was named.
Request one_boot_of_old() {
    Request request;
    request.mode = Mode::once;
    request.programs = {"boot"};
    request.kernels = {{kOld, "a"}};
    request.kernels_named = true;
    return request;
}

/// What the unit does after a boot: its recording is taken, or why there is none.
LastBoot after_boot(MachineFolder& machine, bool loaded = true) {
    if (loaded)
        machine.write("/sys/module/daybreak/version", "");
    auto boot = read_this_boot(machine.host);
    REQUIRE(boot.ok());
    LastBoot last = untraced_boot(machine.host, *boot);
    if (boot->chosen && boot->loaded)
        last = {BootResult::collected,
                boot->boot_id,
                boot->release,
                "",
                {"/var/log/daybreak/boot.dbrk"}};
    auto plan = plan_after_boot(machine.host, last);
    REQUIRE(plan.ok());
    REQUIRE(apply(machine.host, *plan).ok());
    return last;
}

} // namespace

TEST_CASE("the status of an installation, from its first boot to its end", "[install][status]") {
    MachineFolder machine;
    CHECK(status_of(machine).empty());
    install_it(machine, Mode::once);
    machine.write("/proc/sys/kernel/osrelease", kNewest + "\n");
    CHECK(status_of(machine) ==
          "installed: for one boot, by GRUB: boot, net, bank 64M@0x20000000\nkernel: " + kOld +
              ": as installed\nkernel: " + kNewest + ": as installed\nnext boot: traced, kernel " +
              kNewest + "\nlast boot: none since the installation\n");
    machine.boot();
    CHECK(contains(status_of(machine), "\nnext boot: not known before daybreak-boot.service has"));
    CHECK(after_boot(machine).result == BootResult::collected);
    CHECK((*read_last_boot(machine.host))->files ==
          std::vector<std::string>{"/var/log/daybreak/boot.dbrk"});
    CHECK(contains(
        status_of(machine),
        "\nnext boot: not traced: it was armed for one boot; to arm again: daybreak install --once "
        "--bank 64M /var/lib/daybreak/boot.d /var/lib/daybreak/net.d\n"
        "last boot: this one, kernel " +
            kNewest + ": traced, in /var/log/daybreak/boot.dbrk\n"));
    machine.write("/proc/sys/kernel/random/boot_id", "another\n");
    CHECK(contains(status_of(machine), "last boot: an earlier one, kernel"));
    CHECK(machine.boot().empty());
    CHECK(after_boot(machine).result == BootResult::not_armed);
    CHECK(contains(status_of(machine), "\nlast boot: this one, kernel " + kNewest +
                                           ": not traced: it was not armed\n"));
}

TEST_CASE("every boot is traced until one does not come up", "[install][boot]") {
    MachineFolder machine;
    install_it(machine, Mode::every);
    machine.write("/proc/sys/kernel/osrelease", kNewest + "\n");
    for (int boots = 0; boots < 3; boots++) {
        CHECK(machine.boot() == "daybreak-" + kNewest);
        CHECK(after_boot(machine).result == BootResult::collected);
        CHECK(contains(status_of(machine), "\nnext boot: traced"));
    }
    // A boot of another entry, by hand: the next one is traced again.
    machine.set_variable("next_entry", "");
    machine.write("/proc/cmdline", "root=/dev/vda1 ro\n");
    CHECK(after_boot(machine, false).result == BootResult::not_armed);
    CHECK(machine.variable("next_entry") == "daybreak-" + kNewest);
    // This one dies, and the machine comes back in the usual entry, again and again.
    machine.boot();
    for (int boots = 0; boots < 2; boots++) {
        CHECK(machine.boot().empty());
        CHECK(after_boot(machine, false).result == BootResult::died);
        CHECK(machine.variable("next_entry").empty());
        CHECK(contains(status_of(machine),
                       "!next boot: not traced: the traced boot of kernel " + kNewest +
                           " did not come up; to arm again: daybreak install --bank 64M "
                           "/var/lib/daybreak/boot.d /var/lib/daybreak/net.d\n"));
        CHECK(contains(status_of(machine), "!last boot: this one, kernel " + kNewest +
                                               ": not traced: a boot before it was to be traced"));
    }
    install_it(machine, Mode::every);
    CHECK(machine.boot() == "daybreak-" + kNewest);
    CHECK(machine.variable("daybreak_tried") == kNewest);
}

TEST_CASE("a boot without its archive or module says why, and is not tried again",
          "[install][boot]") {
    MachineFolder machine;
    install_it(machine, Mode::every);
    machine.write("/proc/sys/kernel/osrelease", kNewest + "\n");
    machine.remove(cpio_path(kNewest));
    CHECK(contains(status_of(machine), "!kernel: " + kNewest + ": " + cpio_path(kNewest) +
                                           " is missing: daybreak install --again\n"));
    CHECK(contains(status_of(machine),
                   "!next boot: not traced: " + cpio_path(kNewest) + " is missing"));
    machine.boot();
    LastBoot none = after_boot(machine, false);
    CHECK(none.result == BootResult::no_cpio);
    CHECK(none.detail == cpio_path(kNewest) + " is missing");
    CHECK(machine.variable("next_entry").empty());

    install_it(machine, Mode::every);
    machine.boot();
    std::filesystem::remove_all(machine.host.at("/sys/module"));
    LastBoot unloaded = after_boot(machine, false);
    CHECK(unloaded.result == BootResult::not_loaded);
    CHECK(unloaded.detail == "early-init said why on the console");
    CHECK(machine.variable("next_entry").empty());
    CHECK(machine.variable("daybreak_tried").empty());

    install_it(machine, Mode::every);
    machine.boot();
    machine.write("/sys/module/module/parameters/sig_enforce", "Y\n");
    CHECK(contains(after_boot(machine, false).detail, "sig_enforce"));
    machine.write("/proc/sys/kernel/osrelease", "6.99\n");
    CHECK(after_boot(machine, false).detail == "this kernel is not installed for");
}

TEST_CASE("an archive that was changed is not said to be missing", "[install][boot]") {
    MachineFolder machine;
    install_it(machine, Mode::once);
    machine.boot();
    CHECK(after_boot(machine, false).result != BootResult::no_cpio);
    machine.write(cpio_path(kNewest), "another one");
    machine.boot(); // not armed any more
    LastBoot last = after_boot(machine, false);
    CHECK(last.result == BootResult::not_armed);
    CHECK(last.detail.empty());
}

TEST_CASE("a kernel that came since is not skipped for an older one that is traced",
          "[install][boot]") {
    MachineFolder machine;
    install_it(machine, Mode::every);
    machine.write("/proc/sys/kernel/osrelease", kNewest + "\n");
    machine.write("/boot/grub/grub.cfg",
                  test::grub_config(test::kPlain, {"6.13.0", kNewest, kOld}));
    CHECK(contains(status_of(machine), "!next boot: traced, kernel " + kNewest +
                                           "; without that, the machine boots kernel 6.13.0: "
                                           "daybreak install --bank 64M /var/lib/daybreak/boot.d "
                                           "/var/lib/daybreak/net.d\n"));
    CHECK(machine.boot() == "daybreak-" + kNewest);
    CHECK(after_boot(machine).result == BootResult::collected);
    CHECK(machine.variable("next_entry").empty());
    CHECK(contains(
        status_of(machine),
        "!next boot: not traced: the machine boots kernel 6.13.0, which is not installed for"));
}

TEST_CASE("the status says what differs from what was installed", "[install][status]") {
    MachineFolder machine;
    install_it(machine, Mode::menu);
    CHECK(contains(status_of(machine), "installed: in the boot menu, by GRUB"));
    CHECK(contains(status_of(machine), "\nnext boot: as the boot menu's entry"));
    std::string config = machine.read("/boot/grub/grub.cfg");
    std::string changed = config;
    for (size_t at = 0; (at = changed.find(" quiet", at)) != changed.npos;)
        changed.replace(at, 6, " debug");
    machine.write("/boot/grub/grub.cfg", changed);
    CHECK(contains(status_of(machine),
                   "!entry: /boot/grub/custom.cfg: our entry is not that of the distribution's"));
    machine.write("/boot/grub/grub.cfg", "");
    CHECK(contains(status_of(machine), "!entry: /boot/grub/grub.cfg does not read custom.cfg"));
    machine.write("/boot/grub/grub.cfg", config);
    machine.remove("/boot/grub/custom.cfg");
    CHECK(contains(status_of(machine), "!entry: /boot/grub/custom.cfg is missing"));
    machine.write(cpio_path(kOld), "other");
    CHECK(contains(status_of(machine), "!kernel: " + kOld + ": " + cpio_path(kOld) +
                                           " was changed since it was installed: daybreak install "
                                           "--again --force\n"));
    machine.remove(program_path("net"));
    CHECK(contains(status_of(machine), " was changed since it was installed: daybreak install "
                                       "--menu --bank 64M /var/lib/daybreak/boot.d PATH/net.d "
                                       "--force\n"));
    machine.set_variable("next_entry", "memtest");
    CHECK(contains(status_of(machine),
                   "next boot: not traced: the next boot is to take the entry 'memtest' already"));
    machine.write(kLastBootPath, "result nonsense\ncolour red\nboot x\nkernel y\nfile a\nfile b\n");
    CHECK(contains(status_of(machine),
                   "last boot: an earlier one, kernel y: not traced: it was not armed, in a b"));
}

TEST_CASE("one boot of another kernel is as it should be", "[install][status]") {
    MachineFolder machine;
    Request request = one_boot_of_old();
    std::string armed;
    auto plan = plan_install(machine.host, request, &armed);
    REQUIRE(plan.ok());
    REQUIRE(apply(machine.host, *plan).ok());
    CHECK(contains(status_of(machine), "\nnext boot: traced, kernel " + kOld +
                                           "; without that, the machine boots kernel " + kNewest +
                                           "\n"));
}

TEST_CASE("a machine that boots another system by default is not armed", "[install][boot]") {
    MachineFolder machine;
    install_it(machine, Mode::every);
    machine.boot();
    machine.write("/boot/grub/grub.cfg",
                  "menuentry 'W' {\n\tchainloader +1\n}\n" + machine.read("/boot/grub/grub.cfg"));
    CHECK(after_boot(machine).result == BootResult::collected);
    CHECK(machine.variable("next_entry").empty());
    CHECK(contains(status_of(machine), "!next boot: not traced: the machine boots an entry without "
                                       "a kernel and its initramfs, which is not installed for"));
}

TEST_CASE("a boot whose module has no recording came up, and is not tried again",
          "[install][boot]") {
    MachineFolder machine;
    install_it(machine, Mode::every);
    machine.boot();
    auto plan = plan_after_boot(machine.host, {BootResult::nothing_held, "1", kNewest, "why", {}});
    REQUIRE(plan.ok());
    REQUIRE(apply(machine.host, *plan).ok());
    CHECK(machine.variable("daybreak_tried").empty());
    CHECK(machine.variable("next_entry").empty());
    CHECK(contains(status_of(machine), ": not traced, or its recording was taken already (why)\n"));
}

TEST_CASE("the module that a loaded boot must have is looked for in sysfs", "[install][boot]") {
    MachineFolder machine;
    auto boot = read_this_boot(machine.host);
    REQUIRE(boot.ok());
    CHECK(!boot->chosen);
    CHECK(!boot->loaded);
    CHECK(boot->release == kOld);
    machine.write("/proc/cmdline", "rdinit=/daybreak/early-init");
    machine.write("/sys/module/daybreak/version", "");
    CHECK(read_this_boot(machine.host)->chosen);
    CHECK(read_this_boot(machine.host)->loaded);
    machine.write("/proc/cmdline", "xrdinit=/daybreak/early-init rdinit=/daybreak/early-initial");
    CHECK(!read_this_boot(machine.host)->chosen);
    machine.remove("/proc/sys/kernel/osrelease");
    CHECK(!read_this_boot(machine.host).ok());
    CHECK(plan_after_boot(machine.host, {})->steps.empty()); // nothing is installed
}

TEST_CASE("a manifest that names no kernel has a status", "[install][status]") {
    MachineFolder machine;
    machine.write("/boot/grub/grub.cfg", "");
    machine.write("/var/lib/daybreak/installed",
                  "daybreak-install 1\nmode once\nloader GRUB\nprogram named\n");
    machine.boot();
    CHECK(contains(status_of(machine), "installed: for one boot, by GRUB: named"));
}

TEST_CASE("the command that arms again names the kernels and the module that were named",
          "[install][status]") {
    MachineFolder machine;
    Request request = one_boot_of_old();
    request.module = "/root/daybreak.ko";
    std::string armed;
    auto plan = plan_install(machine.host, request, &armed);
    REQUIRE(plan.ok());
    REQUIRE(apply(machine.host, *plan).ok());
    std::string command = "daybreak install --once --kernel " + kOld;
    machine.boot();
    CHECK(repair_command(machine.host, **read_manifest(machine.host)) ==
          command + " --module /root/daybreak.ko PATH/boot.d");
    after_boot(machine);
    CHECK(contains(status_of(machine), "\nnext boot: not traced: it was armed for one boot; to arm "
                                       "again: " +
                                           command + " --module /root/daybreak.ko PATH/boot.d\n"));
}

TEST_CASE("what only root may read is not known, and not wrong", "[install][status]") {
    MachineFolder machine;
    install_it(machine, Mode::once);
    std::filesystem::permissions(machine.host.at("/"), std::filesystem::perms(0755));
    std::filesystem::permissions(machine.host.at("/boot/grub/grub.cfg"),
                                 std::filesystem::perms::none);
    if (::geteuid() == 0)
        REQUIRE(::seteuid(65534) == 0);
    std::string status = status_of(machine);
    if (::getuid() == 0)
        REQUIRE(::seteuid(0) == 0);
    CHECK(status == "installed: for one boot, by GRUB: boot, net, bank 64M@0x20000000\n"
                    "next boot: not known: only root may read /boot/grub/grub.cfg\n"
                    "last boot: none since the installation\n");
}
