// SPDX-License-Identifier: Apache-2.0
//
// One screen: an answer of several parts, in as many lines as a person sees at once.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace daybreak::cmd {

/// A title with lines below it; without a title the lines say what they are.
struct ScreenPart {
    std::string title;
    /// Returns about so many lines, each with its end; empty: none.
    std::function<std::string(size_t rows)> lines;
};

/// What is seen at once.
struct ScreenSize {
    size_t lines, columns;
};

/// The terminal's on stdout, but for the line of the prompt; else kScreenLines of any length.
ScreenSize screen_size();

constexpr size_t kScreenLines = 40;

/// Returns `above`, the parts and `below` (whose first line is a title), with as many rows of each
/// part as fit on the screen. Where one of each does not, `below` and the last parts become a line
/// that says how many are not there.
std::string on_one_screen(const std::string& above, const std::vector<ScreenPart>& parts,
                          const std::string& below, ScreenSize size);

/// Returns the first lines of a text.
std::string first_lines(const std::string& text, size_t count);

} // namespace daybreak::cmd
