// SPDX-License-Identifier: Apache-2.0
//
// The common time of several recordings, and what is known of how good it is.
#include "analyze/replay/alignment.hpp"

#include <algorithm>

namespace daybreak::analyze {

namespace {

/// Returns "12.345 s", "3.250 ms", "40 ns": what a person reads at once.
std::string duration_text(uint64_t ns) {
    if (ns < 1000)
        return std::to_string(ns) + " ns";
    if (ns < 1'000'000'000)
        return base::strprintf("%.3f ms", static_cast<double>(ns) / 1e6);
    return base::strprintf("%.3f s", static_cast<double>(ns) / 1e9);
}

/// The wall clock when CLOCK_MONOTONIC was 0, by the newest pair.
uint64_t zero_of(const AlignedRecording& one) {
    return one.pairs.back().zero_wall_ns();
}

/// By how much a wall clock moved against CLOCK_MONOTONIC, as far as its pairs say.
uint64_t moved_ns(const AlignedRecording& one) {
    auto [least, most] = std::ranges::minmax_element(one.pairs, {}, &WallPair::zero_wall_ns);
    return most->zero_wall_ns() - least->zero_wall_ns();
}

std::string note_of_wall(std::span<const AlignedRecording> recordings) {
    const AlignedRecording* most = nullptr;
    size_t once = 0; // of so many the clocks were read together once
    for (const AlignedRecording& one : recordings) {
        once += one.pairs.size() < 2;
        if (one.pairs.size() > 1 && (!most || moved_ns(one) > moved_ns(*most)))
            most = &one;
    }
    std::string text = "aligned by their wall clocks, which ";
    if (most)
        text += "moved by at most " + duration_text(moved_ns(*most)) + " while they recorded (" +
                most->name + ")";
    if (once != 0)
        text += most ? base::strprintf("; those of %zu were read once", once)
                     : std::string("were read once each");
    return text + "; how far two clocks were apart is in no recording: --align PROBE takes an event "
                  "as one moment";
}

std::string note_of_event(std::span<const AlignedRecording> recordings, const std::string& event) {
    std::string text =
        "aligned by the first record of " + event + " in each, taken as one moment";
    auto wall_ns = [](const AlignedRecording& one) { return zero_of(one) + one.event_ns; };
    if (std::ranges::any_of(recordings,
                            [](const AlignedRecording& one) { return one.pairs.empty(); }))
        return text + "; not all have read their wall clocks";
    auto [first, last] = std::ranges::minmax_element(recordings, {}, wall_ns);
    return text + "; by their wall clocks these are " +
           duration_text(wall_ns(*last) - wall_ns(*first)) + " apart (" + first->name + " first, " +
           last->name + " last)";
}

} // namespace

std::vector<WallPair> wall_pairs_of(const formats::Trace& trace,
                                    const formats::RingRecording& ring) {
    std::vector<WallPair> pairs;
    auto add = [&](uint64_t mono_ns, uint64_t wall_ns) {
        if (wall_ns != 0 && wall_ns >= mono_ns)
            pairs.push_back({mono_ns, wall_ns});
    };
    const dbk_meta_ring& facts = ring.info.facts;
    if (ring.has_info)
        add(facts.start_mono_ns, facts.start_wall_ns);
    for (const formats::TraceFile& file : trace.files)
        add(file.header.clocks.mono_ns, file.header.clocks.wall_ns);
    if (trace.summary)
        add(trace.summary->clocks.mono_ns, trace.summary->clocks.wall_ns);
    for (const formats::TriggerInfo& trigger : trace.recording.machine.triggers)
        add(trigger.mono_ns, trigger.wall_ns);
    for (const formats::CrashInfo& end : trace.recording.machine.ends)
        add(end.mono_ns, end.wall_ns);
    auto order = [](const WallPair& pair) { return std::pair(pair.mono_ns, pair.wall_ns); };
    std::ranges::sort(pairs, {}, order);
    auto [first, last] = std::ranges::unique(pairs, {}, order);
    pairs.erase(first, last);
    return pairs;
}

base::Result<Alignment> align_by_wall(std::span<const AlignedRecording> recordings) {
    for (const AlignedRecording& one : recordings)
        if (one.pairs.empty())
            return base::errorf(base::ErrorCode::not_found,
                                "%s: its wall clock was not recorded, so it has no place among the "
                                "others: name an event that all have with --align PROBE",
                                one.name.c_str());
    Alignment alignment;
    uint64_t first_ns = zero_of(*std::ranges::min_element(recordings, {}, zero_of));
    for (const AlignedRecording& one : recordings)
        alignment.shifts_ns.push_back(zero_of(one) - first_ns);
    alignment.note = note_of_wall(recordings);
    return alignment;
}

base::Result<Alignment> align_by_event(std::span<const AlignedRecording> recordings,
                                       const std::string& event) {
    Alignment alignment;
    uint64_t latest_ns =
        std::ranges::max_element(recordings, {}, &AlignedRecording::event_ns)->event_ns;
    for (const AlignedRecording& one : recordings)
        alignment.shifts_ns.push_back(latest_ns - one.event_ns);
    alignment.note = note_of_event(recordings, event);
    return alignment;
}

} // namespace daybreak::analyze
