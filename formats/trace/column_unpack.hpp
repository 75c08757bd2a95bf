// SPDX-License-Identifier: Apache-2.0
//
// The pieces of a COLUMNS block, bit for bit, from its payload.
#pragma once

#include "formats/trace/column_block.hpp"

namespace daybreak::formats {

/// Returns the `rows_bytes` bytes that the payload stands for; they are pieces back to back, which
/// are as untrusted as the payload.  Memory and time are bounded by rows_bytes, which is at most
/// DBK_TRACE_ROWS_BYTES_MAX, and by the payload, which is shorter than that, and has its steps.
/// Errors: truncated, corrupt, unsupported, limit.
base::Result<base::Bytes> unpack_columns(base::ByteView untrusted_payload, size_t rows_bytes,
                                         StepsPlace steps);

} // namespace daybreak::formats
