// SPDX-License-Identifier: Apache-2.0
//
// RawBudget: how much files may unpack to.
#pragma once

#include <cstdint>

namespace daybreak::formats {

/// What the files of one reading may unpack to, all blocks counted: a small file must not fill the
/// memory.
class RawBudget {
public:
    static constexpr uint64_t kBytesAlways = 256u << 20, kPerFileByte = 256;

    void add_file(uint64_t file_bytes) { left_ += file_bytes * kPerFileByte; }
    /// Returns whether so many bytes were left; they are not any more.
    bool take(uint64_t bytes) {
        bool enough = bytes <= left_;
        left_ -= enough ? bytes : 0;
        return enough;
    }

private:
    uint64_t left_ = kBytesAlways;
};

} // namespace daybreak::formats
