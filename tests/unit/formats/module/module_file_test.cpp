// SPDX-License-Identifier: Apache-2.0
#include "formats/module/module_file.hpp"

#include "base/elf_header.hpp"
#include "base/file.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <ctime>
#include <elf.h>

using namespace daybreak;
using formats::EmbeddedImage;

namespace {

base::Bytes bytes_of(size_t count, char fill) {
    return base::Bytes(count, static_cast<std::byte>(fill));
}

base::Bytes fake_module() {
    return base::read_file(FAKE_MODULE).value();
}

} // namespace

TEST_CASE("embedding gives back the images, their names and the kernel", "[formats][module]") {
    auto empty = formats::read_module(fake_module());
    REQUIRE(empty.ok());
    CHECK(empty->images.empty());
    CHECK(empty->release == "6.1.0-test-amd64");

    std::vector<EmbeddedImage> images = {{"boot", bytes_of(1001, 'a')}, {"net", bytes_of(8, 'b')}};
    auto once = formats::embed_images(fake_module(), images);
    REQUIRE(once.ok());
    auto info = formats::read_module(*once);
    REQUIRE(info.ok());
    REQUIRE(info->images.size() == 2);
    CHECK(info->images[0].name == "boot");
    CHECK(info->images[0].dof == images[0].dof);
    CHECK(info->images[1].dof == images[1].dof);
    CHECK(info->release == "6.1.0-test-amd64");
}

TEST_CASE("embedding again replaces what was embedded", "[formats][module]") {
    auto large = formats::embed_images(fake_module(), {{"large", bytes_of(1 << 20, 'x')}});
    REQUIRE(large.ok());
    auto small = formats::embed_images(*large, {{"small", bytes_of(16, 'y')}});
    REQUIRE(small.ok());
    CHECK(formats::read_module(*small)->images.at(0).name == "small");
    CHECK(small->size() < large->size());
}

TEST_CASE("a file that is not a module is refused in words", "[formats][module]") {
    auto text = formats::read_module(base::as_bytes("hello"));
    REQUIRE_FALSE(text.ok());
    CHECK(text.error().message() == "not a kernel module (expected a relocatable x86-64 ELF file)");
    auto program = formats::read_module(base::read_file("/proc/self/exe").value());
    CHECK_FALSE(program.ok());
}

TEST_CASE("a module that is compressed or cut short is refused as that", "[formats][module]") {
    for (const char* magic : {"\xfd"
                              "7zXZ",
                              "\x28\xb5\x2f\xfd", "\x1f\x8b"})
        CHECK(formats::read_module(base::as_bytes(magic)).error().code() ==
              base::ErrorCode::unsupported);
    const base::Bytes whole = fake_module();
    REQUIRE(formats::read_module(whole).ok());
    for (size_t length = SELFMAG; length < whole.size(); length++) {
        auto cut = formats::read_module(base::ByteView(whole).first(length));
        REQUIRE_FALSE(cut.ok());
        CHECK(cut.error().code() == base::ErrorCode::truncated);
    }
}

/// An ELF file of many sections whose names are all in a table without a NUL.
base::Bytes endless_names(size_t table_bytes) {
    constexpr size_t kSections = 20'000;
    Elf64_Ehdr header = base::elf_header(ET_REL);
    header.e_shoff = sizeof(header);
    header.e_shnum = kSections;
    header.e_shstrndx = 1;
    std::vector<Elf64_Shdr> sections(kSections);
    size_t table_at = sizeof(header) + kSections * sizeof(Elf64_Shdr);
    for (size_t i = 1; i < kSections; i++)
        sections[i] = {.sh_name = 1, .sh_type = SHT_STRTAB, .sh_flags = 0, .sh_addr = 0,
                       .sh_offset = table_at, .sh_size = table_bytes, .sh_link = 0, .sh_info = 0,
                       .sh_addralign = 1, .sh_entsize = 0};
    base::Bytes file(table_at + table_bytes, std::byte{'A'});
    std::memcpy(file.data(), &header, sizeof(header));
    std::memcpy(file.data() + sizeof(header), sections.data(), kSections * sizeof(Elf64_Shdr));
    return file;
}

TEST_CASE("a table of names without an end takes no longer to be refused", "[formats][module]") {
    auto cpu_time = [](size_t table_bytes) {
        base::Bytes file = endless_names(table_bytes);
        std::clock_t start = std::clock();
        auto module = formats::read_module(file);
        REQUIRE_FALSE(module.ok());
        CHECK(module.error().message().starts_with("not Daybreak's kernel module"));
        return std::clock() - start;
    };
    std::clock_t small = cpu_time(1 << 10);
    CHECK(cpu_time(8 << 20) < 20 * small + CLOCKS_PER_SEC / 2); // copied once, not read 20000 times
}

TEST_CASE("images that do not fit the container are refused", "[formats][module]") {
    CHECK_FALSE(formats::build_container({{"", bytes_of(1, 'a')}}).ok());
    CHECK(formats::build_container({{std::string(31, 'n'), bytes_of(1, 'a')}}).ok());
    CHECK_FALSE(formats::build_container({{std::string(32, 'n'), bytes_of(1, 'a')}}).ok());
    CHECK_FALSE(formats::build_container({{"empty", {}}}).ok());
    std::vector<EmbeddedImage> many(32, {"n", bytes_of(1, 'a')});
    CHECK(formats::build_container(many).ok());
    many.push_back(many[0]);
    CHECK_FALSE(formats::build_container(many).ok());
}

TEST_CASE("native parts are of the programs whose DOF they have", "[formats][module]") {
    const dbk_native_part head = {DBK_NATIVE_MAGIC, 5, 2};
    const auto* first = reinterpret_cast<const std::byte*>(&head);
    base::Bytes section = bytes_of(8, '\0'); // a gap
    section.insert(section.end(), first, first + sizeof(head));
    section.insert(section.end(), {std::byte{DBK_NATIVE_WHOLE}, std::byte{DBK_NATIVE_VALUES}});
    base::Bytes dof = bytes_of(5, 'a');
    section.insert(section.end(), dof.begin(), dof.end());
    formats::ModuleFileInfo module;
    module.natives = formats::parse_native_parts(section).value();
    REQUIRE(module.natives.size() == 1);
    CHECK(module.natives[0].ways == std::vector{DBK_NATIVE_WHOLE, DBK_NATIVE_VALUES});
    CHECK(module.native_of({"boot", dof}) == module.natives.data());
    CHECK(module.native_of({"signed", bytes_of(9, 'a')}) == module.natives.data());
    CHECK(module.native_of({"short", bytes_of(4, 'a')}) == nullptr);
    CHECK(module.native_of({"other", bytes_of(5, 'b')}) == nullptr);
    for (size_t length = 9; length < section.size(); length++)
        CHECK_FALSE(formats::parse_native_parts(base::ByteView(section).first(length)).ok());
    section[sizeof(head) + 8] = std::byte{DBK_NATIVE_WAY_COUNT};
    CHECK_FALSE(formats::parse_native_parts(section).ok());
}

TEST_CASE("every cut of a module or container is an error, never a crash", "[formats][module]") {
    auto container = formats::build_container({{"boot", bytes_of(40, 'a')}}).value();
    for (size_t length = 0; length < container.size(); length++)
        CHECK_FALSE(formats::parse_container(base::ByteView(container).first(length)).ok());
    base::Bytes module = formats::embed_images(fake_module(), {{"b", bytes_of(9, 'a')}}).value();
    size_t good = 0;
    for (size_t length = 0; length < module.size(); length++)
        good += formats::read_module(base::ByteView(module).first(length)).ok();
    CHECK(good == 0);
}
