// SPDX-License-Identifier: Apache-2.0
//
// RecordMerge: the records of a CPU in the order in which they were made.
//
//     as it lies:   a b c C d     C was made between a and b, and committed after c
//     lying -----^      ahead ----^ holds C: no record after it was made before b
//
// What was not committed comes in the order in which it lies.  What was committed stands later than
// it was made; how far one has to look for it each segment's earliest time says.
#include "analyze/decode/merge.hpp"

#include <algorithm>

namespace daybreak::analyze {

/// The stream has read its first record.
void RecordMerge::begin_made(Stream& stream) {
    auto made = std::make_unique<MadeOrder>();
    const formats::SegmentList& segments = stream.cpu->segments;
    for (size_t i = 0; i < segments.size(); i++)
        made->earliest.push_back(segments[i].min_ticks);
    made->earliest.push_back(UINT64_MAX);
    for (size_t i = segments.size(); i-- > 0;)
        made->earliest[i] = std::min(made->earliest[i], made->earliest[i + 1]);
    for (Stream* part : {&made->lying, &made->ahead}) {
        part->ring = stream.ring;
        part->recording = stream.recording;
        part->cpu = stream.cpu;
        part->tallied = stream.tallied;
        part->yielded = stream.yielded;
        part->epids = stream.epids;
        part->is_part = true;
    }
    made->ahead.is_ahead = true;
    passed_records_ -= stream.has_following ? 1 : 0; // it is read again
    stream.open.reset();
    stream.cursor.reset();
    read_lying(*made);
    read_yielded(made->ahead);
    stream.made = std::move(made);
    stream.places = {};
    read_following(stream);
}

/// Finds the next record that was not committed.
void RecordMerge::read_lying(MadeOrder& made) {
    do
        read_yielded(made.lying);
    while (made.lying.has_following && made.lying.following().record.is_committed());
    made.next.reset();
    if (made.lying.has_following)
        made.next = Held{made.lying.following(), made.lying.cursor->pin()};
}

/// Holds what was committed and may have been made up to a time.
void RecordMerge::read_ahead(MadeOrder& made, uint64_t ticks) {
    for (Stream& ahead = made.ahead;
         ahead.has_following && made.earliest[ahead.segment - 1] <= ticks; read_yielded(ahead)) {
        const Placed& found = ahead.following();
        if (!found.record.is_committed())
            continue;
        auto pin = std::make_shared<const formats::Bytes>(found.record.bytes.begin(),
                                                          found.record.bytes.end());
        Held& held = made.held.emplace_back(Held{found, pin});
        held.placed.record.bytes = *pin;
        ticks = std::min(ticks, held.placed.record.ticks);
        std::push_heap(made.held.begin(), made.held.end());
    }
}

/// Keeps the bytes of a record that was yielded: the caller may still look at it.
void RecordMerge::keep(const Stream& stream, uint64_t sequence,
                       const std::shared_ptr<const formats::Bytes>& pin) {
    auto number = static_cast<size_t>(&stream - streams_.data());
    bool is_kept = !passed_.empty() && passed_.back().stream == number &&
                   passed_.back().sequence == sequence && passed_.back().pin == pin;
    if (pin && !is_kept)
        passed_.push_back({number, sequence, pin});
}

void RecordMerge::read_made(Stream& stream) {
    MadeOrder& made = *stream.made;
    Placed& next = stream.following();
    std::shared_ptr<const formats::Bytes>& pin = stream.pins[1 - stream.turn];
    keep(stream, next.sequence, pin);
    uint64_t ticks = made.next ? made.next->placed.record.ticks : UINT64_MAX;
    if (!made.held.empty())
        ticks = std::min(ticks, made.held.front().placed.record.ticks);
    read_ahead(made, ticks);
    stream.has_following = made.next || !made.held.empty();
    if (!stream.has_following) {
        const Placed& last = made.lying.following();
        if (made.lying.cursor)
            stream.end = {last.sequence, last.index};
        return;
    }
    Held found;
    if (!made.held.empty() && (!made.next || *made.next < made.held.front())) {
        std::pop_heap(made.held.begin(), made.held.end());
        found = std::move(made.held.back());
        made.held.pop_back();
    } else {
        found = std::move(*made.next);
        read_lying(made);
    }
    next = found.placed;
    pin = std::move(found.pin);
}

/// Whether the following record is of the firing at hand.  Nothing of another firing is between the
/// records of one; those of ERROR are of another probe, and what a held one follows in the ring may
/// have been overwritten.
bool RecordMerge::joins(Stream& stream) {
    const Placed& next = stream.following();
    const formats::RecordView& record = next.record;
    MadeFiring& firing = stream.firing;
    const bool is_committed = record.is_committed();
    const bool is_error = record.ecb->probe_id == stream.error_probe;
    const bool is_clause_after = !firing.ecb || firing.ecb->epid < record.epid;
    const bool is_elsewhere = record.firing == formats::Firing::elsewhere;
    if (!is_committed && !next.same_firing) {
        firing.ring_ticks = record.ticks;
        firing.has_ring = false;
    }
    bool joins = false;
    if (record.firing == formats::Firing::unsaid)
        joins = firing.ecb && looks_same(firing.ticks, *firing.ecb, record);
    else if (firing.ecb && !is_error && firing.ecb->probe_id != record.ecb->probe_id)
        joins = false;
    else if (is_committed)
        joins = next.same_firing || (firing.is_committed && firing.ticks == record.ticks) ||
                (firing.has_ring && firing.ring_ticks == record.ticks) ||
                (is_elsewhere && firing.has_ring && !firing.is_committed && is_clause_after);
    else
        joins = firing.has_ring || (firing.is_committed && firing.ticks == firing.ring_ticks) ||
                (is_elsewhere && firing.is_committed && is_clause_after);
    if (!joins)
        firing = {.ring_ticks = firing.ring_ticks};
    if (!is_error)
        firing.ecb = record.ecb;
    firing.ticks = record.ticks;
    firing.is_committed = is_committed;
    firing.has_ring |= !is_committed;
    return joins;
}

} // namespace daybreak::analyze
