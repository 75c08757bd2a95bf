// SPDX-License-Identifier: Apache-2.0
#include "analyze/machine_print.hpp"

#include "analyze/completeness.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using namespace daybreak::analyze;

namespace {

formats::Recording died() {
    formats::Recording recording;
    formats::CrashInfo oops;
    oops.state = DBK_CRASH_OOPS;
    oops.mono_ns = 1'000'000'000;
    oops.count = 2;
    oops.reason = "BUG: kernel NULL pointer dereference, sh[7]";
    formats::CrashInfo panic;
    panic.state = DBK_CRASH_PANIC;
    panic.cpu = 3;
    panic.mono_ns = 2'500'000'000;
    panic.sealed = 4;
    panic.count = 1;
    panic.reason = "Fatal exception";
    recording.machine.ends = {oops, panic};
    formats::TriggerInfo action, machine;
    action.sequence = 1;
    action.mono_ns = 900'000'000;
    action.name = "slow";
    action.kind = DBK_TRIGGER_ACTION;
    action.ring_id = 1;
    action.suppressed = 9;
    machine.sequence = 2;
    machine.mono_ns = 2'500'000'000;
    machine.name = "panic";
    machine.kind = DBK_TRIGGER_PANIC;
    recording.machine.triggers = {action, machine};
    recording.machine.triggers_entered = 2;
    recording.machine.has_log = true;
    for (int i = 1; i <= 30; i++)
        recording.machine.log += "line " + std::to_string(i) + "\n";
    return recording;
}

std::string printed(const formats::Recording& recording,
                    std::optional<size_t> log_lines = std::nullopt) {
    std::string out;
    print_machine(out, recording, log_lines);
    return out;
}

bool has(const std::string& text, const std::string& part) {
    INFO(text);
    CHECK(text.find(part) != std::string::npos);
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("how the machine ended is printed with the last of its log", "[analyze][machine]") {
    std::string out = printed(died());
    has(out, "oops       the first on CPU 0 at 1.000000 s after boot, ");
    has(out, "  reason   BUG: kernel NULL pointer dereference, sh[7]\n  oopses   2 in all\n");
    has(out, "ended      panic on CPU 3 at 2.500000 s after boot, ");
    has(out, "  reason   Fatal exception\n  sealed   4 segments while it died\n");
    has(out, "triggers   2\n");
    has(out, "      0.900000 s  slow                     action          0     1          9\n");
    has(out, "      2.500000 s  panic                    panic           0     -          0\n");
    has(out, "log        30 lines, the last:\n  line 11\n");
    CHECK(out.ends_with("  line 29\n  line 30\n"));
    CHECK(out.find("  line 10\n") == std::string::npos);
}

TEST_CASE("all of the log is printed when it is asked for, none of a machine that is well",
          "[analyze][machine]") {
    formats::Recording recording = died();
    has(printed(recording, SIZE_MAX), "log        30 lines\n  line 1\n");
    recording.machine.ends.clear();
    recording.machine.triggers.clear();
    CHECK(printed(recording) == "log        30 lines; info --log prints them\n");
    recording.machine.log_bytes_before = 5;
    has(printed(recording), "30 lines, older ones overwritten; info --log");
    recording.machine.log = "  one\n";
    has(printed(recording), "1 line, older ones");
    recording.machine.log.clear();
    CHECK(printed(recording).empty());
}

TEST_CASE("of many triggers the newest are listed", "[analyze][machine]") {
    formats::Recording recording = died();
    formats::TriggerInfo trigger = recording.machine.triggers[0];
    recording.machine.triggers.assign(30, trigger);
    for (size_t i = 0; i < 30; i++)
        recording.machine.triggers[i].name = "t" + std::to_string(i + 1);
    recording.machine.triggers_entered = 100;
    std::string out = printed(recording);
    has(out, "triggers   100, the newest:\n");
    CHECK(out.find(" t10 ") == std::string::npos);
    has(out, " t11 ");
    has(out, " t30 ");
}

TEST_CASE("the verdict names a ring that the deadman ended", "[analyze][machine]") {
    formats::Recording recording;
    recording.rings.resize(1);
    recording.rings[0].ring_id = 3;
    recording.rings[0].has_info = true;
    recording.rings[0].cpus.resize(1);
    recording.rings[0].cpus[0].completeness.lost_known = true;
    recording.rings[0].info.facts.activity = GENERATE(DBK_ACTIVITY_STOPPED, DBK_ACTIVITY_KILLED);
    const bool is_killed = recording.rings[0].info.facts.activity == DBK_ACTIVITY_KILLED;
    CompletenessNote note = completeness_of(recording);
    CHECK(note.verdict() ==
          (is_killed ? "not complete: ring 3 was ended: Abort due to systemic unresponsiveness"
                     : "complete: every record since the first probe is here"));
    CHECK(note.advised_status() == (is_killed ? kStatusLosses : kStatusComplete));
}

TEST_CASE("a ring of which neither counters nor segments are there is not complete",
          "[analyze][machine]") {
    formats::Recording recording;
    recording.rings.resize(1);
    recording.rings[0].ring_id = 3;
    recording.rings[0].has_info = true;
    CompletenessNote note = completeness_of(recording);
    CHECK(note.verdict() == "not complete: ring 3: its counters and segments are missing");
    CHECK(note.advised_status() == kStatusLosses);
}

TEST_CASE("the verdict names the crash", "[analyze][machine]") {
    formats::Recording recording = died();
    CHECK(completeness_of(recording).verdict() ==
          "not complete: no ring was found, neither its description nor records; the kernel panicked: Fatal exception");
    recording.machine.ends.pop_back();
    has(completeness_of(recording).verdict(), "; the kernel had an oops: BUG: kernel NULL");
    recording.machine.ends[0].state = DBK_CRASH_RESTART;
    recording.machine.ends[0].reason = "power off";
    has(completeness_of(recording).verdict(), "; the machine went down in order: power off");
}
