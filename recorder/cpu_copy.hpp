// SPDX-License-Identifier: Apache-2.0
//
// Copying all segments of one CPU while it goes on writing them.
//
// A segment that is opened in a slot the reader has passed is missed, although its successors, in
// slots still to come, are not: the copy would have a hole that looks like a loss.
//
//     slot      0    1    2    3          the reader is at slot 2 when the CPU goes on from
//     was      101  102   99  100         102 to 104: it has seen 101, 102, then sees 103 where 99
//     is       101  102  103  104         was, and 104.  Had it been at slot 3, only 104: 103 is
//     missed.
//
// In the same way a segment is copied half when it was the open one and its successor is copied
// too. So the slots are gone through again until no hole and no half is left; only what changed is
// copied, which is far faster than a CPU fills segments.  Copies stay in memory until then:
// compressing between them would give the CPU all the time it needs.
#pragma once

#include "recorder/device.hpp"

#include <map>
#include <span>

namespace daybreak::recorder {

/// How often the slots are gone through.
constexpr int kCpuPassesMax = 16;

struct CpuCopy {
    std::map<uint64_t, Bytes> segments; ///< by sequence
    size_t slots_refused = 0;           ///< whose sizes contradict themselves, in the last pass
    bool holes_closed = true;           ///< false: there is a hole among the newest
};

/// Copies what lies in the CPU's regions.  A hole that no pass closed, be it damage or a CPU faster
/// than every pass, stays: the accounting reports it as missing segments.
CpuCopy copy_live_cpu(std::span<const ByteView> regions);

} // namespace daybreak::recorder
