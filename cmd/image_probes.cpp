// SPDX-License-Identifier: Apache-2.0
//
// The probes that a kernel will have, by its image.
#include "cmd/image_probes.hpp"

#include "base/counted.hpp"
#include "base/nearest_name.hpp"
#include "cmd/possible_probes.hpp"
#include "cmd/terminal.hpp"
#include "compiler/diagnostics/other_tracers.hpp"
#include "engine/sim/bare_host.hpp"
#include "formats/abi/own_path.h"
#include "live/process/places.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <tuple>
#include <utility>

namespace daybreak::cmd {

namespace {

using formats::DofProbeName;
using namespace std::string_view_literals;

constexpr SystemCall kSystemCalls[] = {
#include "system_calls.inc"
};

/// Newer than the headers of Debian 12; their functions are called by the same names.
constexpr const char* kLaterCalls[] = {
    "cachestat",         "fchmodat2",        "map_shadow_stack", "futex_wake",  "futex_wait",
    "futex_requeue",     "statmount",        "listmount",        "mseal",       "lsm_get_self_attr",
    "lsm_set_self_attr", "lsm_list_modules", "setxattrat",       "getxattrat",  "listxattrat",
    "removexattrat",     "open_tree_attr",   "file_getattr",     "file_setattr"};

/// What the kernel calls the functions of its tables.
constexpr SystemCall kSystemCallPrefixes[] = {
    {"vmlinux", "__x64_sys_"},
    {"i386", "__ia32_sys_"},
    {"i386", "__ia32_compat_sys_"},
    {"x32", "__x64_sys_"}};

constexpr std::string_view kOwnPath[] = {
#define DBK_NAME(name) #name,
    DBK_OWN_PATH(DBK_NAME)
#undef DBK_NAME
};

bool is_pattern(const std::string& part) {
    return part.empty() || part.find_first_of("*?[\\") != std::string::npos;
}

bool is_later(const SystemCall& call) {
    return std::ranges::find(kLaterCalls, std::string_view(call.name)) != std::end(kLaterCalls);
}

std::vector<std::string> texts(const std::vector<std::string_view>& views) {
    return {views.begin(), views.end()};
}

enum class Match { no, unknown, yes };

/// The places that a provider has probes at: system calls, functions, tracepoints.
class Places {
public:
    /// `kernel` may be null: what the headers have is known, and no more.
    explicit Places(compiler::BtfKernelTypes* kernel) : kernel_(kernel) {}

    /// The module, which may be a pattern, is asked of system calls alone.
    Match match(const std::string& provider, const std::string& module, const std::string& place) {
        if (place.empty() || any_matches(of(provider, module, false), place))
            return Match::yes;
        const std::vector<std::string>& names = of(provider, module, true);
        return names.empty() ? Match::unknown : any_matches(names, place) ? Match::yes : Match::no;
    }

    /// Returns the names that a provider has; empty when they are not known.  `all` are those of
    /// the image; else BTF's or our headers', which have most and cost little.
    const std::vector<std::string>& of(const std::string& provider, const std::string& module,
                                       bool all) {
        std::string table = provider == "syscall" ? module : "";
        auto [known, is_new] = known_.try_emplace({provider, table, all});
        if (is_new)
            known->second = look(provider, table, all);
        return known->second;
    }

    /// Whether the kernel has a place of a probe that is always of one: a tracepoint, or a
    /// function, of which the compiler may have made a copy with a suffix.
    Match match_one(const KernelProbe& probe) {
        Match best = probe.where[0] == '\0' ? Match::yes : Match::no;
        std::istringstream words(probe.where);
        for (std::string word; best != Match::yes && words >> word;)
            if (probe.kind == KernelProbe::Place::tracepoint)
                best = std::max(best, match("sdt", "", word));
            else
                for (const char* suffix : {"", ".isra.0", ".constprop.0"})
                    best = std::max(best, match("fbt", "", word + suffix));
        return best;
    }

    bool has_kernel() const { return kernel_ != nullptr; }

    /// Returns why the functions are not known; "" when they are, or were not asked for.
    const std::string& no_functions() const { return no_functions_; }

private:
    static bool any_matches(const std::vector<std::string>& names, const std::string& pattern) {
        return std::any_of(names.begin(), names.end(), [&pattern](const std::string& name) {
            return sim::glob_match(pattern, name);
        });
    }

    std::vector<std::string> look(const std::string& provider, const std::string& table, bool all) {
        std::vector<std::string> calls;
        for (const SystemCall& call : kSystemCalls)
            if (sim::glob_match(table, call.module))
                calls.emplace_back(call.name);
        if (provider == "syscall" && !all)
            return calls;
        if (kernel_ == nullptr)
            return {};
        auto btf = kernel_->vmlinux();
        if (!btf.ok())
            return {};
        if (provider == "sdt")
            return texts((*btf)->tracepoints());
        if (provider == "fbt" && !all)
            return texts((*btf)->functions());
        if (provider == "fbt") {
            std::vector<std::string> names;
            auto functions = kernel_->functions();
            if (functions.ok())
                for (compiler::KernelFunction& function : *functions)
                    names.push_back(std::move(function.name));
            else
                no_functions_ = functions.error().message();
            return names;
        }
        // A kernel that is newer than our headers has others besides.
        for (std::string_view function : (*btf)->functions())
            for (const auto& [module, prefix] : kSystemCallPrefixes)
                if (function.starts_with(prefix) && sim::glob_match(table, module))
                    calls.emplace_back(function.substr(std::strlen(prefix)));
        return calls;
    }

    compiler::BtfKernelTypes* kernel_;
    std::string no_functions_;
    /// By provider, module of system calls, and `all`.  Kept: to unpack an image takes a second,
    /// and to list BTF's functions as long as to compile a clause.
    std::map<std::tuple<std::string, std::string, bool>, std::vector<std::string>> known_;
};

bool fits(const std::string& pattern, std::string_view name) {
    return name == kAnyName || sim::glob_match(pattern, std::string(name));
}

/// Whether the kernel itself has a probe that fits.
Match match(const ProbeParts& parts, Places& places) {
    if (is_own_or_timer(parts))
        return Match::yes;
    Match best = Match::no;
    for (const KernelProbe& probe : kernel_probes()) {
        std::string_view module = probe.module == kAnyName ? "vmlinux" : probe.module;
        if (best == Match::yes || !probe.is_of(parts.provider) ||
            !fits(parts.module, module) || !fits(parts.function, probe.function) ||
            !fits(parts.name, probe.name))
            continue;
        const std::string& place = probe.function == kAnyName ? parts.function : parts.name;
        const char* provider = probe.provider == std::string_view("kinst") ? "fbt" : probe.provider;
        best = std::max(best, probe.is_one ? places.match_one(probe)
                                           : places.match(provider, probe.module, place));
    }
    return best;
}

/// Whether a module could bring a probe that fits.
bool module_may_bring(const ProbeParts& parts) {
    auto is_of_modules = [&parts](const KernelProbe& probe) {
        return probe.module == kAnyName && probe.is_of(parts.provider) &&
               fits(parts.function, probe.function) && fits(parts.name, probe.name);
    };
    return parts.module != "vmlinux" && parts.module != "kernel" &&
           std::any_of(kernel_probes().begin(), kernel_probes().end(), is_of_modules);
}

bool is_provider(const std::string& name) {
    auto is_named = [&name](const KernelProbe& probe) { return name == probe.provider; };
    return name == "dtrace" || name == "profile" ||
           std::any_of(kernel_probes().begin(), kernel_probes().end(), is_named);
}

/// Returns the description that differs only in how it is divided into parts, or names a module of
/// too much; nothing when the kernel has neither.  A module may have a function of any name, but
/// tracepoints have names of their own.
std::optional<ProbeParts> otherwise_divided(const ProbeParts& parts, bool of_module,
                                            Places& places) {
    for (const ProbeParts& other : regrouped(parts))
        if (match(other, places) != Match::no)
            return other;
    bool of_place =
        parts.provider == "fbt" || parts.provider == "syscall" || parts.provider == "kinst";
    std::vector<ProbeParts> without;
    if (!of_place && !parts.name.empty())
        without.push_back({parts.provider.empty() ? "sdt" : parts.provider, "", "", parts.name});
    else if (!of_module)
        without.push_back({parts.provider, "", parts.function, parts.name});
    Match enough = is_provider(parts.module) ? Match::unknown : Match::yes;
    for (const ProbeParts& other : without)
        if (other != parts && match(other, places) >= enough)
            return other;
    return std::nullopt;
}

/// Returns the description with the nearest place that there is; "" when none is near.
std::string nearest(const ProbeParts& parts, Places& places) {
    std::vector<ProbeParts> ways = regrouped(parts);
    ways.insert(ways.begin(), parts);
    for (ProbeParts& way : ways)
        for (const char* provider : {"syscall", "fbt", "sdt", "kinst"}) {
            ProbeParts meant = way;
            const bool is_kinst = provider == std::string_view("kinst");
            std::string& place = provider == std::string_view("sdt") ? meant.name : meant.function;
            if (!(is_kinst ? way.provider == provider : sim::glob_match(way.provider, provider)) ||
                is_pattern(place))
                continue;
            place =
                base::nearest_name(place, places.of(is_kinst ? "fbt" : provider, way.module, true));
            if (!place.empty() && match(meant, places) == Match::yes)
                return meant.text();
        }
    return "";
}

/// Returns the line about one description; "" when it matches something, or a module may have it,
/// or that is not known: then it is added to *unknown.
std::string judge(const ProbeParts& parts, Places& places, std::vector<std::string>* unknown) {
    Match matched = match(parts, places);
    bool any_place = is_pattern(parts.function.empty() ? parts.name : parts.function);
    if (matched == Match::unknown && !any_place && !places.no_functions().empty())
        unknown->push_back(parts.text());
    if (matched != Match::no) {
        std::string why =
            compiler::hint_for_missing_probe(parts.provider, parts.module, parts.function, "");
        return why.empty() ? "" : parts.text() + " may match no probe (" + why + ")";
    }
    bool of_module = module_may_bring(parts);
    std::optional<ProbeParts> other = otherwise_divided(parts, of_module, places);
    bool names_module = !parts.module.empty() && !is_provider(parts.module);
    if (of_module && !other && (names_module || (parts.module.empty() && any_place)))
        return "";
    std::string hint =
        compiler::hint_for_missing_probe(parts.provider, parts.module, parts.function, parts.name);
    if (hint.empty())
        hint = base::did_you_mean(other ? other->text() : nearest(parts, places));
    bool is_misplaced = other && is_provider(parts.module);
    std::string module = parts.module.empty() ? "a module" : "a module " + parts.module;
    return parts.text() + " matches no probe" + (places.has_kernel() ? " of this kernel" : "") +
           (of_module && !is_misplaced ? ", unless " + module + " brings one" : "") +
           (hint.empty() ? "" : " (" + hint + ")");
}

} // namespace

std::span<const SystemCall> system_calls() {
    static const std::vector<SystemCall> all = [] {
        std::vector<SystemCall> calls(std::begin(kSystemCalls), std::end(kSystemCalls));
        for (const char* later : kLaterCalls)
            if (std::ranges::none_of(kSystemCalls, [&](const SystemCall& call) {
                    return call.name == std::string_view(later);
                }))
                calls.insert(calls.end(), {{"vmlinux", later}, {"i386", later}});
        return calls;
    }();
    return all;
}

base::Result<std::vector<DofProbeName>> image_probes(compiler::BtfKernelTypes& kernel) {
    DBK_TRY(std::vector<compiler::KernelFunction> functions, kernel.functions());
    std::vector<DofProbeName> probes;
    for (const char* name : {"BEGIN", "END", "ERROR"})
        probes.push_back({"dtrace", "", "", name});
    std::set<std::string, std::less<>> names;
    for (const compiler::KernelFunction& function : functions)
        names.insert(function.name);
    // Whether calls of x32 are taken, its command line says.
    for (const SystemCall& call : system_calls())
        if (names.count(call.module == "i386"sv ? "__ia32_sys_read" : "__x64_sys_read") != 0 &&
            call.module != "x32"sv &&
            (!is_later(call) || names.count(std::string("__x64_sys_") + call.name) != 0))
            for (const char* name : {"entry", "return"})
                probes.push_back({"syscall", call.module, call.name, name});
    DBK_TRY(const compiler::Btf* btf, kernel.vmlinux());
    for (std::string_view tracepoint : btf->tracepoints())
        probes.push_back({"sdt", "vmlinux", "", std::string(tracepoint)});
    std::set<std::string, std::less<>> places;
    for (std::string_view tracepoint : btf->tracepoints())
        places.emplace(tracepoint);
    for (const compiler::KernelFunction& function : functions)
        places.insert(function.name.substr(0, function.name.find(".isra.0")));
    std::set<std::string> seen;
    for (const KernelProbe& probe : kernel_probes()) {
        std::istringstream words(probe.where);
        for (std::string place; probe.is_one && words >> place;) {
            DofProbeName name{probe.provider, probe.module,
                              probe.function == kAnyName ? place : probe.function, probe.name};
            if (places.count(place) != 0 && seen.insert(name.text()).second)
                probes.push_back(std::move(name));
        }
    }
    for (const compiler::KernelFunction& function : functions) {
        // As fbt_is_own_path() in kmod/providers/fbt_table.c: also of a part of one.
        auto own = std::find(std::begin(kOwnPath), std::end(kOwnPath),
                             function.name.substr(0, function.name.find('.')));
        if (own == std::end(kOwnPath) && !function.is_alias)
            for (const char* name : {"entry", "return"})
                probes.push_back({"fbt", "vmlinux", function.name, name});
    }
    return probes;
}

std::vector<std::string> unmatched_probes(const formats::DofProgram& program,
                                          compiler::BtfKernelTypes* kernel) {
    std::vector<std::string> lines, unknown;
    std::set<std::string> seen;
    Places places(kernel);
    for (const formats::DofEcb& ecb : program.ecbs) {
        const DofProbeName& probe = ecb.probe;
        if (probe.id != 0 || live::is_by_path(probe) ||
            live::count_places(program.places, probe) != 0 || !seen.insert(probe.text()).second)
            continue;
        std::string line =
            judge({probe.provider, probe.module, probe.function, probe.name}, places, &unknown);
        if (!line.empty())
            lines.push_back(std::move(line));
    }
    if (!unknown.empty())
        lines.push_back(places.no_functions() + "; whether it has " + unknown[0] +
                        (unknown.size() == 1
                             ? ""
                             : " and " + base::counted(unknown.size() - 1, "more description")) +
                        " was not looked up");
    return lines;
}

base::Result<void> check_kernel(const ProgramArguments& arguments,
                                const CompiledProgram& compiled) {
    // A suite expects dtrace(1)'s words alone.
    if (!compiled.kernel && is_testing())
        return {};
    if (compiled.kernel) {
        auto types = compiled.kernel->vmlinux();
        if (!types.ok() && !names_kernel_file(arguments.kernel) && arguments.btf.empty()) {
            complain("warning: " + types.error().message() +
                     "; whether it has the program's probes was not looked up");
            return {};
        }
        DBK_TRY_VOID(types);
    }
    if (!arguments.zero_probes_allowed)
        for (const std::string& line : unmatched_probes(compiled.program, compiled.kernel.get()))
            complain("warning: " + line);
    return {};
}

} // namespace daybreak::cmd
