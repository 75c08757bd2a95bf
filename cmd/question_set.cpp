// SPDX-License-Identifier: Apache-2.0
//
// A set of questions for one recording.
#include "cmd/question_set.hpp"

#include "base/counted.hpp"
#include "cmd/progress.hpp"
#include "cmd/terminal.hpp"
#include "formats/trace/file_reader.hpp"

#include <algorithm>
#include <set>

namespace daybreak::cmd {

std::vector<AskedQuestion> asked_questions(std::span<const analyze::Question> questions,
                                           const std::vector<std::string>& arguments) {
    std::vector<AskedQuestion> asked;
    for (const analyze::Question& question : questions) {
        AskedQuestion one;
        one.name = question.name;
        one.title = question.title();
        compiler::CompileSource source;
        source.name = one.name + ".d";
        source.text = question.text;
        one.program.source = std::move(source);
        one.program.arguments = arguments;
        asked.push_back(std::move(one));
    }
    return asked;
}

std::vector<QuestionResult> ask_all(const AskedRecording& recording,
                                    std::span<const AskedQuestion> questions, AskOptions options) {
    std::vector<QuestionResult> results;
    Progress progress("daybreak: replaying", ProgressUnit::records);
    for (const AskedQuestion& question : questions) {
        options.progress = [&](uint64_t records, uint64_t all) {
            progress.step(question.name, records, all);
        };
        auto answer = recording.ask(question.program, options);
        if (is_interrupted())
            break;
        QuestionResult& result = results.emplace_back();
        if (answer.ok())
            result.answer = std::move(*answer);
        else
            result.reason = answer.error().message();
    }
    return results;
}

std::string interrupted_text(size_t answered, size_t questions) {
    return "interrupted after " + std::to_string(answered) + " of " +
           base::counted(questions, "question");
}

std::string leave_unasked_out(std::vector<AskedQuestion>& questions,
                              std::span<const QuestionResult> results) {
    if (results.size() == questions.size())
        return "";
    std::string text = interrupted_text(results.size(), questions.size());
    questions.erase(questions.begin() + static_cast<std::ptrdiff_t>(results.size()),
                    questions.end());
    return text;
}

std::string boot_name_of(const formats::Trace& trace) {
    uint64_t boot_id = trace.recording.boot_id;
    if (boot_id == 0)
        boot_id = formats::boot_of(trace.header.boot_uuid);
    return boot_id == 0 ? "" : formats::boot_name(boot_id);
}

std::string left_out_text(std::span<const AskedQuestion> questions,
                          std::span<const QuestionResult> results) {
    std::vector<std::pair<std::string, std::string>> reasons; // with the names, in their order
    for (size_t i = 0; i < questions.size(); i++) {
        if (results[i].answer)
            continue;
        auto known = std::ranges::find(reasons, results[i].reason,
                                       &std::pair<std::string, std::string>::first);
        if (known == reasons.end())
            reasons.emplace_back(results[i].reason, questions[i].name);
        else
            known->second += ", " + questions[i].name;
    }
    std::string text;
    for (const auto& [reason, names] : reasons)
        text += "  " + names + ": " + reason + "\n";
    return text.empty() ? text : "not recorded\n" + text;
}

bool complain_of_notes(std::span<const QuestionResult> results, const std::string& prefix) {
    std::set<std::string> said; // several questions ask the same probes
    bool has_drops = false;
    for (const QuestionResult& result : results) {
        if (!result.answer)
            continue;
        has_drops |= result.answer->has_drops;
        for (const std::string& note : result.answer->notes)
            if (said.insert(note).second)
                complain(prefix + note);
    }
    return has_drops;
}

int finish_answers(std::span<const QuestionResult> results, const analyze::CompletenessNote& note,
                   const std::string& interrupted) {
    bool has_losses = complain_of_notes(results);
    if (!interrupted.empty()) {
        complain(interrupted);
        has_losses = true;
    }
    if (!note.complete)
        complain(note.verdict());
    if (finish_stdout() != Exit::ok)
        return static_cast<int>(Exit::failed);
    return has_losses ? analyze::kStatusLosses : note.advised_status();
}

} // namespace daybreak::cmd
