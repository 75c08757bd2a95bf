// SPDX-License-Identifier: Apache-2.0
//
// Making runs of segments, and putting lists with runs in order.
//
// Two files of a recorder's row have one segment in common, the one that was open when the first
// ended. Runs are divided where others begin or end, and only what lies in both is looked at:
//
//     file 1   [ 1 ............ 100 ]                    [ 1 .... 99 ]
//     file 2                  [ 100 ........ 230 ]   ->               100  [ 101 ........ 230 ]
#include "formats/segment/builder_state.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <utility>

namespace daybreak::formats {

namespace {

/// A run takes as much memory as two segments.
constexpr size_t kRunMin = 8;
/// Of the pairs of all files and rings together.
constexpr size_t kPairsMax = 4 * ClockPairs::kPairsMax;
/// More lists than so many that have one segment are no recorder's.
constexpr size_t kCopiesMax = 8;

/// Where the segments of a run are read again.
struct Origin {
    SegmentSource* source;
    uint32_t group, stream;
};

/// Adds the segments, as runs where they are some.  Of each its place with the source.
void put_runs(std::span<const SegmentInfo> segments, std::span<const uint32_t> places,
              const Origin& origin, SegmentList& list) {
    auto is_placed = [&](size_t i) {
        return places[i] != BuilderState::kNoPlace && may_be_in_run(segments[i]);
    };
    for (size_t begin = 0, end = 0; begin < segments.size(); begin = end) {
        for (end = begin + 1; end < segments.size() && is_placed(begin) && is_placed(end); end++)
            if (places[end] != places[end - 1] + 1 ||
                !follows_in_run(segments[end - 1], segments[end]))
                break;
        if (end - begin < kRunMin) {
            for (size_t i = begin; i < end; i++)
                list.push_back(segments[i]);
            continue;
        }
        SegmentRun run = run_of(&segments[begin], end - begin);
        run.source = origin.source;
        run.group = origin.group;
        run.stream = origin.stream;
        run.from = places[begin];
        list.push_back(run);
    }
}

void add_pairs(BuilderState& state, const CpuKey& key, const std::vector<SegmentInfo>& segments) {
    ClockPairs* pairs = nullptr;
    for (const SegmentInfo& segment : segments) {
        if (!segment.says_tsc || (segment.recorded_ticks == 0 && segment.base_mono_ns == 0))
            continue;
        if (!pairs)
            pairs = &state.run_pairs[{key.boot_id, key.ring_id, key.file_id}];
        pairs->add({segment.recorded_ticks, segment.base_mono_ns});
    }
    if (pairs)
        bound_pairs(state);
}

/// Some segments of one CPU, to be put in order with others.
struct Stretch {
    uint64_t first = 0, last = 0; ///< sequence numbers
    SegmentRun run;               ///< when its source is there, else:
    std::vector<SegmentInfo> segments; ///< ascending by sequence, each once
};

Stretch stretch_of(const SegmentRun& run) {
    return {run.first_sequence, run.last_sequence(), run, {}};
}
Stretch stretch_of(std::vector<SegmentInfo> segments) {
    uint64_t first = segments.front().sequence, last = segments.back().sequence;
    return {first, last, {}, std::move(segments)};
}

/// A segment, and where it is in its stretch.
struct Candidate {
    SegmentInfo segment;
    size_t stretch = 0;
    uint32_t place = BuilderState::kNoPlace; ///< with the source of its run
};

/// Of several copies the best comes first.
bool is_before(const Candidate& a, const Candidate& b) {
    return std::tuple(a.segment.sequence, b.segment.bytes.size(), b.segment.sealed != 0) <
           std::tuple(b.segment.sequence, a.segment.bytes.size(), a.segment.sealed != 0);
}

void leave_best(std::vector<Candidate>& candidates) {
    std::stable_sort(candidates.begin(), candidates.end(), is_before);
    candidates.erase(std::unique(candidates.begin(), candidates.end(),
                                 [](const Candidate& a, const Candidate& b) {
                                     return a.segment.sequence == b.segment.sequence;
                                 }),
                     candidates.end());
}

std::vector<SegmentInfo> leave_best(const base::ChunkList<SegmentInfo>& segments) {
    std::vector<Candidate> candidates;
    candidates.reserve(segments.size());
    for (const SegmentInfo& segment : segments)
        candidates.push_back({segment});
    leave_best(candidates);
    std::vector<SegmentInfo> best;
    best.reserve(candidates.size());
    for (const Candidate& one : candidates)
        best.push_back(one.segment);
    return best;
}

/// Puts stretches in order.
class Sorter {
public:
    /// Returns false when too many of them have one segment.
    bool run(const SegmentList& list) {
        for (const SegmentList::Part& part : list.parts())
            add(part.is_run() ? stretch_of(part.run) : stretch_of(leave_best(part.segments)));
        while (!waiting_.empty()) {
            Stretch one = take();
            if (waiting_.empty() || waiting_.begin()->first > one.last) {
                put(one);
                continue;
            }
            uint64_t from = waiting_.begin()->first;
            if (one.first < from) {
                auto [before, after] = divide(one, from);
                put(before);
                one = std::move(after);
            }
            if (!put_overlap(std::move(one)))
                return false;
        }
        return true;
    }
    SegmentList sorted;

private:
    void add(Stretch stretch) {
        uint64_t first = stretch.first;
        waiting_.emplace(first, std::move(stretch));
    }
    Stretch take() {
        Stretch one = std::move(waiting_.begin()->second);
        waiting_.erase(waiting_.begin());
        return one;
    }

    void put(const Stretch& stretch) {
        if (stretch.run.source)
            sorted.push_back(stretch.run);
        for (const SegmentInfo& segment : stretch.segments)
            sorted.push_back(segment);
    }

    /// Both parts have segments: `at` is after the first of them, and at most the last.
    static std::pair<Stretch, Stretch> divide(const Stretch& stretch, uint64_t at) {
        std::vector<SegmentInfo> all =
            stretch.run.source ? segments_of(stretch.run) : stretch.segments;
        auto middle = std::lower_bound(
            all.begin(), all.end(), at,
            [](const SegmentInfo& segment, uint64_t sequence) { return segment.sequence < sequence; });
        auto count = static_cast<uint32_t>(middle - all.begin());
        return {part_of(stretch.run, 0, {all.begin(), middle}),
                part_of(stretch.run, count, {middle, all.end()})};
    }

    /// Returns the part of a run, whose place in it is `at`, as a run or not.
    static Stretch part_of(const SegmentRun& run, uint32_t at, std::vector<SegmentInfo> segments) {
        if (!run.source || segments.size() < kRunMin || segments.front().damaged)
            return stretch_of(std::move(segments));
        SegmentRun part = run_of(segments.data(), segments.size());
        part.source = run.source;
        part.group = run.group;
        part.stream = run.stream;
        part.from = run.from + at;
        return stretch_of(part);
    }

    /// Puts what `one` and others have in common.
    bool put_overlap(Stretch one) {
        const uint64_t end = one.last;
        std::vector<Stretch> others;
        others.push_back(std::move(one));
        while (!waiting_.empty() && waiting_.begin()->first <= end) {
            if (others.size() == kCopiesMax)
                return false;
            others.push_back(take());
            if (others.back().last <= end)
                continue;
            auto [here, later] = divide(others.back(), end + 1);
            others.back() = std::move(here);
            later_.push_back(std::move(later));
        }
        for (Stretch& stretch : std::exchange(later_, {}))
            add(std::move(stretch));
        put_best(others);
        return true;
    }

    void put_best(const std::vector<Stretch>& stretches) {
        std::vector<Candidate> candidates;
        for (size_t i = 0; i < stretches.size(); i++) {
            const SegmentRun& run = stretches[i].run;
            uint32_t place = run.source ? run.from : BuilderState::kNoPlace;
            for (const SegmentInfo& segment :
                 run.source ? segments_of(run) : stretches[i].segments) {
                candidates.push_back({segment, i, place});
                place += run.source ? 1 : 0;
            }
        }
        leave_best(candidates);
        for (size_t begin = 0, end = 0; begin < candidates.size(); begin = end) {
            std::vector<SegmentInfo> segments;
            std::vector<uint32_t> places;
            for (; end < candidates.size() && candidates[end].stretch == candidates[begin].stretch;
                 end++) {
                segments.push_back(candidates[end].segment);
                places.push_back(candidates[end].place);
            }
            const SegmentRun& run = stretches[candidates[begin].stretch].run;
            put_runs(segments, places, {run.source, run.group, run.stream}, sorted);
        }
    }

    std::multimap<uint64_t, Stretch> waiting_; // by their first sequence numbers
    std::vector<Stretch> later_;
};

bool is_in_order(const SegmentList& list) {
    bool any = false;
    uint64_t last = 0;
    auto follows = [&](uint64_t first) { return !std::exchange(any, true) || last < first; };
    for (const SegmentList::Part& part : list.parts()) {
        if (part.is_run()) {
            if (!follows(part.run.first_sequence))
                return false;
            last = part.run.last_sequence();
        }
        for (const SegmentInfo& segment : part.segments) {
            if (!follows(segment.sequence))
                return false;
            last = segment.sequence;
        }
    }
    return true;
}

} // namespace

void fold_segments(BuilderState& state, SegmentSource* source, uint32_t group,
                   const RecordingBuilder::StreamOf& stream_of) {
    for (const CpuKey& key : std::exchange(state.unfolded, {})) {
        CpuPieces& pieces = state.cpus[key];
        std::vector<uint32_t> places = std::exchange(pieces.places, {});
        state.segments_in_memory += places.size();
        if (!source || state.segments_in_memory <= state.segments_in_memory_max)
            continue;
        state.segments_in_memory -= places.size();
        std::vector<SegmentInfo> taken =
            pieces.segments.take_from(pieces.segments.size() - places.size());
        add_pairs(state, key, taken);
        put_runs(taken, places, {source, group, stream_of({key.boot_id, key.ring_id, key.cpu})},
                 pieces.segments);
    }
}

void bound_pairs(BuilderState& state) {
    size_t sum = 0;
    for (const auto& [ring, pairs] : state.run_pairs)
        sum += pairs.size();
    if (sum > kPairsMax)
        for (auto& [ring, pairs] : state.run_pairs)
            pairs.coarsen();
}

void keep_best(SegmentList& list) {
    if (is_in_order(list))
        return;
    Sorter sorter;
    if (sorter.run(list)) {
        list = std::move(sorter.sorted);
        return;
    }
    base::ChunkList<SegmentInfo> all;
    list.unfold_all();
    for (const SegmentList::Part& part : list.parts())
        for (const SegmentInfo& segment : part.segments)
            all.push_back(segment);
    list.clear();
    for (const SegmentInfo& segment : leave_best(all))
        list.push_back(segment);
}

} // namespace daybreak::formats
