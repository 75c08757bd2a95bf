// SPDX-License-Identifier: Apache-2.0
#include "bootloader-hooks/install/machine.hpp"

#include "bootloader-hooks/install/cpio.hpp"
#include "tests/support/machine_folder.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using namespace daybreak::install;

TEST_CASE("kernels have an image, modules, and perhaps our module", "[install][machine]") {
    test::MachineFolder machine;
    machine.write("/boot/vmlinuz-5.10.0-without-modules", "");
    machine.write("/boot/vmlinuz-6.9;reboot", "");
    machine.write("/lib/modules/6.9;reboot/modules.dep", "");
    machine.write("/boot/vmlinuz-6.6.0", "");
    machine.write("/lib/modules/6.6.0/extra/daybreak.ko.xz", "");
    machine.write("/boot/vmlinuz-6.7.0", "");
    machine.write("/lib/modules/6.7.0/kernel/daybreak.ko", "");
    auto kernels = installed_kernels(machine.host);
    REQUIRE(kernels.size() == 4);
    CHECK(kernels[0].release == "6.1.0-5-amd64");
    CHECK(kernels[0].image == "/boot/vmlinuz-6.1.0-5-amd64");
    CHECK(kernels[0].module == "/lib/modules/6.1.0-5-amd64/updates/dkms/daybreak.ko");
    CHECK(kernels[2].module == "/lib/modules/6.6.0/extra/daybreak.ko.xz");
    CHECK(kernels[3].module.empty());
}

TEST_CASE("a kernel that takes signed modules only says why", "[install][machine]") {
    test::MachineFolder machine;
    CHECK(signature_demand(machine.host).empty());
    machine.write("/sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
    machine.write("/sys/module/module/parameters/sig_enforce", "N\n");
    CHECK(signature_demand(machine.host).empty());
    machine.write("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
    CHECK(signature_demand(machine.host).find("locked down") != std::string::npos);
    machine.write("/sys/module/module/parameters/sig_enforce", "Y\n");
    CHECK(signature_demand(machine.host).find("sig_enforce") != std::string::npos);
}

TEST_CASE("a bank lies in the middle of the largest piece of RAM", "[install][machine]") {
    constexpr uint64_t kMiB = 1 << 20;
    const std::string iomem = "00000000-00000fff : Reserved\n00001000-0009fbff : System "
                              "RAM\n00100000-3fffffff : System RAM\n"
                              "  01000000-01ffffff : Kernel code\nfee00000-fee00fff : Local APIC\n"
                              "100000000-1bfffffff : System RAM\n1c0000000-1ffffffff : Reserved\n";
    auto at = [&iomem](uint64_t bytes) { return bank_address(iomem, bytes); };
    // 0x100000000 and 3 GiB: its middle is 0x160000000.
    CHECK(*at(64 * kMiB) == 0x160000000 - 32 * kMiB);
    CHECK(*at(768 * kMiB) == 0x160000000 - 384 * kMiB);
    auto large = at(769 * kMiB);
    REQUIRE(!large.ok());
    CHECK(large.error().message() == "no place for a bank of 769 MiB: the largest piece of RAM has "
                                     "3072 MiB, and a bank takes at most "
                                     "a quarter of it");
    CHECK(at(0).error().code() == base::ErrorCode::invalid);
    CHECK(at(kMiB + 1).error().code() == base::ErrorCode::invalid);
    for (const char* hidden : {"", "00000000-00000000 : System RAM\n", "nonsense\n"}) {
        auto none = bank_address(hidden, kMiB);
        REQUIRE(!none.ok());
        CHECK(none.error().message().find("needs root") != std::string::npos);
    }
}

TEST_CASE("the archive is what cpio(1) reads", "[install][cpio]") {
    test::TempFolder folder;
    std::string archive = make_boot_cpio("early\n", std::string(1001, 'm'));
    CHECK(archive.size() % 512 == 0);
    CHECK(archive == make_boot_cpio("early\n", std::string(1001, 'm')));
    CHECK(archive.starts_with("070701"));
    std::ofstream(folder.path / "a.cpio", std::ios::binary) << archive;
    auto listed = run_program({"sh", "-c",
                               "cd " + folder.path.string() +
                                   " && cpio --quiet -tv <a.cpio && cpio --quiet -i <a.cpio && cat "
                                   "daybreak/early-init && wc -c <daybreak/daybreak.ko"});
    REQUIRE(listed.ok());
    CHECK(listed->find("drwxr-xr-x") == 0);
    CHECK(listed->find("-rwxr-xr-x") != std::string::npos);
    CHECK(listed->find("early\n1001\n") != std::string::npos);
}
