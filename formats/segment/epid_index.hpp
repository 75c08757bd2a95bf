// SPDX-License-Identifier: Apache-2.0
//
// EpidIndex: where in a list an EPID stands.
//
// The engine counts EPIDs from 1, so a vector finds nearly all in constant time.  An EPID far above
// the number of those that are there (metadata was lost, or the file is hostile) goes into a map:
// memory follows what the file describes, not the numbers that it names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace daybreak::formats {

class EpidIndex {
public:
    /// Enters an EPID that is not there yet.
    void add(uint32_t epid, size_t position) {
        count_++;
        if (epid >= kDenseBase + kDensePerEntry * count_) {
            sparse_.emplace(epid, position);
            return;
        }
        if (epid >= dense_.size())
            dense_.resize(size_t{epid} + 1);
        dense_[epid] = static_cast<uint32_t>(position + 1);
    }
    std::optional<size_t> find(uint32_t epid) const {
        if (epid < dense_.size() && dense_[epid] != 0) [[likely]]
            return dense_[epid] - 1;
        if (sparse_.empty())
            return std::nullopt;
        auto found = sparse_.find(epid);
        return found == sparse_.end() ? std::nullopt : std::optional(found->second);
    }

private:
    static constexpr size_t kDenseBase = 64, kDensePerEntry = 8;

    size_t count_ = 0;
    std::vector<uint32_t> dense_; // by EPID: position + 1
    std::map<uint32_t, size_t> sparse_;
};

} // namespace daybreak::formats
