// SPDX-License-Identifier: Apache-2.0
//
// Which part of a recording: --since, --until, --ring, --cpu and --probe.
#include "cmd/window_options.hpp"

#include "analyze/decode/moment.hpp"
#include "analyze/decode/time_span.hpp"
#include "analyze/print/drop_text.hpp"
#include "analyze/print/text.hpp"
#include "base/counted.hpp"
#include "cmd/moment_text.hpp"
#include "cmd/terminal.hpp"
#include "compiler/syntax/parser.hpp"
#include "engine/sim/bare_host.hpp"
#include "formats/dof/dof_program.hpp"

#include <algorithm>
#include <charconv>
#include <cinttypes>
#include <set>

namespace daybreak::cmd {

namespace {

using analyze::Moment;
using base::errorf;
using base::Result;

/// How many probes a message names.
constexpr size_t kProbesNamed = 5;

/// As an option was given: "--probe 'a:b'".
std::string quoted(const char* option, const std::string& text) {
    return std::string(option) + " '" + text + "'";
}

Result<analyze::WantedProbes> matching_probes(const std::string& given, const std::string& text,
                                              const formats::Recording& recording) {
    DBK_TRY(compiler::ProbeDescription description, parse_probe(given, text));
    analyze::WantedProbes wanted(text);
    for (const formats::RingRecording& ring : recording.rings)
        for (const auto& [id, probe] : ring.probes)
            if (sim::names_match(description, probe))
                wanted.add(ring.ring_id, id);
    return wanted;
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
    return known.empty() ? "none" : base::some_of(known, kProbesNamed);
}

base::Error no_such_probe(const std::string& given, const formats::Recording& recording) {
    return errorf(base::ErrorCode::not_found,
                  "%s matches no probe of the recording, which daybreak list FILE prints: %s%s",
                  given.c_str(), probes_text(recording).c_str(), damage_text(recording));
}

/// Returns the probes that an anchor names.  The whole text is looked up first: profile-997 and
/// tick-1s are names, and look as if they had a distance, which is taken away then.
Result<analyze::WantedProbes> anchor_probes(const std::string& given, Moment& moment,
                                            const formats::Recording& recording) {
    DBK_TRY(analyze::WantedProbes whole, matching_probes(given, moment.whole_name, recording));
    if (!whole.empty()) {
        moment.offset_ns = 0;
        return whole;
    }
    DBK_TRY(analyze::WantedProbes probes, matching_probes(given, moment.name, recording));
    if (!probes.empty())
        return probes;
    size_t sign = moment.name.find_last_of("+-");
    if (moment.name == moment.whole_name && sign != std::string::npos) {
        DBK_TRY(probes, matching_probes(given, moment.name.substr(0, sign), recording));
        if (!probes.empty())
            return errorf(base::ErrorCode::invalid,
                          "%s: '%s' cannot be read as a distance: expected +1s or -500ms",
                          given.c_str(), moment.name.substr(sign).c_str());
    }
    return no_such_probe(given, recording);
}

/// Whether records that were made earlier than what is here may be missing.
bool may_have_earlier(const formats::Recording& recording) {
    for (const formats::RingRecording& ring : recording.rings)
        for (const formats::CpuInfo& cpu : ring.cpus)
            if (cpu.completeness.overwritten != 0 || cpu.completeness.rotated != 0)
                return true;
    return recording.all_findings().any_loss();
}

void complain_of_earlier(const std::string& given, const formats::Recording& recording) {
    if (may_have_earlier(recording))
        complain(given + ": the first record that is here; earlier ones were overwritten or lost, "
                         "or are in other files, maybe of these probes, too");
}

/// Returns CLOCK_MONOTONIC of what an option says.
Result<uint64_t> moment_ns(const char* option, const std::string& text,
                           const formats::Recording& recording) {
    DBK_TRY(Moment moment, parse_moment(option, text));
    const std::string given = quoted(option, text);
    analyze::WantedProbes probes;
    if (moment.anchor == Moment::Anchor::probe) {
        DBK_TRY(probes, anchor_probes(given, moment, recording));
    }
    auto mono_ns = analyze::mono_ns_of(moment, recording, probes);
    if (!mono_ns.ok())
        return errorf(mono_ns.error().code(), "%s %s: %s%s", option, text.c_str(),
                      mono_ns.error().message().c_str(), damage_text(recording));
    if (moment.anchor == Moment::Anchor::probe)
        complain_of_earlier(given, recording);
    return mono_ns;
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

bool WindowOptions::may_skim() const {
    // A probe is looked for in the whole file: what is damaged has to be known before.
    return has_time() && !since.starts_with("probe:") && !until.starts_with("probe:");
}

void complain_of_nothing(const analyze::TimeWindow& window, const analyze::WantedProbes& probes,
                         const std::string& cpus) {
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
             "(+2), before the last (-5); panic-5s, trigger:NAME, probe:GLOB+1s (after "
             "its first record), 10:15:00, a date");
    add_text(command, "--until", options.until, "TIME",
             "Leave out what is newer, in the same forms");
}

void add_ring_option(Command command, WindowOptions& options) {
    add_text(command, "--ring", options.ring, "NAME",
             "Only this program's ring, by name or number");
}

void add_window_options(Command command, WindowOptions& options) {
    add_time_options(command, options);
    add_ring_option(command, options);
    add_text(command, "--cpu", options.cpus, "LIST", "Only these CPUs, as 0,2-3");
}

void add_probe_option(Command command, WindowOptions& options) {
    add_text(command, "--probe", options.probe, "GLOB",
             "Only records of the probes that match provider:module:function:name");
}

Result<void> check_window_options(const WindowOptions& options) {
    DBK_TRY_VOID(parse_probe(quoted("--probe", options.probe), options.probe));
    for (auto [option, text] : {std::pair(options.since_option, &options.since),
                                std::pair(options.until_option, &options.until)}) {
        if (text->empty())
            continue;
        DBK_TRY(Moment moment, parse_moment(option, *text));
        if (moment.anchor == Moment::Anchor::probe)
            DBK_TRY_VOID(parse_probe(quoted(option, *text), moment.name));
    }
    if (!options.cpus.empty())
        DBK_TRY_VOID(parse_cpus(options.cpus));
    return {};
}

Result<analyze::TimeWindow> apply_window_options(const WindowOptions& options,
                                                 formats::Recording& recording) {
    if (!options.ring.empty())
        DBK_TRY_VOID(keep_ring(recording, options.ring));
    analyze::TimeWindow window; // of the time of all CPUs, also when some were asked for
    for (auto [option, text, to] :
         {std::tuple(options.since_option, &options.since, &window.since_mono_ns),
          std::tuple(options.until_option, &options.until, &window.until_mono_ns)}) {
        if (text->empty())
            continue;
        DBK_TRY(*to, moment_ns(option, *text, recording));
    }
    if (window.since_ns() > window.until_ns())
        return errorf(base::ErrorCode::invalid, "%s %s is later than %s %s: %s and %s after boot",
                      options.since_option, options.since.c_str(), options.until_option,
                      options.until.c_str(), boot_text(recording, window.since_ns()).c_str(),
                      boot_text(recording, window.until_ns()).c_str());
    analyze::TimeSpan span = window.is_set() ? analyze::span_of(recording) : analyze::TimeSpan{};
    if (!span.empty() &&
        (window.since_ns() > span.last_mono_ns || window.until_ns() < span.first_mono_ns))
        return window.since_ns() > span.last_mono_ns
                   ? outside_error(options.since_option, options.since, recording)
                   : outside_error(options.until_option, options.until, recording);
    if (!options.cpus.empty())
        DBK_TRY_VOID(keep_cpus(recording, options.cpus));
    return window;
}

base::Error outside_error(const char* option, const std::string& text,
                          const formats::Recording& recording) {
    return errorf(base::ErrorCode::not_found, "%s %s lies outside: %s%s", option, text.c_str(),
                  covered_text(recording).c_str(), damage_text(recording));
}

Result<uint64_t> first_of_probe_ns(const char* option, const std::string& text,
                                   const formats::Recording& recording) {
    const std::string given = quoted(option, text);
    DBK_TRY(analyze::WantedProbes probes, matching_probes(given, text, recording));
    if (probes.empty())
        return no_such_probe(given, recording);
    std::optional<uint64_t> first_ns = analyze::first_record_ns(recording, probes);
    if (!first_ns)
        return errorf(base::ErrorCode::not_found, "%s: the recording has no record of it%s",
                      given.c_str(), damage_text(recording));
    complain_of_earlier(given, recording);
    return *first_ns;
}

Result<compiler::ProbeDescription> parse_probe(const std::string& given, const std::string& text) {
    compiler::ProbeDescription description;
    if (!compiler::split_probe_description(text, compiler::ProbeSpec::name, description))
        return errorf(base::ErrorCode::invalid,
                      "%s: not a probe description (provider:module:function:name)", given.c_str());
    return description;
}

Result<analyze::WantedProbes> probes_asked_for(const WindowOptions& options,
                                               const formats::Recording& recording) {
    if (options.probe.empty())
        return analyze::WantedProbes();
    const std::string given = quoted("--probe", options.probe);
    DBK_TRY(analyze::WantedProbes wanted, matching_probes(given, options.probe, recording));
    if (wanted.empty())
        return no_such_probe(given, recording);
    return wanted;
}

} // namespace daybreak::cmd
