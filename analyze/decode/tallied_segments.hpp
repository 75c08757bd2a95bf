// SPDX-License-Identifier: Apache-2.0
//
// TalliedSegments: how many records at the beginning of each segment of a CPU were counted already.
//
// There may be millions of segments, of which all or none was counted for the most part: a stretch
// of them that are alike is one number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace daybreak::analyze {

constexpr uint32_t kAllTallied = UINT32_MAX;

class TalliedSegments {
public:
    TalliedSegments() = default;
    explicit TalliedSegments(size_t segments)
        : stretches_((segments + kStretch - 1) / kStretch), size_(segments) {}

    size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    uint32_t operator[](size_t segment) const {
        const Stretch& stretch = stretches_[segment / kStretch];
        return stretch.counts.empty() ? stretch.all : stretch.counts[segment % kStretch];
    }
    void set(size_t segment, uint32_t count) {
        Stretch& stretch = stretches_[segment / kStretch];
        if ((*this)[segment] == count)
            return;
        if (stretch.counts.empty())
            stretch.counts.assign(kStretch, stretch.all);
        stretch.counts[segment % kStretch] = count;
        stretch.whole += count == kAllTallied;
        if (stretch.whole == kStretch)
            stretch = {kAllTallied, kStretch, {}};
    }

private:
    static constexpr size_t kStretch = 1024;
    struct Stretch {
        uint32_t all = 0;             // of each, when `counts` is empty
        uint32_t whole = 0;           // how many are kAllTallied
        std::vector<uint32_t> counts; // of each
    };
    std::vector<Stretch> stretches_;
    size_t size_ = 0;
};

} // namespace daybreak::analyze
