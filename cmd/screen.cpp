// SPDX-License-Identifier: Apache-2.0
//
// One screen: how many rows of each part fit.
#include "cmd/screen.hpp"

#include <algorithm>
#include <cstdint>
#include <sys/ioctl.h>
#include <unistd.h>

namespace daybreak::cmd {

namespace {

constexpr size_t kRowsMax = 6, kRowsWithSpace = 3;

size_t lines_of(const std::string& text, size_t columns) {
    size_t lines = 0;
    for (size_t from = 0; from < text.size();) {
        size_t end = std::min(text.find('\n', from), text.size());
        lines += 1 + (end == from ? 0 : (end - from - 1) / columns);
        from = end + 1;
    }
    return lines;
}

std::string laid_out(const std::string& above, const std::vector<ScreenPart>& parts,
                     const std::string& below, size_t rows, const char* space) {
    std::string text = above;
    for (const ScreenPart& part : parts) {
        std::string lines = part.lines(rows);
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
    std::string text;
    for (const char* space : {"\n", ""}) // lines between the parts, while there is room
        for (size_t rows = kRowsMax; rows >= (*space ? kRowsWithSpace : 1); rows--) {
            text = laid_out(above, parts, below, rows, space);
            if (lines_of(text, size.columns) <= size.lines)
                return text;
        }
    return text;
}

std::string first_lines(const std::string& text, size_t count) {
    size_t end = 0;
    for (; count != 0 && end < text.size(); count--)
        end = std::min(text.find('\n', end), text.size() - 1) + 1;
    return text.substr(0, end);
}

} // namespace daybreak::cmd
