// SPDX-License-Identifier: Apache-2.0
//
// Printing what a recording knows of its machine.
#include "analyze/machine_print.hpp"

#include "base/counted.hpp"
#include "analyze/print/drop_text.hpp"
#include "analyze/print/text.hpp"

#include <algorithm>
#include <cinttypes>

namespace daybreak::analyze {

namespace {

using formats::CrashInfo;
using formats::Recording;
using formats::TriggerInfo;

/// How many triggers are listed; the newest.
constexpr size_t kTriggersListed = 20;

/// All rings have the machine's clocks; without one, monotonic time is as good as it gets.
uint64_t boot_ns(const Recording& recording, uint64_t mono_ns) {
    for (const formats::RingRecording& ring : recording.rings)
        if (ring.has_info)
            return ring.clock.boot_ns(mono_ns);
    return mono_ns;
}

void print_end(std::string& out, const Recording& recording, const CrashInfo& end) {
    appendf(out, "%-10s %s on CPU %u at %s after boot, %s\n",
            end.state == DBK_CRASH_OOPS ? "oops" : "ended",
            end.state == DBK_CRASH_OOPS ? "the first" : formats::crash_state_text(end.state),
            end.cpu, seconds_text(boot_ns(recording, end.mono_ns)).c_str(),
            wall_text(end.wall_ns).c_str());
    if (!end.reason.empty())
        appendf(out, "  %-8s %s\n", "reason", end.reason.c_str());
    if (end.state == DBK_CRASH_OOPS && end.count > 1)
        appendf(out, "  %-8s %u in all\n", "oopses", end.count);
    if (end.state == DBK_CRASH_PANIC)
        appendf(out, "  %-8s %s while it died\n", "sealed",
                base::counted(end.sealed, "segment").c_str());
}

void print_triggers(std::string& out, const Recording& recording) {
    const std::vector<TriggerInfo>& triggers = recording.machine.triggers;
    if (triggers.empty())
        return;
    appendf(out, "%-10s %" PRIu64 "%s\n", "triggers", recording.machine.triggers_entered,
            triggers.size() > kTriggersListed ? ", the newest:" : "");
    appendf(out, "  %14s  %-24s %-12s %4s %5s %10s\n", "TIME", "NAME", "KIND", "CPU", "RING",
            "SUPPRESSED");
    size_t first = triggers.size() - std::min(triggers.size(), kTriggersListed);
    for (size_t i = first; i < triggers.size(); i++) {
        const TriggerInfo& trigger = triggers[i];
        std::string ring = trigger.ring_id ? std::to_string(trigger.ring_id) : "-";
        appendf(out, "  %14s  %-24s %-12s %4u %5s %10u\n",
                seconds_text(boot_ns(recording, trigger.mono_ns)).c_str(), trigger.name.c_str(),
                formats::trigger_kind_text(trigger.kind).c_str(), trigger.cpu, ring.c_str(),
                trigger.suppressed);
    }
}

void print_log(std::string& out, const formats::MachineInfo& machine, size_t wanted) {
    auto total = static_cast<size_t>(std::count(machine.log.begin(), machine.log.end(), '\n'));
    size_t shown = std::min(wanted, total);
    if (total == 0)
        return;
    appendf(out, "%-10s %s%s%s\n", "log", base::counted(total, "line").c_str(),
            machine.log_bytes_before ? ", older ones overwritten" : "",
            shown == 0      ? "; info --log prints them"
            : shown < total ? ", the last:"
                            : "");
    size_t at = 0;
    for (size_t skip = total - shown; skip > 0; skip--)
        at = machine.log.find('\n', at) + 1;
    while (shown > 0 && at < machine.log.size()) {
        size_t end = std::min(machine.log.find('\n', at), machine.log.size());
        out += "  " + machine.log.substr(at, end - at) + '\n';
        at = end + 1;
    }
}

} // namespace

void print_machine(std::string& out, const Recording& recording, std::optional<size_t> log_lines) {
    const formats::MachineInfo& machine = recording.machine;
    bool troubled = false;
    for (const CrashInfo& end : machine.ends) {
        print_end(out, recording, end);
        troubled |= end.state != DBK_CRASH_RESTART;
    }
    print_triggers(out, recording);
    print_log(out, machine, log_lines.value_or(troubled ? kLastLogLines : 0));
}

std::string end_sentence(const formats::MachineInfo& machine) {
    const CrashInfo* end = machine.end();
    if (!end)
        return "";
    std::string reason = end->reason.empty() ? "" : ": " + end->reason;
    switch (end->state) {
    case DBK_CRASH_PANIC:
        return "the kernel panicked" + reason;
    case DBK_CRASH_RESTART:
        return "the machine went down in order" + reason;
    default:
        return "the kernel had an oops" + reason;
    }
}

} // namespace daybreak::analyze
