// SPDX-License-Identifier: Apache-2.0
//
// daybreak boot-report: what a boot did and where its time went, on one screen.
#include "analyze/boot_path.hpp"
#include "analyze/decode/time_span.hpp"
#include "analyze/diff/answer_print.hpp"
#include "analyze/print/drop_text.hpp"
#include "base/json.hpp"
#include "cmd/commands.hpp"
#include "cmd/question_set.hpp"
#include "cmd/screen.hpp"

#include <algorithm>
#include <memory>

namespace daybreak::cmd {

namespace {

/// No program records what units waited for: a unit's first program shows when it began.
constexpr const char* kNotAsked =
    "the critical path: systemd was not asked, as record --claim does";
constexpr const char* kNoTarget = "the critical path: the boot had not come to its target";

constexpr size_t kSlowestUnits = 5;

struct BootReportArguments {
    TraceFiles files;
    WindowOptions window;
    bool json = false;
};

/// All that is printed.
struct BootReport {
    std::vector<AskedQuestion> questions;
    std::vector<QuestionResult> results; // of each
    ProgramAnswer stored;
};

std::string heading(const AskedRecording& recording) {
    const formats::Trace& trace = recording.trace();
    std::string boot = boot_name_of(trace);
    std::string text = trace.path + ": boot " + (boot.empty() ? "not known" : boot);
    if (trace.has_header && !trace.header.release.empty())
        text += ", Linux " + trace.header.release;
    analyze::TimeSpan span = analyze::span_of(trace.recording);
    if (!span.empty() && !recording.window().is_set())
        text += ", " + analyze::seconds_text(span.last_mono_ns - span.first_mono_ns) + " recorded";
    return text + "\n";
}

/// The text without the empty lines around it.
std::string trimmed(std::string_view text) {
    size_t from = 0;
    for (size_t end = text.find('\n'); end != text.npos; end = text.find('\n', from)) {
        if (text.find_first_not_of(' ', from) != end)
            break;
        from = end + 1;
    }
    size_t last = text.find_last_not_of(" \n");
    return last == text.npos || last < from
               ? ""
               : std::string(text.substr(from, last + 1 - from)) + "\n";
}

/// What a question's program printed, where that is a line for each key; else a line for each key.
std::string lines_of(const ProgramAnswer& answer, size_t rows) {
    std::string text = trimmed(answer.text), lines;
    size_t keys = 1; // for a line above them
    for (const analyze::Answer& one : answer.aggregations)
        keys += one.rows.size();
    if (static_cast<size_t>(std::ranges::count(text, '\n')) <= keys)
        return first_lines(text, rows);
    for (const analyze::Answer& one : answer.aggregations)
        analyze::print_answer(lines, one, rows);
    return lines;
}

/// Whether a question gave all that is shown of what was counted while it was recorded.
bool is_repeated(const analyze::Answer& stored, const BootReport& report) {
    auto is_in_stored = [&stored](const analyze::AnswerRow& row) {
        return std::ranges::any_of(stored.rows, [&row](const analyze::AnswerRow& one) {
            return one.key_json == row.key_json && one.cells == row.cells;
        });
    };
    auto repeats = [&](const analyze::Answer& answer) {
        return answer.function == stored.function && !answer.rows.empty() &&
               std::ranges::all_of(answer.rows, is_in_stored);
    };
    return std::ranges::any_of(report.results, [&repeats](const QuestionResult& result) {
        return result.answer && std::ranges::any_of(result.answer->aggregations, repeats);
    });
}

/// Returns why there is no critical path; empty when there is one.
std::string path_reason(const formats::BootUnits& units) {
    if (units.units.empty())
        return kNotAsked;
    return analyze::boot_target(units) ? "" : kNoTarget;
}

/// What systemd said of its units.  Of the path a person gets the units that took time.
std::vector<ScreenPart> unit_parts(const formats::BootUnits& units) {
    std::vector<ScreenPart> parts;
    if (auto target = analyze::boot_target(units))
        parts.push_back(
            {"the critical path to " + units.units[*target].name + ", ms after the kernel's start",
             [&units, path = analyze::critical_path(units, *target)](size_t rows) {
                 auto slow = analyze::without_moments(units, path);
                 return first_lines(analyze::path_text(units, slow), rows);
             }});
    if (!units.units.empty())
        parts.push_back({"what took longest to be ready, ms, and what it waited for before",
                         [&units](size_t rows) {
                             auto slowest =
                                 analyze::slowest_units(units, std::min(rows, kSlowestUnits));
                             return analyze::slowest_text(units, slowest);
                         }});
    return parts;
}

void print_text(const AskedRecording& recording, const BootReport& report) {
    const formats::BootUnits& units = analyze::boot_units_of(recording.trace().files);
    std::vector<ScreenPart> parts = unit_parts(units);
    for (size_t i = 0; i < report.questions.size(); i++)
        if (const auto& answer = report.results[i].answer)
            parts.push_back({report.questions[i].title,
                             [&answer](size_t rows) { return lines_of(*answer, rows); }});
    for (const analyze::Answer& answer : report.stored.aggregations)
        if (!is_repeated(answer, report))
            parts.push_back(
                {answer.name + ", counted while it was recorded", [&answer](size_t rows) {
                     std::string lines;
                     analyze::print_answer(lines, answer, rows);
                     return lines;
                 }});
    std::string left_out = left_out_text(report.questions, report.results);
    if (std::string reason = path_reason(units); !reason.empty())
        left_out += (left_out.empty() ? "not recorded\n  " : "  ") + reason + "\n";
    put(on_one_screen(heading(recording), parts, left_out, screen_size()));
}

void append_answers(std::string& out, const std::vector<analyze::Answer>& answers) {
    base::JsonArray array(out);
    for (const analyze::Answer& answer : answers)
        analyze::append_json_answer(array.next(), answer);
    array.end();
}

void print_json(const AskedRecording& recording, const BootReport& report,
                const analyze::CompletenessNote& note) {
    std::string out;
    base::JsonObject object(out);
    object.put("file", recording.trace().path);
    object.put("boot", boot_name_of(recording.trace()));
    object.put("complete", note.complete);
    object.put("verdict", note.verdict());
    base::JsonArray questions(object.key("questions"));
    for (size_t i = 0; i < report.questions.size(); i++) {
        base::JsonObject one(questions.next());
        one.put("question", report.questions[i].name);
        one.put("title", report.questions[i].title);
        if (report.results[i].answer)
            append_answers(one.key("aggregations"), report.results[i].answer->aggregations);
        else
            one.put("left_out", report.results[i].reason);
        one.end();
    }
    questions.end();
    append_answers(object.key("stored"), report.stored.aggregations);
    const formats::BootUnits& units = analyze::boot_units_of(recording.trace().files);
    if (!units.units.empty())
        analyze::append_json_units(object.key("units"), units, units.units.size());
    if (std::string reason = path_reason(units); !reason.empty())
        object.put("not_recorded", reason);
    object.end();
    put(out + "\n");
}

int boot_report(const BootReportArguments& arguments) {
    if (auto checked = check_window_options(arguments.window); !checked.ok())
        return fail_window("boot-report", checked.error());
    TraceFiles files = arguments.files;
    files.options.skim = arguments.window.may_skim();
    auto recording = AskedRecording::open(files);
    if (!recording.ok())
        return fail(recording.error());
    if (auto applied = recording->apply(arguments.window); !applied.ok())
        return fail_window("boot-report", applied.error());
    install_interrupt();
    BootReport report;
    report.questions = asked_questions(analyze::boot_questions());
    AskOptions options;
    options.totals = arguments.json; // a person gets the first few, a script all
    report.results = ask_all(*recording, report.questions, options);
    const std::string interrupted = leave_unasked_out(report.questions, report.results);
    options.totals = true;
    if (interrupted.empty())
        report.stored = recording->stored(options);
    analyze::CompletenessNote note = recording->completeness();
    if (arguments.json)
        print_json(*recording, report, note);
    else
        print_text(*recording, report);
    for (const std::string& text : report.stored.notes)
        complain(text);
    return finish_answers(report.results, note, interrupted);
}

} // namespace

void add_boot_report(Command app, int& status) {
    auto arguments = std::make_shared<BootReportArguments>();
    Command command =
        app.add_subcommand("boot-report", "What a boot did and where its time went, on one screen");
    add_trace_files(command, arguments->files, true);
    add_window_options(command, arguments->window);
    command.add_flag("--json", arguments->json, "As one object of JSON, with all rows");
    command.footer("\nExample: the boot that daybreak install had traced\n"
                   "  daybreak boot-report /var/log/daybreak");
    command.callback([arguments, &status] { status = boot_report(*arguments); });
}

} // namespace daybreak::cmd
