// SPDX-License-Identifier: Apache-2.0
#include "bootloader-hooks/install/manifest.hpp"

#include "bootloader-hooks/install/plan.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using namespace daybreak::install;

namespace {

Manifest example() {
    Manifest manifest;
    manifest.mode = Mode::once;
    manifest.loader = "GRUB";
    manifest.bank = "64M@0x10000000";
    manifest.programs = {"boot", "net"};
    manifest.kernels = {"6.1.0-5-amd64"};
    manifest.version = "0.1.0";
    manifest.kernels_named = true;
    manifest.module = "/home/a b/daybreak.ko";
    manifest.native = true;
    manifest.sources = "/home/a b";
    manifest.interpreted = {"6.1.0-5-amd64 gcc is missing"};
    manifest.files = {placed_file("/boot/daybreak a.cpio", "123456789"),
                      placed_file("/etc/kernel/postinst.d/zzz-daybreak", "", true)};
    manifest.parts = {{"/boot/grub/custom.cfg", 0x1234, true}, {"/boot/x", 1, false}};
    manifest.variables = {
        {"next_entry", std::nullopt}, {"daybreak_tried", ""}, {"saved_entry", " a b"}};
    return manifest;
}

} // namespace

TEST_CASE("a manifest is read as it was written", "[install][manifest]") {
    std::string text = example().text();
    CHECK(text == "daybreak-install 1\nmode once\nloader GRUB\nversion 0.1.0\nprogram "
                  "boot\nprogram net\nbank "
                  "64M@0x10000000\n"
                  "kernel 6.1.0-5-amd64\nnamed\nmodule /home/a b/daybreak.ko\n"
                  "native\nsources /home/a b\ninterpreted 6.1.0-5-amd64 gcc is missing\n"
                  "file 9 e3069283 /boot/daybreak a.cpio\n"
                  "helper 0 00000000 /etc/kernel/postinst.d/zzz-daybreak\n"
                  "part 00001234 made /boot/grub/custom.cfg\n"
                  "part 00000001 kept /boot/x\nvariable next_entry\nvariable daybreak_tried "
                  "\nvariable saved_entry  a b\n");
    auto read = parse_manifest(text);
    REQUIRE(read.ok());
    CHECK(read->text() == text);
    CHECK(read->mode == Mode::once);
    CHECK(!read->variables[0].before);
    CHECK(read->variables[1].before == "");
    CHECK(read->variables[2].before == " a b");
    CHECK(read->placed("/boot/daybreak a.cpio", "123456789"));
    CHECK(!read->placed("/boot/daybreak a.cpio", "123456780"));
    CHECK(!read->placed("/boot/b", "123456789"));
    CHECK(!read->files[0].is_helper);
    CHECK(read->files[1].is_helper);
    CHECK(read->placed("/etc/kernel/postinst.d/zzz-daybreak", ""));
    CHECK(read->names("/boot/daybreak a.cpio"));
    CHECK(read->why_interpreted("6.1.0-5-amd64") == "gcc is missing");
    CHECK(read->why_interpreted("6.1.0-5").empty());
    CHECK(!read->names("/boot/x"));
}

TEST_CASE("a manifest that is cut or changed is an error or a shorter one", "[install][manifest]") {
    std::string text = example().text();
    for (size_t bytes = 0; bytes < text.size(); bytes++) {
        auto read = parse_manifest(text.substr(0, bytes));
        if (!read.ok())
            CHECK(read.error().code() == base::ErrorCode::corrupt);
    }
    for (const char* line : {"mode none", "file x y z", "file 1 2 relative", "part 1 other /boot/x",
                             "part 1 made relative", "colour red", "variable", "kernel", ""}) {
        auto read = parse_manifest("daybreak-install 1\nloader GRUB\n" + std::string(line) + "\n");
        INFO(line);
        REQUIRE(!read.ok());
        CHECK(read.error().message().find("line 3") == 0);
    }
    CHECK(parse_manifest("daybreak-install 2\n")
              .error()
              .message()
              .find("expected 'daybreak-install 1'") != std::string::npos);
    CHECK(!parse_manifest("daybreak-install 1\nmode once\n").ok());
}

TEST_CASE("a plan is shown as a diff", "[install][plan]") {
    std::string before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    CHECK(unified_diff("/f", before, "1\n2\n3\n4\nfive\n6\n7\n8\n9\n") ==
          "--- /f\n+++ /f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
    CHECK(unified_diff("/f", before, before + "10\n") ==
          "--- /f\n+++ /f\n@@ -7,3 +7,4 @@\n 7\n 8\n 9\n+10\n");
    CHECK(unified_diff("/f", std::nullopt, "a\nb") ==
          "--- /dev/null\n+++ /f\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n");
    CHECK(unified_diff("/f", "a\n", std::nullopt) ==
          "--- /f\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n");
    CHECK(unified_diff("/f", before, before).empty());
    Plan plan;
    plan.steps = {{.path = "/b", .after = "12"},
                  {.path = "/b", .before = "1", .after = "123"},
                  {.path = "/b", .before = "1"},
                  {.command = {"grub-editenv", "/e", "unset", "x"}, .what = "why"},
                  {.path = "/t", .after = "a\n", .is_text = true}};
    CHECK(describe(plan) == "write /b (2 bytes)\nreplace /b (3 bytes)\nremove /b\nrun: "
                            "grub-editenv /e unset x    # why\n"
                            "--- /dev/null\n+++ /t\n@@ -0,0 +1,1 @@\n+a\n");
}
