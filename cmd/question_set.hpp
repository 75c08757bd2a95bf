// SPDX-License-Identifier: Apache-2.0
//
// A set of questions for one recording: programs to be replayed, each answered or left out with the
// reason.
#pragma once

#include "analyze/diff/questions.hpp"
#include "cmd/asked_recording.hpp"

#include <span>

namespace daybreak::cmd {

/// A program that is asked of recordings.
struct AskedQuestion {
    std::string name, title;
    ProgramArguments program;
};

/// Those that come with Daybreak, in their order.
/// `arguments` are their $1, $2, ...
std::vector<AskedQuestion> asked_questions(std::span<const analyze::Question> questions,
                                           const std::vector<std::string>& arguments = {});

/// What came of a question.
struct QuestionResult {
    std::optional<ProgramAnswer> answer;
    std::string reason; ///< why there is none
};

/// Asks a recording all of them, and shows how far that is on a terminal.  When it is interrupted,
/// the questions that were answered by then have results, and no other.
std::vector<QuestionResult> ask_all(const AskedRecording& recording,
                                    std::span<const AskedQuestion> questions, AskOptions options);

/// "interrupted after 3 of 12 questions"
std::string interrupted_text(size_t answered, size_t questions);

/// Leaves the questions that were not asked out.  Returns how far it came before it was
/// interrupted;
/// "": all were asked.
std::string leave_unasked_out(std::vector<AskedQuestion>& questions,
                              std::span<const QuestionResult> results);

/// Returns how a screen names the boot that was asked; "" when a cut file does not say it.
std::string boot_name_of(const formats::Trace& trace);

/// Returns the lines that name what the recording has no answer to, by what was not recorded.
std::string left_out_text(std::span<const AskedQuestion> questions,
                          std::span<const QuestionResult> results);

/// Ends a command that asked: says what its answers and its recording lack, and where it was
/// interrupted, if it was.  Returns the exit status.
int finish_answers(std::span<const QuestionResult> results, const analyze::CompletenessNote& note,
                   const std::string& interrupted);

/// Says what is to be known of the answers, each sentence once.  Returns whether the replays
/// themselves lost something.
bool complain_of_notes(std::span<const QuestionResult> results, const std::string& prefix = "");

} // namespace daybreak::cmd
