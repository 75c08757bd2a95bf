// SPDX-License-Identifier: Apache-2.0
//
// The path, the slowest units, and their lines.
#include "analyze/boot_path.hpp"

#include "analyze/print/text.hpp"
#include "base/json.hpp"

#include <algorithm>
#include <cinttypes>

namespace daybreak::analyze {

namespace {

using formats::BootUnit;
using formats::BootUnits;

constexpr uint64_t kNsPerMs = 1'000'000;

uint64_t took_ns(const BootUnit& unit) {
    return unit.ready_mono_ns > unit.began_mono_ns ? unit.ready_mono_ns - unit.began_mono_ns : 0;
}

/// The time as people round it, so that a unit that took 1.6 ms did not take 1.
uint64_t ms_of(uint64_t ns) {
    return (ns + kNsPerMs / 2) / kNsPerMs;
}

void append_json_unit(std::string& out, const BootUnits& boot, size_t index) {
    const BootUnit& unit = boot.units[index];
    base::JsonObject object(out);
    object.put("unit", unit.name);
    object.put("began_mono_ns", unit.began_mono_ns);
    object.put("ready_mono_ns", unit.ready_mono_ns);
    object.put("took_ns", took_ns(unit));
    if (auto other = waited_for(boot, index))
        object.put("waited_for", boot.units[*other].name);
    object.end();
}

void append_json_list(std::string& out, const BootUnits& boot, std::span<const size_t> units) {
    base::JsonArray array(out);
    for (size_t unit : units)
        append_json_unit(array.next(), boot, unit);
    array.end();
}

} // namespace

const BootUnits& boot_units_of(std::span<const formats::TraceFile> files) {
    static const BootUnits none;
    auto asked = std::ranges::find_if(files, [](const formats::TraceFile& file) {
        return !file.header.boot_units.units.empty();
    });
    return asked == files.end() ? none : asked->header.boot_units;
}

std::optional<size_t> boot_target(const BootUnits& boot) {
    for (std::string_view name :
         {std::string_view("multi-user.target"), std::string_view("graphical.target"),
          std::string_view(boot.default_target)}) {
        auto is_it = [name](const BootUnit& unit) {
            return unit.name == name && unit.ready_mono_ns != 0;
        };
        auto found = std::ranges::find_if(boot.units, is_it);
        if (found != boot.units.end())
            return static_cast<size_t>(found - boot.units.begin());
    }
    return std::nullopt;
}

std::optional<size_t> waited_for(const BootUnits& boot, size_t unit) {
    std::optional<size_t> last;
    uint64_t last_ns = 0;
    for (uint16_t other : boot.units[unit].after) {
        uint64_t ready_ns = boot.units[other].ready_mono_ns;
        // Of several at the same time the first that is named.
        if (other == unit || ready_ns <= last_ns || ready_ns > boot.units[unit].began_mono_ns)
            continue;
        last = other;
        last_ns = ready_ns;
    }
    return last;
}

std::vector<size_t> critical_path(const BootUnits& boot, size_t target) {
    std::vector<size_t> path;
    std::vector<bool> is_there(boot.units.size());
    for (std::optional<size_t> at = target; at && !is_there[*at]; at = waited_for(boot, *at)) {
        is_there[*at] = true;
        path.push_back(*at);
    }
    return path;
}

std::vector<size_t> slowest_units(const BootUnits& boot, size_t count) {
    std::vector<size_t> units;
    for (size_t i = 0; i < boot.units.size(); i++)
        if (took_ns(boot.units[i]) != 0)
            units.push_back(i);
    std::ranges::stable_sort(units, [&boot](size_t one, size_t other) {
        return took_ns(boot.units[one]) > took_ns(boot.units[other]);
    });
    units.resize(std::min(units.size(), count));
    return units;
}

std::vector<size_t> without_moments(const BootUnits& boot, std::span<const size_t> path) {
    std::vector<size_t> slow;
    for (size_t index : path)
        if (slow.empty() || ms_of(took_ns(boot.units[index])) != 0)
            slow.push_back(index);
    return slow;
}

std::string path_text(const BootUnits& boot, std::span<const size_t> path) {
    std::string text;
    for (size_t index : path) {
        const BootUnit& unit = boot.units[index];
        std::string took = took_ns(unit) ? "+" + std::to_string(ms_of(took_ns(unit))) : "";
        appendf(text, "%11" PRIu64 " %8s  %s\n", ms_of(unit.ready_mono_ns), took.c_str(),
                unit.name.c_str());
    }
    return text;
}

std::string slowest_text(const BootUnits& boot, std::span<const size_t> units) {
    std::string text;
    for (size_t index : units) {
        std::optional<size_t> other = waited_for(boot, index);
        appendf(text, "%11" PRIu64 "  %s: %s\n", ms_of(took_ns(boot.units[index])),
                boot.units[index].name.c_str(),
                other ? boot.units[*other].name.c_str() : "for none that was ready by then");
    }
    return text;
}

void append_json_units(std::string& out, const BootUnits& boot, size_t slowest_count) {
    base::JsonObject object(out);
    if (auto target = boot_target(boot)) {
        object.put("target", boot.units[*target].name);
        append_json_list(object.key("critical_path"), boot, critical_path(boot, *target));
    }
    append_json_list(object.key("slowest"), boot, slowest_units(boot, slowest_count));
    object.end();
}

} // namespace daybreak::analyze
