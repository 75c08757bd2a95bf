// SPDX-License-Identifier: Apache-2.0
//
// Reading DOF: untrusted bytes into a DofProgram, checked.
//
// The reader checks what makes an image readable: every length, offset, alignment, section
// reference and string.  It does not verify DIF: that is the engine's, before anything runs.
#pragma once

#include "base/byte_reader.hpp"
#include "formats/dof/dof_program.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace daybreak::formats {

/// A section as its header describes it.
struct DofSection {
    dof_section header{};
    /// Returns "ecbdesc", "LINES", or "type 0x..." for an unknown one.
    std::string type_name() const;
};

struct DofImage {
    dof_header header{};
    std::vector<DofSection> sections;
    DofProgram program;

    /// Returns the ECB whose ECBDESC is that section, or null.
    const DofEcb* ecb_at(uint32_t section) const;
};

/// Returns the image in `untrusted`, which may be longer than the image.
///
/// Accepts DOF versions 1 and 2, LP64, little-endian, DIF versions 1 and 2.  Sections of unknown
/// types are listed and passed over.
/// Errors: truncated (ends early), corrupt (contradicts itself), unsupported (another version,
///         data model or byte order), limit, invalid (not DOF).
base::Result<DofImage> parse_dof(base::ByteView untrusted);

/// Returns whether the bytes begin as a DOF image does.
bool looks_like_dof(base::ByteView untrusted);

} // namespace daybreak::formats
