// SPDX-License-Identifier: Apache-2.0
//
// Completeness note: whether everything that was recorded is here, in sentences.
#include "analyze/completeness.hpp"

#include "analyze/decode/program.hpp"
#include "analyze/decode/time_span.hpp"
#include "analyze/machine_print.hpp"
#include "analyze/print/drop_text.hpp"
#include "analyze/print/text.hpp"
#include "analyze/window_completeness.hpp"
#include "base/counted.hpp"
#include "formats/segment/coverage.hpp"

#include <algorithm>
#include <cinttypes>
#include <set>
#include <span>

namespace daybreak::analyze {

namespace {

using base::counted;
using base::strprintf;

/// How many jumps of the clock are listed with their times.
constexpr size_t kJumpsListed = 5;

/// How many descriptions that match nothing the verdict has; info lists all.
constexpr size_t kUnmatchedListed = 3;

/// What is missing of one CPU, each as a part of a sentence.
std::vector<std::string> missing_of(const formats::Completeness& cpu, bool is_window) {
    std::vector<std::string> parts;
    if (cpu.overwritten && !is_window)
        parts.push_back(counted(cpu.overwritten, "oldest record") + " overwritten");
    if (cpu.rotated && !is_window)
        parts.push_back(counted(cpu.rotated, "record") + " in files that are not here");
    if (cpu.lost)
        parts.push_back((cpu.lost_known ? "" : "at least ") + counted(cpu.lost, "record") +
                        " lost");
    if (cpu.segments_missing)
        parts.push_back(counted(cpu.segments_missing, "segment") + " missing");
    for (unsigned slot = 0; slot < DBK_DROP_SLOTS; slot++)
        if (cpu.drops[slot])
            parts.push_back(drop_phrase(static_cast<enum dbk_drop>(slot), cpu.drops[slot]));
    if (!cpu.lost_known && !cpu.lost && !cpu.segments_missing)
        parts.push_back("an unknown number of records lost");
    return parts;
}

std::string cpu_sentence(const std::string& where, const formats::Completeness& cpu,
                         bool is_window) {
    std::string sentence = where + ": ";
    bool first = true;
    for (const std::string& part : missing_of(cpu, is_window)) {
        sentence += (first ? "" : ", ") + part;
        first = false;
    }
    if (cpu.overwritten && cpu.present && !is_window)
        sentence += strprintf("; newest %" PRIu64 " are here in order", cpu.present);
    return sentence;
}

} // namespace

std::string CompletenessNote::verdict() const {
    const char* whole = is_window ? "complete: every record of the window is here"
                                  : "complete: every record since the first probe is here";
    std::string text = !complete ? "not complete" : until.empty() ? whole : until;
    for (size_t i = 0; i < reasons.size(); i++)
        text += (i == 0 ? ": " : "; ") + reasons[i];
    for (size_t i = 0; i < std::min(unmatched.size(), kUnmatchedListed); i++)
        text += (i != 0 ? ", " : complete ? ", but " : "; ") + unmatched[i];
    if (unmatched.size() > kUnmatchedListed)
        text += strprintf(" and %zu more", unmatched.size() - kUnmatchedListed);
    if (!unmatched.empty())
        text += unmatched.size() == 1 ? " matches no probe: it cannot record anything"
                                      : " match no probe: they cannot record anything";
    for (const std::string* sentence : {&clock, &end})
        if (!sentence->empty())
            text += "; " + *sentence;
    return text;
}

namespace {

/// Returns "CPU 2", with its ring when there are several.
std::string place_of(const formats::Recording& recording, uint16_t ring_id, uint16_t cpu) {
    std::string ring =
        recording.rings.size() > 1 ? strprintf("ring %u ", unsigned{ring_id}) : std::string();
    return ring + strprintf("CPU %u", unsigned{cpu});
}

/// Reports the CPUs whose rings do not reach back to the window's beginning.
void add_uncovered(const formats::Recording& recording, CompletenessNote& note) {
    uint64_t from = recording.window_from_ns, to = recording.window_to_ns;
    for (const formats::CpuCoverage& cpu : formats::not_covered_since(recording, from)) {
        uint64_t covered = cpu.is_known && cpu.from_mono_ns < to ? to - cpu.from_mono_ns : 0;
        note.reasons.push_back(strprintf("%s: the last %s of the window's %s are here",
                                         place_of(recording, cpu.ring_id, cpu.cpu).c_str(),
                                         seconds_text(covered).c_str(),
                                         seconds_text(to - std::min(from, to)).c_str()));
        note.losses = true;
    }
}

/// Reports what is missing of a CPU in the window.  Returns how many of its records came after the
/// copy, and may belong to the window.
uint64_t add_window(const formats::Recording& recording, const formats::RingRecording& ring,
                    const formats::CpuInfo& cpu, const TimeWindow& window, CompletenessNote& note) {
    WindowMissing missing = missing_in(window, ring, cpu);
    note.losses |= missing.has_losses();
    std::string text = missing.text(/*is_snapshot=*/recording.window_to_ns != 0);
    if (!text.empty())
        note.reasons.push_back(place_of(recording, ring.ring_id, cpu.cpu) + ": " + text);
    return missing.later;
}

/// Returns CLOCK_BOOTTIME up to which every CPU that recorded more than is here has all: the oldest
/// of their last records.
uint64_t last_boot_ns(const formats::Recording& recording) {
    uint64_t last = UINT64_MAX;
    for (const formats::RingRecording& ring : recording.rings)
        for (const formats::CpuInfo& cpu : ring.cpus)
            if (cpu.completeness.not_copied != 0)
                last =
                    std::min(last, ring.clock.boot_ns(formats::coverage_of(ring, cpu).to_mono_ns));
    return last;
}

/// How often the TSC restarted or jumped, and when.
std::string clock_sentence(const formats::Recording& recording) {
    const formats::ClockModel* clock = nullptr; // all rings have the machine's; this one saw most
    for (const formats::RingRecording& ring : recording.rings)
        if (ring.clock.has_jumps() &&
            (!clock || ring.clock.epochs().size() > clock->epochs().size()))
            clock = &ring.clock;
    if (!clock)
        return "";
    auto jumps = std::span(clock->epochs()).subspan(1);
    auto restarts = static_cast<size_t>(
        std::count_if(jumps.begin(), jumps.end(), [](auto& epoch) { return epoch.went_back; }));
    std::string text;
    for (auto [count, verb] :
         {std::pair(restarts, "restarted"), std::pair(jumps.size() - restarts, "jumped ahead")}) {
        if (count == 0)
            continue;
        text +=
            strprintf("%s %s ", text.empty() ? "the TSC" : " and", verb) + counted(count, "time");
    }
    text += " (sleep, or an unstable clock), before";
    for (size_t i = 0; i < std::min(jumps.size(), kJumpsListed); i++)
        text += (i == 0 ? " " : ", ") + seconds_text(clock->boot_ns(jumps[i].from_mono_ns));
    return text + (jumps.size() > kJumpsListed ? " ..." : "") + " after boot";
}

} // namespace

CopiedCounts copied_counts(const formats::Completeness& cpu) {
    uint64_t records = cpu.committed - std::min(cpu.committed, cpu.not_copied);
    return {records, std::max(cpu.firings, records)}; // firings may have been read before
}

std::vector<std::string> unmatched_of(const formats::Recording& recording,
                                      const formats::RingRecording& ring) {
    if (ring.ecbs.all().empty() || std::ranges::any_of(recording.all_findings().list(),
                                                       formats::finding_is_loss,
                                                       &formats::Finding::kind))
        return {};
    std::set<std::pair<uint16_t, uint32_t>> matched;
    for (const formats::EcbInfo& ecb : ring.ecbs.all())
        matched.emplace(ecb.dof_index, ecb.ecbdesc);
    std::set<std::string> unmatched;
    RingProgram program(ring);
    for (const auto& [index, image] : program.images())
        for (const formats::DofEcb& clause : image.program.ecbs)
            if (matched.count({index, clause.section}) == 0)
                unmatched.insert(clause.probe.text());
    return {unmatched.begin(), unmatched.end()};
}

namespace {

/// Reports what is missing of a ring.  Returns how many of its records came after the copy.
uint64_t add_ring(const formats::Recording& recording, const formats::RingRecording& ring,
                  const TimeWindow& window, CompletenessNote& note) {
    uint64_t not_copied = 0;
    for (std::string& description : unmatched_of(recording, ring))
        note.unmatched.push_back(std::move(description));
    note.undescribed = note.undescribed || !ring.has_info;
    if (!ring.has_info)
        note.reasons.push_back(
            strprintf("ring %u: its description is missing", unsigned{ring.ring_id}));
    if (ring.cpus.empty()) {
        note.losses = true;
        note.reasons.push_back(
            strprintf("ring %u: its counters and segments are missing", unsigned{ring.ring_id}));
    }
    if (ring.is_aborted() && !window.until_mono_ns)
        note.reasons.push_back(
            strprintf("ring %u was ended: %s", unsigned{ring.ring_id}, kUnresponsive));
    for (const formats::CpuInfo& cpu : ring.cpus) {
        const formats::Completeness& facts = cpu.completeness;
        note.records_present += facts.present;
        if (window.is_set()) {
            not_copied += add_window(recording, ring, cpu, window, note);
            continue;
        }
        not_copied += facts.not_copied;
        if (!missing_of(facts, note.is_window).empty())
            note.reasons.push_back(
                cpu_sentence(place_of(recording, ring.ring_id, cpu.cpu), facts, note.is_window));
    }
    if (recording.has_rotated() && ring.info.facts.aggregate == DBK_AGGREGATE_ENGINE)
        note.reasons.push_back(
            strprintf("ring %u: what was counted in the kernel and lay in files that are not "
                      "here is missing",
                      unsigned{ring.ring_id}));
    return not_copied;
}

} // namespace

CompletenessNote completeness_of(const formats::Recording& recording, const TimeWindow& asked) {
    CompletenessNote note;
    bool is_own = recording.window_to_ns != 0 && !recording.cut_window &&
                  asked == TimeWindow{recording.window_from_ns, recording.window_to_ns};
    const TimeWindow window = is_own           ? TimeWindow{}
                              : asked.is_set() ? asked
                                               : cut_window_of(recording);
    note.undescribed = recording.rings.empty();
    const formats::CrashInfo* end = recording.machine.end();
    if (!end || window.has(end->mono_ns))
        note.end = end_sentence(recording.machine);
    note.clock = clock_sentence(recording);
    note.is_window = recording.window_to_ns != 0 || window.is_set();
    uint64_t not_copied = 0;
    for (const formats::RingRecording& ring : recording.rings)
        not_copied += add_ring(recording, ring, window, note);
    if (recording.rings.empty())
        note.reasons.push_back("no ring was found, neither its description nor records");
    uint64_t bad = 0;
    const formats::Findings findings = recording.all_findings();
    for (const formats::Finding& finding : findings.list())
        bad += formats::finding_is_loss(finding.kind);
    // Of a window it counts what was found while the window was read.
    uint64_t late = 0;
    for (const std::shared_ptr<formats::PieceStore>& store : recording.stores)
        for (const formats::Finding& finding : store->late_findings().list())
            late += formats::finding_is_loss(finding.kind);
    uint64_t damaged = window.is_set() ? late : bad;
    if (damaged && note.reasons.empty())
        note.reasons.push_back(counted(damaged, "damaged piece"));
    note.losses = note.losses || late != 0;
    if (recording.window_to_ns != 0 && !window.is_set())
        add_uncovered(recording, note);
    note.losses =
        note.losses || (!window.is_set() && recording.has_losses()) || recording.rings.empty();
    note.complete = note.reasons.empty() && !note.losses;
    // Recording went on while it was copied: what is here is a whole beginning.  Of a window that
    // is not news, unless they may lie in what is damaged.
    if (not_copied == 0 || (recording.window_to_ns != 0 && bad == 0))
        return note;
    std::string later = counted(not_copied, "record") + " came after the copy" +
                        (bad ? ", or lie in what is damaged" : "");
    if (note.complete)
        note.until = strprintf("complete up to %s after boot: %s",
                               seconds_text(last_boot_ns(recording)).c_str(), later.c_str());
    else
        note.reasons.push_back(later);
    return note;
}

} // namespace daybreak::analyze
