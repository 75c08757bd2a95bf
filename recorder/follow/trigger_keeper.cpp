// SPDX-License-Identifier: Apache-2.0
//
// From triggers to the files that stay.
#include "recorder/follow/trigger_keeper.hpp"

#include "recorder/follow/ring_metadata.hpp"

#include <algorithm>

namespace daybreak::recorder {

void TriggerKeeper::take(const std::vector<Bytes>& metadata, bool news) {
    for (const dbk_meta_trigger& trigger : triggers_after(metadata, sequence_)) {
        sequence_ = trigger.sequence;
        if (trigger.kind == DBK_TRIGGER_SLEEP || trigger.kind == DBK_TRIGGER_CLOCK)
            continue; // notes for who reads times
        formats::HostClocks when;
        when.mono_ns = trigger.mono_ns;
        when.wall_ns = trigger.wall_ns;
        pin(trigger.name, when, news);
    }
}

void TriggerKeeper::pin(const std::string& name, const formats::HostClocks& when, bool news) {
    queue_.add({.kind = WriteJob::Kind::pin,
                .trigger = name,
                .from_mono_ns = when.mono_ns - std::min(when.mono_ns, options_.trigger_before_ns),
                .to_mono_ns = when.mono_ns + options_.trigger_after_ns});
    if (!news)
        return;
    status_.last_trigger = {name, static_cast<double>(when.wall_ns) / 1e9};
    status_.triggers++;
    host_.say("trigger " + name + ": the files around it are kept");
}

} // namespace daybreak::recorder
