// SPDX-License-Identifier: Apache-2.0
//
// FiringReader: the firings of one recorded ring in their order, and the records that each has.
#include "analyze/replay/firing_reader.hpp"

#include <algorithm>

namespace daybreak::analyze {

namespace {

MergeOptions options_of(const FiringReader::Choice& choice, size_t ring) {
    MergeOptions options;
    options.ring = ring;
    options.notes_divided = true;
    options.tallied = choice.tallied;
    options.yielded = choice.yielded;
    options.order = MergeOrder::made;
    if (choice.window.is_set())
        options.is_wanted = [window = choice.window](const formats::RingRecording& ring,
                                                     uint64_t min_ticks, uint64_t max_ticks) {
            return window.overlaps(ring.clock.mono_ns(min_ticks), ring.clock.mono_ns(max_ticks));
        };
    return options;
}

} // namespace

FiringReader::FiringReader(const formats::Recording& recording, size_t index,
                           const CaptureTable& table, const ReplayedProbesById& probes,
                           const Choice& choice)
    : ring_(recording.rings[index]), table_(table), window_(choice.window),
      merge_(recording, options_of(choice, index)) {
    make_routes(probes);
}

void FiringReader::make_routes(const ReplayedProbesById& probes) {
    for (const formats::EcbInfo& ecb : ring_.ecbs.all()) {
        Route& route = routes_.emplace_back();
        auto captured = table_.probes().find(ecb.probe_id);
        if (captured == table_.probes().end())
            continue;
        const CapturedProbe& values = captured->second;
        route.needs_anchor = !values.anchor_epids.empty();
        route.is_anchor = values.anchor_epids.contains(ecb.epid);
        route.pid = values.slot_of("pid");
        route.tid = values.slot_of("tid");
        bool is_own = values.is_of_engine();
        route.is_begin = is_own && values.info.name == "BEGIN";
        route.is_end = is_own && values.info.name == "END";
        if (auto probe = probes.find(ecb.probe_id); probe != probes.end())
            route.probe = probe->second;
    }
}

/// Gathers the records of the next firing, in the window or not.
bool FiringReader::gather() {
    merge_.give_back();
    first_ += count_;
    count_ = has_ahead_ ? 1 : 0;
    for (;;) {
        if (first_ + count_ == records_.size()) {
            std::copy_n(records_.begin() + static_cast<ptrdiff_t>(first_), count_,
                        records_.begin());
            records_.resize(std::max(kRecordsMin, 2 * count_ + 2));
            first_ = 0;
        }
        MergedRecord& next = records_[first_ + count_];
        has_ahead_ = merge_.next(next);
        if (!has_ahead_)
            return count_ != 0;
        if (count_ != 0 && !is_same_firing(*(&next - 1), next))
            return true;
        count_++;
    }
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
    main_ = &records_[first_];
    for (const MergedRecord& merged : records())
        if (routes_[ecb_of(merged)].probe) {
            main_ = &merged;
            break;
        }
    route_ = &routes_[ecb_of(*main_)];
    mono_ns_ = ring_.clock.mono_ns(main_->record.ticks);
}

bool FiringReader::has_later_anchor() const {
    return std::ranges::any_of(
        records(), [&](const MergedRecord& merged) { return routes_[ecb_of(merged)].is_anchor; });
}

} // namespace daybreak::analyze
