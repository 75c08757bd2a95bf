// SPDX-License-Identifier: Apache-2.0
//
// What a session asks the machine, answered by a test: a clock that goes on by itself, and symbols.
#pragma once

#include "live/session/session.hpp"
#include "tests/unit/recorder/fake_device.hpp"

namespace daybreak::test {

/// Outlives the sessions that are given outside().
struct SessionMachine {
    uint64_t mono_ns = 1'000'000'000;
    uint64_t tick_ns = 1'000'000'000; ///< by which each reading of the clocks is later
    uint64_t readings = 0;
    bool interrupted = false;
    FakeSymbols kernel;

    live::SessionOutside outside() {
        auto clocks = [this] {
            readings++;
            mono_ns += tick_ns;
            return formats::HostClocks{mono_ns, mono_ns, mono_ns};
        };
        return {clocks, [this] { return interrupted; }, &kernel};
    }
};

} // namespace daybreak::test
