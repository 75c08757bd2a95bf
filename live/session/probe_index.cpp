// SPDX-License-Identifier: Apache-2.0
//
// ProbeIndex: the probes of a session, looked up by description.
#include "live/session/probe_index.hpp"

#include "engine/sim/bare_host.hpp"

#include <algorithm>

namespace daybreak::live {

namespace {

bool fits(const formats::DofProbeName& description, const SessionProbe& probe) {
    return description.id != 0 ? probe.id == description.id : sim::names_match(description, probe);
}

} // namespace

void ProbeIndex::read() {
    auto probes = session_.probes();
    probes_ = probes.ok() ? *probes : std::span<const SessionProbe>();
    if (!probes.ok())
        error_ = probes.error().message();
    known_ = true;
    outdated_ = false;
}

/// Has the probes made that only exist because they are named.
base::Result<uint32_t> ProbeIndex::make(const formats::DofProbeName& description) {
    auto made = session_.make_named(description);
    if (!made.ok())
        error_ = made.error().message();
    return made;
}

std::span<const SessionProbe> ProbeIndex::all() {
    if (!known_ || outdated_)
        read();
    return probes_;
}

bool ProbeIndex::exists(const formats::DofProbeName& description) {
    auto found = [this, &description] {
        return std::ranges::any_of(
            probes_, [&](const SessionProbe& probe) { return fits(description, probe); });
    };
    if (description.id == 0) {
        auto made = make(description);
        if (!made.ok())
            return false;
        if (*made != 0) {
            outdated_ = true;
            return true;
        }
    }
    // The list may be older than what was made just now; it is read again when it matters.
    if (known_ && found()) {
        outdated_ |= description.id == 0;
        return true;
    }
    read();
    return found();
}

uint32_t ProbeIndex::count(const formats::DofProbeName& description) {
    if (description.id == 0) {
        auto made = make(description);
        if (made.ok() && *made != 0)
            return *made;
        matched_.insert(description.text());
        outdated_ = true;
    }
    return static_cast<uint32_t>(matches(description).size());
}

std::vector<const SessionProbe*> ProbeIndex::matches(const formats::DofProbeName& description) {
    std::vector<const SessionProbe*> found;
    // With -l it was not asked for before.
    if (description.id == 0 && matched_.insert(description.text()).second) {
        static_cast<void>(make(description));
        outdated_ = true;
    }
    for (const SessionProbe& probe : all())
        if (fits(description, probe))
            found.push_back(&probe);
    return found;
}

} // namespace daybreak::live
