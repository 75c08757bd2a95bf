// SPDX-License-Identifier: Apache-2.0
#include "bootloader-hooks/install/grub_text.hpp"

#include "bootloader-hooks/install/host.hpp"
#include "tests/support/machine_folder.hpp"

#include <catch2/catch.hpp>
#include <random>

using namespace daybreak;
using namespace daybreak::install;

namespace {

const std::string kNewest = "6.12.1-amd64", kOld = "6.1.0-5-amd64";

GrubConfig config_of(const test::GrubShape& shape, const std::string& chosen = "0") {
    return parse_grub_config(test::grub_config(shape, {kNewest, kOld}, chosen));
}

std::string entry_text(const std::string& config, const std::string& release,
                       const GrubAddition& addition) {
    GrubConfig parsed = parse_grub_config(config);
    const GrubEntry* entry = parsed.entry_of(release);
    REQUIRE(entry);
    auto text = grub_entry_text(*entry, addition);
    REQUIRE(text.ok());
    return *text;
}

size_t count_of(const std::string& text, const std::string& part) {
    size_t count = 0;
    for (size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size())
        count++;
    return count;
}

} // namespace

TEST_CASE("our entry is the distribution's, with the archive where that is there",
          "[install][grub]") {
    std::string text =
        entry_text(test::grub_config(test::kPlain, {kNewest, kOld}), kOld,
                   {"daybreak-6.1.0-5-amd64.cpio",
                    "rdinit=/daybreak/early-init memmap=64M$0x10000000 panic=30", true});
    CHECK(
        text ==
        R"(menuentry 'Debian GNU/Linux, with Linux 6.1.0-5-amd64'', with Daybreak' --class debian --class gnu-linux --class gnu --class os --id daybreak-6.1.0-5-amd64 {
	set fallback=0
	load_video
	insmod gzio
	if [ x$grub_platform = xxen ]; then insmod xzio; insmod lzopio; fi
	insmod part_msdos
	insmod ext2
	search --no-floppy --fs-uuid --set=root 1111-22
	echo	'Loading Linux 6.1.0-5-amd64 ...'
	set daybreak_arguments=
	set daybreak_initrd=
	if [ -f /boot/daybreak-6.1.0-5-amd64.cpio ]; then
		set daybreak_tried=6.1.0-5-amd64
		if save_env daybreak_tried; then
			set daybreak_arguments="rdinit=/daybreak/early-init memmap=64M\$0x10000000 panic=30"
			set daybreak_initrd=/boot/daybreak-6.1.0-5-amd64.cpio
		fi
	fi
	linux	/boot/vmlinuz-6.1.0-5-amd64 $daybreak_arguments root=UUID=1111-22 ro quiet
	echo	'Loading initial ramdisk ...'
	initrd $daybreak_initrd	/boot/initrd.img-6.1.0-5-amd64
}
)");
}

TEST_CASE("each shape of grub.cfg gives an entry that finds its files", "[install][grub]") {
    for (const test::GrubShape& shape : test::kShapes) {
        INFO(shape.name);
        GrubConfig config = config_of(shape);
        CHECK(config.reads_custom);
        CHECK(config.takes_next_entry);
        CHECK(config.first == kNewest);
        for (bool notes : {true, false}) {
            const GrubEntry* entry = config.entry_of(kOld);
            REQUIRE(entry);
            CHECK(!entry->is_recovery);
            auto text = grub_entry_text(*entry, {"d.cpio", "rdinit=/x", notes});
            REQUIRE(text.ok());
            std::istringstream lines(shape.device);
            for (std::string line; std::getline(lines, line);)
                CHECK(text->find(line + "\n") != std::string::npos);
            CHECK(count_of(*text, std::string(shape.kernels) + "d.cpio") == 2);
            CHECK(count_of(*text, "save_env daybreak_tried") == (notes ? 1 : 0));
            CHECK(text->find("single") == std::string::npos);
            auto checked = [&] {
                test::TempFolder folder;
                std::string file = folder.path / "custom.cfg";
                std::ofstream(file) << *text;
                return run_program({"grub-script-check", file});
            }();
            bool is_script = checked.ok() || checked.error().code() == base::ErrorCode::not_found;
            CHECK(is_script);
        }
        CHECK(config.entry_of("5.10.0") == nullptr);
    }
}

TEST_CASE("an entry is copied with what its line has, and refused with what is ours",
          "[install][grub]") {
    auto with_arguments = [](const std::string& arguments) {
        return test::grub_entry(test::kPlain, "T'\\''s #1", "id", kOld, arguments, "");
    };
    GrubAddition addition = {"d.cpio", "rdinit=/daybreak/early-init panic=30", true};
    std::string text = entry_text(with_arguments("quiet -- single_user"), kOld, addition);
    CHECK(text.find("menuentry 'T'\\''s #1'', with Daybreak' --class") == 0);
    CHECK(text.find("$daybreak_arguments root=UUID=1111-22 ro quiet -- single_user") !=
          std::string::npos);

    std::string saving = with_arguments("quiet");
    saving.insert(saving.find("\tload_video"), "\tsavedefault\n");
    CHECK(entry_text(saving, kOld, addition).find("savedefault") == std::string::npos);

    for (const char* taken : {"rdinit=/bin/sh", "rdinit=/daybreak/early-init"}) {
        GrubConfig config = parse_grub_config(with_arguments(taken));
        auto refused = grub_entry_text(*config.entry_of(kOld), addition);
        REQUIRE(!refused.ok());
        CHECK(refused.error().message().find("has rdinit=") != std::string::npos);
        CHECK(refused.error().message().find("/etc/default/grub") != std::string::npos);
    }
    GrubConfig bank = parse_grub_config(with_arguments("daybreak.bank=1M@0x1"));
    CHECK(!grub_entry_text(*bank.entry_of(kOld), {"d.cpio", "rdinit=/d daybreak.bank=2M@0x2", true})
               .ok());
    CHECK(grub_entry_text(*bank.entry_of(kOld), addition).ok());
    CHECK(bank.entry_of(kOld)->argument("daybreak.bank") == "1M@0x1");
    CHECK(!bank.entry_of(kOld)->argument("daybreak"));
}

TEST_CASE("entries of other systems are not copied", "[install][grub]") {
    CHECK(parse_grub_config("menuentry 'W' {\n\tchainloader +1\n}\n").entries.empty());
    CHECK(parse_grub_config("menuentry 'K' {\n\tlinux /boot/vmlinuz-1\n}\n").entries.empty());
    CHECK(parse_grub_config("menuentry 'K' {\n\tinitrd /i\n\tlinux /boot/vmlinuz-1\n}\n")
              .entries.empty());
    CHECK(parse_grub_config(
              "menuentry 'K' {\n\tlinux /boot/vmlinuz-1\n\tlinux /boot/vmlinuz-2\n\tinitrd /i\n}\n")
              .entries.empty());
    CHECK(parse_grub_config("menuentry K --id k { linux /boot/vmlinuz-1 ; initrd /i ; }\n")
              .entries.empty());
    CHECK(parse_grub_config("# menuentry 'K' {\n\tlinux /boot/vmlinuz-1\n\tinitrd /i\n}\n")
              .entries.empty());
    for (const char* word : {"single", "recovery", "rescue", "emergency"}) {
        GrubConfig config =
            parse_grub_config(test::grub_entry(test::kPlain, "K", "k", kOld, word, ""));
        REQUIRE(config.entries.size() == 1);
        CHECK(config.entries[0].is_recovery);
        CHECK(config.entry_of(kOld) == nullptr);
    }
    // The very first entry is another system: entry 0 is not a kernel.
    GrubConfig windows = parse_grub_config("menuentry 'W' {\n\tchainloader +1\n}\n" +
                                           test::grub_config(test::kPlain, {kNewest}));
    CHECK(windows.first == "");
    CHECK(windows.default_release("") == "");
    windows.chosen = "W";
    CHECK(windows.default_release("") == "");
    windows.chosen = "another";
    CHECK(!windows.default_release(""));
    CHECK(!parse_grub_config("").default_release(""));
}

TEST_CASE("which kernel a machine boots by itself", "[install][grub]") {
    auto of = [](const std::string& chosen, const std::string& saved = "") {
        return config_of(test::kPlain, chosen).default_release(saved);
    };
    CHECK(of("0") == kNewest);
    CHECK(of("") == kNewest);
    CHECK(of("${saved_entry}") == kNewest);
    CHECK(of("${saved_entry}", "gnulinux-" + kOld + "-advanced-1111-22") == kOld);
    CHECK(of("gnulinux-advanced-1111-22>gnulinux-" + kOld + "-advanced-1111-22") == kOld);
    CHECK(of("Debian GNU/Linux, with Linux " + kOld) == kOld);
    CHECK(!of("1>2"));
    CHECK(!of("1>0"));
    CHECK(!of("2"));
    CHECK(!of("another"));
}

TEST_CASE("our part goes as it came, whatever is around it", "[install][grub]") {
    std::mt19937 random(20261121);
    auto text_of = [&random](bool ends) {
        std::string text;
        for (unsigned i = random() % 5; i > 0; i--)
            text += std::string(random() % 3, 'x') + "\n";
        return ends ? text : text + "y";
    };
    for (int round = 0; round < 500; round++) {
        std::string before = text_of(random() % 2), body = text_of(true), other = text_of(true);
        auto parted = find_part(before);
        REQUIRE(parted.ok());
        CHECK(parted->part.empty());
        std::string once = parted->with(body);
        auto again = find_part(once);
        REQUIRE(again.ok());
        CHECK(again->part.find(body) != std::string::npos);
        CHECK(again->without() == before);
        CHECK(again->with(body) == once);
        auto changed = find_part(again->with(other));
        REQUIRE(changed.ok());
        CHECK(changed->without() == before);
        // What people add after it stays, in lines of its own.
        auto longer = find_part(once + "added\n");
        REQUIRE(longer.ok());
        bool is_partial = !before.empty() && before.back() != '\n';
        CHECK(longer->without() == before + (is_partial ? "\n" : "") + "added\n");
    }
}

TEST_CASE("a part whose marker lines were changed is refused", "[install][grub]") {
    std::string good = find_part("a\n")->with("b\n");
    std::string first = good.substr(2, good.find('\n', 2) - 1), last = "### END daybreak ###\n";
    for (const std::string& wrong :
         {"a\n" + first + "b\n", "a\nb\n" + last, good + good, "a\n" + first + first + "b\n" + last,
          "a\n" + first.substr(0, first.size() - 6) + "\nb\n" + last}) {
        auto parted = find_part(wrong);
        REQUIRE(!parted.ok());
        CHECK(parted.error().code() == base::ErrorCode::corrupt);
    }
    CHECK(find_part("echo ### BEGIN daybreak\n")->part.empty());
}

TEST_CASE("variables of an environment block", "[install][grub]") {
    std::string block =
        test::grub_environment("saved_entry=a>b\nnext_entry=\nodd=x\\\\y\nx_next=1\n");
    CHECK(grub_variable(block, "saved_entry") == "a>b");
    CHECK(grub_variable(block, "next_entry") == "");
    CHECK(grub_variable(block, "odd") == "x\\y");
    CHECK(!grub_variable(block, "next"));
    CHECK(!grub_variable("", "next_entry"));
}

TEST_CASE("of several entries of a kernel in GRUB's menu the one that boots is copied",
          "[install][grub]") {
    auto arguments_of = [](const std::string& before, const std::string& chosen,
                           const std::string& release, const std::string& after = "") {
        GrubConfig config = parse_grub_config(
            before + test::grub_config(test::kPlain, {kNewest, kOld}, chosen) + after);
        const GrubEntry* entry = config.entry_of(release);
        std::string text = entry ? "" : std::to_string(config.entries_of(release).size());
        for (size_t i = 0; entry && i < entry->arguments.size(); i++)
            text += (i ? " " : "") + entry->arguments[i];
        return text;
    };
    const std::string usual = "root=UUID=1111-22 ro quiet", by_id = "gnulinux-simple-1111-22";
    auto other = [](const std::string& release, const std::string& words, const char* id) {
        return test::grub_entry(test::kPlain, "Repair the disk", id, release, words, "");
    };
    // Before the distribution's, which is the default one by its ID.
    CHECK(arguments_of(other(kNewest, "root=UUID=OTHER", "r"), by_id, kNewest) == usual);
    // The default one is what a person wrote: it boots anyway.
    CHECK(arguments_of(other(kNewest, "debug", "r"), "0", kNewest) == "root=UUID=1111-22 ro debug");
    // Not of the default entry's kernel: the distribution's, whatever is before them.
    CHECK(arguments_of(other(kOld, "root=UUID=OTHER", "r"), by_id, kOld) == usual);
    CHECK(arguments_of(other(kOld, "debug", "osprober-gnulinux-1"), by_id, kOld) == usual);
    CHECK(arguments_of(other(kOld, "debug", "gnulinux-other"), by_id, kOld) == "2");
    // Two without such an ID that boot the same, or not.
    CHECK(arguments_of(other("5.1", "a", "1") + other("5.1", "a", "2"), by_id, "5.1") ==
          "root=UUID=1111-22 ro a");
    CHECK(arguments_of(other("5.1", "a", "1") + other("5.1", "b", "2"), by_id, "5.1") == "2");
    for (const char* words : {"systemd.unit=rescue.target", "systemd.unit=emergency.target",
                              "init=/bin/sh", "S", "1"}) {
        CHECK(arguments_of(other("5.1", words, "r"), by_id, "5.1") == "0");
        CHECK(arguments_of(other("5.1", words, "r") + other("5.1", "a", "u"), by_id, "5.1") ==
              "root=UUID=1111-22 ro a");
    }
    // Every entry has it: it is what the machine boots.
    CHECK(arguments_of(other(kNewest, "init=/sbin/x", "d") + other("5.1", "init=/sbin/x", "r"), "d",
                       "5.1") == "root=UUID=1111-22 ro init=/sbin/x");
}
