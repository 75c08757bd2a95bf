// SPDX-License-Identifier: Apache-2.0
//
// Small rings: what DTrace would still have in a ring of few bytes.
//
// A ring of Daybreak is at least a few segments.  When a program asks for less than one segment
// (bufpolicy=ring, bufsize=50), the newest records that fit into so many bytes of DTrace's layout
// are shown, and those before them are as overwritten as they would be there.
#pragma once

#include "analyze/decode/merge.hpp"

namespace daybreak::analyze {

/// Returns where to begin on each CPU of a small ring; empty when there is none.
MergeStarts small_ring_starts(const formats::Recording& recording);

} // namespace daybreak::analyze
