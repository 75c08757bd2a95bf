// SPDX-License-Identifier: Apache-2.0
#include "compiler/types/kernel_release.hpp"

namespace daybreak::compiler {

namespace {

constexpr uint64_t kVersionPointerOffset = 0x20e; // u16: where the version text is, less 0x200
constexpr uint64_t kVersionBase = 0x200;
constexpr size_t kReleaseBytesMax = 64; // utsname's field, NUL included

} // namespace

std::string release_of_kernel_image(base::ByteView untrusted_image) {
    base::ByteReader reader(untrusted_image, "kernel image");
    auto magic = reader.read_at<uint32_t>(kSetupMagicAt);
    auto pointer = reader.read_at<uint16_t>(kVersionPointerOffset);
    if (!magic.ok() || *magic != kSetupMagic || !pointer.ok() || *pointer == 0)
        return "";
    auto version = reader.string_at(kVersionBase + *pointer);
    if (!version.ok())
        return "";
    std::string_view release = version->substr(0, version->find(' '));
    return release.size() < kReleaseBytesMax ? std::string(release) : "";
}

} // namespace daybreak::compiler
