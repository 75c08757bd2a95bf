// SPDX-License-Identifier: Apache-2.0
//
// The ECBs that a metadata block describes: what the records of an EPID look like.
#pragma once

#include "formats/segment/record.hpp"

namespace daybreak::formats {

/// Reads the ECBs of a metadata block into the table, as far as they do not contradict themselves or
/// it; returns why one does.
Result<void> read_ecbs(ByteView untrusted_block, EcbTable& ecbs);

} // namespace daybreak::formats
