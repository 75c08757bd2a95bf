// SPDX-License-Identifier: Apache-2.0
//
// WantedProbes: whose records count and print.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

namespace daybreak::analyze {

/// Probes that were asked for, by ring; one that was just made: all probes.
class WantedProbes {
public:
    WantedProbes() = default;
    /// None yet.  `description` is what they have to match, for messages.
    explicit WantedProbes(std::string description) : description_(std::move(description)) {}

    void add(uint16_t ring_id, uint32_t probe_id) { probes_.emplace(ring_id, probe_id); }

    bool is_set() const { return !description_.empty(); }
    bool has(uint16_t ring_id, uint32_t probe_id) const {
        return !is_set() || probes_.contains({ring_id, probe_id});
    }
    bool empty() const { return probes_.empty(); }
    const std::string& description() const { return description_; }

private:
    std::string description_;
    std::set<std::pair<uint16_t, uint32_t>> probes_;
};

} // namespace daybreak::analyze
