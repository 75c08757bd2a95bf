// SPDX-License-Identifier: Apache-2.0
#include "cmd/user_symbols.hpp"

#include "base/counted.hpp"
#include "base/visible.hpp"
#include "cmd/debuginfod.hpp"
#include "cmd/terminal.hpp"
#include "live/process/process_names.hpp"
#include "recorder/old_symbols.hpp"

#include <algorithm>
#include <filesystem>
#include <sys/utsname.h>
#include <unistd.h>

namespace daybreak::cmd {

namespace {

/// How many files are named of those that names are missing of.
constexpr size_t kMissingNamed = 10;

/// As HOST blocks have it: cut, with a NUL.
bool is_same(const std::string& recorded, const char* running) {
    return recorded == std::string(running).substr(0, sizeof(dbk_meta_host::release) - 1);
}

/// This process's vDSO, when its kernel is the one that was recorded.
base::Bytes running_vdso(const formats::Recording& recording) {
    struct utsname name = {};
    if (!recording.host || ::uname(&name) != 0 || !is_same(recording.host->release, name.release) ||
        !is_same(recording.host->version, name.version))
        return {};
    base::ByteView vdso = live::own_vdso();
    return {vdso.begin(), vdso.end()};
}

/// Whether all are of one build of the kernel.
bool are_of_one_kernel(std::span<formats::Trace* const> traces) {
    auto build_of = [](const formats::Trace* trace) {
        const auto& host = trace->recording.host;
        return host ? std::pair(host->release, host->version)
                    : std::pair<std::string, std::string>();
    };
    return std::ranges::all_of(traces, [&](const formats::Trace* trace) {
        return build_of(trace) == build_of(traces[0]);
    });
}

/// Of one file, as take_symbols().
base::Result<void> take_kernel_symbols(const std::string& path,
                                       std::span<formats::Trace* const> traces) {
    std::optional<base::Error> wrong;
    bool is_taken = false;
    for (formats::Trace* trace : traces) {
        auto symbols = recorder::read_old_symbols(path, trace->recording);
        if (!symbols.ok()) {
            wrong = symbols.error();
            continue;
        }
        if (!symbols->says_kernel && !are_of_one_kernel(traces))
            return base::errorf(base::ErrorCode::invalid,
                                "%s does not say of which kernel it is, and the recordings are of "
                                "several: take a trace of that kernel",
                                path.c_str());
        trace->symbols = std::move(symbols->symbols);
        is_taken = true;
    }
    if (!is_taken)
        return *wrong;
    return {};
}

/// Whether a file is a program, a library or one of debug symbols, and not of the kernel's.
bool is_program(const std::string& path) {
    base::ScopedFd file = analyze::open_object(path);
    char begin[4] = {};
    return file.valid() && ::pread(file.get(), begin, sizeof(begin), 0) == sizeof(begin) &&
           std::string_view(begin, sizeof(begin)) == "\177ELF";
}

/// Takes one, which a recording must have mapped: any other build gives wrong names.
base::Result<void> take_program(const std::string& path, std::span<formats::Trace* const> traces,
                                analyze::ObjectPlaces& places) {
    base::ScopedFd file = analyze::open_object(path);
    const std::string id = analyze::ObjectSymbols::read_without_functions(file.get()).build_id();
    if (id.empty())
        return base::errorf(
            base::ErrorCode::invalid,
            "%s has no build id, expected the program that was recorded or its debug "
            "symbols",
            path.c_str());
    const bool is_mapped = std::ranges::any_of(traces, [&](const formats::Trace* trace) {
        return std::ranges::any_of(trace->recording.maps.files(),
                                   [&](const auto& one) { return one.first.build_id == id; });
    });
    if (!is_mapped)
        return base::errorf(base::ErrorCode::invalid,
                            "%s is of build id %s, which no process of the recording had mapped",
                            path.c_str(), analyze::hexadecimal(id).c_str());
    places.files.emplace(id, path);
    return {};
}

} // namespace

void add_symbols_options(Command command, SymbolsArguments& symbols) {
    command
        .add_option("--symbols", symbols.paths,
                    "Symbols: another trace of that boot or kernel, or its kallsyms; or a "
                    "program or library, or a folder of them")
        .one_value_each();
    add_debuginfod_option(command, symbols.debuginfod);
}

base::Result<analyze::ObjectPlaces> take_symbols(const SymbolsArguments& symbols,
                                                 std::span<formats::Trace* const> traces) {
    analyze::ObjectPlaces places;
    for (const std::string& path : symbols.paths) {
        if (std::error_code ignored; std::filesystem::is_directory(path, ignored))
            places.folders.push_back(path);
        else if (is_program(path))
            DBK_TRY_VOID(take_program(path, traces, places));
        else
            DBK_TRY_VOID(take_kernel_symbols(path, traces));
    }
    DBK_TRY(places.fetch, debuginfod_fetch(symbols.debuginfod));
    return places;
}

std::unique_ptr<analyze::RecordedNames> user_names_of(const formats::Trace& trace,
                                                      analyze::ObjectPlaces places) {
    if (trace.recording.maps.empty())
        return nullptr;
    places.vdso = running_vdso(trace.recording);
    return std::make_unique<analyze::RecordedNames>(trace.recording.maps, std::move(places),
                                                    trace.jit_names);
}

void add_user_style_options(Command command, analyze::UserNameStyle& style) {
    command.add_flag("--lines", style.lines,
                     "Source lines in user stacks, of files that have DWARF");
    command.add_flag("--no-demangle", style.mangled,
                     "Names of C++ and Rust as the linker has them");
}

namespace {

/// Why addresses stayed numbers, and what helps.
std::string unnamed_text(const analyze::UnnamedAddresses& unnamed, const formats::Trace& trace) {
    std::string why = trace.path + " has no symbols";
    formats::Findings findings = trace.recording.all_findings();
    for (const formats::Finding& finding : findings.list())
        if (finding.kind == formats::FindingKind::no_symbols)
            why = finding.where + ": " + finding.text;
    if (unnamed.kernel)
        return "kernel addresses stay numbers: " + why +
               "; --symbols takes another trace of that kernel, or /proc/kallsyms "
               "while it runs";
    return "user addresses stay numbers: " + trace.path +
           " has no maps of processes; the kernel module keeps them while a program has ustack(), "
           "usym(), ufunc(), umod() or uaddr()";
}

} // namespace

void complain_of_unnamed(const analyze::UnnamedAddresses& unnamed,
                         std::span<const formats::Trace* const> traces) {
    for (const formats::Trace* trace : traces) {
        if (unnamed.kernel ? trace->symbols.empty() : unnamed && trace->recording.maps.empty())
            complain(unnamed_text(unnamed, *trace));
        if (const uint64_t lost = trace->recording.maps.counts().lost;
            unnamed.unmapped && lost != 0)
            complain("some user addresses stay numbers: the module had no room for " +
                     base::counted(lost, "mapping") + " of processes in " + trace->path +
                     ", and what was mapped until then is not known");
    }
}

std::vector<std::string> unnamed_texts(const std::map<std::string, std::string>& unnamed) {
    std::vector<std::string> texts;
    for (const auto& [path, why] : unnamed)
        if (texts.size() < kMissingNamed)
            texts.push_back("some addresses in " + base::visible_name(path) +
                            " have no function: " + why);
    if (unnamed.size() > kMissingNamed)
        texts.push_back(
            "some addresses in " +
            base::counted(unnamed.size() - kMissingNamed, "more file has", "more files have") +
            " no function");
    return texts;
}

void complain_of_missing(const UserNamesOfAll& names) {
    analyze::MissingFiles missing;
    std::map<std::string, std::string> too_large, unnamed;
    for (const auto& one : names)
        if (one) {
            missing.merge(one->missing());
            unnamed.merge(one->unnamed());
            too_large.insert(one->too_large().begin(), one->too_large().end());
        }
    complain_of_missing(missing);
    for (const std::string& text : unnamed_texts(unnamed))
        complain(text);
    for (const auto& [path, much] : too_large)
        complain("lines of " + base::visible_name(path) +
                 " are left out: its debug information has " + much);
}

void complain_of_missing(const analyze::MissingFiles& all) {
    analyze::MissingFiles missing = all;
    if (missing.erase({std::string(analyze::kVdsoPath), ""}) != 0)
        complain("functions of [vdso] are not named: only a machine that runs the kernel of the "
                 "recording has them");
    if (missing.empty())
        return;
    std::string text;
    size_t named = 0;
    for (const auto& [path, build_id, why] : missing) {
        if (named++ == kMissingNamed)
            break;
        text += (text.empty() ? "" : ", ") + base::visible_name(path) +
                (build_id.empty() ? " (build id not known" : " (build id " + build_id) +
                (why.empty() ? ")" : "; " + base::visible_name(why) + ")");
    }
    if (missing.size() > kMissingNamed)
        text += " and others";
    complain("functions of " + base::counted(missing.size(), "file") +
             " are not named, this machine does not have that build: " + text +
             "; --symbols takes such a file, or a folder of them");
}

} // namespace daybreak::cmd
