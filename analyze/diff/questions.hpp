// SPDX-License-Identifier: Apache-2.0
//
// Questions: D programs that come with Daybreak, for recordings of boots.
//
// They lie in questions/ and ../postmortem/questions/ as files, which are installed as examples, and are built into the program.
// A question has a recording's answer when the recording has all that it asks for; it is then the
// same program for `diff` and `boot-report` (docs/design/0076-questions.md).
#pragma once

#include <span>
#include <string_view>

namespace daybreak::analyze {

struct Question {
    std::string_view name; ///< of its file, without ".d"
    std::string_view text;

    /// What it asks, from the line "NAME.d - what it asks" of its first comment.
    std::string_view title() const;
};

/// In the order in which they are asked.
std::span<const Question> boot_questions();
/// Of a machine that died: $1 is when, $2 how many ns before that the last seconds begin.
std::span<const Question> postmortem_questions();

} // namespace daybreak::analyze
