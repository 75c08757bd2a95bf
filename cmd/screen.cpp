// SPDX-License-Identifier: Apache-2.0
//
// One screen: how many rows of each part fit.
#include "cmd/screen.hpp"

#include "base/counted.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <sys/ioctl.h>
#include <unistd.h>

namespace daybreak::cmd {

namespace {

constexpr size_t kRowsMax = 6, kRowsWithSpace = 3;
constexpr size_t kRowsFirst = 2; ///< more than one, of the first part on a small screen

size_t lines_of(const std::string& text, size_t columns) {
    size_t lines = 0;
    for (size_t from = 0; from < text.size();) {
        size_t end = std::min(text.find('\n', from), text.size());
        lines += 1 + (end == from ? 0 : (end - from - 1) / columns);
        from = end + 1;
    }
    return lines;
}

/// The lines of each part, made once for each number of rows: there may be many to choose from.
class PartLines {
public:
    explicit PartLines(const std::vector<ScreenPart>& parts) : parts_(parts), made_(parts.size()) {}
    const std::string& of(size_t part, size_t rows) {
        std::optional<std::string>& text = made_[part][rows - 1];
        if (!text)
            text = parts_[part].lines(rows);
        return *text;
    }

private:
    const std::vector<ScreenPart>& parts_;
    std::vector<std::array<std::optional<std::string>, kRowsMax>> made_;
};

std::string laid_out(const std::string& above, const std::vector<ScreenPart>& parts,
                     const std::string& below, PartLines& made, const std::vector<size_t>& rows,
                     const char* space) {
    std::string text = above;
    for (size_t i = 0; i < rows.size(); i++) {
        const ScreenPart& part = parts[i];
        const std::string& lines = made.of(i, rows[i]);
        text += space + (part.title.empty() ? "" : part.title + "\n") +
                (lines.empty() ? "  none\n" : lines);
    }
    return below.empty() ? text : text + space + below;
}

} // namespace

ScreenSize screen_size() {
    struct winsize size = {};
    bool is_known = ::isatty(STDOUT_FILENO) && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
                    size.ws_row > 1 && size.ws_col != 0;
    return is_known ? ScreenSize{size.ws_row - 1u, size.ws_col}
                    : ScreenSize{kScreenLines, SIZE_MAX};
}

std::string on_one_screen(const std::string& above, const std::vector<ScreenPart>& parts,
                          const std::string& below, ScreenSize size) {
    PartLines made(parts);
    std::string end = below;
    auto with = [&](const std::vector<size_t>& rows, const char* space) {
        return laid_out(above, parts, end, made, rows, space);
    };
    auto fits = [&size](const std::string& text) {
        return lines_of(text, size.columns) <= size.lines;
    };
    for (size_t count = kRowsMax; count >= kRowsWithSpace; count--)
        if (std::string text = with(std::vector(parts.size(), count), "\n"); fits(text))
            return text;
    // Without lines between the parts.  The first part goes first, the others take turns.
    std::vector<size_t> rows(parts.size(), 1);
    auto drop = [&](bool is_part) {
        if (is_part)
            rows.pop_back();
        size_t dropped = parts.size() - rows.size();
        end = "no room here for " + (dropped == 0 ? "" : base::counted(dropped, "part") + " and ") +
              (below.empty() ? "the rest" : "what is " + below.substr(0, below.find('\n'))) +
              ": a pipe shows more\n";
    };
    // A screen that is too small has the first parts, and says how many it has not.
    if (!rows.empty() && !fits(with(rows, ""))) {
        drop(false);
        for (rows[0] += kRowsFirst; rows.size() > 1 && !fits(with(rows, "")); drop(true))
            ;
        rows[0] = 1;
    }
    auto raise = [&](size_t part) {
        rows[part]++;
        bool has_room = fits(with(rows, ""));
        rows[part] -= !has_room;
        return has_room;
    };
    while (!rows.empty() && rows[0] < kRowsMax && raise(0))
        ;
    for (size_t count = 1; count < kRowsMax; count++)
        for (size_t part = 1; part < rows.size(); part++)
            raise(part);
    return with(rows, "");
}

std::string first_lines(const std::string& text, size_t count) {
    size_t end = 0;
    for (; count != 0 && end < text.size(); count--)
        end = std::min(text.find('\n', end), text.size() - 1) + 1;
    return text.substr(0, end);
}

} // namespace daybreak::cmd
