// SPDX-License-Identifier: Apache-2.0
#include "tests/support/installing.hpp"

#include <catch2/catch.hpp>
#include <random>

using namespace daybreak;
using namespace daybreak::install;
using test::contains;
using test::install_it;
using test::kNewest;
using test::kOld;
using test::MachineFolder;
using test::plan_of;
using test::refusal;
using test::uninstall_it;

namespace {

const std::string kCustom = "/boot/grub/custom.cfg", kProgram = "/var/lib/daybreak/boot.d";

std::string cpio_path(const std::string& release) {
    return "/boot/" + cpio_name(release);
}

Request request_of(Mode mode, const std::string& content = "cpio") {
    Request request = test::request_of(mode, content);
    request.running_release.clear();
    request.helpers = {{.path = kProgram, .content = content, .is_helper = true}};
    return request;
}

std::string refusal_of_uninstall(MachineFolder& machine) {
    auto plan = plan_uninstall(machine.host, false);
    return plan.ok() ? "" : plan.error().message();
}

} // namespace

TEST_CASE("the steps come in the order that a power cut asks for", "[install]") {
    MachineFolder machine;
    std::string armed;
    Plan plan = plan_of(machine, request_of(Mode::once), &armed);
    CHECK(armed == kNewest);
    std::vector<std::string> order;
    for (const Step& step : plan.steps)
        order.push_back(step.command.empty() ? step.path : step.command.at(3));
    CHECK(order == std::vector<std::string>{kManifestPath, kProgram, cpio_path(kOld),
                                            cpio_path(kNewest), kCustom,
                                            "next_entry=daybreak-" + kNewest});
    REQUIRE(apply(machine.host, plan).ok());
    CHECK(machine.read(cpio_path(kOld)) == "cpio" + kOld);
    CHECK(machine.variable("next_entry") == "daybreak-" + kNewest);
    auto removal = plan_uninstall(machine.host, false);
    REQUIRE(removal.ok());
    order.clear();
    for (const Step& step : removal->steps)
        order.push_back(step.command.empty() ? step.path : step.command.at(3));
    CHECK(order == std::vector<std::string>{"next_entry", kCustom, cpio_path(kOld),
                                            cpio_path(kNewest), kProgram, kManifestPath});
}

TEST_CASE("a second run changes nothing, and arms again what a boot took", "[install]") {
    for (Mode mode : {Mode::once, Mode::every, Mode::menu}) {
        MachineFolder machine;
        install_it(machine, request_of(mode));
        CHECK(plan_of(machine, request_of(mode)).steps.empty());
        CHECK(machine.boot() == (mode == Mode::menu ? "" : "daybreak-" + kNewest));
        Plan again = plan_of(machine, request_of(mode));
        CHECK(again.steps.size() ==
              (mode == Mode::menu ? 0 : 2)); // it was tried; the next one is armed
        for (const Step& step : again.steps)
            CHECK(!step.command.empty());
    }
}

TEST_CASE("what was placed can be changed and taken back, whatever was there",
          "[install][property]") {
    std::mt19937 random(48);
    auto any = [&random](unsigned count) { return random() % count; };
    for (int round = 0; round < 150; round++) {
        MachineFolder machine(test::kShapes[any(2)]);
        const char* customs[] = {"", "menuentry 'own' {\n\tchainloader +1\n}\n", "# no end",
                                 "\n\n"};
        if (any(3))
            machine.write(kCustom, customs[any(4)]);
        if (any(2))
            machine.set_variable("saved_entry", "gnulinux-" + kOld + "-advanced-1111-22");
        if (any(2))
            machine.set_variable("next_entry", "");
        if (any(4) == 0)
            machine.set_variable("daybreak_tried", "before");
        if (any(2))
            machine.write("/var/lib/daybreak/other", "x");
        auto before = machine.files();
        for (unsigned runs = 1 + any(3); runs > 0; runs--) {
            Request request = request_of(static_cast<Mode>(any(3)), any(2) ? "one" : "two");
            if (any(3) == 0)
                request.kernels.erase(request.kernels.begin()); // the newest, which boots, is left
            if (any(3) == 0)
                request.bank = "64M@0x10000000";
            request.again = any(3) == 0;
            install_it(machine, request);
            CHECK(plan_of(machine, request).steps.empty());
            if (any(2))
                machine.boot();
        }
        uninstall_it(machine);
        machine.write("/proc/cmdline", "root=/dev/vda1 ro\n");
        CHECK(machine.files() == before);
        auto nothing = plan_uninstall(machine.host, false);
        CHECK(nothing->steps.empty());
    }
}

TEST_CASE("a file that is another's or was changed is not taken away", "[install]") {
    MachineFolder machine;
    machine.write(cpio_path(kOld), "mine");
    CHECK(contains(refusal(machine, request_of(Mode::once)),
                   "was not placed by install: move it away"));
    machine.remove(cpio_path(kOld));
    install_it(machine, request_of(Mode::once));

    machine.write(cpio_path(kOld), "changed");
    CHECK(contains(refusal(machine, request_of(Mode::once)),
                   cpio_path(kOld) + " was changed since it was installed (7 bytes"));
    CHECK(contains(refusal_of_uninstall(machine), "--force removes it"));
    Request forced = request_of(Mode::once);
    forced.force = true;
    install_it(machine, forced);
    CHECK(machine.read(cpio_path(kOld)) == "cpio" + kOld);

    std::string custom = machine.read(kCustom);
    machine.write(kCustom, custom.substr(0, custom.find("load_video")) + "true\n" +
                               custom.substr(custom.find("load_video")));
    CHECK(contains(refusal(machine, request_of(Mode::once)),
                   "Daybreak's part of /boot/grub/custom.cfg was changed"));
    CHECK(contains(refusal_of_uninstall(machine), "--force removes it"));
    uninstall_it(machine, true);
    CHECK(!machine.has(kCustom));
    CHECK(!machine.has(cpio_path(kOld)));
}

TEST_CASE("what people did since is left as it is", "[install]") {
    MachineFolder machine;
    machine.write(kCustom, "# before\n");
    install_it(machine, request_of(Mode::once));
    machine.write(kCustom, machine.read(kCustom) + "# after\n");
    machine.remove(cpio_path(kOld));
    machine.boot();
    machine.set_variable("next_entry", "memtest");
    CHECK(contains(refusal(machine, request_of(Mode::once)),
                   "is to take the entry 'memtest' already"));
    uninstall_it(machine);
    CHECK(machine.read(kCustom) == "# before\n# after\n");
    CHECK(machine.variable("next_entry") == "memtest");
}

TEST_CASE("what the boot before install took is not taken again", "[install]") {
    MachineFolder machine;
    machine.set_variable("next_entry", "memtest");
    install_it(machine, request_of(Mode::menu));
    CHECK(machine.boot() == "memtest");
    install_it(machine, request_of(Mode::once));
    uninstall_it(machine);
    CHECK(machine.variable("next_entry").empty());
}

TEST_CASE("an uninstallation that cannot see the boot loader's files takes nothing away",
          "[install]") {
    MachineFolder machine;
    install_it(machine, request_of(Mode::once));
    std::string config = machine.read("/boot/grub/grub.cfg");
    machine.remove("/boot/grub/grub.cfg");
    CHECK(refusal_of_uninstall(machine) == "/boot/grub/grub.cfg is not there: is /boot mounted?");
    auto forced = plan_uninstall(machine.host, true);
    REQUIRE(forced.ok());
    REQUIRE(forced->notes.size() == 1);
    CHECK(contains(forced->notes[0], "to forget them: /boot/grub/grub.cfg is not there"));
    uninstall_it(machine, true);
    CHECK(!machine.has(cpio_path(kOld)));
    CHECK(machine.has(kManifestPath));
    CHECK(machine.has(kCustom));
}

TEST_CASE("a part without its end is left to a person, and the rest goes", "[install]") {
    MachineFolder machine;
    install_it(machine, request_of(Mode::once));
    std::string damaged = machine.read(kCustom);
    damaged.resize(damaged.find("### END daybreak"));
    machine.write(kCustom, damaged);
    for (const std::string& reason :
         {refusal_of_uninstall(machine), refusal(machine, request_of(Mode::every))}) {
        CHECK(contains(reason, kCustom + ": "));
        CHECK(contains(reason, "take the lines of Daybreak out by hand (uninstall --force leaves"));
    }
    uninstall_it(machine, true);
    CHECK(machine.read(kCustom) == damaged);
    CHECK(machine.variable("next_entry").empty());
    CHECK(!machine.has(cpio_path(kOld)));
    CHECK(!machine.has(kManifestPath));
}

TEST_CASE("machines that install does not arm say why", "[install]") {
    for (const test::GrubShape& shape : test::kShapes) {
        INFO(shape.name);
        MachineFolder machine(shape);
        bool writable = *shape.abstraction == 0 && shape.file_system == std::string("ext2");
        for (Mode mode : {Mode::once, Mode::every}) {
            std::string reason = refusal(machine, request_of(mode));
            CHECK(reason.empty() == writable);
            CHECK(contains(reason, "GRUB cannot write") == !writable);
            CHECK(contains(reason, "install --menu") == !writable);
        }
        install_it(machine, request_of(Mode::menu));
        CHECK(!contains(machine.read(kCustom), "save_env"));
        CHECK(machine.variable("next_entry").empty());
    }
    MachineFolder no_environment;
    no_environment.remove("/boot/grub/grubenv");
    CHECK(contains(refusal(no_environment, request_of(Mode::once)),
                   "grub-editenv /boot/grub/grubenv create"));

    MachineFolder no_custom;
    std::string config = no_custom.read("/boot/grub/grub.cfg");
    no_custom.write("/boot/grub/grub.cfg", config.substr(0, config.find("if [ -f  ${config")));
    CHECK(contains(refusal(no_custom, request_of(Mode::menu)), "41_custom executable"));

    MachineFolder no_next;
    no_next.write("/boot/grub/grub.cfg", config.substr(config.find("function gfxmode")));
    CHECK(contains(refusal(no_next, request_of(Mode::once)), "next_entry"));

    MachineFolder no_entry;
    Request other = request_of(Mode::once);
    other.kernels.push_back({"6.99", "x"});
    CHECK(contains(refusal(no_entry, other), "has no entry of kernel 6.99"));
    CHECK(contains(refusal(no_entry, other), "update-grub"));

    MachineFolder broken;
    broken.write(kCustom, "### END daybreak ###\n");
    CHECK(contains(refusal(broken, request_of(Mode::once)),
                   kCustom + ": the end of Daybreak's part is there"));

    MachineFolder windows;
    windows.write("/boot/grub/grub.cfg", "menuentry 'W' {\n\tchainloader +1\n}\n" + config);
    CHECK(contains(refusal(windows, request_of(Mode::every)),
                   "the machine does not boot a kernel with an initramfs by default"));
    install_it(windows, request_of(Mode::menu));

    MachineFolder damaged;
    damaged.write(kManifestPath, "something\n");
    CHECK(
        contains(refusal(damaged, request_of(Mode::once)), "/var/lib/daybreak/installed: line 1"));
    CHECK(contains(refusal_of_uninstall(damaged), "/var/lib/daybreak/installed: line 1"));
}

TEST_CASE("the boot loader of a machine", "[install]") {
    const std::string info =
        "/sys/firmware/efi/efivars/LoaderInfo-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f";
    auto utf16 = [](const std::string& text) {
        std::string wide("\7\0\0\0", 4);
        for (char c : text)
            wide += std::string(1, c) + '\0';
        return wide;
    };
    MachineFolder machine;
    std::string name;
    REQUIRE(open_boot_loader(machine.host, &name).ok());
    CHECK(name == "GRUB");
    machine.write(info, utf16("GRUB 2.12"));
    CHECK(open_boot_loader(machine.host, &name).ok());
    machine.write(info, utf16("systemd-boot 252"));
    CHECK(contains(open_boot_loader(machine.host, &name).error().message(),
                   "no entries of systemd-boot in /boot, /boot/efi or /efi"));
    machine.remove(info);
    machine.write("/boot/efi/loader/entries/a.conf", "");
    CHECK(open_boot_loader(machine.host, &name).ok()); // an entry that GRUB's machine has left over
    machine.remove("/boot/grub/grub.cfg");
    REQUIRE(open_boot_loader(machine.host, &name).ok());
    CHECK(name == "systemd-boot");
    std::filesystem::remove_all(machine.host.at("/boot/efi"));
    CHECK(contains(open_boot_loader(machine.host, &name).error().message(),
                   "expected /boot/grub/grub.cfg"));
    CHECK(!open_boot_loader_named(machine.host, "LILO").ok());
}

TEST_CASE("the kernel that would boot anyway is traced", "[install]") {
    MachineFolder machine;
    std::string armed;
    machine.write("/boot/grub/grub.cfg",
                  test::grub_config(test::kPlain, {kNewest, kOld}, "${saved_entry}"));
    machine.set_variable("saved_entry", "gnulinux-" + kOld + "-advanced-1111-22");
    plan_of(machine, request_of(Mode::every), &armed);
    CHECK(armed == kOld);
    machine.set_variable("saved_entry", "memtest");
    Request request = request_of(Mode::every);
    request.running_release = kNewest;
    plan_of(machine, request, &armed); // not known: the one that runs
    CHECK(armed == kNewest);

    machine.set_variable("saved_entry", "");
    Request only_old = request_of(Mode::once);
    only_old.kernels.pop_back();
    CHECK(contains(refusal(machine, only_old),
                   "the machine boots kernel " + kNewest + ", which is not among those to trace"));
    only_old.kernels_named = true;
    plan_of(machine, only_old, &armed);
    CHECK(armed == kOld);
    only_old.mode = Mode::every; // each boot would take an old kernel
    CHECK(contains(refusal(machine, only_old), "--once --kernel"));
    only_old.mode = Mode::menu;
    plan_of(machine, only_old, &armed);
    CHECK(armed.empty());
}

TEST_CASE("reserved memory is on the entry's line, quoted for GRUB", "[install]") {
    MachineFolder machine;
    Request request = request_of(Mode::once);
    request.bank = "64M@0x10000000";
    install_it(machine, request);
    CHECK(contains(machine.read(kCustom), "rdinit=/daybreak/early-init memmap=64M\\$0x10000000 "
                                          "daybreak.bank=64M@0x10000000 panic=30 "
                                          "trace_event=initcall trace_clock=x86-tsc\""));
    CHECK((*read_manifest(machine.host))->bank == "64M@0x10000000");
}

TEST_CASE("with GRUB, too, uninstall --force goes by names where the manifest is damaged",
          "[install]") {
    for (const char* custom : {"", "# mine\n"})
        for (const char* manifest : {"junk\n", "", "daybreak-install 1\nfile 1\n"}) {
            MachineFolder machine;
            if (*custom)
                machine.write(kCustom, custom);
            auto before = machine.files();
            install_it(machine, request_of(Mode::every));
            machine.write(kManifestPath, manifest);
            CHECK(contains(refusal(machine, request_of(Mode::every)),
                           ": run daybreak uninstall --force, "));
            CHECK(contains(refusal_of_uninstall(machine), ": run daybreak uninstall --force, "));
            uninstall_it(machine, true);
            CHECK(machine.files() == before);
        }
    // The folder of GRUB is not there: the manifest stays, and says so.
    MachineFolder machine;
    install_it(machine, request_of(Mode::every));
    machine.write(kManifestPath, "junk\n");
    machine.remove("/boot/grub/grub.cfg");
    uninstall_it(machine, true);
    CHECK(machine.has(kManifestPath));
}
