// SPDX-License-Identifier: Apache-2.0
//
// FiringReader: the firings of one recorded ring in their order, and the records that each has.
#include "analyze/replay/firing_reader.hpp"

#include <algorithm>

namespace daybreak::analyze {

namespace {

/// Whether a record is of the firing of the one before it.  What a commit() released stands between
/// records of one firing, whose clauses come in the order of their EPIDs.
bool is_one_firing(const MergedRecord& before, const MergedRecord& record) {
    bool is_committed = before.record.commit_ticks != 0 || record.record.commit_ticks != 0;
    return is_same_firing(before, record) ||
           (is_committed && before.ring == record.ring && before.cpu == record.cpu &&
            before.record.ecb->probe_id == record.record.ecb->probe_id &&
            before.record.epid < record.record.epid);
}

MergeOptions options_of(const TimeWindow& window, const TalliedRecords* tallied) {
    MergeOptions options;
    options.tallied = tallied;
    options.order = MergeOrder::made;
    if (window.is_set())
        options.is_wanted = [window](const formats::RingRecording& ring, uint64_t min_ticks,
                                     uint64_t max_ticks) {
            return window.overlaps(ring.clock.mono_ns(min_ticks), ring.clock.mono_ns(max_ticks));
        };
    return options;
}

} // namespace

FiringReader::FiringReader(const formats::Recording& recording, size_t index,
                           const CaptureTable& table, const TimeWindow& window,
                           const ReplayedProbes& probes, const TalliedRecords* tallied)
    : ring_index_(index), ring_(recording.rings[index]), table_(table), window_(window),
      merge_(recording, options_of(window, tallied)) {
    make_routes(probes);
}

void FiringReader::make_routes(const ReplayedProbes& probes) {
    for (const formats::EcbInfo& ecb : ring_.ecbs.all()) {
        Route& route = routes_.emplace_back();
        auto captured = table_.probes().find(ecb.probe_id);
        if (captured == table_.probes().end())
            continue;
        const CapturedProbe& values = captured->second;
        route.captured = &values;
        route.pid = values.slot_of("pid");
        route.tid = values.slot_of("tid");
        route.ppid = values.slot_of("ppid");
        route.uid = values.slot_of("uid");
        route.gid = values.slot_of("gid");
        route.execname = values.slot_of("execname");
        bool is_own = values.is_of_engine();
        route.is_begin = is_own && values.info.name == "BEGIN";
        route.is_end = is_own && values.info.name == "END";
        if (auto probe = probes.find(ecb.probe_id); probe != probes.end())
            route.probe = probe->second;
    }
}

/// Gathers the records of the next firing, in the window or not.
bool FiringReader::gather() {
    firing_.clear();
    merge_.give_back();
    if (has_ahead_)
        firing_.push_back(ahead_);
    for (has_ahead_ = false; merge_.next(ahead_);) {
        if (ahead_.ring != ring_index_)
            continue;
        if (!firing_.empty() && !is_one_firing(firing_.back(), ahead_)) {
            has_ahead_ = true;
            return true;
        }
        firing_.push_back(ahead_);
    }
    return !firing_.empty();
}

bool FiringReader::next() {
    while (gather()) {
        find_main();
        if (window_.has(mono_ns_))
            return true;
    }
    return false;
}

void FiringReader::find_main() {
    main_ = &firing_.front();
    for (const MergedRecord& merged : firing_)
        if (routes_[ecb_of(merged)].probe) {
            main_ = &merged;
            break;
        }
    route_ = &routes_[ecb_of(*main_)];
    mono_ns_ = ring_.clock.mono_ns(main_->record.ticks);
}

bool FiringReader::has_anchor() const {
    const CapturedProbe* captured = route_->captured;
    return !captured || captured->anchor_epids.empty() ||
           std::ranges::any_of(firing_, [&](const MergedRecord& merged) {
               return captured->anchor_epids.contains(merged.record.epid);
           });
}

} // namespace daybreak::analyze
