// SPDX-License-Identifier: Apache-2.0
//
// /dev/daybreak as the recorder sees it.
//
// An interface, so that tests record from a ring in ordinary memory.  formats/abi/ioctl.md is what
// the real one talks.
#pragma once

#include "live/ring_memory.hpp"

#include <memory>
#include <optional>
#include <string>

namespace daybreak::recorder {

using base::Bytes;
using base::ByteView;
using base::Error;
using base::ErrorCode;
using base::Result;
using live::MappedRegion;
using live::Mapping;

class DeviceApi : public live::RingMemory {
public:
    virtual Result<dbk_ioc_status> status() = 0;
    /// Returns the region, empty after the last.
    virtual Result<std::optional<dbk_ioc_region>> region(uint32_t index) = 0;
    /// Listed again until none came or went meanwhile.
    Result<std::vector<dbk_ioc_region>> regions() override;
    /// Makes a ring without an owner the caller's, with 0 the oldest, and returns its id; empty when
    /// there is none.  Error: busy, when another process has it.
    virtual Result<std::optional<uint16_t>> claim(uint16_t ring_id = 0) = 0;
    /// Says who holds a ring.  Error: unsupported, when the module is too old to say.
    virtual Result<dbk_ioc_holder> holder([[maybe_unused]] uint16_t ring_id) {
        return dbk_ioc_holder{};
    }
    /// Lets go of a ring of the caller's: it goes on when the device is closed, and belongs to no process.
    virtual Result<void> detach(uint16_t ring_id) = 0;
    /// Fires END; nothing is recorded after it.  Stopping what is stopped is fine.
    virtual Result<void> stop(uint16_t ring_id) = 0;
    struct Probe {
        uint32_t probe_id = 0;
        std::string provider, module, function, name;
    };
    /// Returns the probe, in the order of ids; empty after the last.
    /// Index 0 publishes all functions first, unless only what exists is asked for.
    virtual Result<std::optional<Probe>> probe(uint32_t index, bool only_existing = false) = 0;

    /// Publishes the probes that exist only because a program names them.  Returns how many there
    /// are that the description names; 0 as well when the module is too old to say.
    virtual Result<uint32_t> count(const dbk_ioc_provide& description) = 0;
    /// Verifies a program, arms its probes and fires BEGIN.  Returns its ring, the caller's, which
    /// has this name, or, without one, the process'.
    /// Errors: invalid, limit, unsupported (another kernel's types): why, in a sentence; busy:
    ///         another ring has that name.
    virtual Result<uint16_t> enable(ByteView dof, const std::string& name = {}) = 0;
    /// What the program that was enabled last may not do here, a sentence, or "".
    virtual std::string remark() const { return {}; }
    /// What is in reserved memory, of one ring or, with 0, of all.
    virtual Result<dbk_ioc_bank> bank([[maybe_unused]] uint16_t ring_id = 0) {
        return dbk_ioc_bank{};
    }
};

/// Checks that the module speaks this program's version and returns its status.
/// Error: unsupported, when it speaks another.
Result<dbk_ioc_status> check_version(DeviceApi& device);

/// Opens the device.  What it claims is its own until it is destroyed.
/// Errors: not_found, when the module is not loaded; io, with what to do when not permitted.
Result<std::unique_ptr<DeviceApi>> open_device(const std::string& path = DBK_DEVICE_PATH);

} // namespace daybreak::recorder
