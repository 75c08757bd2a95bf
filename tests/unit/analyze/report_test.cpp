// SPDX-License-Identifier: Apache-2.0
//
// Whole reports, byte for byte.
#include "analyze/info.hpp"
#include "analyze/list.hpp"
#include "analyze/live_report.hpp"
#include "analyze/report.hpp"
#include "analyze/session/drops.hpp"
#include "tests/unit/analyze/program_builder.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using namespace daybreak::analyze;
using namespace daybreak::test;

namespace {

struct Rendered {
    std::string text;
    std::vector<Message> messages;
    Report report;
};

Rendered render(RecordingOf& recording, const ReportOptions& options = {}) {
    formats::Recording built = recording.build();
    StringSink sink;
    Report report = render_report(built, options, sink);
    return {sink.text, sink.messages, report};
}

const AggregationFunction kCount{DTRACEAGG_COUNT, 0}, kSum{DTRACEAGG_SUM, 0};

} // namespace

TEST_CASE("records print in the order of time under one heading", "[analyze][report]") {
    ProgramBuilder program;
    size_t begin = program.clause("dtrace", "", "", "BEGIN");
    size_t read = program.clause("syscall", "vmlinux", "read", "entry");
    program.trace(read, Member::integer(4));
    program.trace(read, Member::text());
    RecordingOf recording(program, {.cpu_count = 2});
    recording.fire(1, 100, begin, {});
    recording.fire(1, 300, read, {uint64_t{3}, "later"});
    recording.fire(0, 200, read, {uint64_t{0xffffffff}, "sooner"});
    Rendered got = render(recording);
    CHECK(got.text == "CPU     ID                    FUNCTION:NAME\n"
                      "  1      1                           :BEGIN \n"
                      "  0      2                       read:entry        -1"
                      "  sooner                           \n"
                      "  1      2                       read:entry         3"
                      "  later                            \n"
                      "\n");
    CHECK(got.messages.empty());
    CHECK(got.report.records == 3);
    CHECK(got.report.completeness.complete);
    CHECK(got.report.status() == 0);
}

TEST_CASE("the testing form has neither CPU nor ID", "[analyze][report]") {
    ProgramBuilder program;
    size_t begin = program.clause("dtrace", "", "", "BEGIN");
    program.trace(begin, Member::integer(8));
    RecordingOf recording(program);
    recording.fire(0, 100, begin, {uint64_t{42}});
    ReportOptions options;
    options.testing = true;
    CHECK(render(recording, options).text == "                   FUNCTION:NAME\n"
                                             "                          :BEGIN "
                                             "               42\n\n");
}

TEST_CASE("quiet prints data only, and still the newline at the end", "[analyze][report]") {
    ProgramBuilder program;
    program.option(DTRACEOPT_QUIET);
    size_t begin = program.clause("dtrace", "", "", "BEGIN");
    program.printf(begin, "%s is %d, ", {Member::text(), Member::integer(4)});
    program.printf(begin, "done\n", {});
    program.trace(begin, Member::integer(8));
    RecordingOf recording(program);
    recording.fire(0, 100, begin, {"answer", uint64_t{42}, uint64_t{0}, uint64_t{7}});
    CHECK(render(recording).text == "answer is 42, done\n7\n");
}

TEST_CASE("a clause that only aggregates prints no line", "[analyze][report]") {
    ProgramBuilder program;
    size_t read = program.clause("syscall", "vmlinux", "read", "entry");
    program.aggregate(read, 1, kCount, {Member::text()});
    size_t write = program.clause("syscall", "vmlinux", "write", "entry");
    program.aggregate(write, 1, kCount, {Member::text()});
    program.aggregate(write, 2, kSum, {});
    RecordingOf recording(program, {.cpu_count = 2});
    recording.fire(0, 100, read, {"cat"});
    recording.fire(1, 100, write, {"cat", uint64_t{5}});
    recording.fire(1, 200, write, {"sh", uint64_t{6}});
    CHECK(render(recording).text ==
          "\n"
          "  sh                                                                1\n"
          "  cat                                                               2\n"
          "               11\n");
}

TEST_CASE("printa, clear, normalize, trunc and setopt act where they stand", "[analyze][report]") {
    ProgramBuilder program;
    program.option(DTRACEOPT_QUIET);
    size_t count = program.clause("profile", "", "", "tick-1");
    program.aggregate(count, 1, kSum, {Member::integer(4)});
    size_t show = program.clause("profile", "", "", "tick-2");
    program.printa(show, {1}, "%d=%@d ");
    program.printf(show, "\n", {});
    size_t clear = program.clause("profile", "", "", "tick-3");
    program.library(clear, DT_ACT_CLEAR, {Member::integer(8)});
    size_t normalize = program.clause("profile", "", "", "tick-4");
    program.library(normalize, DT_ACT_NORMALIZE, {Member::integer(8), Member::integer(8)});
    size_t denormalize = program.clause("profile", "", "", "tick-5");
    program.library(denormalize, DT_ACT_DENORMALIZE, {Member::integer(8)});
    size_t trunc = program.clause("profile", "", "", "tick-6");
    program.library(trunc, DT_ACT_TRUNC, {Member::integer(8), Member::integer(4)});
    size_t setopt = program.clause("profile", "", "", "tick-7");
    program.library(setopt, DT_ACT_SETOPT, {Member::text(), Member::text()});
    size_t bare = program.clause("profile", "", "", "tick-8");
    program.library(bare, DT_ACT_SETOPT, {Member::text(), Member::integer(8)});

    RecordingOf recording(program);
    uint64_t ticks = 100;
    auto fire = [&](size_t clause, std::vector<FieldValue> values) {
        recording.fire(0, ticks += 10, clause, values);
    };
    auto shown = [&] { fire(show, {uint64_t{1}, uint64_t{0}}); };
    shown();
    fire(count, {uint64_t{1}, uint64_t{10}});
    fire(count, {uint64_t{2}, uint64_t{30}});
    fire(count, {uint64_t{3}, uint64_t{20}});
    shown();
    fire(normalize, {uint64_t{1}, uint64_t{10}});
    shown();
    fire(denormalize, {uint64_t{1}});
    fire(setopt, {"aggsortrev", "true"});
    shown();
    fire(trunc, {uint64_t{1}, uint64_t{2}});
    shown();
    fire(setopt, {"aggsortrev", "false"});
    fire(bare, {"aggsortkey", uint64_t{0}});
    shown();
    fire(clear, {uint64_t{1}});
    shown();
    CHECK(render(recording).text == "\n"
                                    "1=10 3=20 2=30 \n"
                                    "1=1 3=2 2=3 \n"
                                    "2=30 3=20 1=10 \n"
                                    "2=30 3=20 \n"
                                    "2=30 3=20 \n"
                                    "2=0 3=0 \n"
                                    "\n");
}

TEST_CASE("an action sees all that its firing aggregated, of every clause", "[analyze][report]") {
    ProgramBuilder program;
    program.option(DTRACEOPT_QUIET);
    size_t first = program.clause("dtrace", "", "", "BEGIN");
    program.aggregate(first, 1, kCount, {});
    program.printa(first, {1}, "%@d ");
    size_t second = program.clause("dtrace", "", "", "BEGIN");
    program.aggregate(second, 1, kCount, {});
    program.printa(second, {1}, "%@d ");
    SECTION("as its records say") {
        RecordingOf recording(program, {.cpu_count = 2});
        recording.fire(0, 100, first, {uint64_t{1}});
        recording.fire(0, 120, second, {uint64_t{1}}, true);
        recording.fire(1, 110, first, {uint64_t{1}});
        recording.fire(1, 130, second, {uint64_t{1}}, true);
        recording.fire(0, 200, first, {uint64_t{1}});
        recording.fire(0, 200, second, {uint64_t{1}});
        CHECK(render(recording).text == "2 2 4 4 5 6 \n");
    }
    SECTION("as the time says in version 1") {
        RecordingOf recording(program, {.version = DBK_SEGMENT_VERSION_FIRST});
        recording.fire(0, 100, first, {uint64_t{1}});
        recording.fire(0, 100, second, {uint64_t{1}});
        recording.fire(0, 200, first, {uint64_t{1}});
        CHECK(render(recording).text == "2 2 3 \n");
    }
}

TEST_CASE("flow indentation follows each CPU", "[analyze][report]") {
    ProgramBuilder program;
    program.option(DTRACEOPT_FLOWINDENT);
    size_t in = program.clause("fbt", "vmlinux", "f", "entry");
    size_t out = program.clause("fbt", "vmlinux", "f", "return");
    program.trace(out, Member::integer(4));
    RecordingOf recording(program, {.cpu_count = 2});
    recording.fire(0, 100, in, {});
    recording.fire(1, 150, in, {});
    recording.fire(0, 200, out, {uint64_t{1}});
    recording.fire(1, 250, out, {uint64_t{2}});
    CHECK(render(recording).text == "CPU FUNCTION                                 \n"
                                    "  0  -> f                                     \n"
                                    "  1  -> f                                     \n"
                                    "  0  <- f                                             1\n"
                                    "  1  <- f                                             2\n"
                                    "\n");
}

TEST_CASE("exit() gives the status, tracemem() dumps what it was given", "[analyze][report]") {
    ProgramBuilder program;
    program.option(DTRACEOPT_QUIET);
    size_t end = program.clause("dtrace", "", "", "END");
    program.act(end, DTRACEACT_TRACEMEM, Member{DBK_FIELD_FIXED, 16}, 2);
    program.act(end, DTRACEACT_TRACEMEM, Member::integer(8), 4);
    program.act(end, DTRACEACT_EXIT, Member::integer(4));
    RecordingOf recording(program);
    recording.fire(0, 100, end, {uint64_t{0x44434241}, uint64_t{3}, uint64_t{5}});
    Rendered got = render(recording);
    CHECK(got.text ==
          "\n             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef\n"
          "         0: 41 42 43                                         ABC\n"
          "\n");
    CHECK(got.report.exit_status == 5);
    CHECK(got.report.status() == 5);
}

TEST_CASE("the consumer's own ERROR clause becomes messages", "[analyze][report]") {
    ProgramBuilder program;
    size_t begin = program.clause("dtrace", "", "", "BEGIN");
    program.trace(begin, Member::integer(8));
    size_t error = program.clause("dtrace", "", "", "ERROR");
    for (int i = 0; i < 5; i++)
        program.trace(error, Member::integer(8));
    program.program.ecbs[error].uarg = kErrorEnabling;
    formats::DofLine line;
    line.difo = *program.program.action_lists[begin].actions[0].difo;
    line.file = "boot.d";
    line.line = 3;
    line.column = 7;
    program.program.lines.push_back(line);
    RecordingOf recording(program);
    uint64_t none = static_cast<uint64_t>(-1);
    recording.fire(0, 100, error,
                   {uint64_t{1}, uint64_t{1}, uint64_t{16}, uint64_t{1}, uint64_t{0x10}});
    recording.fire(0, 200, error, {uint64_t{1}, uint64_t{0}, none, uint64_t{4}, uint64_t{0x10}});
    recording.fire(0, 300, error, {uint64_t{99}, uint64_t{2}, none, uint64_t{77}, uint64_t{0}});
    Rendered got = render(recording);
    CHECK(got.text == "\n");
    REQUIRE(got.messages.size() == 3);
    CHECK(got.messages[0].kind == Message::Kind::fault);
    CHECK(got.messages[0].text == "error on enabled probe ID 1 (ID 1: dtrace:::BEGIN): invalid "
                                  "address (0x10) in action #1 at boot.d:3");
    CHECK(got.messages[0].detail == "");
    CHECK(got.messages[1].text ==
          "error on enabled probe ID 1 (ID 1: dtrace:::BEGIN): divide-by-zero in predicate");
    CHECK(got.messages[2].text ==
          "error on enabled probe ID 99 (ID 0: :::): unknown fault in action #2");
}

TEST_CASE("a value outside its record is reported", "[analyze][report]") {
    ProgramBuilder program;
    size_t read = program.clause("syscall", "vmlinux", "read", "entry");
    program.printf(read, "<%s>\n", {Member::text()});
    RecordingOf recording(program);
    recording.fire(0, 100, read, {"inside"});
    struct {
        uint32_t record_bytes = 16;
        dbk_tail_ref text{0xff00, 16};
    } outside;
    auto body = std::as_bytes(std::span(&outside, 1));
    recording.ring().record(0, recording.epid(read), 200, Bytes(body.begin(), body.end()));
    ReportOptions options;
    options.output.quiet = true;
    Rendered got = render(recording, options);
    CHECK(got.text.starts_with("<inside>\n"));
    REQUIRE(got.messages.size() == 1);
    CHECK(got.messages[0].text == "ring 1: EPID 1 action 0: conversion %s has no value");
    CHECK(got.report.problems == 1);
}

TEST_CASE("-q holds whatever the program says", "[analyze][report]") {
    ProgramBuilder program;
    program.option(DTRACEOPT_QUIET, DTRACEOPT_UNSET);
    size_t read = program.clause("syscall", "vmlinux", "read", "entry");
    program.printf(read, "<%d>\n", {Member::integer()});
    RecordingOf recording(program);
    recording.fire(0, 100, read, {uint64_t{7}});
    ReportOptions options;
    CHECK(render(recording, options).text.starts_with("CPU "));
    options.output.quiet = true;
    CHECK(render(recording, options).text.starts_with("<7>\n"));
}

TEST_CASE("an aggregation of more or fewer cells than its function has is reported",
          "[analyze][report]") {
    ProgramBuilder program;
    size_t read = program.clause("syscall", "vmlinux", "read", "entry");
    program.aggregate(read, 1, kCount, {Member::integer(8)});
    RecordingOf recording(program, {.aggregate = DBK_AGGREGATE_ENGINE});
    std::vector<uint64_t> cells{7, 8, 9};
    Bytes entries = recording.entry(read, {uint64_t{1}}, cells);
    for (size_t count : {0, 1}) {
        Bytes more = recording.entry(read, {uint64_t{2}}, std::span(cells).first(count));
        entries.insert(entries.end(), more.begin(), more.end());
    }
    recording.snapshot(0, 1, entries);
    Rendered got = render(recording);
    CHECK(got.text == "\n                2                7\n");
    REQUIRE(got.messages.size() == 2);
    CHECK(got.messages[0].text == "ring 1: EPID 1 action 2: 3 cells, expected 1");
    CHECK(got.messages[1].text == "ring 1: EPID 1 action 2: 0 cells, expected 1");
}

TEST_CASE("a setopt() that cannot be is reported in DTrace's words", "[analyze][report]") {
    ProgramBuilder program;
    size_t begin = program.clause("dtrace", "", "", "BEGIN");
    program.library(begin, DT_ACT_SETOPT, {Member::text(), Member::text()});
    program.library(begin, DT_ACT_SETOPT, {Member::text(), Member::integer(8)});
    RecordingOf recording(program);
    recording.fire(0, 100, begin, {"bufsize", "1m", "sound", uint64_t{0}});
    Rendered got = render(recording);
    REQUIRE(got.messages.size() == 2);
    CHECK(got.messages[0].text ==
          "error on enabled probe ID 1 (ID 1: dtrace:::BEGIN): couldn't set option \"bufsize\" to "
          "\"1m\": Operation illegal when tracing is active\n");
    CHECK(got.messages[1].text ==
          "error on enabled probe ID 1 (ID 1: dtrace:::BEGIN): couldn't set option \"sound\" to "
          "\"1\": Invalid option name\n");
}

TEST_CASE("drops are reported when the records have passed them", "[analyze][report]") {
    ProgramBuilder program;
    program.option(DTRACEOPT_QUIET);
    size_t tick = program.clause("profile", "", "", "tick-1");
    program.trace(tick, Member::integer(8));
    RecordingOf recording(program, {.cpu_count = 1});
    recording.fire(0, 2'000'000, tick, {uint64_t{1}});
    recording.ring().drop(0, DBK_DROP_PRINCIPAL, 12);
    recording.ring().drop(0, DBK_DROP_NESTED, 1);
    recording.ring().open_segment(0, 5'000'000);
    recording.fire(0, 6'000'000, tick, {uint64_t{2}});
    Rendered got = render(recording);
    CHECK(got.text == "12\n");
    REQUIRE(got.messages.size() == 2);
    CHECK(got.messages[0].tag == "DTRACEDROP_PRINCIPAL");
    CHECK(got.messages[0].text == "12 drops on CPU 0");
    CHECK(got.messages[0].detail.starts_with("between 0.00"));
    CHECK(got.messages[1].text == "1 probe fired inside another probe on CPU 0");
    CHECK(got.report.completeness.losses);
    CHECK(got.report.status() == 3);
    CHECK(got.report.completeness.verdict() ==
          "not complete: CPU 0: 12 drops, 1 probe fired inside another probe");
}

TEST_CASE("of drops a window reports those that may lie in it", "[analyze][report]") {
    ProgramBuilder program;
    program.option(DTRACEOPT_QUIET);
    size_t tick = program.clause("profile", "", "", "tick-1");
    program.trace(tick, Member::integer(8));
    RecordingOf recording(program, {.cpu_count = 1});
    recording.fire(0, 2'000'000, tick, {uint64_t{1}});
    recording.ring().drop(0, DBK_DROP_NESTED, 1);
    recording.ring().open_segment(0, 5'000'000);
    recording.fire(0, 6'000'000, tick, {uint64_t{2}});
    recording.ring().drop(0, DBK_DROP_PRINCIPAL, 12);
    recording.ring().open_segment(0, 9'000'000);
    recording.fire(0, 9'500'000, tick, {uint64_t{3}});
    auto reported = [&](TimeWindow window) {
        ReportOptions options;
        options.window = window;
        std::vector<std::string> tags;
        for (const Message& message : render(recording, options).messages)
            tags.push_back(message.tag);
        return tags;
    };
    using Tags = std::vector<std::string>;
    CHECK(reported({0, 3'000'000}) == Tags{"DTRACEDROP_NESTED"});
    CHECK(reported({6'000'000, std::nullopt}) == Tags{"DTRACEDROP_PRINCIPAL"});
    CHECK(reported({4'000'000, 7'000'000}) == Tags{"DTRACEDROP_NESTED", "DTRACEDROP_PRINCIPAL"});
}

TEST_CASE("while tracing goes on each drop is reported once", "[analyze][live]") {
    ProgramBuilder program;
    size_t tick = program.clause("profile", "", "", "tick-1");
    program.trace(tick, Member::integer(8));
    RecordingOf recording(program, {.cpu_count = 1, .activity = DBK_ACTIVITY_ACTIVE});
    recording.fire(0, 2'000'000, tick, {uint64_t{1}});
    StringSink sink;
    LiveReport live({}, sink);
    for (uint32_t drops : {3, 0, 2}) {
        recording.ring().drop(0, DBK_DROP_PRINCIPAL, drops);
        live.add(
            {{recording.ring().metadata_memory()}, {recording.ring().segment_memory(0)}, {}, {}},
            {true, true, true});
    }
    REQUIRE(sink.messages.size() == 2);
    CHECK(sink.messages[0].text == "3 drops on CPU 0");
    CHECK(sink.messages[1].text == "2 drops on CPU 0");
    // Each with what was looked at, as dtrace(1) learns of it.
    recording.ring().drop(0, DBK_DROP_PRINCIPAL, 1);
    recording.ring().drop(0, DBK_DROP_AGGREGATION, 1);
    recording.ring().drop(0, DBK_DROP_DYNAMIC, 1);
    auto reported = [&](formats::Readings looked_at) {
        sink.messages.clear();
        live.add({{recording.ring().metadata_memory()}, {}, {}, {}}, looked_at);
        return sink.messages.size() == 1 ? sink.messages[0].tag : "";
    };
    CHECK(reported({.aggregations = true}) == "DTRACEDROP_AGGREGATION");
    CHECK(reported({.status = true}) == "DTRACEDROP_DYNAMIC");
    CHECK(reported({.records = true}) == "DTRACEDROP_PRINCIPAL");
}

TEST_CASE("an overwritten ring says what is left", "[analyze][report]") {
    ProgramBuilder program;
    program.option(DTRACEOPT_QUIET);
    size_t tick = program.clause("profile", "", "", "tick-1");
    program.trace(tick, Member::integer(8));
    RecordingOf recording(program, {.segment_bytes = 4096, .segments_per_cpu = 2});
    for (uint64_t i = 0; i < 1000; i++)
        recording.fire(0, 1000 + i, tick, {i});
    Rendered got = render(recording);
    uint64_t here = got.report.records;
    CHECK(here < 1000);
    CHECK(got.report.completeness.verdict() ==
          "not complete: CPU 0: " + std::to_string(1000 - here) +
              " oldest records overwritten; newest " + std::to_string(here) + " are here in order");
    CHECK(!got.report.completeness.losses);
    CHECK(got.report.status() == 0);
}

TEST_CASE("a copy of a ring that runs on says up to when it is complete", "[analyze][report]") {
    ProgramBuilder program;
    size_t tick = program.clause("profile", "", "", "tick-1");
    program.trace(tick, Member::integer(8));
    RecordingOf recording(program, {.cpu_count = 3, .activity = DBK_ACTIVITY_ACTIVE});
    for (uint64_t second : {1, 4, 6})
        recording.fire(static_cast<uint16_t>(second % 3), second * 1'000'000'000, tick, {second});
    recording.fire(0, 8'000'000'000, tick, {uint64_t{8}});
    recording.fire(2, 9'000'000'000, tick, {uint64_t{9}});
    recording.ring().facts(0).records += 3;
    recording.ring().facts(2).records += 4;
    CompletenessNote note = render(recording).report.completeness;
    CHECK(note.verdict() == "complete up to 8.000000 s after boot: 7 records came after the copy");
    CHECK(note.complete);
    CHECK(note.advised_status() == 0);
    recording.ring().facts(1).drops[DBK_DROP_NESTED] = 1; // not complete, and yet they are reported
    CHECK(render(recording).report.completeness.verdict() ==
          "not complete: CPU 1: 1 probe fired inside another probe; 7 records came after the copy");
    recording.ring().facts(1).drops[DBK_DROP_NESTED] = 0;
    recording.ring().set_activity(DBK_ACTIVITY_STOPPED); // nothing can have come since
    CHECK(render(recording).report.completeness.advised_status() == 3);
}

TEST_CASE("the verdict says when the TSC restarted or jumped", "[analyze][report]") {
    constexpr uint64_t kSecond = 1'000'000'000;
    ProgramBuilder program;
    size_t tick = program.clause("profile", "", "", "tick-1");
    program.trace(tick, Member::integer(8));
    RecordingOf recording(program, {.segments_per_cpu = 64,
                                    .clock = DBK_CLOCK_TSC,
                                    .ticks_per_second = 2 * kSecond,
                                    .start_ticks = 100 * kSecond,
                                    .start_mono_ns = 50 * kSecond,
                                    .start_boot_ns = 50 * kSecond});
    uint64_t ticks = 100 * kSecond;
    auto run = [&] {
        for (int i = 0; i < 3; i++, ticks += 2 * kSecond) {
            recording.ring().open_segment(0, ticks);
            recording.fire(0, ticks, tick, {ticks});
        }
    };
    auto verdict = [&] { return render(recording).report.completeness.verdict(); };
    std::string whole = "complete: every record since the first probe is here";
    run();
    CHECK(verdict() == whole);
    recording.ring().sleep(ticks, 0);
    ticks = 0;
    run();
    whole += "; the TSC restarted 1 time";
    std::string why = " (sleep, or an unstable clock), before ";
    CHECK(verdict() == whole + why + "53.000000 s after boot");
    recording.ring().sleep(ticks, ticks + 1000 * kSecond);
    ticks += 1000 * kSecond;
    run();
    CHECK(verdict() ==
          whole + " and jumped ahead 1 time" + why + "53.000000 s, 56.000000 s after boot");
}

TEST_CASE("a window counts and prints what lies in it", "[analyze][report]") {
    ProgramBuilder program;
    program.option(DTRACEOPT_QUIET);
    size_t tick = program.clause("profile", "", "", "tick-1");
    program.printf(tick, "%d ", {Member::integer(8)});
    program.aggregate(tick, 1, kCount, {});
    RecordingOf recording(program);
    for (uint64_t i = 10; i < 20; i++)
        recording.fire(0, i * 1000, tick, {i});
    ReportOptions options;
    options.window = {12'000, 14'000};
    CHECK(render(recording, options).text == "12 13 14 \n                3\n");
    options.window = {18'000, std::nullopt};
    CHECK(render(recording, options).text == "18 19 \n                2\n");
}

TEST_CASE("system() is not run for a recording, and is by a hook", "[analyze][report]") {
    ProgramBuilder program;
    program.option(DTRACEOPT_QUIET);
    size_t begin = program.clause("dtrace", "", "", "BEGIN");
    program.printf(begin, "echo %s", {Member::text()});
    program.program.action_lists[begin].actions[0].kind = DTRACEACT_SYSTEM;
    RecordingOf recording(program);
    recording.fire(0, 100, begin, {"hello"});
    recording.fire(0, 200, begin, {"hello"});
    Rendered got = render(recording);
    REQUIRE(got.messages.size() == 1);
    CHECK(got.messages[0].kind == Message::Kind::note);
    std::string commands;
    ReportOptions options;
    options.hooks.system = [&](const std::string& command) {
        commands += command + ";";
        return analyze::ConsumerHooks::Outcome{};
    };
    CHECK(render(recording, options).messages.empty());
    CHECK(commands == "echo hello;echo hello;");
}

TEST_CASE("a recording without its DOF says so once per sort", "[analyze][report]") {
    ProgramBuilder program;
    size_t begin = program.clause("dtrace", "", "", "BEGIN");
    program.trace(begin, Member::integer(8));
    RecordingOf recording(program);
    recording.fire(0, 100, begin, {uint64_t{1}});
    formats::Recording built = recording.build();
    built.rings[0].dof.clear();
    StringSink sink;
    Report report = render_report(built, {}, sink);
    CHECK(sink.text == "\n");
    REQUIRE(sink.messages.size() == 1);
    CHECK(sink.messages[0].text == "ring 1: EPID 1: its DOF is not there");
    CHECK(report.problems == 1);
}

TEST_CASE("list prints the probes as dtrace -l does", "[analyze][list]") {
    ProgramBuilder program;
    program.clause("dtrace", "", "", "BEGIN");
    program.clause("syscall", "vmlinux", "read", "entry");
    RecordingOf recording(program);
    StringSink sink;
    formats::Recording built = recording.build();
    print_probe_list(built, false, sink);
    CHECK(sink.text ==
          "   ID   PROVIDER            MODULE                          FUNCTION NAME\n"
          "    1     dtrace                                                     BEGIN\n"
          "    2    syscall           vmlinux                              read entry\n");
}

TEST_CASE("info ends with whether the recording is complete", "[analyze][info]") {
    ProgramBuilder program;
    size_t begin = program.clause("dtrace", "", "", "BEGIN");
    program.trace(begin, Member::integer(8));
    RecordingOf recording(program, {.cpu_count = 2});
    recording.fire(0, 1'000'000, begin, {uint64_t{1}});
    recording.fire(1, 3'500'000, begin, {uint64_t{1}});
    formats::Recording built = recording.build();
    StringSink sink;
    CompletenessNote note = print_info(built, sink);
    INFO(sink.text);
    CHECK(note.complete);
    CHECK(sink.text.ends_with("complete: every record since the first probe is here\n"));
    CHECK(
        sink.text.find("ring 1 \"test\": embedded, policy ring, 4 segments of 4096 bytes per CPU, "
                       "aggregate=record\n") != std::string::npos);
    CHECK(sink.text.find("  time     0.002500 s, from 0.001000 s to 0.003500 s after boot\n") !=
          std::string::npos);
    CHECK(sink.text.find(
              "  CPU RECORDS HERE OVERWRITTEN LOST DROPS FAULTS FIRINGS SEGS  FROM    TO\n"
              "    0       1    1           0    0     0      0       1    1 0.001 0.001\n") !=
          std::string::npos);
}

TEST_CASE("info's table of ten million records on the second day fits into 80 columns",
          "[analyze][info]") {
    ProgramBuilder program;
    size_t begin = program.clause("dtrace", "", "", "BEGIN");
    program.trace(begin, Member::integer(8));
    RecordingOf recording(program);
    recording.fire(0, 98'765'432'100'000, begin, {uint64_t{1}});
    formats::Recording built = recording.build();
    formats::Completeness& facts = built.rings[0].cpus[0].completeness;
    facts.committed = facts.present = facts.firings = 9'999'999;
    StringSink sink;
    print_info(built, sink);
    size_t at = sink.text.find("  CPU RECORDS");
    REQUIRE(at != std::string::npos);
    INFO(sink.text.substr(at));
    CHECK(sink.text.find('\n', at) - at <= 80);
    CHECK(sink.text.find(" 98765.4\n", at) != std::string::npos);
}

TEST_CASE("info counts up to the last record that was copied", "[analyze][info]") {
    ProgramBuilder program;
    size_t begin = program.clause("dtrace", "", "", "BEGIN");
    program.trace(begin, Member::integer(8));
    RecordingOf recording(program);
    recording.fire(0, 1'000'000, begin, {uint64_t{1}});
    formats::Recording built = recording.build();
    formats::Completeness& facts = built.rings[0].cpus[0].completeness;
    facts.committed += 7; // came while the rest of the ring was copied
    facts.not_copied = 7;
    facts.firings = 0; // its counters were read before
    StringSink sink, json;
    print_info(built, sink);
    CHECK(sink.text.find("  probes   1, with 1 ECB\n") != std::string::npos);
    CHECK(sink.text.find("\n    0       1    1           0    0     0      0       1    1 ") !=
          std::string::npos);
    formats::Trace trace;
    trace.recording = std::move(built);
    print_info_json(trace, json);
    CHECK(json.text.find(R"("cpu":0,"records":1,"here":1,)") != std::string::npos);
    CHECK(json.text.find(R"("firings":1,)") != std::string::npos);
}

TEST_CASE("info names the sizes that memory was short for", "[analyze][info]") {
    ProgramBuilder program;
    size_t begin = program.clause("dtrace", "", "", "BEGIN");
    program.trace(begin, Member::integer(8));
    auto text = [&](std::array<uint64_t, DBK_SIZE_COUNT> lowered_bytes) {
        RecordingOf recording(program, {.lowered_bytes = lowered_bytes});
        StringSink sink;
        print_info(recording.build(), sink);
        return sink.text;
    };
    CHECK(text({}).find("lowered") == std::string::npos);
    CHECK(text({64 << 20, 0, 0, 96})
              .find("  memory   buffer size lowered to 64 MiB: memory was short\n"
                    "  memory   dynamic variable size lowered to 96 bytes: memory was short\n") !=
          std::string::npos);
}

TEST_CASE("a drop of a firing has the probe of the last one", "[analyze][info]") {
    ProgramBuilder program;
    size_t begin = program.clause("dtrace", "", "", "BEGIN");
    program.trace(begin, Member::integer(8));
    RecordingOf recording(program, {.cpu_count = 2});
    recording.fire(1, 1'000'000'000, begin, {1});
    recording.ring().facts(1).drops[DBK_DROP_NESTED] = 2;
    recording.ring().facts(1).drops[DBK_DROP_MISSED] = 5;
    recording.ring().facts(1).missed_probe_id = 1;
    recording.ring().facts(1).nested_probe_id = 99; // which the ring does not have
    formats::Recording built = recording.build();
    StringSink sink;
    print_info(built, sink);
    INFO(sink.text);
    CHECK(sink.text.find("  drops    CPU 1: 2 probes fired inside another probe on CPU 1\n"
                         "  drops    CPU 1: 5 firings missed on CPU 1 (last: dtrace:::BEGIN)\n") !=
          std::string::npos);
    std::vector<Drop> drops = drops_of(built);
    REQUIRE(drops.size() == 2);
    CHECK(message_of(drops[1]).detail == "last: dtrace:::BEGIN");
}

TEST_CASE("info says how far a ring reaches back, and why it is less than was wanted",
          "[analyze][info]") {
    constexpr uint64_t kSecond = 1'000'000'000;
    auto line = [](uint64_t slots, uint64_t refused, uint64_t records, uint64_t step_ns) {
        ProgramBuilder program;
        size_t begin = program.clause("dtrace", "", "", "BEGIN");
        program.trace(begin, Member::integer(8));
        RecordingOf recording(
            program, {.cpu_count = 2, .ringtime_ns = 60 * kSecond, .ringmax_bytes = 64 << 10});
        for (uint64_t i = 0; i < records; i++)
            recording.fire(1, kSecond + i * step_ns, begin, {i});
        recording.ring().facts(1).segment_slots = slots;
        recording.ring().facts(1).growths_refused = refused;
        formats::Recording built = recording.build();
        StringSink sink;
        print_info(built, sink);
        INFO(sink.text);
        CHECK(sink.text.find(" 4 segments of 4096 bytes per CPU at first, " +
                             std::to_string(slots) + " at most now, aggregate=record\n") !=
              std::string::npos);
        size_t at = sink.text.find("  ringtime ");
        REQUIRE(at != std::string::npos);
        return sink.text.substr(at + 11, sink.text.find('\n', at) - at - 11);
    };
    // The ring has four segments of 248 records or time bases, of which one comes every 4.29 s: the
    // last 18 records lie in a seventh segment, before them 3 x 244 or 245.
    CHECK(line(4, 0, 10, kSecond) == "60 s wanted and kept"); // nothing was overwritten
    CHECK(line(4, 0, 248 * 6, kSecond / 10) == "60 s wanted and kept");
    CHECK(line(16, 0, 248 * 6, kSecond / 20) ==
          "60 s wanted, 37.5 s kept on CPU 1: its ring is at its maximum of 64 KiB");
    CHECK(line(4, 3, 248 * 6, kSecond / 20) ==
          "60 s wanted, 37.5 s kept on CPU 1: there was no memory for more than 16 KiB, refused 3 "
          "times");
    CHECK(line(4, 0, 248 * 6, kSecond / 20) ==
          "60 s wanted, 37.5 s kept on CPU 1: its ring had not grown to more than 16 KiB");
}
