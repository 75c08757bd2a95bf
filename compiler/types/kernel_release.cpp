// SPDX-License-Identifier: Apache-2.0
#include "compiler/types/kernel_release.hpp"

#include <algorithm>
#include <string_view>

namespace daybreak::compiler {

namespace {

constexpr uint64_t kVersionPointerOffset = 0x20e; // u16: where the version text is, less 0x200
constexpr uint64_t kVersionBase = 0x200;
constexpr size_t kReleaseBytesMax = 64; // utsname's field, NUL included

/// The text up to a blank, when it can be a release.
std::string first_word(std::string_view version) {
    std::string_view release = version.substr(0, version.find(' '));
    return release.size() < kReleaseBytesMax ? std::string(release) : "";
}

/// A vmlinux has its banner among its constants: "Linux version RELEASE (...".
std::string release_in_banner(std::string_view vmlinux) {
    constexpr std::string_view kBanner = "Linux version ";
    for (size_t at = vmlinux.find(kBanner); at != vmlinux.npos; at = vmlinux.find(kBanner, at)) {
        at += kBanner.size();
        std::string_view version = vmlinux.substr(at, kReleaseBytesMax + 1);
        std::string release = first_word(version);
        if (!release.empty() && version.substr(release.size()).starts_with(" (") &&
            std::all_of(release.begin(), release.end(), [](char c) { return c > ' ' && c < 0x7f; }))
            return release;
    }
    return "";
}

} // namespace

std::string release_of_kernel_image(base::ByteView untrusted_image) {
    std::string_view text(reinterpret_cast<const char*>(untrusted_image.data()),
                          untrusted_image.size());
    if (text.starts_with("\x7f"
                         "ELF"))
        return release_in_banner(text);
    base::ByteReader reader(untrusted_image, "kernel image");
    auto magic = reader.read_at<uint32_t>(kSetupMagicAt);
    auto pointer = reader.read_at<uint16_t>(kVersionPointerOffset);
    if (!magic.ok() || *magic != kSetupMagic || !pointer.ok() || *pointer == 0)
        return "";
    auto version = reader.string_at(kVersionBase + *pointer);
    if (!version.ok())
        return "";
    return first_word(*version);
}

} // namespace daybreak::compiler
