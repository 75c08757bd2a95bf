// SPDX-License-Identifier: Apache-2.0
#include "compiler/types/kernel_release.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;

namespace {

std::string image_with(const std::string& version) {
    std::string image(0x400, '\0');
    image.replace(0x202, 4, "HdrS");
    image[0x20e] = '\x80'; // 0x200 + 0x80
    image.replace(0x280, version.size(), version);
    return image;
}

} // namespace

TEST_CASE("a kernel image's release is the first word of its version", "[compiler][types]") {
    std::string image = image_with("6.1.0-56-amd64 (debian-kernel@example) #1 SMP");
    CHECK(compiler::release_of_kernel_image(base::as_bytes(image)) == "6.1.0-56-amd64");
}

TEST_CASE("what is not a kernel image, or a cut one, has no release", "[compiler][types]") {
    CHECK(compiler::release_of_kernel_image(base::as_bytes("hello")).empty());
    CHECK(compiler::release_of_kernel_image(base::as_bytes(image_with(std::string(70, 'x'))))
              .empty());
    std::string image = image_with("6.1.0");
    for (size_t length = 0; length < 0x286; length++)
        CHECK(compiler::release_of_kernel_image(base::as_bytes(image.substr(0, length))).empty());
    std::string far = image;
    far[0x20e] = far[0x20f] = '\xff';
    CHECK(compiler::release_of_kernel_image(base::as_bytes(far)).empty());
}

TEST_CASE("a vmlinux says its release in its banner", "[compiler][types]") {
    auto release = [](const std::string& constants) {
        return compiler::release_of_kernel_image(base::as_bytes("\x7f"
                                                                "ELF" +
                                                                constants));
    };
    CHECK(release("..%s version %s..Linux version 6.1.0-57-amd64 (debian@x) #1 SMP") ==
          "6.1.0-57-amd64");
    CHECK(release("Linux version %s.. Linux version 6.12-a (") == "6.12-a");
    CHECK(release("Linux version 6.1.0-57-amd64").empty());
    CHECK(release("Linux version " + std::string(64, '6') + " (").empty());
    CHECK(release("Linux version ").empty());
    CHECK(release("").empty());
    CHECK(compiler::release_of_kernel_image(base::as_bytes("Linux version 6.1 (")).empty());
}
