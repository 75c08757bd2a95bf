// SPDX-License-Identifier: Apache-2.0
//
// daybreak diff: the same questions asked of two boots, or of two sets of boots, side by side.
#include "analyze/decode/time_span.hpp"
#include "analyze/diff/diff_print.hpp"
#include "analyze/print/drop_text.hpp"
#include "base/counted.hpp"
#include "base/json.hpp"
#include "cmd/commands.hpp"
#include "cmd/question_set.hpp"

#include <algorithm>
#include <memory>

namespace daybreak::cmd {

namespace {

using base::errorf;

/// What one side is.
struct SideArguments {
    std::vector<std::string> paths;
    std::string boot, since, until;
    const char *since_option, *until_option; ///< what they are called
};

struct DiffArguments {
    ProgramArguments program;
    SideArguments before{{}, {}, {}, {}, "--since-a", "--until-a"};
    SideArguments after{{}, {}, {}, {}, "--since-b", "--until-b"};
    WindowOptions window; // of both sides
    uint64_t rows_max = 5;
    bool stored = false, json = false;
};

/// A recording, as it is named in the answer.
struct Recorded {
    std::string path, boot;
    uint64_t boot_id = 0;
    std::optional<uint64_t> records; ///< not known of a window
    uint64_t from_ns = 0, duration_ns = 0;

    bool is_same(const Recorded& other) const {
        return boot_id != 0 && boot_id == other.boot_id && from_ns == other.from_ns &&
               duration_ns == other.duration_ns && records == other.records;
    }
};

/// One side, with all of its answers.
struct Side {
    const char* name;
    std::vector<Recorded> recordings;
    std::vector<std::vector<QuestionResult>> results; // by recording and question
    std::vector<std::vector<analyze::Answer>> stored; // by recording
    std::vector<std::set<std::string>> stored_names;
    bool has_losses = false;
    std::string interrupted; ///< where it was; "": it was not
};

/// A question with its comparison, or why there is none.
struct Section {
    std::string name, title, reason;
    std::vector<analyze::ComparedAnswer> answers;
};

Recorded described(const AskedRecording& recording, const analyze::CompletenessNote& note) {
    Recorded one;
    one.path = recording.trace().path;
    one.boot = boot_name_of(recording.trace());
    if (one.boot.empty())
        one.boot = "not known";
    one.boot_id = recording.trace().recording.boot_id;
    if (!recording.window().is_set())
        one.records = note.records_present;
    analyze::TimeSpan span = analyze::span_of(recording.trace().recording);
    if (!span.empty()) {
        uint64_t from = std::max(span.first_mono_ns, recording.window().since_ns());
        uint64_t to = std::min(span.last_mono_ns, recording.window().until_ns());
        one.from_ns = from;
        one.duration_ns = to > from ? to - from : 0;
    }
    return one;
}

/// Takes what a recording answered, and says what is to be known of it.
void put_results(const std::string& path, const AskedRecording& recording,
                 std::vector<QuestionResult> results, bool asks_stored, Side& side) {
    side.has_losses |= complain_of_notes(results, path + ": ");
    side.results.push_back(std::move(results));
    if (asks_stored && side.interrupted.empty()) {
        AskOptions options;
        options.totals = true;
        ProgramAnswer stored = recording.stored(options);
        if (is_interrupted()) {
            side.interrupted = "interrupted when " + path + " was asked what it aggregated itself";
            side.stored.clear();
        }
        for (const std::string& note : stored.notes)
            complain(path + ": " + note);
        if (side.interrupted.empty())
            side.stored.push_back(std::move(stored.aggregations));
        side.stored_names.push_back(recording.stored_names());
    }
    analyze::CompletenessNote note = recording.completeness();
    if (!note.complete)
        complain(path + ": " + note.verdict());
    side.has_losses |= note.advised_status() != analyze::kStatusComplete;
    side.recordings.push_back(described(recording, note));
}

/// Asks one recording all questions.  Returns the exit status when that failed, and has said why.
std::optional<int> ask_recording(const DiffArguments& arguments, const SideArguments& given,
                                 const std::string& path,
                                 const std::vector<AskedQuestion>& questions, Side& side) {
    TraceFiles files;
    files.paths = {path};
    files.options.boot = given.boot;
    WindowOptions window = arguments.window;
    if (!given.since.empty()) {
        window.since = given.since;
        window.since_option = given.since_option;
    }
    if (!given.until.empty()) {
        window.until = given.until;
        window.until_option = given.until_option;
    }
    if (auto checked = check_window_options(window); !checked.ok())
        return fail_window("diff", checked.error());
    files.options.skim = window.may_skim();
    auto recording = AskedRecording::open(files);
    if (!recording.ok())
        return fail(recording.error());
    if (auto applied = recording->apply(window); !applied.ok())
        return fail_window("diff", applied.error());
    uint64_t boot_id = recording->trace().recording.boot_id;
    for (const Recorded& other : side.recordings)
        if (boot_id != 0 && other.boot_id == boot_id)
            return fail(errorf(base::ErrorCode::invalid,
                               "%s and %s are of one boot, %s, which would count twice: name it "
                               "once, by a folder if it is in several files",
                               other.path.c_str(), path.c_str(), other.boot.c_str()));
    AskOptions options;
    options.totals = true;
    auto results = ask_all(*recording, questions, options);
    if (results.size() < questions.size()) {
        side.interrupted = path + ": " + interrupted_text(results.size(), questions.size());
        if (!side.results.empty() || results.empty())
            return std::nullopt; // the others are compared without it
    }
    bool is_own = !questions.empty() && !questions[0].program.source;
    if (is_own && !results.front().answer)
        return fail(errorf(base::ErrorCode::invalid, "%s: %s", path.c_str(),
                           results.front().reason.c_str()));
    if (is_own && !results.front().answer->aggregates)
        return fail(errorf(base::ErrorCode::invalid,
                           "the program aggregates nothing: diff compares aggregations"));
    put_results(path, *recording, std::move(results), !is_own, side);
    return std::nullopt;
}

/// Answers of one question of all of a side's recordings; the reason when one has none.
std::optional<std::string> gather(const Side& side, size_t question, analyze::DiffSide& to) {
    for (size_t i = 0; i < side.results.size(); i++) {
        const QuestionResult& result = side.results[i][question];
        if (!result.answer)
            return result.reason + " (" + side.recordings[i].path + ")";
        to.push_back(result.answer->aggregations);
    }
    return std::nullopt;
}

Section compare_question(const AskedQuestion& question, size_t index, const Side& before,
                         const Side& after) {
    Section section{question.name, question.title, "", {}};
    analyze::DiffSide old_answers, new_answers;
    auto reason = gather(before, index, old_answers);
    if (!reason)
        reason = gather(after, index, new_answers);
    if (reason)
        section.reason = *reason;
    else
        section.answers = analyze::compare(old_answers, new_answers);
    return section;
}

/// Whether an answer of a question has the same rows.
bool is_repeated(const analyze::ComparedAnswer& stored, const std::vector<Section>& sections) {
    auto is_same = [](const analyze::ComparedRow& one, const analyze::ComparedRow& other) {
        return one.key_json == other.key_json && one.before == other.before &&
               one.after == other.after && one.cells_before == other.cells_before &&
               one.cells_after == other.cells_after;
    };
    auto repeats = [&](const analyze::ComparedAnswer& answer) {
        return answer.function == stored.function &&
               std::ranges::equal(answer.rows, stored.rows, is_same);
    };
    return std::ranges::any_of(sections, [&repeats](const Section& section) {
        return std::ranges::any_of(section.answers, repeats);
    });
}

/// What the recorded programs aggregated: of those aggregations that all of them have, what no
/// question gave.
Section compare_stored(const Side& before, const Side& after,
                       const std::vector<Section>& sections) {
    Section section{"stored", "what the recorded programs aggregated", "", {}};
    section.answers = analyze::compare(before.stored, after.stored);
    std::string missing;
    for (const Side* side : {&before, &after})
        for (size_t i = 0; i < side->stored_names.size(); i++)
            std::erase_if(section.answers, [&](const analyze::ComparedAnswer& answer) {
                bool is_known = side->stored_names[i].contains(answer.name);
                if (!is_known)
                    missing += (missing.empty() ? "" : ", ") + answer.name + " (" +
                               side->recordings[i].path + ")";
                return !is_known;
            });
    std::erase_if(section.answers, [&sections](const analyze::ComparedAnswer& answer) {
        return is_repeated(answer, sections);
    });
    if (!missing.empty())
        section.reason = "not aggregated by every recorded program: " + missing;
    return section;
}

std::string side_text(const Side& side) {
    std::string text;
    for (const Recorded& one : side.recordings)
        text += base::strprintf(
            "%-7s %s, boot %s, %s%s\n", side.name, one.path.c_str(), one.boot.c_str(),
            one.records ? (base::counted(*one.records, "record") + " in ").c_str() : "a window of ",
            analyze::seconds_text(one.duration_ns).c_str());
    return text;
}

void print_sections(const std::vector<Section>& sections, const analyze::DiffLayout& layout) {
    std::string left_out;
    for (const Section& section : sections) {
        if (!section.reason.empty())
            left_out +=
                base::strprintf("  %-10s %s\n", section.name.c_str(), section.reason.c_str());
        if (!section.reason.empty() && section.answers.empty())
            continue;
        put("\n" + section.name + ": " + section.title + "\n");
        std::string text = section.answers.empty() ? "  no value on either side\n" : "";
        for (const analyze::ComparedAnswer& answer : section.answers)
            analyze::print_comparison(text, answer, layout);
        put(text);
    }
    if (layout.boots_before + layout.boots_after > 2)
        put("\nBEFORE and AFTER are medians; P is how often chance alone separates two such sets "
            "of\n"
            "boots as far (Mann and Whitney's test): among 20 keys one has 0.05 by chance.\n");
    if (!left_out.empty())
        put("\nleft out, for what was not recorded:\n" + left_out);
}

void print_json(const std::vector<Section>& sections, const analyze::DiffLayout& layout,
                const Side& before, const Side& after) {
    std::string out;
    base::JsonObject object(out);
    for (const Side* side : {&before, &after}) {
        base::JsonArray recordings(object.key(side->name));
        for (const Recorded& recording : side->recordings) {
            base::JsonObject one(recordings.next());
            one.put("file", recording.path);
            one.put("boot", recording.boot);
            if (recording.records)
                one.put("records", *recording.records);
            one.put("duration_ns", recording.duration_ns);
            one.end();
        }
        recordings.end();
    }
    base::JsonArray questions(object.key("questions"));
    for (const Section& section : sections) {
        base::JsonObject one(questions.next());
        one.put("question", section.name);
        one.put("title", section.title);
        if (!section.reason.empty())
            one.put("left_out", section.reason);
        base::JsonArray answers(one.key("aggregations"));
        for (const analyze::ComparedAnswer& answer : section.answers)
            analyze::append_json_comparison(answers.next(), answer, layout);
        answers.end();
        one.end();
    }
    questions.end();
    object.end();
    put(out + "\n");
}

/// Why the sides cannot be compared: one recording is on both.
std::optional<base::Error> same_on_both(const Side& before, const Side& after) {
    bool is_pair = before.recordings.size() + after.recordings.size() == 2;
    for (const Recorded& one : before.recordings)
        for (const Recorded& other : after.recordings)
            if (one.is_same(other))
                return errorf(base::ErrorCode::invalid,
                              is_pair ? "%s and %s are the same, boot %s: nothing can differ"
                                      : "%s and %s are the same, boot %s, on both sides: leave it "
                                        "out of one",
                              one.path.c_str(), other.path.c_str(), one.boot.c_str());
    return std::nullopt;
}

std::vector<AskedQuestion> questions_of(const DiffArguments& arguments) {
    const ProgramArguments& program = arguments.program;
    if (arguments.stored)
        return {};
    if (program.script.empty() && program.text.empty())
        return asked_questions(analyze::boot_questions());
    return {{"program", program.script.empty() ? program.text : program.script, program}};
}

/// "new.dbrk: interrupted after 3 of 12 questions, 2 more recordings were not asked"
std::string interruption_of(const Side& before, const Side& after, size_t not_asked) {
    std::string text = before.interrupted + after.interrupted;
    if (text.empty())
        text = "interrupted";
    return not_asked == 0 ? text
                          : text + ", " + base::counted(not_asked, "more recording") +
                                (not_asked == 1 ? " was" : " were") + " not asked";
}

int diff(const DiffArguments& arguments) {
    install_interrupt();
    std::vector<AskedQuestion> questions = questions_of(arguments);
    Side before{"before"}, after{"after"};
    size_t not_asked = 0;
    for (auto [given, side] : {std::pair(&arguments.before, &before), {&arguments.after, &after}})
        for (const std::string& path : given->paths)
            if (is_interrupted())
                not_asked++;
            else if (auto failed = ask_recording(arguments, *given, path, questions, *side))
                return *failed;
    if (is_interrupted() && (before.results.empty() || after.results.empty()))
        return fail(errorf(base::ErrorCode::invalid, "%s: nothing can be compared",
                           interruption_of(before, after, not_asked).c_str()));
    if (auto same = same_on_both(before, after))
        return fail(*same);
    std::vector<Section> sections;
    size_t asked = questions.size();
    for (const Side* side : {&before, &after})
        for (const auto& results : side->results)
            asked = std::min(asked, results.size());
    for (size_t i = 0; i < asked; i++)
        sections.push_back(compare_question(questions[i], i, before, after));
    if (!before.stored.empty() && !after.stored.empty())
        sections.push_back(compare_stored(before, after, sections));
    analyze::DiffLayout layout{before.recordings.size(), after.recordings.size(),
                               arguments.rows_max};
    if (arguments.json) {
        print_json(sections, layout, before, after);
    } else {
        put(side_text(before) + side_text(after));
        print_sections(sections, layout);
    }
    if (finish_stdout() != Exit::ok)
        return static_cast<int>(Exit::failed);
    if (is_interrupted())
        complain(interruption_of(before, after, not_asked));
    bool has_losses = before.has_losses || after.has_losses || is_interrupted();
    return static_cast<int>(has_losses ? Exit::losses : Exit::ok);
}

/// Says what is wrong with the sides; makes two of what was given as one list.
std::string side_problem(DiffArguments& arguments) {
    SideArguments &before = arguments.before, &after = arguments.after;
    if (before.paths.empty()) // "--" stands before them all
        before.paths.swap(after.paths);
    if (!after.paths.empty())
        return "";
    bool is_apart =
        before.boot != after.boot || before.since != after.since || before.until != after.until;
    if (before.paths.empty() || (before.paths.size() == 1 && !is_apart))
        return "diff needs two recordings, or of one two boots (--boot-a, --boot-b) or two windows "
               "(--since-a, --since-b ...)";
    if (before.paths.size() > 2)
        return "diff takes A and B, or two sets of boots with -- between: A1 A2 -- B1 B2";
    after.paths = {before.paths.back()};
    before.paths.resize(1);
    return "";
}

void add_side_options(Command command, char letter, SideArguments& side) {
    const std::string name = std::string(1, letter), of = std::string(1, letter - 'a' + 'A');
    command.add_option("--boot-" + name, side.boot, "Boot of " + of + ", by ID prefix")
        .type_name("ID");
    command.add_option(side.since_option, side.since, "As --since, of " + of + " only")
        .type_name("TIME");
    command.add_option(side.until_option, side.until, "As --until, of " + of + " only")
        .type_name("TIME");
}

} // namespace

void add_diff(Command app, int& status) {
    auto arguments = std::make_shared<DiffArguments>();
    Command command = app.add_subcommand("diff", "Compare two boots, or two sets of boots");
    command.add_option("FILE", arguments->before.paths,
                       "A and B: trace files (.dbrk), or folders of one recording each; of sets: "
                       "A... -- B...");
    command.add_option("--against", arguments->after.paths, "The same as --: what follows is B")
        .type_name("FILE");
    add_program_text_options(command, arguments->program);
    command.add_flag("--stored", arguments->stored,
                     "Compare only what the recorded programs aggregated");
    add_window_options(command, arguments->window);
    add_side_options(command, 'a', arguments->before);
    add_side_options(command, 'b', arguments->after);
    command.add_option("--top", arguments->rows_max, "Rows of an aggregation; 0: all")
        .type_name("N")
        .show_default();
    command.add_flag("--json", arguments->json, "As one object of JSON, with all rows");
    command.footer(
        "\nWithout -s and -n the questions for boots that come with Daybreak are asked,\n"
        "and what the recorded programs aggregated is compared.\n"
        "\nExample: why is this boot slower?\n"
        "  daybreak diff fast.dbrk slow.dbrk\n"
        "Example: five boots before an update, five after it\n"
        "  daybreak diff old/*.dbrk -- new/*.dbrk");
    command.callback([arguments, &status] {
        const ProgramArguments& program = arguments->program;
        std::string problem = side_problem(*arguments);
        if (problem.empty() && !program.script.empty() && !program.text.empty())
            problem = "diff takes one program: -s FILE or -n TEXT";
        if (problem.empty() && arguments->stored && !(program.script + program.text).empty())
            problem = "--stored takes no program";
        status = problem.empty() ? diff(*arguments) : misuse("diff", problem);
    });
}

} // namespace daybreak::cmd
