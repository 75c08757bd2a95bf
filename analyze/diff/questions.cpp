// SPDX-License-Identifier: Apache-2.0
//
// Questions: D programs that come with Daybreak.
#include "analyze/diff/questions.hpp"

#include <algorithm>

namespace daybreak::analyze {

namespace {

constexpr Question kBootQuestions[] = {
#include "boot_questions.inc"
};

constexpr Question kPostmortemQuestions[] = {
#include "postmortem_questions.inc"
};

} // namespace

std::string_view Question::title() const {
    constexpr std::string_view kBefore = ".d - ";
    size_t at = text.find(kBefore);
    if (at == text.npos)
        return name;
    std::string_view rest = text.substr(at + kBefore.size());
    return rest.substr(0, std::min({rest.find('\n'), rest.find(" */"), rest.size()}));
}

std::span<const Question> boot_questions() {
    return kBootQuestions;
}

std::span<const Question> postmortem_questions() {
    return kPostmortemQuestions;
}

} // namespace daybreak::analyze
