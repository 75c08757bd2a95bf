// SPDX-License-Identifier: Apache-2.0
//
// TriggerKeeper: has the files around each trigger kept.
#pragma once

#include "recorder/follow/follower.hpp"

namespace daybreak::recorder {

class TriggerKeeper {
public:
    TriggerKeeper(FollowHost& host, const FollowOptions& options, WriteQueue& queue,
                  formats::RecorderStatus& status)
        : host_(host), options_(options), queue_(queue), status_(status) {}

    /// Keeps what is around the triggers that the machine's metadata has got since the last call.
    /// Those from before the recorder began are not `news`, but their files are kept.
    void take(const std::vector<Bytes>& metadata, bool news);
    /// The module was unloaded: another load counts triggers anew.
    void forget() { sequence_ = 0; }
    /// Keeps what is around `when`.
    void pin(const std::string& name, const formats::HostClocks& when, bool news = true);

private:
    FollowHost& host_;
    const FollowOptions& options_;
    WriteQueue& queue_;
    formats::RecorderStatus& status_;
    uint64_t sequence_ = 0; // of the last trigger taken
};

} // namespace daybreak::recorder
