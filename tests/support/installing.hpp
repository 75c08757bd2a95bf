// SPDX-License-Identifier: Apache-2.0
//
// What tests of `daybreak install` do to a machine's folder: requests, planned and carried out.
#pragma once

#include "bootloader-hooks/install/installation.hpp"
#include "tests/support/machine_folder.hpp"

#include <catch2/catch.hpp>

namespace daybreak::test {

inline const std::string kNewest = "6.12.1-amd64", kOld = "6.1.0-5-amd64";

/// One program for both kernels; the old one runs.  An archive is `content` and its kernel's
/// release.
inline install::Request request_of(install::Mode mode, const std::string& content = "cpio") {
    install::Request request;
    request.mode = mode;
    request.programs = {"boot"};
    request.kernels = {{kOld, content + kOld}, {kNewest, content + kNewest}};
    request.running_release = kOld;
    return request;
}

/// `armed_ret`: the kernel that is said to be armed.
inline install::Plan plan_of(MachineFolder& machine, const install::Request& request,
                             std::string* armed_ret = nullptr) {
    std::string armed;
    auto plan = install::plan_install(machine.host, request, armed_ret ? armed_ret : &armed);
    INFO((plan.ok() ? "" : plan.error().message()));
    REQUIRE(plan.ok());
    return *plan;
}

inline void carry_out(MachineFolder& machine, const install::Plan& plan) {
    auto done = install::apply(machine.host, plan);
    INFO((done.ok() ? "" : done.error().message()));
    REQUIRE(done.ok());
}

inline void install_it(MachineFolder& machine, const install::Request& request) {
    carry_out(machine, plan_of(machine, request));
}

inline void uninstall_it(MachineFolder& machine, bool force = false) {
    auto plan = install::plan_uninstall(machine.host, force);
    INFO((plan.ok() ? "" : plan.error().message()));
    REQUIRE(plan.ok());
    carry_out(machine, *plan);
}

/// Why that is not installed; empty: it would be.
inline std::string refusal(MachineFolder& machine, const install::Request& request) {
    std::string armed;
    auto plan = install::plan_install(machine.host, request, &armed);
    return plan.ok() ? "" : plan.error().message();
}

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

} // namespace daybreak::test
