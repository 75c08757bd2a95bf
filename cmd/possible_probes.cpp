// SPDX-License-Identifier: Apache-2.0
//
// Which probes a kernel can have at all.
#include "cmd/possible_probes.hpp"

#include "base/nearest_name.hpp"
#include "engine/sim/bare_host.hpp"
#include "formats/abi/counters.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string_view>

namespace daybreak::cmd {

namespace {

constexpr auto TRACEPOINT = KernelProbe::Place::tracepoint;
constexpr auto ENTRY = KernelProbe::Place::function;
constexpr auto RETURN = KernelProbe::Place::function;

constexpr KernelProbe kKernelProbes[] = {
    {"syscall", "vmlinux", "*", "entry", false},
    {"syscall", "vmlinux", "*", "return", false},
    {"syscall", "i386", "*", "entry", false},
    {"syscall", "i386", "*", "return", false},
    {"syscall", "x32", "*", "entry", false},
    {"syscall", "x32", "*", "return", false},
    {"fbt", "*", "*", "entry", false},
    {"fbt", "*", "*", "return", false},
    {"sdt", "*", "", "*", false},
    {"kinst", "vmlinux", "*", "*", false, KernelProbe::Place::none, "", true},
    {"cpc", "", "", "*", true, KernelProbe::Place::none, "", true},
    {"dtmalloc", "vmlinux", "*", "malloc", true, KernelProbe::Place::none, "", true},
    {"dtmalloc", "vmlinux", "*", "free", true, KernelProbe::Place::none, "", true},
#define DBK_PLACE(provider, module, function, name, since, kind, where, parameters, condition,     \
                  pass)                                                                            \
    {#provider, module, function, name, true, kind, #where},
#define DBK_CODED(provider, name, since, kind, where)                                              \
    {#provider, "vmlinux", "", name, true, kind, #where},
#define DBK_ABSENT(provider, name, reason)
#include "formats/abi/probes/all.h"
#include "formats/abi/probes/end.h"
};

bool matches(const std::string& pattern, std::string_view name) {
    return pattern.empty() || name == kAnyName || sim::glob_match(pattern, std::string(name));
}

bool matches(const ProbeParts& description, const ProbeParts& probe) {
    return matches(description.provider, probe.provider) &&
           matches(description.module, probe.module) &&
           matches(description.function, probe.function) && matches(description.name, probe.name);
}

/// Whether a part of a description can match the name of a function, a module or a tracepoint.
/// What a glob stands for can be anything; its own letters have to be those of C, or of a symbol
/// that the compiler made (`name.isra.0`).
bool can_be_identifier(const std::string& pattern) {
    return std::all_of(pattern.begin(), pattern.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("_.*?[]\\!").find(c) != std::string_view::npos ||
               static_cast<unsigned char>(c) >= 0x80;
    });
}

/// Module names may have a '-' where their file has one; a range of a glob has one as well.
bool can_be_part(const std::string& pattern) {
    std::string without_dash(pattern);
    std::replace(without_dash.begin(), without_dash.end(), '-', '_');
    return can_be_identifier(without_dash);
}

/// BEGIN, END or ERROR with a typing mistake: no tracepoint has capitals alone.
bool is_misspelt(const compiler::ProbeDescription& description) {
    auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
    return description.provider.empty() && !description.name.empty() &&
           std::all_of(description.name.begin(), description.name.end(), is_capital);
}

/// Returns the name that was meant by a word: by one of other tracers, or the nearest by its
/// letters; "" when none is near.
std::string meant_name(const std::string& word, const std::vector<std::string>& names) {
    static constexpr std::pair<std::string_view, const char*> kElsewhere[] = {
        {"enter", "entry"}, {"exit", "return"}, {"ret", "return"}};
    for (const auto& [other, meant] : kElsewhere)
        if (word == other && std::find(names.begin(), names.end(), meant) != names.end())
            return meant;
    return base::nearest_name(word, names);
}

} // namespace

bool KernelProbe::is_of(const std::string& pattern) const {
    return is_made ? pattern == provider : matches(pattern, provider);
}

std::span<const KernelProbe> kernel_probes() {
    return kKernelProbes;
}

bool is_own_or_timer(const ProbeParts& parts) {
    return sim::probe_can_exist({parts.provider.c_str(), parts.module.c_str(),
                                 parts.function.c_str(), parts.name.c_str(), 0},
                                {});
}

bool probe_is_possible(const compiler::ProbeDescription& description) {
    if (description.id)
        return true;
    if (is_own_or_timer(
            {description.provider, description.module, description.function, description.name}))
        return true;
    if (description.provider == "cpc")
        return description.module.empty() && description.function.empty() &&
               counter_problem(description.name).empty();
    bool is_range = description.name.find('[') != std::string::npos;
    bool name_is_free =
        is_range ? can_be_part(description.name) : can_be_identifier(description.name);
    return !is_misspelt(description) && can_be_part(description.module) &&
           can_be_part(description.function) &&
           std::any_of(std::begin(kKernelProbes), std::end(kKernelProbes),
                       [&](const KernelProbe& probe) {
                           return probe.is_of(description.provider) &&
                                  (probe.name == kAnyName ? name_is_free || probe.is_one
                                                          : matches(description.name, probe.name));
                       });
}

std::string ProbeParts::text() const {
    std::string text = provider + ":" + module + ":" + function + ":" + name;
    return text.substr(std::min(text.find_first_not_of(':'), text.size()));
}

std::vector<ProbeParts> regrouped(const ProbeParts& written) {
    std::vector<std::string> parts;
    for (const std::string* part :
         {&written.provider, &written.module, &written.function, &written.name})
        if (!part->empty())
            parts.push_back(*part);
    if (parts.size() < 2)
        return {};
    const std::string provider = parts[0], &last = parts.back();
    std::vector<ProbeParts> ways;
    if ((provider == "tick" || provider == "profile") && parts.size() == 2)
        ways.push_back({"", "", "", provider + "-" + last});
    bool is_one_of_ours =
        std::any_of(std::begin(kKernelProbes), std::end(kKernelProbes),
                    [&provider](const KernelProbe& probe) { return provider == probe.provider; });
    if (!is_one_of_ours && provider != "dtrace" && provider != "profile")
        return ways;
    if (parts.size() == 2)
        ways.insert(ways.end(), {{provider, "", "", last}, {provider, "", last, "entry"}});
    if (parts.size() == 3)
        ways.insert(ways.end(), {{provider, "", parts[1], last}, {provider, parts[1], "", last}});
    std::erase(ways, written);
    return ways;
}

std::string nearest_probe(const compiler::ProbeDescription& description,
                          const std::vector<ProbeParts>& probes) {
    using Probe = ProbeParts;
    static constexpr std::string Probe::*kParts[] = {&Probe::provider, &Probe::module,
                                                     &Probe::function, &Probe::name};
    const Probe written{description.provider, description.module, description.function,
                        description.name};
    for (const ProbeParts& other : regrouped(written))
        if (is_own_or_timer(other) ||
            std::any_of(probes.begin(), probes.end(),
                        [&](const auto& probe) { return matches(other, probe); }))
            return other.text();
    std::vector<const Probe*> left;
    for (const Probe& probe : probes)
        left.push_back(&probe);
    Probe nearest = written;
    for (auto part : kParts) {
        std::string& pattern = nearest.*part;
        auto fits = [&pattern, part](const Probe* probe) { return matches(pattern, probe->*part); };
        if (std::none_of(left.begin(), left.end(), fits)) {
            std::vector<std::string> names;
            for (const Probe* probe : left)
                names.push_back(probe->*part);
            pattern = meant_name(pattern, names);
            if (pattern.empty())
                return "";
        }
        std::erase_if(left, [&fits](const Probe* probe) { return !fits(probe); });
    }
    // No identifier has a '-'; nothing else was wrong.
    if (nearest == written)
        std::replace(nearest.name.begin(), nearest.name.end(), '-', '_');
    return nearest == written ? "" : nearest.text();
}

std::string counter_problem(const std::string& name) {
    static constexpr struct {
        std::string_view event;
        uint64_t least;
        uint32_t modes;
    } kCounters[] = {
#define COUNTER(event, type, config, least, modes) {#event, least, modes},
        DBK_COUNTERS(COUNTER)
#undef COUNTER
    };
    static constexpr struct {
        std::string_view event, reason;
    } kNoCounters[] = {
#define NO_COUNTER(event, reason) {#event, reason},
        DBK_NO_COUNTERS(NO_COUNTER)
#undef NO_COUNTER
    };
    const std::string event = name.substr(0, name.find('-'));
    for (const auto& absent : kNoCounters)
        if (absent.event == event)
            return "cpc has no " + event + ": " + std::string(absent.reason);
    std::string events;
    for (const auto& counter : kCounters) {
        events += (events.empty() ? "" : ", ") + std::string(counter.event);
        if (counter.event != event)
            continue;
        std::string rest = name.substr(std::min(name.size(), event.size() + 1));
        const size_t dash = rest.find('-');
        const std::string mode = rest.substr(0, dash);
        const std::string digits = dash == rest.npos ? "" : rest.substr(dash + 1);
        char* end = nullptr;
        const uint64_t number = std::strtoull(digits.c_str(), &end, 10);
        if (mode == "user" && (counter.modes & DBK_COUNTED_USER) == 0)
            return event + " happens in the kernel only: kernel or all for MODE";
        if ((mode == "kernel" || mode == "user" || mode == "all") && *end == '\0' &&
            number >= counter.least && number <= INT64_MAX)
            return "";
        return "cpc:::" + event + "-MODE-N takes kernel, user or all for MODE and at least " +
               std::to_string(counter.least) + " for N";
    }
    return "cpc has " + events;
}

std::vector<ProbeParts> example_timers() {
    return {{"profile", "", "", "profile-97"}, {"profile", "", "", "tick-1s"}};
}

std::string hint_for_backfill_probe(const compiler::ProbeDescription& description) {
    bool is_its = description.provider == "boot" &&
                  std::find(std::begin(kBackfillProbes), std::end(kBackfillProbes),
                            description.name) != std::end(kBackfillProbes);
    return is_its ? "boot:::" + description.name + " is only in daybreak backfill" : "";
}

std::string similar_possible_probe(const compiler::ProbeDescription& description) {
    std::vector<ProbeParts> probes = example_timers();
    for (const char* name : {"BEGIN", "END", "ERROR"})
        probes.push_back({"dtrace", "", "", name});
    for (const KernelProbe& probe : kKernelProbes)
        if (probe.name != kAnyName || !description.provider.empty()) // else any would be right
            probes.push_back({probe.provider, probe.module, probe.function, probe.name});
    return nearest_probe(description, probes);
}

} // namespace daybreak::cmd
