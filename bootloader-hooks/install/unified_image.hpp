// SPDX-License-Identifier: Apache-2.0
//
// Unified kernel images: a PE file whose sections are a kernel, its initramfs, its command line and
// the os-release of the system that it boots, after those of systemd's stub.
//
// Nothing here reads or writes a file.  docs/design/0053-unified-kernel-images.md has the rest.
#pragma once

#include "base/result.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace daybreak::install {

/// A section: `size` bytes at `address` in memory, of which the first `stored` are in the file.
struct ImageSection {
    std::string name;
    size_t header = 0; ///< where its header is in the file
    uint64_t offset = 0, size = 0, address = 0, stored = 0;
};

struct UnifiedImage {
    std::string bytes; ///< of the whole file
    size_t pe_header = 0;
    uint32_t section_alignment = 0, file_alignment = 0, header_bytes = 0;
    bool is_signed = false;
    std::vector<ImageSection> sections;

    /// Returns a section's content; empty: there is none of that name.
    std::optional<std::string> section(const std::string& name) const;
    /// Returns what the kernel calls itself: .uname, else what .linux says.  "": not known.
    std::string release() const;
    /// Returns a value of .osrel, without its quotes; "" when there is none.
    std::string os_value(const std::string& key) const;
};

/// Error: corrupt, with what is wrong: not a PE file of 64 bits, or cut off.
base::Result<UnifiedImage> parse_unified_image(std::string untrusted_bytes);

/// Returns the image with other content in these sections, all of which it has, and without its
/// signature.  A section that needs more pages than it had comes after all others in memory.
/// Error: invalid: more than a PE file has room for.
base::Result<std::string> with_sections(const UnifiedImage& image,
                                        const std::map<std::string, std::string>& contents);

/// Whether an image has a signature, and is the other one but for that.
bool is_signed_copy(const std::string& bytes, const std::string& plain);

/// Returns os-release with another sort-key for systemd-boot, and ", with Daybreak" in its name.
std::string traced_os_release(const std::string& os_release);

} // namespace daybreak::install
