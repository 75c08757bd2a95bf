// SPDX-License-Identifier: Apache-2.0
//
// daybreak postmortem: how a machine died, and what it did last, on one screen.
#include "analyze/decode/time_span.hpp"
#include "analyze/diff/answer_print.hpp"
#include "analyze/machine_print.hpp"
#include "base/json.hpp"
#include "cmd/commands.hpp"
#include "cmd/dead_recording.hpp"
#include "cmd/question_set.hpp"
#include "cmd/screen.hpp"

#include <algorithm>
#include <memory>

namespace daybreak::cmd {

namespace {

constexpr size_t kLogLinesOfRow = 2; // the log says more than a row of a question does

struct PostmortemArguments {
    DeadPlaces places;
    WindowOptions window; // only --until and --ring
    uint64_t seconds = 5;
    bool json = false;
};

/// All that is printed.
struct Postmortem {
    std::string path, origin;
    uint64_t end_mono_ns = 0;
    bool is_asked = false; ///< that moment was asked for: it is not the end
    std::vector<AskedQuestion> questions;
    std::vector<QuestionResult> results; // of each
};

/// When the machine died, else when its last record was made; empty: neither is known.
std::optional<uint64_t> end_of(const formats::Recording& recording) {
    const formats::CrashInfo* end = recording.machine.end();
    if (end && end->mono_ns != 0)
        return end->mono_ns;
    analyze::TimeSpan span = analyze::span_of(recording);
    return span.empty() ? std::nullopt : std::optional(span.last_mono_ns);
}

std::string heading(const Postmortem& found, const formats::Trace& trace) {
    std::string boot = boot_name_of(trace);
    std::string text =
        found.origin + " " + found.path + ": boot " + (boot.empty() ? "not known" : boot);
    if (trace.has_header && !trace.header.release.empty())
        text += ", Linux " + trace.header.release;
    return text + "\n";
}

void print_text(const Postmortem& found, const formats::Trace& trace) {
    std::string text = heading(found, trace) + "\n";
    std::string end = analyze::end_sentence(trace.recording.machine);
    text += "how it died\n  " +
            (end.empty() ? "not recorded: it stopped without a word, or the copy was made before"
                         : end) +
            "\n";
    if (found.is_asked || end.empty())
        text += std::string("  times are before the ") +
                (found.is_asked ? "moment that was asked for" : "last record") + "\n";
    std::vector<ScreenPart> parts;
    for (size_t i = 0; i < found.questions.size(); i++) {
        const QuestionResult& result = found.results[i];
        if (!result.answer)
            continue;
        parts.push_back({found.questions[i].title, [&result](size_t rows) {
                             std::string lines;
                             for (const analyze::Answer& answer : result.answer->aggregations)
                                 analyze::print_answer(lines, answer, rows);
                             return lines;
                         }});
    }
    parts.push_back({"", [&trace](size_t rows) {
                         std::string machine;
                         analyze::print_machine(machine, trace.recording, kLogLinesOfRow * rows);
                         return machine.empty() ? "the kernel's log is not recorded\n" : machine;
                     }});
    put(on_one_screen(text, parts, left_out_text(found.questions, found.results), screen_size()));
}

void put_end(base::JsonObject& object, const formats::MachineInfo& machine) {
    const formats::CrashInfo* end = machine.end();
    if (!end) {
        object.key("died") += "null";
        return;
    }
    base::JsonObject died(object.key("died"));
    died.put("how", formats::crash_state_text(end->state));
    died.put("reason", end->reason);
    died.put("cpu", end->cpu);
    died.put("mono_ns", end->mono_ns);
    died.put("wall_ns", end->wall_ns);
    died.end();
}

void print_json(const Postmortem& found, const formats::Trace& trace) {
    std::string out;
    base::JsonObject object(out);
    object.put("path", found.path);
    object.put("origin", found.origin);
    object.put("boot", boot_name_of(trace));
    object.put("kernel", trace.header.release);
    put_end(object, trace.recording.machine);
    object.put("end_mono_ns", found.end_mono_ns);
    base::JsonArray questions(object.key("questions"));
    for (size_t i = 0; i < found.questions.size(); i++) {
        base::JsonObject one(questions.next());
        one.put("question", found.questions[i].name);
        one.put("title", found.questions[i].title);
        if (!found.results[i].answer) {
            one.put("left_out", found.results[i].reason);
        } else {
            base::JsonArray answers(one.key("aggregations"));
            for (const analyze::Answer& answer : found.results[i].answer->aggregations)
                analyze::append_json_answer(answers.next(), answer);
            answers.end();
        }
        one.end();
    }
    questions.end();
    base::JsonArray triggers(object.key("triggers"));
    for (const formats::TriggerInfo& trigger : trace.recording.machine.triggers) {
        base::JsonObject one(triggers.next());
        one.put("name", trigger.name);
        one.put("kind", formats::trigger_kind_text(trigger.kind));
        one.put("cpu", trigger.cpu);
        one.put("mono_ns", trigger.mono_ns);
        one.end();
    }
    triggers.end();
    object.put("log", trace.recording.machine.log);
    object.end();
    put(out + "\n");
}

int postmortem(const PostmortemArguments& arguments) {
    if (auto checked = check_window_options(arguments.window); !checked.ok())
        return fail_window("postmortem", checked.error());
    install_interrupt();
    auto dead = find_dead_recording(arguments.places);
    if (!dead.ok())
        return fail(dead.error());
    for (const std::string& note : dead->notes)
        complain(note);
    Postmortem found{dead->path, dead->origin, 0, !arguments.window.until.empty(), {}, {}};
    AskedRecording recording = AskedRecording::of(std::move(dead->trace));
    if (auto applied = recording.apply(arguments.window); !applied.ok())
        return fail_window("postmortem", applied.error());
    const formats::Recording& recorded = recording.trace().recording;
    std::optional<uint64_t> end = end_of(recorded);
    if (!end)
        complain("there is no record");
    if (end && found.is_asked && recording.window().until_ns() > *end)
        return fail(outside_error("--until", arguments.window.until, recorded));
    found.end_mono_ns = found.is_asked ? recording.window().until_ns() : end.value_or(0);
    found.questions = asked_questions(
        analyze::postmortem_questions(),
        {std::to_string(found.end_mono_ns), std::to_string(arguments.seconds * 1'000'000'000)});
    AskOptions options;
    options.totals = true;
    options.where_possible = true;
    options.pairs_entries = true;
    options.newest_ring_first = true;
    found.results = ask_all(recording, found.questions, options);
    const std::string interrupted = leave_unasked_out(found.questions, found.results);
    if (arguments.json)
        print_json(found, recording.trace());
    else
        print_text(found, recording.trace());
    return finish_answers(found.results, recording.completeness(), interrupted);
}

} // namespace

void add_postmortem(Command app, int& status) {
    auto arguments = std::make_shared<PostmortemArguments>();
    Command command =
        app.add_subcommand("postmortem", "How a machine died and what it did last, on one screen");
    command.add_option("FILE", arguments->places.given,
                       "A trace file or a folder of them, an image of a bank, or a dump (default: "
                       "/proc/vmcore, the bank, the newest crash, the boot before)");
    command.add_option("--boot", arguments->places.boot, "Boot to read, by ID prefix");
    command.add_option("-o,--output", arguments->places.output,
                       "Keep what is recovered or extracted as this trace file (.dbrk)");
    command.add_option("--last", arguments->seconds, "How many seconds are the last ones")
        .type_name("SECONDS")
        .check([](const std::string& text) {
            bool is_good = !text.empty() && text.size() <= 6 &&
                           std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
            return is_good ? std::string() : "expected a number of seconds, not " + text;
        })
        .show_default();
    command
        .add_option("--until", arguments->window.until,
                    "Ask about this moment, not the end, in the forms that report --until takes")
        .type_name("TIME");
    add_ring_option(command, arguments->window);
    command.add_flag("--json", arguments->json, "As one object of JSON, with all rows");
    command
        .add_option("--root", arguments->places.root,
                    "A folder that stands for the machine, for tests")
        .group("");
    command.footer("\nExample: after the machine has died and booted again, as root\n"
                   "  daybreak postmortem\n"
                   "Example: a dump that kdump-tools wrote\n"
                   "  daybreak postmortem /var/crash/202611201544/dump.202611201544");
    command.callback([arguments, &status] { status = postmortem(*arguments); });
}

} // namespace daybreak::cmd
