// SPDX-License-Identifier: Apache-2.0
//
// Coverage: the runs of a recording, and a sweep over those of all parts.
#include "formats/aggstate/coverage.hpp"

#include "base/counted.hpp"
#include "base/sha256.hpp"
#include "formats/segment/piece.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <optional>
#include <set>
#include <tuple>

namespace daybreak::formats {

namespace {

using base::counted;
using base::errorf;
using base::strprintf;

/// Pairs of a stretch and a part that has it: more are not compared.
constexpr uint64_t kWorkMax = 1u << 26;

/// Puts the first kHolesReported of them into the report.
void take_some(const std::vector<std::string>& from, const char* one, const char* many,
               std::vector<std::string>& to) {
    size_t named = std::min(from.size(), kHolesReported);
    to.insert(to.end(), from.begin(), from.begin() + static_cast<ptrdiff_t>(named));
    if (named < from.size())
        to.push_back(counted(from.size() - named, one, many));
}

/// Appends to the last run when this one goes on where it ends.
void add_run(std::vector<CoveredRun>& runs, CoveredRun run) {
    run.to_ns = std::max(run.to_ns, run.from_ns);
    if (!runs.empty() && runs.back().last_sequence + 1 == run.first_sequence &&
        runs.back().records_after() == run.records_before) {
        CoveredRun& last = runs.back();
        last.last_sequence = run.last_sequence;
        last.records += run.records;
        last.to_ns = std::max(last.to_ns, run.to_ns);
        return;
    }
    runs.push_back(run);
}

std::vector<CoveredRun> runs_of(const CpuInfo& cpu, const ClockModel& clock) {
    std::vector<CoveredRun> runs;
    for (const SegmentList::Part& part : cpu.segments.parts()) {
        if (part.is_run()) {
            const SegmentRun& run = part.run;
            add_run(runs, {run.first_sequence, run.last_sequence(), run.records_before,
                           run.record_count, run.opened.mono_ns, clock.mono_ns(run.max_ticks)});
        }
        for (const SegmentInfo& segment : part.segments)
            add_run(runs, {segment.sequence, segment.sequence, segment.records_before,
                           segment.record_count, segment.base_mono_ns,
                           clock.mono_ns(segment.last_ticks)});
    }
    return runs;
}

std::string segments_text(uint64_t first, uint64_t last) {
    return first == last ? strprintf("segment %" PRIu64, first)
                         : strprintf("segments %" PRIu64 " to %" PRIu64, first, last);
}

/// What a sentence begins with.
std::string boot_text(const std::string& host, uint64_t boot_id) {
    return (host.empty() ? "" : host + ", ") + "boot " + boot_name(boot_id);
}

uint64_t plus(uint64_t a, uint64_t b) {
    uint64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

} // namespace

bool PartIdentity::operator<(const PartIdentity& other) const {
    auto order = [](const Digest& a, const Digest& b) {
        return std::memcmp(a.data(), b.data(), a.size());
    };
    if (int by_program = order(program, other.program))
        return by_program < 0;
    if (int by_digest = order(digest, other.digest))
        return by_digest < 0;
    return std::tie(host, boot_id, ring_id, since_ns, until_ns) <
           std::tie(other.host, other.boot_id, other.ring_id, other.since_ns, other.until_ns);
}

std::string digest_text(const Digest& digest) {
    std::string text;
    for (size_t i = 0; i < 8; i++)
        text += strprintf("%02x", digest[i]);
    return text;
}

std::string window_text(const PartIdentity& part) {
    if (part.since_ns == 0 && part.until_ns == UINT64_MAX)
        return "all";
    auto seconds = [](uint64_t ns) { return strprintf("%.6f", static_cast<double>(ns) / 1e9); };
    return seconds(part.since_ns) + ".." +
           (part.until_ns == UINT64_MAX ? "" : seconds(part.until_ns));
}

std::vector<CoveredCpu> coverage_of(const RingRecording& ring) {
    std::vector<CoveredCpu> cpus;
    for (const CpuInfo& info : ring.cpus) {
        CoveredCpu& cpu = cpus.emplace_back();
        cpu.cpu = info.cpu;
        cpu.committed = info.completeness.committed;
        cpu.faults = info.completeness.errors;
        cpu.drops = info.completeness.drops;
        cpu.runs = runs_of(info, ring.clock);
        if (!cpu.runs.empty())
            cpu.newest = cpu.runs.back().last_sequence;
        for (const Gap& gap : info.gaps) {
            if (gap.overwritten && gap.first_sequence <= cpu.first_kept)
                cpu.first_kept = std::max(cpu.first_kept, plus(gap.last_sequence, 1));
            if (!gap.overwritten)
                cpu.newest = std::max(cpu.newest, gap.last_sequence);
        }
    }
    return cpus;
}

Digest digest_of(uint64_t boot_id, uint16_t ring_id, const std::vector<CoveredCpu>& cpus) {
    std::vector<uint64_t> words{boot_id, ring_id};
    for (const CoveredCpu& cpu : cpus)
        for (const CoveredRun& run : cpu.runs)
            words.insert(words.end(), {cpu.cpu, run.first_sequence, run.last_sequence,
                                       run.records_before, run.records});
    return base::sha256(std::as_bytes(std::span(words)));
}

void CoverageMerge::add(const StatePart& part, const std::string& file) {
    const PartIdentity& identity = part.identity;
    auto [at, is_new] = parts_.emplace(identity, Part{part.drops, file});
    if (!is_new)
        return;
    Boot& boot = boots_[{identity.boot_id, identity.ring_id}];
    // The same whatever comes first.
    boot.host = boot.parts == 0 ? identity.host : std::max(boot.host, identity.host);
    boot.parts++;
    boot.since_ns = std::min(boot.since_ns, identity.since_ns);
    boot.until_ns = std::max(boot.until_ns, identity.until_ns);
    boot.keeps_thread_state |= part.keeps_thread_state;
    boot.holds_firings |= part.holds_firings;
    boot.digests.insert(identity.digest);
    keeps_global_state_ |= part.keeps_global_state;
    has_ticks_ |= part.has_ticks;
    records_ += part.records;
    firings_ += part.firings;
    for (const CoveredCpu& covered : part.cpus) {
        Cpu& cpu = boot.cpus[covered.cpu];
        cpu.committed = std::max(cpu.committed, covered.committed);
        cpu.first_kept = std::max(cpu.first_kept, covered.first_kept);
        cpu.newest = std::max(cpu.newest, covered.newest);
        cpu.faults = std::max(cpu.faults, covered.faults);
        for (size_t i = 0; i < cpu.drops.size(); i++)
            cpu.drops[i] = std::max(cpu.drops[i], covered.drops[i]);
        for (const CoveredRun& run : covered.runs) {
            cpu.pieces.push_back({run, identity.since_ns, identity.until_ns, &*at});
            boot.from_ns = std::min(boot.from_ns, std::max(run.from_ns, identity.since_ns));
            boot.to_ns = std::max(boot.to_ns, std::min(run.to_ns, identity.until_ns));
        }
    }
}

/// Returns "web-1.states (part 0123456789abcdef, 1.000000..2.000000)".
std::string CoverageMerge::part_text(const Parts::value_type& part) {
    return part.second.file + " (part " + digest_text(part.first.digest) + ", " +
           window_text(part.first) + ")";
}

/// Goes over one CPU's sequence numbers from the lowest on.
class CoverageMerge::Sweep {
public:
    Sweep(const Boot& boot, const std::string& where, const Cpu& cpu, uint64_t& work,
          std::vector<std::string>& holes)
        : boot_(boot), where_(where), cpu_(cpu), work_(work), holes_(holes), pieces_(cpu.pieces) {}

    Result<void> run() {
        std::sort(pieces_.begin(), pieces_.end(), [](const Piece& a, const Piece& b) {
            return a.run.first_sequence < b.run.first_sequence;
        });
        std::vector<uint64_t> bounds;
        for (const Piece& piece : pieces_) {
            bounds.push_back(piece.run.first_sequence);
            bounds.push_back(piece.run.last_sequence + 1);
        }
        std::sort(bounds.begin(), bounds.end());
        bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
        size_t next = 0;
        for (size_t i = 0; i + 1 < bounds.size(); i++) {
            for (; next < pieces_.size() && pieces_[next].run.first_sequence == bounds[i]; next++)
                active_.insert({pieces_[next].since_ns, next});
            std::erase_if(active_, [&](const auto& one) {
                const CoveredRun& run = pieces_[one.second].run;
                bool is_over = run.last_sequence < bounds[i];
                if (is_over)
                    over_to_ns_ = std::max(over_to_ns_, run.to_ns);
                return is_over;
            });
            work_ += active_.size() + 1;
            if (work_ > kWorkMax)
                return errorf(ErrorCode::limit, "%s: its parts are in too many pieces",
                              where_.c_str());
            if (!active_.empty())
                DBK_TRY_VOID(
                    stretch(bounds[i], bounds[i + 1] - 1,
                            next < pieces_.size() ? pieces_[next].run.from_ns : UINT64_MAX));
        }
        tail();
        return {};
    }
    /// Firings that go on from one part to another.
    uint64_t cut() const { return cut_; }

private:
    /// Segments that some parts have, the same for all of them.  They are as old at least as the
    /// segment that a later run begins with, which was opened at `next_ns`.
    Result<void> stretch(uint64_t first, uint64_t last, uint64_t next_ns) {
        const Piece& any = pieces_[active_.begin()->second];
        before(first, any);
        uint64_t from = std::max(boot_.since_ns, over_to_ns_);
        uint64_t end = std::min(boot_.until_ns, next_ns);
        for (const auto& [since_ns, at] : active_) {
            from = std::max(from, pieces_[at].run.from_ns);
            end = std::min(end, plus(pieces_[at].run.to_ns, 1));
        }
        bool goes_on = seen_last_ != 0 && first == seen_last_ + 1;
        cut_ += goes_on && std::ranges::any_of(active_, [&](const auto& one) {
                    const CoveredRun& run = pieces_[one.second].run;
                    return run.first_sequence == first && run.begins_in_firing;
                });
        const Piece* previous = nullptr;
        for (const auto& [since_ns, at] : active_) {
            const Piece& piece = pieces_[at];
            if (previous && previous->until_ns > since_ns)
                return overlap(*previous, piece, first, last);
            if (since_ns > from && from < end)
                time_hole(first, last, from, std::min(since_ns, end));
            from = std::max(from, piece.until_ns);
            previous = &piece;
        }
        if (from < end)
            time_hole(first, last, from, end);
        seen_last_ = last;
        seen_to_ns_ = any.run.to_ns;
        seen_records_ = any.run.last_sequence == last ? any.run.records_after() : UINT64_MAX;
        return {};
    }

    /// What lies between the stretch before and this one.
    void before(uint64_t first, const Piece& piece) {
        bool is_first_of_run = piece.run.first_sequence == first;
        uint64_t records = is_first_of_run && seen_records_ != UINT64_MAX &&
                                   piece.run.records_before > seen_records_
                               ? piece.run.records_before - seen_records_
                               : 0;
        if (first == seen_last_ + 1) {
            if (records != 0 && seen_last_ != 0)
                holes_.push_back(where_ + ": " + counted(records, "record") + " of " +
                                 segments_text(seen_last_, seen_last_) + " cannot be read");
            return;
        }
        uint64_t kept = std::max(seen_last_ + 1, cpu_.first_kept);
        if (first <= kept)
            return; // overwritten
        bool is_outside = piece.run.from_ns <= boot_.since_ns ||
                          (seen_last_ != 0 && seen_to_ns_ >= boot_.until_ns);
        if (!is_outside)
            sequence_hole(kept, first - 1, kept == seen_last_ + 1 ? records : 0);
    }

    void tail() {
        uint64_t first = std::max(seen_last_ + 1, cpu_.first_kept);
        bool is_outside = seen_last_ != 0 && seen_to_ns_ >= boot_.until_ns;
        if (cpu_.newest < first || is_outside)
            return;
        uint64_t records = seen_records_ != UINT64_MAX && cpu_.committed > seen_records_
                               ? cpu_.committed - seen_records_
                               : 0;
        sequence_hole(first, cpu_.newest, records);
    }

    Result<void> overlap(const Piece& a, const Piece& b, uint64_t first, uint64_t last) const {
        std::string one = part_text(*a.part), other = part_text(*b.part);
        return errorf(ErrorCode::invalid,
                      "%s: %s and %s both have %s: their records would count twice (replay the "
                      "recordings of both together)",
                      where_.c_str(), std::min(one, other).c_str(), std::max(one, other).c_str(),
                      segments_text(first, last).c_str());
    }

    void sequence_hole(uint64_t first, uint64_t last, uint64_t records) {
        holes_.push_back(where_ + ": " + segments_text(first, last) +
                         (records != 0 ? " with " + counted(records, "record") : "") +
                         (first == last ? " is" : " are") + " in no part");
    }

    void time_hole(uint64_t first, uint64_t last, uint64_t from_ns, uint64_t to_ns) {
        holes_.push_back(where_ + ": no part has " + segments_text(first, last) +
                         strprintf(" from %.9f s to %.9f s", static_cast<double>(from_ns) / 1e9,
                                   static_cast<double>(to_ns) / 1e9));
    }

    const Boot& boot_;
    const std::string& where_;
    const Cpu& cpu_;
    uint64_t& work_;
    std::vector<std::string>& holes_;
    std::vector<Piece> pieces_;
    std::set<std::pair<uint64_t, size_t>> active_; // by where the window begins
    uint64_t over_to_ns_ = 0; // when the last run ended that ended before what comes next
    uint64_t seen_last_ = 0, seen_to_ns_ = 0, cut_ = 0;
    uint64_t seen_records_ = 0; // before what comes next; UINT64_MAX: not known
};

/// Rings of a boot, by when their records begin: each is compared with the one that ended last.
void CoverageMerge::find_rings_of_one_time(std::vector<std::string>& losses) const {
    std::vector<std::tuple<uint64_t, uint64_t, uint16_t>> rings; // boot, from, ring
    for (const auto& [key, boot] : boots_)
        rings.emplace_back(key.first, boot.from_ns, key.second);
    std::ranges::sort(rings);
    uint64_t before_id = 0, before_to_ns = 0;
    std::optional<uint16_t> before;
    for (const auto& [id, from_ns, ring] : rings) {
        const Boot& boot = boots_.at({id, ring});
        if (before && before_id == id && from_ns <= before_to_ns)
            losses.push_back(boot_text(boot.host, id) +
                             strprintf(": parts of rings %u and %u, recorded at one time: "
                                       "what both have of a probe counts twice",
                                       unsigned{std::min(*before, ring)},
                                       unsigned{std::max(*before, ring)}));
        if (before && before_id == id && boot.to_ns <= before_to_ns)
            continue;
        before_id = id, before = ring, before_to_ns = boot.to_ns;
    }
}

Result<CoverageReport> CoverageMerge::finish() const {
    CoverageReport report;
    report.parts = parts_.size();
    report.records = records_;
    report.firings = firings_;
    report.boots = boots_.size();
    std::vector<std::string> holes, losses, notes;
    uint64_t work = 0;
    find_rings_of_one_time(losses);
    for (const auto& [key, boot] : boots_) {
        std::string name = boot_text(boot.host, key.first);
        uint64_t drops = 0, faults = 0, cut = 0;
        for (const auto& [cpu_index, cpu] : boot.cpus) {
            std::string where = name + strprintf(", cpu %u", unsigned{cpu_index});
            Sweep sweep(boot, where, cpu, work, holes);
            DBK_TRY_VOID(sweep.run());
            cut += sweep.cut();
            for (uint64_t count : cpu.drops)
                drops = plus(drops, count);
            faults = plus(faults, cpu.faults);
        }
        if (drops != 0)
            losses.push_back(name + ": " + counted(drops, "drop") + " when it was recorded");
        if (faults != 0)
            notes.push_back(name + ": " + counted(faults, "recorded clause") +
                            " faulted, and stored nothing");
        if (cut != 0)
            losses.push_back(name + ": " + counted(cut, "firing") + (cut == 1 ? " goes" : " go") +
                             " on from one part to the next, and each took its records for a "
                             "firing of its own");
        if (boot.holds_firings && boot.digests.size() > 1)
            losses.push_back(name + ": speculations held records of firings whose others may lie "
                                    "in another part, and each took its own for a firing");
        if (boot.keeps_thread_state && boot.parts > 1)
            losses.push_back(name +
                             ": the program keeps self-> variables, whose values are lost "
                             "from one of its " +
                             std::to_string(boot.parts) + " parts to the next");
    }
    if (keeps_global_state_ && report.parts > 1)
        losses.push_back("the program keeps variables, whose values are lost from one of the " +
                         std::to_string(report.parts) + " parts to the next");
    if (has_ticks_ && boots_.begin()->first.first != boots_.rbegin()->first.first)
        losses.push_back("tick-N fired in each boot, and fires in a replay of all once: its counts "
                         "are the sum of all boots'");
    uint64_t replay_drops = 0;
    for (const auto& [identity, part] : parts_)
        replay_drops = plus(replay_drops, part.replay_drops);
    if (replay_drops != 0)
        losses.push_back(counted(replay_drops, "drop") + " when the parts were replayed");
    take_some(holes, "further hole", "further holes", report.missing);
    take_some(notes, "further boot", "further boots", report.notes);
    take_some(losses, "further loss", "further losses", report.missing);
    return report;
}

} // namespace daybreak::formats
