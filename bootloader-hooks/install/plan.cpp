// SPDX-License-Identifier: Apache-2.0
//
// Printing and carrying out the steps of an installation.
#include "bootloader-hooks/install/plan.hpp"

#include <algorithm>
#include <map>

namespace daybreak::install {

using base::ErrorCode;
using base::errorf;
using base::Result;
using base::strprintf;

namespace {

/// Lines around a change, as diff(1) prints them.
constexpr size_t kContextLines = 3;
constexpr double kMiBytes = 1 << 20;

/// The lines with their ends; the last may have none.
std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (size_t at = 0; at < text.size();) {
        size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
        lines.push_back(text.substr(at, end - at));
        at = end;
    }
    return lines;
}

std::string diff_line(char sign, const std::string& line) {
    bool has_end = line.ends_with('\n');
    return sign + line + (has_end ? "" : "\n\\ No newline at end of file\n");
}

/// "12,3" of a hunk's header; an empty range is named by the line before it.
std::string range_text(size_t from, size_t count) {
    return strprintf("%zu,%zu", count == 0 ? from : from + 1, count);
}

} // namespace

std::string unified_diff(const std::string& path, const std::optional<std::string>& before,
                         const std::optional<std::string>& after) {
    if (before == after)
        return "";
    std::vector<std::string> old_lines = lines_of(before.value_or("")),
                             new_lines = lines_of(after.value_or(""));
    // One hunk: what install changes of a file is one stretch of it.
    size_t common_max = std::min(old_lines.size(), new_lines.size()), head = 0, tail = 0;
    while (head < common_max && old_lines[head] == new_lines[head])
        head++;
    while (tail < common_max - head &&
           old_lines[old_lines.size() - 1 - tail] == new_lines[new_lines.size() - 1 - tail])
        tail++;
    size_t from = head - std::min(head, kContextLines), after_lines = std::min(tail, kContextLines);
    size_t old_end = old_lines.size() - tail, new_end = new_lines.size() - tail;
    std::string text = strprintf("--- %s\n+++ %s\n", before ? path.c_str() : "/dev/null",
                                 after ? path.c_str() : "/dev/null");
    text += "@@ -" + range_text(from, old_end + after_lines - from) + " +" +
            range_text(from, new_end + after_lines - from) + " @@\n";
    for (size_t i = from; i < head; i++)
        text += diff_line(' ', old_lines[i]);
    for (size_t i = head; i < old_end; i++)
        text += diff_line('-', old_lines[i]);
    for (size_t i = head; i < new_end; i++)
        text += diff_line('+', new_lines[i]);
    for (size_t i = old_end; i < old_end + after_lines; i++)
        text += diff_line(' ', old_lines[i]);
    return text;
}

std::string describe(const Plan& plan) {
    std::string text;
    for (const Step& step : plan.steps) {
        if (!step.command.empty()) {
            text += "run:";
            for (const std::string& word : step.command)
                text += " " + word;
            text += "    # " + step.what + "\n";
        } else if (step.is_text) {
            text += unified_diff(step.path, step.before, step.after);
        } else if (step.after) {
            text += strprintf("%s %s (%zu bytes)\n", step.before ? "replace" : "write",
                              step.path.c_str(), step.after->size());
        } else {
            text += "remove " + step.path + "\n";
        }
    }
    return text;
}

Result<void> check_room(const Host& host, const Plan& plan) {
    std::map<dev_t, int64_t> taken;
    for (const Step& step : plan.steps) {
        if (!step.command.empty())
            continue;
        DBK_TRY(FileSystem on, host.file_system_of(step.path));
        auto blocks = [&on](const std::optional<std::string>& content) {
            uint64_t bytes = content ? content->size() + on.block_bytes - 1 : 0;
            return static_cast<int64_t>(bytes / on.block_bytes * on.block_bytes);
        };
        taken[on.device] += blocks(step.after);
        if (taken[on.device] > 0 && static_cast<uint64_t>(taken[on.device]) > on.free_bytes)
            return errorf(ErrorCode::full,
                          "no room for %s: %.1f MiB are needed there, and %.1f MiB are free; "
                          "nothing was changed",
                          step.path.c_str(), static_cast<double>(taken[on.device]) / kMiBytes,
                          static_cast<double>(on.free_bytes) / kMiBytes);
        taken[on.device] -= blocks(step.before);
    }
    return {};
}

Result<void> apply(Host& host, const Plan& plan) {
    for (const Step& step : plan.steps) {
        if (!step.command.empty())
            DBK_TRY_VOID(host.run(step.command));
        else if (step.after)
            DBK_TRY_VOID(host.replace(step.path, *step.after, step.mode));
        else
            DBK_TRY_VOID(host.remove(step.path));
    }
    return {};
}

} // namespace daybreak::install
