// SPDX-License-Identifier: Apache-2.0
#include "cmd/user_symbols.hpp"

#include "base/counted.hpp"
#include "base/visible.hpp"
#include "cmd/terminal.hpp"

#include <cstring>
#include <sys/auxv.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace daybreak::cmd {

namespace {

/// How many missing files are named.
constexpr size_t kMissingNamed = 3;

/// As HOST blocks have it: cut, with a NUL.
bool is_same(const std::string& recorded, const char* running) {
    return recorded == std::string(running).substr(0, sizeof(dbk_meta_host::release) - 1);
}

/// The vDSO that the kernel gave this process, when it is the kernel that was recorded: two or
/// three pages, as the program headers say.
base::Bytes running_vdso(const formats::Recording& recording) {
    struct utsname name = {};
    const auto* start = reinterpret_cast<const std::byte*>(::getauxval(AT_SYSINFO_EHDR));
    if (!recording.host || start == nullptr || ::uname(&name) != 0 ||
        !is_same(recording.host->release, name.release) ||
        !is_same(recording.host->version, name.version))
        return {};
    Elf64_Ehdr header;
    std::memcpy(&header, start, sizeof(header));
    // Its sections come last, and its table of them after all.
    size_t bytes = header.e_shoff + size_t{header.e_shnum} * header.e_shentsize;
    return {start, start + bytes};
}

} // namespace

std::unique_ptr<analyze::RecordedNames> user_names_of(const formats::Trace& trace,
                                                      std::vector<std::string> folders) {
    if (trace.recording.maps.empty())
        return nullptr;
    analyze::ObjectPlaces places;
    places.folders = std::move(folders);
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

void complain_of_missing(const analyze::RecordedNames& names) {
    auto missing = names.missing();
    if (missing.empty())
        return;
    std::string text;
    for (size_t i = 0; i < std::min(missing.size(), kMissingNamed); i++) {
        const auto& [path, build_id] = missing[i];
        text += (i == 0 ? "" : ", ") + base::visible(path) +
                (build_id.empty() ? " (build id not known)" : " (build id " + build_id + ")");
    }
    if (missing.size() > kMissingNamed)
        text += " and others";
    complain("functions of " + base::counted(missing.size(), "file") +
             " are not named, this machine does not have that build: " + text +
             "; --symbols takes a folder of such files");
}

} // namespace daybreak::cmd
