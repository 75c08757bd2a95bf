// SPDX-License-Identifier: Apache-2.0
//
// Why a process has no such function.
#include "live/process/missing_function.hpp"

#include "base/file.hpp"
#include "base/nearest_name.hpp"
#include "engine/sim/bare_host.hpp"
#include "live/process/process_names.hpp"

#include <algorithm>
#include <vector>

namespace daybreak::live {

namespace {

constexpr size_t kNamesMax = 8; ///< of the objects that a process has

using Object = ProcessNames::MappedObject;

std::string names_of(const std::vector<Object>& objects) {
    std::string text;
    for (size_t i = 0; i < objects.size() && i < kNamesMax; i++)
        text += (i == 0 ? "" : ", ") + objects[i].name;
    return objects.size() > kNamesMax ? text + " ..." : text;
}

/// Returns the function of an object that has no probe, and why; "": it is not there at all.
std::string why_unusable(const std::string& function, const Object& object) {
    if (function.empty())
        return "";
    for (const std::string& name : object.symbols->chosen())
        if (sim::glob_match(function, name))
            return name + " of " + object.name +
                   " is chosen when the program starts, of several, and has no probe itself";
    for (const analyze::ObjectSymbols::Symbol& symbol : object.symbols->symbols())
        if (symbol.bytes == 0 && sim::glob_match(function, symbol.name))
            return symbol.name + " of " + object.name +
                   " has no size in its symbols: where it ends is not known";
    return "";
}

std::string nearest_of(const std::string& function, const std::vector<Object>& objects) {
    std::vector<std::string> names;
    for (const Object& object : objects)
        for (const analyze::ObjectSymbols::Symbol& symbol : object.symbols->symbols())
            if (symbol.bytes != 0)
                names.push_back(symbol.name);
    return base::nearest_name(function, names);
}

} // namespace

std::string why_not_traced(uint32_t pid) {
    const std::string process = "process " + std::to_string(pid);
    if (auto maps = base::read_file("/proc/" + std::to_string(pid) + "/maps"); !maps.ok())
        return maps.error().code() == base::ErrorCode::not_found
                   ? process + " is gone"
                   : process + ": " + maps.error().message();
    else if (maps->empty())
        return process + " has no program: it has ended, or is a thread of the kernel";
    if (runs_32_bits(pid))
        return process + " runs a program of 32 bits: functions of programs of 64 bits have probes";
    return "";
}

std::string why_no_function(uint32_t pid, const formats::DofProbeName& description) {
    ProcessNames names;
    const std::vector<Object> all = names.objects(pid);
    std::vector<Object> meant = all;
    std::erase_if(meant, [&](const Object& object) {
        return !module_meant(description.module, object.name, object.is_program);
    });
    if (meant.empty())
        return "the process has not mapped " + description.module + ", but " + names_of(all) +
               ": a library that comes later is named by its path (pid*:/PATH:FUNCTION:entry)";
    for (const Object& object : meant)
        if (std::string why = why_unusable(description.function, object); !why.empty())
            return why;
    std::string text = "the process has no function" +
                       (description.function.empty() ? "" : " " + description.function) +
                       (description.module.empty() ? "" : " in " + names_of(meant));
    if (std::string nearest = nearest_of(description.function, meant); !nearest.empty())
        return text + ": did you mean " + nearest + "?";
    std::erase_if(meant, [](const Object& object) { return object.symbols->is_whole(); });
    if (!meant.empty())
        text += ": " + names_of(meant) + (meant.size() == 1 ? " is" : " are") +
                " stripped to what other files may call, and no debug symbols of the build are in "
                "/usr/lib/debug";
    return text;
}

} // namespace daybreak::live
