// SPDX-License-Identifier: Apache-2.0
//
// Which part of a recording: --since, --until, --ring, --cpu and --probe.
#include "cmd/window_options.hpp"

#include "analyze/decode/moment.hpp"
#include "analyze/decode/time_span.hpp"
#include "analyze/print/drop_text.hpp"
#include "analyze/print/text.hpp"
#include "cmd/quantity.hpp"
#include "cmd/terminal.hpp"
#include "compiler/syntax/parser.hpp"
#include "engine/sim/sim_host.hpp"
#include "formats/dof/dof_program.hpp"

#include <algorithm>
#include <charconv>
#include <cinttypes>
#include <cstring>
#include <ctime>
#include <set>

namespace daybreak::cmd {

namespace {

using analyze::Moment;
using base::errorf;
using base::Result;

constexpr int64_t kNsPerSecond = 1'000'000'000;

struct AnchorName {
    std::string_view name;
    Moment::Anchor anchor;
};
constexpr AnchorName kAnchors[] = {{"boot", Moment::Anchor::boot},
                                   {"start", Moment::Anchor::start},
                                   {"end", Moment::Anchor::end},
                                   {"panic", Moment::Anchor::panic},
                                   {"trigger", Moment::Anchor::trigger}};

/// How dates are written; seconds may have a fraction, a date may end with Z for UTC.
struct DateForm {
    const char* format;
    bool has_day;
};
constexpr DateForm kDateForms[] = {{"%Y-%m-%dT%H:%M:%S", true},
                                   {"%Y-%m-%d %H:%M:%S", true},
                                   {"%Y-%m-%dT%H:%M", true},
                                   {"%Y-%m-%d %H:%M", true},
                                   {"%Y-%m-%d", true},
                                   {"%H:%M:%S", false},
                                   {"%H:%M", false}};

base::Error not_a_time(const std::string& option, const std::string& text) {
    return errorf(
        base::ErrorCode::invalid,
        "%s %s: expected a time: 12.5 or 500ms (after boot), +2 (after the first record), -5 "
        "(before the last), panic-5s, trigger:NAME+1s, 10:15:00, 2026-01-31T10:15:00, "
        "@1770000000",
        option.c_str(), text.c_str());
}

/// Reads "5", "500ms", "1.5m".
std::optional<int64_t> read_distance(const std::string& text) {
    Result<uint64_t> ns = parse_time("", text);
    if (!ns.ok())
        return std::nullopt;
    return static_cast<int64_t>(*ns);
}

/// Reads ".25", which is all that is left of a date; "" is 0.
std::optional<int64_t> read_fraction(const std::string& text) {
    if (text.empty())
        return 0;
    bool good = text[0] == '.' && text.size() > 1 &&
                text.find_first_not_of("0123456789", 1) == std::string::npos;
    return good ? read_distance("0" + text) : std::nullopt;
}

std::optional<Moment> read_date(std::string text) {
    bool is_utc = text.ends_with('Z');
    if (is_utc)
        text.pop_back();
    for (const DateForm& form : kDateForms) {
        struct tm date {};
        date.tm_mday = 1;
        const char* rest = ::strptime(text.c_str(), form.format, &date);
        bool has_seconds = std::strstr(form.format, "%S") != nullptr;
        std::optional<int64_t> fraction_ns = rest ? read_fraction(rest) : std::nullopt;
        if (!fraction_ns || (*rest && !has_seconds) || (is_utc && !form.has_day))
            continue;
        if (!form.has_day) {
            int64_t seconds = date.tm_hour * 3600 + date.tm_min * 60 + date.tm_sec;
            return Moment{Moment::Anchor::day, seconds * kNsPerSecond + *fraction_ns, ""};
        }
        date.tm_isdst = -1;
        const int day = date.tm_mday;
        int64_t seconds = is_utc ? ::timegm(&date) : ::mktime(&date);
        if (date.tm_mday != day) // 30 February was made 2 March
            return std::nullopt;
        if (seconds < 0 || seconds > INT64_MAX / kNsPerSecond - 1)
            return std::nullopt;
        return Moment{Moment::Anchor::wall, seconds * kNsPerSecond + *fraction_ns, ""};
    }
    return std::nullopt;
}

/// Reads "panic", "panic-5s", "trigger:NAME+1": a name may have signs in it, the last one counts
/// when a distance follows it.
std::optional<Moment> read_anchored(const std::string& text) {
    for (const AnchorName& known : kAnchors) {
        if (!text.starts_with(known.name))
            continue;
        Moment moment{known.anchor, 0, ""};
        std::string rest = text.substr(known.name.size());
        size_t sign = rest.find_last_of("+-");
        if (sign != std::string::npos) {
            std::optional<int64_t> distance = read_distance(rest.substr(sign + 1));
            if (distance)
                moment.offset_ns = rest[sign] == '-' ? -*distance : *distance;
            if (distance)
                rest.resize(sign);
        }
        bool has_name =
            known.anchor == Moment::Anchor::trigger && rest.size() > 1 && rest[0] == ':';
        if (has_name)
            moment.trigger = rest.substr(1);
        if (rest.empty() || has_name)
            return moment;
    }
    return std::nullopt;
}

Result<Moment> parse_moment(const std::string& option, const std::string& text) {
    std::optional<Moment> anchored = read_anchored(text);
    if (anchored)
        return *anchored;
    std::optional<Moment> date = read_date(text);
    if (date)
        return *date;
    Moment::Anchor anchor = text.starts_with('+')   ? Moment::Anchor::start
                            : text.starts_with('-') ? Moment::Anchor::end
                            : text.starts_with('@') ? Moment::Anchor::wall
                                                    : Moment::Anchor::boot;
    std::optional<int64_t> distance =
        read_distance(anchor == Moment::Anchor::boot ? text : text.substr(1));
    if (!distance)
        return not_a_time(option, text);
    return Moment{anchor, anchor == Moment::Anchor::end ? -*distance : *distance, ""};
}

/// How many probes a message names.
constexpr size_t kProbesNamed = 5;

Result<compiler::ProbeDescription> parse_probe(const std::string& text) {
    compiler::ProbeDescription description;
    if (!compiler::split_probe_description(text, compiler::ProbeSpec::name, description))
        return errorf(base::ErrorCode::invalid,
                      "--probe %s: not a probe description (provider:module:function:name)",
                      text.c_str());
    return description;
}

/// Says when not all of the recording could be read: then what is not found may be damaged.
const char* damage_text(const formats::Recording& recording) {
    return recording.all_findings().any_loss()
               ? "; parts of it are damaged or missing, daybreak info lists them"
               : "";
}

/// Returns "dtrace:::BEGIN, profile:::tick-1s and 3 more".
std::string probes_text(const formats::Recording& recording) {
    std::set<std::string> known;
    for (const formats::RingRecording& ring : recording.rings)
        for (const auto& [id, probe] : ring.probes)
            known.insert(
                formats::DofProbeName{probe.provider, probe.module, probe.function, probe.name, 0}
                    .text());
    std::string text;
    size_t named = 0;
    for (auto probe = known.begin(); probe != known.end() && named < kProbesNamed; ++probe, ++named)
        text += (text.empty() ? "" : ", ") + *probe;
    if (known.size() > named)
        text += base::strprintf(" and %zu more", known.size() - named);
    return text.empty() ? "none" : text;
}

/// A range of CPUs, both ends in it.
struct CpuRange {
    uint32_t first = 0, last = 0;

    bool has(uint16_t cpu) const { return cpu >= first && cpu <= last; }
    std::string text() const {
        return std::to_string(first) + (last == first ? "" : "-" + std::to_string(last));
    }
};

/// Reads "0,2-3".
Result<std::vector<CpuRange>> parse_cpus(const std::string& text) {
    std::vector<CpuRange> ranges;
    const char *at = text.data(), *end = text.data() + text.size();
    for (;;) {
        CpuRange range;
        auto read = std::from_chars(at, end, range.first);
        range.last = range.first;
        if (read.ec == std::errc() && read.ptr < end && *read.ptr == '-')
            read = std::from_chars(read.ptr + 1, end, range.last);
        bool good = read.ec == std::errc() && range.first <= range.last &&
                    (read.ptr == end || *read.ptr == ',');
        if (!good)
            return errorf(base::ErrorCode::invalid, "--cpu %s: not a list of CPUs (0,2-3)",
                          text.c_str());
        ranges.push_back(range);
        if (read.ptr == end)
            return ranges;
        at = read.ptr + 1;
    }
}

std::set<uint16_t> cpus_of(const formats::Recording& recording) {
    std::set<uint16_t> cpus;
    for (const formats::RingRecording& ring : recording.rings)
        for (const formats::CpuInfo& cpu : ring.cpus)
            cpus.insert(cpu.cpu);
    return cpus;
}

/// Returns "0, 1, 2".
std::string cpus_text(const std::set<uint16_t>& cpus) {
    std::string text;
    for (uint16_t cpu : cpus)
        text += (text.empty() ? "" : ", ") + std::to_string(cpu);
    return text.empty() ? "none" : text;
}

Result<void> keep_cpus(formats::Recording& recording, const std::string& text) {
    DBK_TRY(std::vector<CpuRange> ranges, parse_cpus(text));
    std::set<uint16_t> known = cpus_of(recording);
    auto is_wanted = [&](const formats::CpuInfo& cpu) {
        return std::ranges::any_of(ranges,
                                   [&](const CpuRange& range) { return range.has(cpu.cpu); });
    };
    for (const CpuRange& range : ranges)
        if (std::none_of(known.begin(), known.end(), [&](uint16_t cpu) { return range.has(cpu); }))
            return errorf(base::ErrorCode::not_found,
                          "--cpu %s: the recording has no CPU %s, but %s%s", text.c_str(),
                          range.text().c_str(), cpus_text(known).c_str(), damage_text(recording));
    for (formats::RingRecording& ring : recording.rings)
        std::erase_if(ring.cpus, [&](const formats::CpuInfo& cpu) { return !is_wanted(cpu); });
    return {};
}

Result<void> keep_ring(formats::Recording& recording, const std::string& name) {
    auto is_named = [&](const formats::RingRecording& ring) { return ring.info.name == name; };
    auto is_numbered = [&](const formats::RingRecording& ring) {
        return std::to_string(ring.ring_id) == name;
    };
    std::vector<formats::RingRecording>& rings = recording.rings;
    bool by_name = std::ranges::any_of(rings, is_named);
    if (!by_name && std::ranges::none_of(rings, is_numbered)) {
        std::string names;
        for (const formats::RingRecording& ring : rings)
            if (ring.ring_id != 0)
                names += base::strprintf("%s%u (%s)", names.empty() ? "" : ", ",
                                         unsigned{ring.ring_id}, ring.info.name.c_str());
        return errorf(base::ErrorCode::not_found, "--ring %s: the recording has %s%s", name.c_str(),
                      names.empty() ? "no ring" : names.c_str(), damage_text(recording));
    }
    std::erase_if(rings, [&](const formats::RingRecording& ring) {
        return ring.ring_id != 0 && !(by_name ? is_named(ring) : is_numbered(ring));
    });
    return {};
}

/// An option that is not empty when it is given.
void add_text(Command command, const char* name, std::string& value, const char* type,
              const char* help) {
    command.add_option(name, value, help).type_name(type).check([](const std::string& given) {
        return given.empty() ? std::string("it is empty") : std::string();
    });
}

/// Returns the clock of the first ring that is described; null: none is.
const formats::ClockModel* clock_of(const formats::Recording& recording) {
    auto ring = std::ranges::find(recording.rings, true, &formats::RingRecording::has_info);
    return ring == recording.rings.end() ? nullptr : &ring->clock;
}

/// Returns a time in seconds after boot, as far as the recording knows.
std::string boot_text(const formats::Recording& recording, uint64_t mono_ns) {
    const formats::ClockModel* clock = clock_of(recording);
    return analyze::seconds_text(clock ? clock->boot_ns(mono_ns) : mono_ns);
}

/// Returns from when to when there are records: seconds after boot, and the wall clock.
std::string covered_text(const formats::Recording& recording) {
    analyze::TimeSpan span = analyze::span_of(recording);
    const formats::ClockModel* clock = clock_of(recording);
    if (!clock || span.empty())
        return "the recording holds no record";
    auto wall = [&](uint64_t ns) { return analyze::wall_text(clock->wall_ns(ns)); };
    return base::strprintf("the recording covers %s to %s after boot (%s to %s)",
                           boot_text(recording, span.first_mono_ns).c_str(),
                           boot_text(recording, span.last_mono_ns).c_str(),
                           wall(span.first_mono_ns).c_str(), wall(span.last_mono_ns).c_str());
}

} // namespace

void complain_of_nothing(const analyze::TimeWindow& window,
                         const analyze::WantedProbes& probes, const std::string& cpus) {
    std::string text = "there is no record";
    if (probes.is_set())
        text += " of " + probes.description();
    if (!cpus.empty())
        text += " of CPU " + cpus;
    if (window.is_set())
        text += " in that window";
    if (window.is_set() && !probes.is_set())
        text += "; daybreak info has the first and last time of each CPU";
    if (probes.is_set() || window.is_set() || !cpus.empty())
        complain(text);
}

int fail_window(const char* command, const base::Error& error) {
    return error.code() == base::ErrorCode::invalid ? misuse(command, error.message())
                                                    : fail(error);
}

void add_time_options(Command command, WindowOptions& options) {
    add_text(command, "--since", options.since, "TIME",
             "Leave out what is older: seconds after boot (12.5), after the first record "
             "(+2), before the last (-5); panic-5s, trigger:NAME, 10:15:00, a date");
    add_text(command, "--until", options.until, "TIME",
             "Leave out what is newer, in the same forms");
}

void add_window_options(Command command, WindowOptions& options) {
    add_time_options(command, options);
    add_text(command, "--ring", options.ring, "NAME",
             "Only this program's ring, by name or number");
    add_text(command, "--cpu", options.cpus, "LIST", "Only these CPUs, as 0,2-3");
}

void add_probe_option(Command command, WindowOptions& options) {
    add_text(command, "--probe", options.probe, "GLOB",
             "Only records of the probes that match provider:module:function:name");
}

Result<void> check_window_options(const WindowOptions& options) {
    DBK_TRY_VOID(parse_probe(options.probe));
    if (!options.since.empty())
        DBK_TRY_VOID(parse_moment("--since", options.since));
    if (!options.until.empty())
        DBK_TRY_VOID(parse_moment("--until", options.until));
    if (!options.cpus.empty())
        DBK_TRY_VOID(parse_cpus(options.cpus));
    return {};
}

Result<analyze::TimeWindow> apply_window_options(const WindowOptions& options,
                                                 formats::Recording& recording) {
    if (!options.ring.empty())
        DBK_TRY_VOID(keep_ring(recording, options.ring));
    analyze::TimeWindow window; // of the time of all CPUs, also when some were asked for
    for (auto [option, text, to] : {std::tuple("--since", &options.since, &window.since_mono_ns),
                                    std::tuple("--until", &options.until, &window.until_mono_ns)}) {
        if (text->empty())
            continue;
        DBK_TRY(Moment moment, parse_moment(option, *text));
        auto mono_ns = analyze::mono_ns_of(moment, recording);
        if (!mono_ns.ok())
            return errorf(mono_ns.error().code(), "%s %s: %s%s", option, text->c_str(),
                          mono_ns.error().message().c_str(), damage_text(recording));
        *to = *mono_ns;
    }
    if (window.since_ns() > window.until_ns())
        return errorf(base::ErrorCode::invalid,
                      "--since %s is later than --until %s: %s and %s after boot",
                      options.since.c_str(), options.until.c_str(),
                      boot_text(recording, window.since_ns()).c_str(),
                      boot_text(recording, window.until_ns()).c_str());
    analyze::TimeSpan span = window.is_set() ? analyze::span_of(recording) : analyze::TimeSpan{};
    if (!span.empty() &&
        (window.since_ns() > span.last_mono_ns || window.until_ns() < span.first_mono_ns))
        return errorf(
            base::ErrorCode::not_found, "%s %s lies outside: %s",
            window.since_ns() > span.last_mono_ns ? "--since" : "--until",
            (window.since_ns() > span.last_mono_ns ? options.since : options.until).c_str(),
            (covered_text(recording) + damage_text(recording)).c_str());
    if (!options.cpus.empty())
        DBK_TRY_VOID(keep_cpus(recording, options.cpus));
    return window;
}

Result<analyze::WantedProbes> probes_asked_for(const WindowOptions& options,
                                               const formats::Recording& recording) {
    analyze::WantedProbes wanted(options.probe);
    if (!wanted.is_set())
        return wanted;
    DBK_TRY(compiler::ProbeDescription description, parse_probe(options.probe));
    for (const formats::RingRecording& ring : recording.rings)
        for (const auto& [id, probe] : ring.probes)
            if (sim::names_match(description, probe))
                wanted.add(ring.ring_id, id);
    if (wanted.empty())
        return errorf(base::ErrorCode::not_found,
                      "--probe '%s' matches none of the recording's, which daybreak list prints: "
                      "%s%s",
                      options.probe.c_str(), probes_text(recording).c_str(),
                      damage_text(recording));
    return wanted;
}

} // namespace daybreak::cmd
