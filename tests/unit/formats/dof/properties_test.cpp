// SPDX-License-Identifier: Apache-2.0
#include "formats/dof/properties.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using namespace daybreak::formats;

namespace {

const std::vector<base::Bytes> kImages = {{std::byte{0x7f}, std::byte{0x44}, std::byte{0x00}},
                                          {std::byte{0xff}}};

std::string error_of(std::string_view text) {
    auto images = read_dof_properties(base::as_bytes(text));
    return images.ok() ? "" : images.error().message();
}

} // namespace

TEST_CASE("properties have the forms of their systems", "[formats][dof]") {
    CHECK(with_dof_properties("", DofFormat::illumos, kImages) ==
          "dof-data-0=0x7f,0x44,0x0;\ndof-data-1=0xff;\n");
    CHECK(with_dof_properties("", DofFormat::freebsd, kImages) ==
          "dof-data-0=7f4400\ndof-data-1=ff\n");
}

TEST_CASE("properties are read back, whatever is between them", "[formats][dof]") {
    for (DofFormat format : {DofFormat::illumos, DofFormat::freebsd}) {
        std::string text = with_dof_properties("name=\"dtrace\";", format, kImages);
        REQUIRE(looks_like_dof_properties(base::as_bytes(text)));
        auto images = read_dof_properties(base::as_bytes(text));
        REQUIRE(images.ok());
        CHECK(*images == kImages);
        CHECK(without_dof_properties(text) == "name=\"dtrace\";\n");
    }
    auto swapped = read_dof_properties(base::as_bytes("dof-data-1=ff\n# x\ndof-data-0=7f4400"));
    REQUIRE(swapped.ok());
    CHECK(*swapped == kImages);
}

TEST_CASE("saving again replaces what was there", "[formats][dof]") {
    std::string text = "a\ndof-data-0=00\nb\ndof-data-1=01\n";
    CHECK(with_dof_properties(text, DofFormat::freebsd, {kImages[1]}) == "a\nb\ndof-data-0=ff\n");
}

TEST_CASE("damaged properties are refused", "[formats][dof]") {
    CHECK(error_of("nothing") == "no property dof-data-0");
    CHECK(error_of("dof-data-x=00\n") == "a property dof-data-N= has no number");
    CHECK(error_of("dof-data-0\n") == "a property dof-data-N= has no number");
    CHECK(error_of("dof-data-0=00\ndof-data-0=00\n") == "dof-data-0 is there twice");
    CHECK(error_of("dof-data-0=00\ndof-data-2=00\n") ==
          "dof-data-1 is missing, dof-data-2 is there");
    CHECK(error_of("dof-data-1024=00\n") == "dof-data-1024: more than 1024 properties");
    for (const char* value : {"0x7f,0x100;", "0x7f,;", "0x7f,7f;", "0x7f", "0x7f;x", "7f4", "7g"})
        CHECK(error_of(std::string("dof-data-0=") + value + "\n") ==
              "dof-data-0: expected 0x7f,0x44,...; or 7f44..., byte after byte");
}

TEST_CASE("a file that is not text of properties is one image", "[formats][dof]") {
    auto images = dof_images_in(kImages[0]);
    REQUIRE(images.ok());
    CHECK(images->size() == 1);
    CHECK(dof_format_named("illumos") == DofFormat::illumos);
    CHECK_FALSE(dof_format_named("solaris"));
}
