// SPDX-License-Identifier: Apache-2.0
#include "bootloader-hooks/install/loader_entry.hpp"
#include "tests/support/installing.hpp"
#include "tests/support/systemd_boot_machine.hpp"

#include <catch2/catch.hpp>
#include <random>
#include <sys/stat.h>

using namespace daybreak;
using namespace daybreak::install;
using namespace daybreak::test;

namespace {

const std::string kOneShot = "LoaderEntryOneShot";

std::vector<std::string> order_of(const Plan& plan) {
    std::vector<std::string> order;
    for (const Step& step : plan.steps)
        order.push_back(step.command.empty() ? step.path : step.command.at(2));
    return order;
}

/// What the unit does after a boot.
LastBoot after_boot(SystemdBootMachine& machine, bool collected) {
    auto boot = read_this_boot(machine.host);
    REQUIRE(boot.ok());
    LastBoot last = untraced_boot(machine.host, *boot);
    if (collected)
        last = {BootResult::collected, boot->boot_id, boot->release, "", {"/var/log/daybreak/x"}};
    auto plan = plan_after_boot(machine.host, last);
    REQUIRE(plan.ok());
    REQUIRE(apply(machine.host, *plan).ok());
    return last;
}

} // namespace

TEST_CASE("our entry is the distribution's, with its archive first", "[install][systemd-boot]") {
    LoaderEntry entry = parse_loader_entry("0123-6.1.conf", loader_entry("6.1", "initrd /more\n"));
    auto text = loader_entry_text(entry, "/daybreak-6.1.cpio", "rdinit=/x memmap=1M$0x1");
    REQUIRE(text.ok());
    CHECK(*text == "# Placed by `daybreak install`, taken away by `daybreak uninstall`.\n"
                   "title Debian GNU/Linux 12 (bookworm), with Daybreak\nversion 6.1\n"
                   "machine-id 0123456789abcdef0123456789abcdef\n"
                   "options root=UUID=1111-22 ro quiet rdinit=/x memmap=1M$0x1 panic=30 "
                   "trace_event=initcall trace_clock=x86-tsc\n"
                   "linux /0123/6.1/linux\ninitrd /daybreak-6.1.cpio\n"
                   "initrd /0123/6.1/initrd.img-6.1\ninitrd /more\nsort-key zz-daybreak\n");
    entry = parse_loader_entry("a.conf", "linux /l\n");
    CHECK(contains(*loader_entry_text(entry, "/c", "rdinit=/x"), "options rdinit=/x panic=30 t"));
    // Who uses ftrace in a boot keeps it.
    for (const char* theirs : {"trace_event=irq", "trace_clock=mono", "ftrace=function"}) {
        entry = parse_loader_entry("a.conf", std::string("options panic=5 ") + theirs + "\n");
        CHECK(contains(*loader_entry_text(entry, "/c", "rdinit=/x"),
                       std::string("options panic=5 ") + theirs + " rdinit=/x\n"));
    }
    entry = parse_loader_entry("a.conf", "options a panic=5 rdinit=/mine\r\n");
    CHECK(contains(loader_entry_text(entry, "/c", "rdinit=/x").error().message(),
                   "a.conf has rdinit= already"));
    entry = parse_loader_entry("a.conf", "options a panic=5");
    CHECK(contains(*loader_entry_text(entry, "/c", "rdinit=/x"),
                   "options a panic=5 rdinit=/x trace_event="));
    entry = parse_loader_entry("a.conf", "options a\noptions b panic=5");
    CHECK(contains(*loader_entry_text(entry, "/c", "rdinit=/x"),
                   "options a rdinit=/x trace_event=initcall trace_clock=x86-tsc\n"
                   "options b panic=5\n"));
}

TEST_CASE("entries are sorted as systemd-boot does it", "[install][systemd-boot]") {
    auto entry = [](const char* id, const char* key, const char* version) {
        return parse_loader_entry(id, std::string("version ") + version +
                                          (*key ? std::string("\nsort-key ") + key : ""));
    };
    // In the order in which they are shown.
    std::vector<LoaderEntry> entries = {entry("a-6.12.conf", "debian", "6.12"),
                                        entry("a-6.1.conf", "debian", "6.1"),
                                        entry("daybreak-7.conf", "zz-daybreak", "7"),
                                        entry("x-10.conf", "", "1"),
                                        entry("x-9.conf", "", "2"),
                                        entry("a-6.13+0-3.conf", "debian", "6.13")};
    for (size_t i = 0; i < entries.size(); i++)
        for (size_t k = 0; k < entries.size(); k++) {
            INFO(entries[i].id << " " << entries[k].id);
            CHECK(comes_before(entries[i], entries[k]) == (i < k));
        }
    CHECK(default_entry(entries, {"", ""})->id == "a-6.12.conf");
    CHECK(default_entry(entries, {"A-6.1.*", "x-9*"})->id == "a-6.1.conf");
    CHECK(default_entry(entries, {"none*", "x-9*"})->id == "x-9.conf");
    CHECK(default_entry(entries, {"none*", "@saved"})->id == "a-6.12.conf");
    CHECK(default_entry({}, {""}) == nullptr);
}

TEST_CASE("an entry is in place after its archive, and goes before it", "[install][systemd-boot]") {
    for (const char* folder : {"/boot", "/boot/efi", "/efi"}) {
        SystemdBootMachine machine(folder);
        std::string old_cpio = machine.boot_folder + "/daybreak-" + kOld + ".cpio",
                    new_cpio = machine.boot_folder + "/daybreak-" + kNewest + ".cpio";
        std::string old_entry = machine.entry_path("daybreak-" + kOld),
                    new_entry = machine.entry_path("daybreak-" + kNewest);
        auto before = machine.files();
        Plan plan = plan_of(machine, request_of(Mode::once));
        CHECK(order_of(plan) ==
              std::vector<std::string>{kManifestPath, old_cpio, new_cpio, old_entry, new_entry,
                                       "/var/lib/daybreak/tried", "daybreak-" + kNewest + ".conf"});
        REQUIRE(apply(machine.host, plan).ok());
        CHECK(plan_of(machine, request_of(Mode::once)).steps.empty());
        // What is replaced is not armed in the meantime.
        plan = plan_of(machine, request_of(Mode::once, "other"));
        std::vector<std::string> order = order_of(plan);
        REQUIRE(order.size() > 3);
        CHECK(order[1] == "");
        CHECK(order.back() == "daybreak-" + kNewest + ".conf");
        REQUIRE(apply(machine.host, plan).ok());
        CHECK(machine.loader_variable(kOneShot) == "daybreak-" + kNewest + ".conf");
        auto removal = plan_uninstall(machine.host, false);
        REQUIRE(removal.ok());
        CHECK(order_of(*removal) == std::vector<std::string>{"", "/var/lib/daybreak/tried",
                                                             old_entry, new_entry, old_cpio,
                                                             new_cpio, kManifestPath});
        REQUIRE(apply(machine.host, *removal).ok());
        CHECK(machine.files() == before);
    }
}

TEST_CASE("a traced boot, and what is said of it", "[install][systemd-boot]") {
    SystemdBootMachine machine;
    install_it(machine, request_of(Mode::once));
    CHECK(contains(status_of(machine), "\nnext boot: traced, kernel " + kNewest + "\n"));
    CHECK(machine.boot() == "daybreak-" + kNewest + ".conf");
    CHECK(after_boot(machine, true).result == BootResult::collected);
    CHECK(!machine.has("/var/lib/daybreak/tried"));
    CHECK(contains(status_of(machine), "\nnext boot: not traced: it was armed for one boot"));
    CHECK(machine.boot().empty());
    CHECK(after_boot(machine, false).result == BootResult::not_armed);

    install_it(machine, request_of(Mode::every));
    for (int round = 0; round < 3; round++) {
        CHECK(machine.boot() == "daybreak-" + kNewest + ".conf");
        after_boot(machine, true);
    }
    // It dies: the firmware comes back, and systemd-boot takes the usual entry.
    machine.boot();
    machine.boot();
    CHECK(after_boot(machine, false).result == BootResult::died);
    CHECK(machine.loader_variable(kOneShot).empty());
    CHECK(contains(status_of(machine), "!next boot: not traced: the traced boot of kernel"));
}

TEST_CASE("an archive that was deleted costs one boot, and is said", "[install][systemd-boot]") {
    SystemdBootMachine machine;
    install_it(machine, request_of(Mode::once));
    std::string cpio = machine.boot_folder + "/daybreak-" + kNewest + ".cpio";
    machine.remove(cpio);
    CHECK(contains(status_of(machine), "!next boot: not traced: " + cpio +
                                           " is missing, and the entry cannot be booted without"));
    machine.boot();
    machine.boot();
    LastBoot last = after_boot(machine, false);
    CHECK(last.result == BootResult::no_cpio);
    CHECK(last.detail == cpio + " is missing");
    install_it(machine, request_of(Mode::once));
    CHECK(machine.loader_variable(kOneShot) == "daybreak-" + kNewest + ".conf");
    // So does an entry that was deleted.
    machine.remove(machine.entry_path("daybreak-" + kNewest));
    CHECK(contains(status_of(machine), "!next boot: not traced: our entry of kernel " + kNewest +
                                           " is missing, and the machine boots as usual"));
    machine.boot();
    CHECK(after_boot(machine, false).result == BootResult::no_cpio);
    CHECK(contains(status_of(machine), "!next boot: not traced: what install placed for kernel " +
                                           kNewest + " is not all there"));
    install_it(machine, request_of(Mode::once));
    machine.write(machine.entry_path("0123-" + kNewest), loader_entry(kNewest, "initrd /x\n"));
    CHECK(contains(status_of(machine), "our entry is not that of the distribution's"));
}

TEST_CASE("the kernel that systemd-boot would boot is traced", "[install][systemd-boot]") {
    std::string armed;
    SystemdBootMachine machine;
    machine.write(machine.boot_folder + "/loader/loader.conf", "default 0123-6.1.0*\n");
    REQUIRE(plan_install(machine.host, request_of(Mode::every), &armed).ok());
    CHECK(armed == kOld);
    machine.set_loader_variable("LoaderEntryDefault", "0123-" + kNewest + ".conf");
    REQUIRE(plan_install(machine.host, request_of(Mode::every), &armed).ok());
    CHECK(armed == kNewest);
    // One that names nothing does not count.
    machine.set_loader_variable("LoaderEntryDefault", "gone.conf");
    REQUIRE(plan_install(machine.host, request_of(Mode::every), &armed).ok());
    CHECK(armed == kOld);
    // A kernel that came later boots by itself: nothing is armed for an older one.
    machine.set_loader_variable("LoaderEntryDefault", "");
    machine.write(machine.boot_folder + "/loader/loader.conf", "");
    install_it(machine, request_of(Mode::every));
    machine.boot();
    machine.write(machine.entry_path("0123-6.20"), loader_entry("6.20"));
    after_boot(machine, true);
    CHECK(machine.loader_variable(kOneShot).empty());
    CHECK(contains(status_of(machine), "!next boot: not traced: the machine boots kernel 6.20"));
}

TEST_CASE("entries on a partition of their own, loader.conf on the EFI system partition",
          "[install][systemd-boot]") {
    std::string armed;
    SystemdBootMachine machine("/boot");
    machine.remove("/boot/loader/loader.conf");
    machine.write("/efi/loader/loader.conf", "default 0123-" + kOld + ".conf\n");
    REQUIRE(plan_install(machine.host, request_of(Mode::once), &armed).ok());
    CHECK(armed == kOld);
    machine.write("/efi/loader/loader.conf", "default @saved\n");
    CHECK(contains(refusal(machine, request_of(Mode::once)), "is @saved"));
}

TEST_CASE("what became of a boot is kept when the loader's file system is not there",
          "[install][systemd-boot]") {
    SystemdBootMachine machine;
    install_it(machine, request_of(Mode::every));
    machine.boot();
    std::filesystem::rename(machine.host.at("/boot/efi"), machine.host.at("/elsewhere"));
    CHECK(after_boot(machine, true).result == BootResult::collected);
    std::string text = status_of(machine);
    CHECK(contains(text, "\nlast boot: this one, kernel " + kOld + ": traced, in /var/log"));
    CHECK(contains(text, "!next boot: no entries of systemd-boot in /boot, /boot/efi or "
                         "/efi: is the file system mounted, and may you read it?"));
    std::filesystem::rename(machine.host.at("/elsewhere"), machine.host.at("/boot/efi"));
    CHECK(contains(status_of(machine), "!next boot: not traced: the traced boot of kernel"));
}

TEST_CASE("machines with systemd-boot that install does not arm say why",
          "[install][systemd-boot]") {
    SystemdBootMachine saved;
    saved.write(saved.boot_folder + "/loader/loader.conf", "default @saved\n");
    CHECK(contains(refusal(saved, request_of(Mode::once)), "is @saved"));
    CHECK(refusal(saved, request_of(Mode::menu)).empty());

    SystemdBootMachine no_key;
    no_key.write(no_key.entry_path("0123-" + kOld), "version " + kOld + "\nlinux /l\ninitrd /i\n");
    CHECK(contains(refusal(no_key, request_of(Mode::menu)), "has no sort-key"));

    SystemdBootMachine no_entry;
    no_entry.remove(no_entry.entry_path("0123-" + kOld));
    CHECK(contains(refusal(no_entry, request_of(Mode::once)),
                   "/boot/efi/loader/entries has no entry of kernel " + kOld));

    SystemdBootMachine chosen;
    chosen.set_loader_variable(kOneShot, "windows.conf");
    CHECK(contains(refusal(chosen, request_of(Mode::once)), "'windows.conf' already"));

    SystemdBootMachine not_booted;
    not_booted.set_loader_variable("LoaderInfo", "");
    CHECK(contains(refusal(not_booted, request_of(Mode::once)), "not made by systemd-boot"));
    CHECK(refusal(not_booted, request_of(Mode::menu)).empty());

    SystemdBootMachine no_program;
    no_program.has_bootctl = false;
    CHECK(contains(refusal(no_program, request_of(Mode::once)), "there is no program bootctl"));
    CHECK(refusal(no_program, request_of(Mode::menu)).empty());
}

TEST_CASE("unified kernel images", "[install][systemd-boot][uki]") {
    UnifiedMachine machine;
    auto before = machine.files();
    std::string old_image = machine.image_path("daybreak-" + kOld),
                new_image = machine.image_path("daybreak-" + kNewest);
    Plan plan = plan_of(machine, request_of(Mode::every));
    CHECK(order_of(plan) == std::vector<std::string>{kManifestPath, old_image, new_image,
                                                     "/var/lib/daybreak/tried",
                                                     "daybreak-" + kNewest + ".efi"});
    std::string text = describe(plan);
    CHECK(contains(text, "\nwrite " + new_image + " (4096 bytes)\n"));
    CHECK(contains(text, "\nrun: bootctl set-oneshot daybreak-" + kNewest + ".efi    # "));
    REQUIRE(apply(machine.host, plan).ok());
    CHECK(plan_of(machine, request_of(Mode::every)).steps.empty());
    CHECK(contains(status_of(machine), "\nnext boot: traced, kernel " + kNewest + "\n"));
    CHECK(machine.boot() == "daybreak-" + kNewest + ".efi");
    CHECK(after_boot(machine, true).result == BootResult::collected);
    CHECK(machine.loader_variable(kOneShot) == "daybreak-" + kNewest + ".efi");

    // The distribution's was made anew, with another initramfs.
    std::string path = machine.image_path("debian-" + kNewest), image = machine.read(path);
    std::string other = image;
    other.replace(other.find("initramfs of"), 9, "INITRAMFS");
    machine.write(path, other);
    CHECK(contains(status_of(machine), "!entry: " + new_image +
                                           ": our image is not made from debian-" + kNewest +
                                           ".efi as it is now: daybreak install"));
    machine.boot();
    after_boot(machine, true);
    CHECK(machine.loader_variable(kOneShot).empty());
    machine.write(path, image);
    after_boot(machine, true);
    CHECK(machine.loader_variable(kOneShot) == "daybreak-" + kNewest + ".efi");
    CHECK(!contains(status_of(machine), "!"));

    // What cannot be made again stays.
    Request again = request_of(Mode::every);
    again.again = true;
    for (KernelCpio& kernel : again.kernels)
        kernel = {kernel.release, machine.read(machine.image_path("daybreak-" + kernel.release)),
                  true};
    CHECK(plan_of(machine, again).steps.empty());
    // Ours boots without the distribution's.
    machine.remove(path);
    CHECK(
        contains(status_of(machine), "!next boot: traced, kernel " + kNewest + "; without that,"));
    machine.write(path, image);

    machine.remove(new_image);
    CHECK(contains(status_of(machine), "!next boot: not traced: our entry of kernel " + kNewest));
    machine.boot();
    CHECK(after_boot(machine, false).result == BootResult::no_cpio);
    uninstall_it(machine);
    machine.write("/proc/cmdline", "root=/dev/vda1 ro\n");
    CHECK(machine.files() == before);
}

TEST_CASE("what else lies beside unified kernel images", "[install][systemd-boot][uki]") {
    UnifiedMachine machine;
    machine.write(machine.image_path("zz-tool"), test::pe_image({{".text", "no .osrel"}}));
    machine.write(machine.image_path("zz-text"), "not a PE file");
    std::filesystem::create_symlink("nowhere", machine.host.at(machine.image_path("zz-link")));
    CHECK(refusal(machine, request_of(Mode::once)).empty());
    Request other = request_of(Mode::once);
    other.kernels = {{"6.13", "cpio"}};
    other.kernels_named = true;
    CHECK(contains(refusal(machine, other), "has no entry of kernel 6.13 with an initramfs"));
}

TEST_CASE("a copy of a unified kernel image is signed where the firmware asks for it",
          "[install][systemd-boot][uki]") {
    UnifiedMachine machine;
    const std::string variable =
        "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";
    auto secure_boot = [&](char value) {
        machine.write(variable, std::string("\6\0\0\0", 4) + value);
        return refusal(machine, request_of(Mode::once));
    };
    CHECK(refusal(machine, request_of(Mode::once)).empty());
    CHECK(secure_boot(1) == "Secure Boot is on, so the firmware boots a copy of the image of "
                            "kernel " +
                                kOld +
                                " only with a signature: give a key that it or shim trusts with "
                                "--sign KEY");
    CHECK(secure_boot(0).empty());
    std::string path = machine.image_path("debian-" + kOld), image = machine.read(path);
    test::put_number(image, test::kPeSignatureBytesAt, 100);
    machine.write(path, image);
    CHECK(secure_boot(0).empty());
    machine.remove(variable);
    CHECK(contains(refusal(machine, request_of(Mode::once)), "debian-" + kOld + ".efi is signed"));

    // A signature is another each time; it goes after the image, and the header says where.
    machine.write(variable, std::string("\6\0\0\0\1", 5));
    Request request = request_of(Mode::once);
    request.sign_key = "/k";
    request.certificate = "/c";
    int count = 0;
    request.sign_image = [&count](const std::string& bytes) -> base::Result<std::string> {
        std::string signed_one = bytes + "signature " + std::to_string(++count);
        test::put_number(signed_one, test::kPeSignatureBytesAt - 4, bytes.size());
        test::put_number(signed_one, test::kPeSignatureBytesAt, 11);
        return signed_one;
    };
    install_it(machine, request);
    CHECK(machine.read(machine.image_path("daybreak-" + kOld)).ends_with("signature 1"));
    CHECK(plan_of(machine, request).steps.empty());
    CHECK(count == 2); // one for each kernel
    CHECK(contains(status_of(machine), "\nnext boot: traced, kernel " + kNewest));
    CHECK(!contains(status_of(machine), "!"));
    machine.remove(variable);
    uninstall_it(machine);
    install_it(machine, [] {
        Request plain = request_of(Mode::once);
        plain.kernels.erase(plain.kernels.begin()); // the distribution's has a signature
        return plain;
    }());
    machine.write(variable, std::string("\6\0\0\0\1", 5));
    CHECK(contains(status_of(machine), "!entry: " + machine.image_path("daybreak-" + kNewest) +
                                           " has no signature, and Secure Boot is on: daybreak "
                                           "install --once PATH/boot.d --sign KEY\n"));
    // What has none is signed, whether it was placed so or lost it.
    install_it(machine, request);
    std::string image_path = machine.image_path("daybreak-" + kNewest),
                placed = machine.read(image_path);
    CHECK(placed.ends_with("signature " + std::to_string(count)));
    CHECK(!contains(status_of(machine), "!"));
    std::string stripped = placed.substr(0, placed.rfind("signature "));
    test::put_number(stripped, test::kPeSignatureBytesAt, 0);
    machine.write(image_path, stripped);
    request.force = true;
    install_it(machine, request);
    CHECK(machine.read(image_path).ends_with("signature " + std::to_string(count)));
}

TEST_CASE("with systemd-boot every file comes back, whatever was done",
          "[install][systemd-boot][property]") {
    std::mt19937 random(51);
    auto any = [&random](unsigned count) { return random() % count; };
    for (int round = 0; round < 100; round++) {
        auto unified = any(3) ? nullptr : std::make_unique<UnifiedMachine>();
        auto plain = std::make_unique<SystemdBootMachine>(any(2) ? "/boot" : "/efi");
        SystemdBootMachine& machine = unified ? *unified : *plain;
        if (any(3) == 0)
            machine.set_loader_variable("LoaderEntryDefault", unified ? "debian-" + kOld + ".efi"
                                                                      : "0123-" + kOld + ".conf");
        auto before = machine.files();
        for (unsigned runs = 1 + any(3); runs > 0; runs--) {
            Request request = request_of(static_cast<Mode>(any(3)), any(2) ? "one" : "two");
            if (any(3) == 0)
                request.bank = "64M@0x10000000";
            install_it(machine, request);
            CHECK(plan_of(machine, request).steps.empty());
            if (any(2))
                machine.boot();
            if (any(2))
                after_boot(machine, any(2));
        }
        uninstall_it(machine);
        machine.write("/proc/cmdline", "root=/dev/vda1 ro\n");
        CHECK(machine.files() == before);
    }
}

TEST_CASE("of several entries of a kernel the one that boots is copied, or none",
          "[install][systemd-boot]") {
    auto ours = [](SystemdBootMachine& machine, const std::string& release) {
        std::string armed;
        auto plan = plan_install(machine.host, request_of(Mode::once), &armed);
        std::string text = plan.ok() ? "no entry" : plan.error().message();
        for (const Step& step : plan.ok() ? plan->steps : std::vector<Step>())
            if (step.path == machine.entry_path("daybreak-" + release))
                text = *step.after;
        return text;
    };
    // A second system, whose machine-id sorts before this one's.
    auto other = [](const std::string& release) {
        std::string text = loader_entry(release);
        text.replace(text.find("0123456789abcdef"), 16, std::string(16, '0'));
        return text.replace(text.find("root=UUID=1111-22"), 17, "root=UUID=OTHER");
    };
    SystemdBootMachine machine;
    machine.write(machine.entry_path("0000-" + kNewest), other(kNewest));
    machine.write(machine.boot_folder + "/loader/loader.conf", "default 0123-" + kNewest + "*\n");
    CHECK(contains(ours(machine, kNewest), "options root=UUID=1111-22"));
    // Not the default one: by the machine's ID, or not at all.
    machine.write(machine.entry_path("0000-" + kOld), other(kOld));
    CHECK(contains(ours(machine, kOld), "the entries 0000-" + kOld + ".conf and 0123-" + kOld +
                                            ".conf of kernel " + kOld + " differ"));
    machine.write("/etc/machine-id", "0123456789abcdef0123456789abcdef\n");
    CHECK(contains(ours(machine, kOld), "options root=UUID=1111-22"));
    // What a person made to mend the machine.
    for (const char* words : {"root=UUID=1111-22 systemd.unit=rescue.target", "init=/bin/sh",
                              "systemd.unit=emergency.target", "single"}) {
        SystemdBootMachine mended;
        mended.write(mended.entry_path("zrescue"),
                     loader_entry(kOld, std::string("options ") + words + "\n"));
        CHECK(contains(ours(mended, kOld), "options root=UUID=1111-22"));
        mended.remove(mended.entry_path("0123-" + kOld));
        CHECK(contains(ours(mended, kOld), "no entry of kernel " + kOld));
    }
    // Two that boot the same are one.
    SystemdBootMachine twice;
    twice.write(twice.entry_path("0123-" + kOld + "+3"),
                "title again\n" + loader_entry(kOld).substr(loader_entry(kOld).find("version")));
    CHECK(contains(ours(twice, kOld), "options root=UUID=1111-22"));
}

TEST_CASE("our entry is refused where it would be booted without a choice",
          "[install][systemd-boot]") {
    for (const char* info : {"systemd-boot 247.3-7+deb11u4", "systemd-boot 249", "systemd-boot"})
        for (Mode mode : {Mode::once, Mode::menu}) {
            SystemdBootMachine machine;
            machine.set_loader_variable("LoaderInfo", info);
            CHECK(contains(refusal(machine, request_of(mode)),
                           std::string("the loader calls itself '") + info + "'"));
        }
    for (const char* info :
         {"systemd-boot 250", "systemd-boot 257.2-1", "systemd-boot v255-1-g1"}) {
        SystemdBootMachine machine;
        machine.set_loader_variable("LoaderInfo", info);
        CHECK(refusal(machine, request_of(Mode::once)).empty());
    }
    auto count_tries = [](SystemdBootMachine& machine, const std::string& tries) {
        for (const std::string& release : {kNewest, kOld}) {
            std::string from = machine.entry_path("0123-" + release);
            machine.write(machine.entry_path("0123-" + release + tries), machine.read(from));
            machine.remove(from);
        }
    };
    SystemdBootMachine counted;
    count_tries(counted, "+1-2");
    CHECK(refusal(counted, request_of(Mode::once)).empty());
    SystemdBootMachine exhausted;
    count_tries(exhausted, "+0-3");
    CHECK(contains(refusal(exhausted, request_of(Mode::menu)), "boot our entry daybreak-"));
    // It came so after the installation.
    SystemdBootMachine later;
    install_it(later, request_of(Mode::every));
    later.boot();
    count_tries(later, "+0-3");
    after_boot(later, true);
    CHECK(later.loader_variable(kOneShot).empty());
    CHECK(contains(status_of(later), "!next boot: without a choice the machine would boot our "
                                     "entry daybreak-" +
                                         kNewest + ".conf"));
    SystemdBootMachine pattern;
    pattern.write(pattern.boot_folder + "/loader/loader.conf", "default d*\n");
    CHECK(contains(refusal(pattern, request_of(Mode::once)), "boot our entry daybreak-"));
    // Our image is sorted by its os-release.
    UnifiedMachine unified;
    CHECK(refusal(unified, request_of(Mode::once)).empty());
    for (const std::string& release : {kNewest, kOld}) {
        std::string from = unified.image_path("debian-" + release);
        unified.write(unified.image_path("debian-" + release + "+0-3"), unified.read(from));
        unified.remove(from);
    }
    CHECK(contains(refusal(unified, request_of(Mode::once)), "boot our entry daybreak-"));
}

TEST_CASE("only regular files are entries", "[install][systemd-boot]") {
    SystemdBootMachine machine;
    std::filesystem::create_directories(machine.host.at(machine.entry_path("old")));
    REQUIRE(::mkfifo(machine.host.at(machine.entry_path("fifo")).c_str(), 0600) == 0);
    auto before = machine.files();
    install_it(machine, request_of(Mode::once));
    CHECK(contains(status_of(machine), "\nnext boot: traced, kernel " + kNewest + "\n"));
    uninstall_it(machine);
    CHECK(machine.files() == before);
}

TEST_CASE("uninstall --force without the loader's file system disarms, and forgets nothing",
          "[install][systemd-boot]") {
    SystemdBootMachine machine;
    auto before = machine.files();
    install_it(machine, request_of(Mode::once));
    std::filesystem::rename(machine.host.at("/boot/efi"), machine.host.at("/elsewhere"));
    auto plan = plan_uninstall(machine.host, true);
    REQUIRE(plan.ok());
    CHECK(plan->notes.size() == 1);
    REQUIRE(apply(machine.host, *plan).ok());
    CHECK(machine.loader_variable(kOneShot).empty());
    CHECK(machine.has(kManifestPath));
    std::filesystem::rename(machine.host.at("/elsewhere"), machine.host.at("/boot/efi"));
    uninstall_it(machine);
    CHECK(machine.files() == before);
}

TEST_CASE("uninstall --force goes by names where the manifest is damaged",
          "[install][systemd-boot][uki]") {
    for (bool is_unified : {false, true}) {
        std::unique_ptr<SystemdBootMachine> machine;
        if (is_unified)
            machine = std::make_unique<UnifiedMachine>();
        else
            machine = std::make_unique<SystemdBootMachine>("/boot");
        std::filesystem::create_directories(machine->host.at("/etc/kernel/postinst.d"));
        auto before = machine->files();
        Request request = request_of(Mode::every);
        request.helpers = {{.path = "/var/lib/daybreak/boot.d", .is_helper = true}};
        for (OwnFile& hook : kernel_hooks(machine->host, "/usr/bin/daybreak"))
            request.helpers.push_back(std::move(hook));
        install_it(*machine, request);
        CHECK(machine->has("/etc/kernel/postinst.d/zzz-daybreak"));
        machine->write(kManifestPath, "junk\n");
        CHECK(contains(status_of(*machine), "run daybreak uninstall --force"));
        auto refused = plan_uninstall(machine->host, false);
        REQUIRE(!refused.ok());
        CHECK(contains(refused.error().message(), "run daybreak uninstall --force"));
        auto plan = plan_uninstall(machine->host, true);
        REQUIRE(plan.ok());
        REQUIRE(apply(machine->host, *plan).ok());
        CHECK(machine->files() == before);
    }
}
