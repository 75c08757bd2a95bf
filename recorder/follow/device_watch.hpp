// SPDX-License-Identifier: Apache-2.0
//
// DeviceWatch: the device and its rings, while modules are loaded and unloaded and rings come and
// go.
#pragma once

#include "recorder/follow/follower.hpp"
#include "recorder/follow/rings.hpp"

namespace daybreak::recorder {

class DeviceWatch {
public:
    DeviceWatch(FollowHost& host, const FollowOptions& options)
        : host_(host), options_(options), rings_(options.rings) {}

    /// Opens the device if it is not, and finds out which rings there are now.  The programs of the
    /// options are enabled when it opens.
    /// Error: not_found, when nothing records: the device is closed then, so that its module can be
    ///         unloaded.
    Result<void> update();
    /// Finds the first rings; with option wait, looks until there are some, and calls `waiting`
    /// before each pause.
    /// Errors: not_found, without that option; interrupted.
    Result<void> find(const std::function<void()>& waiting);

    bool is_open() const { return device_ != nullptr; }
    DeviceApi& device() { return *device_; }
    FollowedRings& rings() { return rings_; }
    const FollowedRings& rings() const { return rings_; }

private:
    Result<void> open();
    Result<void> enable_programs();

    FollowHost& host_;
    const FollowOptions& options_;
    std::unique_ptr<DeviceApi> device_; // outlives what is mapped from it
    FollowedRings rings_;
    dbk_ioc_status listed_ = {};
    uint64_t next_list_ns_ = 0;
};

} // namespace daybreak::recorder
