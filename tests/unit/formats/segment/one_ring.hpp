// SPDX-License-Identifier: Apache-2.0
//
// What tests of recordings of one ring share.
#pragma once

#include "formats/segment/recording.hpp"

namespace daybreak::test {

constexpr uint64_t kPerSegment = (4096 - 128) / 16; // records of 16 bytes in a segment

inline const formats::CpuInfo& first_cpu(const formats::Recording& recording) {
    return recording.rings.at(0).cpus.at(0);
}

} // namespace daybreak::test
