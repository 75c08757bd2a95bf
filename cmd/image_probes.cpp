// SPDX-License-Identifier: Apache-2.0
//
// The probes that a kernel will have, by its image.
#include "cmd/image_probes.hpp"

#include "base/nearest_name.hpp"
#include "cmd/possible_probes.hpp"
#include "cmd/terminal.hpp"
#include "engine/sim/sim_host.hpp"
#include "formats/abi/own_path.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace daybreak::cmd {

namespace {

using formats::DofProbeName;

constexpr const char* kSystemCalls[] = {
#include "system_calls.inc"
};

constexpr std::string_view kOwnPath[] = {
#define DBK_NAME(name) #name,
    DBK_OWN_PATH(DBK_NAME)
#undef DBK_NAME
};

bool is_pattern(const std::string& part) {
    return part.empty() || part.find_first_of("*?[\\") != std::string::npos;
}

std::vector<std::string> texts(const std::vector<std::string_view>& views) {
    return {views.begin(), views.end()};
}

/// What can stand in the part of a description that names a place.
class Places {
public:
    explicit Places(compiler::BtfKernelTypes& kernel) : kernel_(kernel) {}

    /// Returns the names that a provider has; empty when they are not known.  `all` are those of
    /// the image; else BTF's or our headers', which have most and cost little.
    const std::vector<std::string>& of(const std::string& provider, bool all) {
        auto [known, is_new] = known_.try_emplace({provider, all});
        if (is_new)
            known->second = look(provider, all);
        return known->second;
    }

private:
    std::vector<std::string> look(const std::string& provider, bool all) {
        std::vector<std::string> calls(std::begin(kSystemCalls), std::end(kSystemCalls));
        if (provider == "syscall" && !all)
            return calls;
        auto btf = kernel_.vmlinux();
        if (!btf.ok())
            return {};
        if (provider == "sdt")
            return texts((*btf)->tracepoints());
        if (provider == "fbt" && !all)
            return texts((*btf)->functions());
        if (provider == "fbt") {
            std::vector<std::string> names;
            if (auto functions = kernel_.functions(); functions.ok())
                for (compiler::KernelFunction& function : *functions)
                    names.push_back(std::move(function.name));
            return names;
        }
        // A kernel that is newer than our headers has others besides.
        constexpr std::string_view kPrefix = "__x64_sys_";
        for (std::string_view function : (*btf)->functions())
            if (function.starts_with(kPrefix))
                calls.emplace_back(function.substr(kPrefix.size()));
        return calls;
    }

    compiler::BtfKernelTypes& kernel_;
    /// By provider and `all`.  Kept: to unpack an image takes a second, and to list BTF's functions
    /// as long as to compile a clause.
    std::map<std::pair<std::string, bool>, std::vector<std::string>> known_;
};

bool any_matches(const std::vector<std::string>& names, const std::string& pattern) {
    return std::any_of(names.begin(), names.end(), [&pattern](const std::string& name) {
        return sim::glob_match(pattern, name);
    });
}

/// Returns the line about one description; "" when it matches something, or that is not known.
std::string judge(const DofProbeName& probe, Places& places) {
    bool by_name = probe.provider == "sdt";
    if (!by_name && probe.provider != "fbt" && probe.provider != "syscall")
        return "";
    const std::string& place = by_name ? probe.name : probe.function;
    bool of_kernel = probe.module == "vmlinux" || probe.provider == "syscall";
    if ((!of_kernel && !probe.module.empty()) || (!of_kernel && is_pattern(place)) || place.empty())
        return "";
    if (any_matches(places.of(probe.provider, false), place))
        return "";
    const std::vector<std::string>& names = places.of(probe.provider, true);
    if (names.empty() || any_matches(names, place))
        return "";
    std::string hint = base::did_you_mean(base::nearest_name(place, names));
    return probe.text() + " matches no probe of this kernel" +
           (of_kernel ? "" : ", unless a module brings one") +
           (hint.empty() ? "" : " (" + hint + ")");
}

} // namespace

base::Result<std::vector<DofProbeName>> image_probes(compiler::BtfKernelTypes& kernel) {
    DBK_TRY(std::vector<compiler::KernelFunction> functions, kernel.functions());
    std::vector<DofProbeName> probes;
    for (const char* name : {"BEGIN", "END", "ERROR"})
        probes.push_back({"dtrace", "", "", name});
    for (const char* call : kSystemCalls)
        for (const char* name : {"entry", "return"})
            probes.push_back({"syscall", "vmlinux", call, name});
    DBK_TRY(const compiler::Btf* btf, kernel.vmlinux());
    for (std::string_view tracepoint : btf->tracepoints())
        probes.push_back({"sdt", "vmlinux", "", std::string(tracepoint)});
    for (const KernelProbe& probe : kernel_probes())
        if (probe.is_one)
            probes.push_back({probe.provider, "", "", probe.name});
    for (const compiler::KernelFunction& function : functions) {
        auto own = std::find(std::begin(kOwnPath), std::end(kOwnPath), function.name);
        if (own == std::end(kOwnPath) && !function.is_alias)
            for (const char* name : {"entry", "return"})
                probes.push_back({"fbt", "vmlinux", function.name, name});
    }
    return probes;
}

std::vector<std::string> unmatched_probes(const formats::DofProgram& program,
                                          compiler::BtfKernelTypes& kernel) {
    std::vector<std::string> lines;
    std::set<std::string> seen;
    Places places(kernel);
    for (const formats::DofEcb& ecb : program.ecbs) {
        if (!seen.insert(ecb.probe.text()).second)
            continue;
        std::string line = judge(ecb.probe, places);
        if (!line.empty())
            lines.push_back(std::move(line));
    }
    return lines;
}

base::Result<void> check_kernel(const ProgramArguments& arguments,
                                const CompiledProgram& compiled) {
    if (!compiled.kernel)
        return {};
    auto types = compiled.kernel->vmlinux();
    if (!types.ok() && arguments.kernel.find('/') == std::string::npos && arguments.btf.empty()) {
        complain("warning: " + types.error().message() +
                 "; whether it has the program's probes was not looked up");
        return {};
    }
    DBK_TRY_VOID(types);
    if (!arguments.zero_probes_allowed)
        for (const std::string& line : unmatched_probes(compiled.program, *compiled.kernel))
            complain("warning: " + line);
    return {};
}

} // namespace daybreak::cmd
