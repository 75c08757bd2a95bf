// SPDX-License-Identifier: Apache-2.0
//
// ProbeIndex: the probes of a session, looked up by description.
//
// A kernel lists its 80 000 probes slowly, so the session is asked for them when they are first
// needed, and again only when probes were made since and that matters.
#pragma once

#include "live/session/session.hpp"

#include <set>

namespace daybreak::live {

class ProbeIndex {
public:
    /// The session must outlive it.
    explicit ProbeIndex(Session& session) : session_(session) {}

    /// Returns whether a description names any probe; one that only exists because it is named
    /// (profile-97) is made.
    bool exists(const formats::DofProbeName& description);
    /// Returns how many a description of a compiled program means.
    uint32_t count(const formats::DofProbeName& description);
    /// Returns them, in the order of ids.
    /// They live until the next call.
    std::vector<const SessionProbe*> matches(const formats::DofProbeName& description);
    /// Returns all; they live until the next call.
    std::span<const SessionProbe> all();
    /// What went wrong when the session was asked; "" when nothing did.
    const std::string& error() const { return error_; }

private:
    base::Result<uint32_t> make(const formats::DofProbeName& description);
    void read();

    Session& session_;
    bool known_ = false, outdated_ = false;
    std::span<const SessionProbe> probes_;
    std::set<std::string> matched_; // descriptions whose probes were made
    std::string error_;
};

} // namespace daybreak::live
