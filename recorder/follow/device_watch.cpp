// SPDX-License-Identifier: Apache-2.0
//
// Looking for the device, and for rings that are new or gone.
#include "recorder/follow/device_watch.hpp"

#include "recorder/follow/ring_metadata.hpp"

#include <cstring>

namespace daybreak::recorder {

namespace {

/// Regions are listed anew when their count changed, and this often in any case.
constexpr uint64_t kListNs = 10'000'000'000;
constexpr uint64_t kDeviceRetryNs = 2'000'000'000;

} // namespace

Result<void> DeviceWatch::open() {
    DBK_TRY(device_, host_.open_device());
    Result<dbk_ioc_status> status = check_version(*device_);
    if (status.ok())
        return {};
    device_.reset();
    return std::move(status).error();
}

Result<void> DeviceWatch::update() {
    bool opened = !device_;
    if (opened)
        DBK_TRY_VOID(open());
    DBK_TRY(dbk_ioc_status status, device_->status());
    uint64_t now_ns = host_.clocks().mono_ns;
    bool same = status.ring_count == listed_.ring_count &&
                status.region_count == listed_.region_count && now_ns < next_list_ns_;
    if (opened || !same) {
        DBK_TRY_VOID(rings_.update(*device_));
        if (opened)
            DBK_TRY_VOID(enable_programs());
        listed_ = status;
        next_list_ns_ = now_ns + kListNs;
    }
    if (!rings_.empty())
        return {};
    rings_.clear(); // a module that nothing records in can be unloaded
    device_.reset();
    std::string reason(status.reason, strnlen(status.reason, sizeof(status.reason)));
    return base::errorf(ErrorCode::not_found, "nothing records: %s",
                        !options_.rings.empty() ? "the rings that --ring names are not there"
                        : reason.empty() ? "the module was loaded without a program, or it was "
                                           "claimed; enable a program with -s, or wait with --wait"
                                         : reason.c_str());
}

Result<void> DeviceWatch::find(const std::function<void()>& waiting) {
    for (;;) {
        Result<void> found = update();
        bool absent = !found.ok() && found.error().code() == ErrorCode::not_found;
        if (!absent || !options_.wait)
            return found;
        waiting();
        if (host_.wait(kDeviceRetryNs).stop)
            return base::errorf(ErrorCode::interrupted, "interrupted; there was nothing to record");
    }
}

/// Enables the programs that no ring has yet, and lets them go: they outlive this process.
Result<void> DeviceWatch::enable_programs() {
    for (const NamedProgram& program : options_.programs) {
        uint16_t there = 0;
        for (auto& [id, ring] : rings_.rings())
            there = has_program(ring.regions.metadata(), program.dof) ? id : there;
        if (there == 0) {
            DBK_TRY(there, device_->enable(program.dof, program.name));
            if (std::string remark = device_->remark(); !remark.empty())
                host_.say(remark);
            DBK_TRY_VOID(device_->detach(there));
        }
        rings_.want(there);
        DBK_TRY_VOID(rings_.update(*device_));
    }
    return {};
}

} // namespace daybreak::recorder
