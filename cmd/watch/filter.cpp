// SPDX-License-Identifier: Apache-2.0
//
// Filters as D: a name becomes a number here, a pattern comparisons of a string's ends.
#include "cmd/watch/filter.hpp"

#include "compiler/syntax/print.hpp"

#include <algorithm>
#include <cstdio>
#include <grp.h>
#include <memory>
#include <optional>
#include <pwd.h>

namespace daybreak::cmd {

namespace {

using base::ErrorCode;
using base::errorf;
using base::Result;
using base::strprintf;

/// execname holds this much: TASK_COMM_LEN of Linux, without the NUL.
constexpr size_t kExecnameBytesMax = 15;
/// Of Docker, Podman, containerd and CRI-O.
constexpr size_t kContainerIdBytes = 64;

/// Whether it is a number that a pid_t, uid_t or gid_t of a process can be.
bool is_number(const std::string& text) {
    return !text.empty() && text.size() <= 10 &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }) &&
           std::stoull(text) < UINT32_MAX;
}

Result<std::string> process_test(const std::string& pattern) {
    const auto stars = std::count(pattern.begin(), pattern.end(), '*');
    if (pattern.size() > kExecnameBytesMax + static_cast<size_t>(stars))
        return errorf(ErrorCode::invalid,
                      "-k %s never matches: execname is the first %zu bytes of a program's name "
                      "(-k '%s*')",
                      pattern.c_str(), kExecnameBytesMax,
                      pattern.substr(0, kExecnameBytesMax).c_str());
    auto test = pattern_expression("execname", pattern);
    return test.ok() ? std::move(test) : std::move(test).error().with_context("-k");
}

Result<std::string> pid_test(const std::string& pid) {
    if (!is_number(pid))
        return errorf(ErrorCode::invalid, "-p takes a process ID, got '%s'", pid.c_str());
    return "pid == " + pid;
}

/// The number of a name in /etc/passwd or /etc/group.  Not by getpwnam(3), which takes libraries
/// that a program without shared ones does not have.
template <class Entry>
std::optional<uint32_t> number_of(const std::string& name, const char* path, Entry* (*next)(FILE*),
                                  char* Entry::*its_name, uint32_t Entry::*number) {
    std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path, "re"), std::fclose);
    for (const Entry* entry = nullptr; file && (entry = next(file.get())) != nullptr;)
        if (name == entry->*its_name)
            return entry->*number;
    return std::nullopt;
}

Result<std::string> user_test(const std::string& user) {
    if (is_number(user))
        return "uid == " + user;
    auto found = number_of(user, "/etc/passwd", ::fgetpwent, &passwd::pw_name, &passwd::pw_uid);
    if (!found)
        return errorf(ErrorCode::invalid,
                      "-u: /etc/passwd has no user '%s' (a number is taken too)", user.c_str());
    return strprintf("uid == %u", *found);
}

Result<std::string> group_test(const std::string& group) {
    if (is_number(group))
        return "gid == " + group;
    auto found = number_of(group, "/etc/group", ::fgetgrent, &::group::gr_name, &::group::gr_gid);
    if (!found)
        return errorf(ErrorCode::invalid,
                      "-g: /etc/group has no group '%s' (a number is taken too)", group.c_str());
    return strprintf("gid == %u", *found);
}

/// A path begins with a slash; what does not is a unit.
Result<std::string> cgroup_test(const std::string& pattern) {
    auto test = pattern_expression(pattern.starts_with("/") ? "cgroup" : "unit", pattern);
    return test.ok() ? std::move(test) : std::move(test).error().with_context("--cgroup");
}

Result<std::string> container_test(const std::string& id) {
    if (id.empty() || id.size() > kContainerIdBytes ||
        id.find_first_not_of("0123456789abcdef") != id.npos)
        return errorf(ErrorCode::invalid,
                      "--container takes the beginning of a container's ID (hexadecimal), got '%s'",
                      id.c_str());
    return "index(container, " + compiler::quoted_text(id) + ") == 0";
}

/// A line of its own: a comment in it ends there.
Result<std::string> own_test(const std::string& expression) {
    if (expression.find_first_not_of(" \t\n") == expression.npos)
        return errorf(ErrorCode::invalid, "-t takes a D expression, got ''");
    return "(" + expression + ")";
}

struct Kind {
    std::vector<std::string> WatchFilter::*values;
    Result<std::string> (*test)(const std::string& value);
    const char* between; ///< further tests of -t narrow, all other values widen
};

constexpr Kind kKinds[] = {
    {&WatchFilter::pids, pid_test, " || "},
    {&WatchFilter::users, user_test, " || "},
    {&WatchFilter::groups, group_test, " || "},
    {&WatchFilter::processes, process_test, " || "},
    {&WatchFilter::cgroups, cgroup_test, " || "},
    {&WatchFilter::containers, container_test, " || "},
    {&WatchFilter::tests, own_test, " && "},
};

} // namespace

Result<std::string> filter_expression(const WatchFilter& filter) {
    std::string all;
    for (const Kind& kind : kKinds) {
        std::string any;
        for (const std::string& value : filter.*kind.values) {
            DBK_TRY(std::string test, kind.test(value));
            any += (any.empty() ? "" : kind.between) + test;
        }
        if (!any.empty())
            all += (all.empty() ? "(" : " && (") + any + ")";
    }
    return all.empty() ? "1" : all;
}

Result<std::string> pattern_expression(const std::string& d_string, const std::string& pattern) {
    if (pattern.empty() || pattern.find_first_of("?[\\") != pattern.npos)
        return errorf(ErrorCode::invalid,
                      "the pattern '%s': a name in which only * stands for other text is expected",
                      pattern.c_str());
    const size_t first = pattern.find('*'), last = pattern.rfind('*');
    if (first == pattern.npos)
        return d_string + " == " + compiler::quoted_text(pattern);
    const std::string before = pattern.substr(0, first), after = pattern.substr(last + 1),
                      inside = first == last ? "" : pattern.substr(first + 1, last - first - 1);
    if (inside.find('*') != pattern.npos || (!inside.empty() && !(before + after).empty()))
        return errorf(ErrorCode::invalid,
                      "the pattern '%s': at most one * inside is understood, or one at each end",
                      pattern.c_str());
    if (!inside.empty())
        return "index(" + d_string + ", " + compiler::quoted_text(inside) + ") >= 0";
    std::string text =
        strprintf("strlen(%s) >= %zu", d_string.c_str(), before.size() + after.size());
    if (!before.empty())
        text += strprintf(" && substr(%s, 0, %zu) == %s", d_string.c_str(), before.size(),
                          compiler::quoted_text(before).c_str());
    if (!after.empty())
        text += strprintf(" && substr(%s, strlen(%s) - %zu) == %s", d_string.c_str(),
                          d_string.c_str(), after.size(), compiler::quoted_text(after).c_str());
    return "(" + text + ")";
}

} // namespace daybreak::cmd
