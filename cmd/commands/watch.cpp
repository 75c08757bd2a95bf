// SPDX-License-Identifier: Apache-2.0
//
// daybreak watch: one word, and a line for each time that it happens.
#include "base/file.hpp"
#include "base/nearest_name.hpp"
#include "base/visible.hpp"
#include "cmd/commands/install.hpp"
#include "cmd/dtrace/dtrace.hpp"
#include "cmd/image_probes.hpp"
#include "cmd/quantity.hpp"
#include "cmd/watch/filter.hpp"
#include "cmd/watch/watch_program.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <unistd.h>

namespace daybreak::cmd {

namespace {

/// What tick-N takes at least.
constexpr uint64_t kTimeNsMin = 200'000;

struct WatchArguments {
    std::vector<std::string> words;
    std::string profile, time, command, output, kernel;
    WatchFilter filter;
    WatchDetails details;
    bool list = false, print = false, json = false, boot = false, simulate = false;

    bool has_details() const { return !details.arguments.empty() || !details.code.empty(); }
};

/// What is to be compiled.
struct WatchProgram {
    std::string name; ///< of the profile, or "watch"
    std::string text;
};

/// Those whose line has all of the words.
int list_profiles(const std::vector<std::string>& words) {
    Profiles all = all_profiles(profile_folders());
    for (const std::string& problem : all.problems)
        complain("no profile: " + problem);
    bool any = words.empty();
    for (const Profile& profile : all.profiles) {
        std::string line = base::strprintf(
            "%-18s %s\n", (profile.name + other_names(profile.name)).c_str(),
            base::visible(profile.title() + (profile.path.empty() ? "" : "; " + profile.path))
                .c_str());
        if (std::ranges::all_of(
                words, [&line](const std::string& word) { return line.find(word) != line.npos; })) {
            put(line);
            any = true;
        }
    }
    if (!any)
        return fail(base::errorf(
            base::ErrorCode::not_found, "no profile's line has %s (daybreak watch --list has all)",
            words.size() == 1 ? ("'" + words[0] + "'").c_str() : "all of these words"));
    return static_cast<int>(finish_stdout());
}

/// The names of all profiles, and those that some of them have elsewhere.
std::vector<std::string> profile_names() {
    std::vector<std::string> names;
    for (const Profile& profile : all_profiles(profile_folders()).profiles)
        names.push_back(profile.name);
    for (std::string_view other : all_other_names())
        names.emplace_back(other);
    return names;
}

/// Says what a word may have meant that is taken for a function of the kernel.
void warn_of_function(const std::string& word) {
    if (!description_of(word).starts_with("fbt::"))
        return;
    std::vector<std::string> names = profile_names();
    for (const SystemCall& call : system_calls())
        names.emplace_back(call.name);
    std::string nearest = base::nearest_name(word, names);
    if (!nearest.empty())
        complain("'" + word + "' is taken as a function of the kernel: " +
                 base::did_you_mean(nearest) + " (daybreak watch --list has the profiles)");
}

/// Says which call does the same: the C library's open() makes openat(), and `watch open` sees nothing of it.
void warn_of_call_beside(const std::string& word, const std::vector<std::string>& words) {
    const std::string other = call_beside(word);
    if (!other.empty() && std::ranges::find(words, other) == words.end())
        complain("'" + word + "' is that system call alone: programs call " + other +
                 " as well, whose arguments begin with a folder's descriptor");
}

/// -X names a profile; else a single word may be one.  Error: not_found; invalid: a profile's name
/// among several words, or with -A or -E.
base::Result<std::optional<Profile>> chosen_profile(const WatchArguments& arguments) {
    if (!arguments.profile.empty()) {
        DBK_TRY(std::optional<Profile> named, find_profile(arguments.profile, profile_folders()));
        if (named)
            return named;
        return base::errorf(base::ErrorCode::not_found,
                            "there is no profile '%s'%s (daybreak watch --list has all)",
                            arguments.profile.c_str(),
                            base::suggestion(arguments.profile, profile_names()).c_str());
    }
    for (const std::string& word : arguments.words) {
        if (word.find_first_of("{};\"#\n") != word.npos)
            return base::errorf(base::ErrorCode::invalid,
                                "'%s' is more than a name: WORD is a profile, a system call, a "
                                "function or a probe description; -E takes D",
                                base::visible(word).c_str());
        DBK_TRY(std::optional<Profile> found, find_profile(word, profile_folders()));
        if (found && arguments.words.size() == 1 && !arguments.has_details())
            return found;
        if (found && description_of(word).starts_with("fbt::"))
            return base::errorf(
                base::ErrorCode::invalid,
                arguments.has_details()
                    ? "%s is a profile, which says what it prints: -A and -E are for probes"
                    : "%s is a profile: one at a time, and no probe beside it",
                word.c_str());
        if (!found)
            warn_of_function(word);
        warn_of_call_beside(word, arguments.words);
    }
    return std::optional<Profile>();
}

base::Result<WatchProgram> make_program(const WatchArguments& arguments) {
    DBK_TRY(std::string filter, filter_expression(arguments.filter));
    DBK_TRY(std::optional<Profile> profile, chosen_profile(arguments));
    WatchProgram program = {profile ? profile->name : "watch", ""};
    if (profile) {
        DBK_TRY(program.text, profile_program(*profile, filter));
    } else {
        program.text = probe_program(arguments.words, filter, arguments.details);
    }
    if (!arguments.time.empty()) {
        DBK_TRY(uint64_t ns, parse_time("-T", arguments.time));
        if (ns < kTimeNsMin)
            return base::errorf(base::ErrorCode::invalid, "-T takes at least 200us, got '%s'",
                                arguments.time.c_str());
        program.text += end_clause(ns);
    }
    return program;
}

/// Gives it to `daybreak install --once`, which keeps a copy.
int arm(const WatchProgram& program) {
    char folder[] = "/tmp/daybreak-watch-XXXXXX";
    if (::mkdtemp(folder) == nullptr)
        return fail(base::errorf(base::ErrorCode::io, "cannot make a folder in /tmp"));
    std::string path = std::string(folder) + "/" + program.name + ".d";
    auto written = base::replace_text(path, program.text, 0600);
    int status = written.ok() ? install_once(path) : fail(written.error());
    std::error_code none; // what stays is a file in /tmp
    std::filesystem::remove_all(folder, none);
    return status;
}

int trace(const WatchArguments& arguments, const WatchProgram& program) {
    DtraceArguments dtrace;
    dtrace.name = "daybreak"; // what messages begin with
    DtraceProgram one;
    one.text = program.text;
    one.name = program.name + ".d";
    dtrace.programs.push_back(std::move(one));
    dtrace.json = arguments.json;
    dtrace.hint_for_any_probe =
        "daybreak watch --list has the profiles, daybreak list -l the probes that there are";
    const bool has_target = program.text.find("$target") != program.text.npos;
    if (has_target && arguments.command.empty() && arguments.filter.pids.empty())
        return misuse("watch",
                      program.name + " is of one process: name it with -p PID or -c COMMAND");
    if (!arguments.command.empty())
        dtrace.commands.push_back(arguments.command);
    else if (has_target)
        dtrace.pids = arguments.filter.pids;
    dtrace.output_path = arguments.output;
    dtrace.kernel = arguments.kernel;
    dtrace.simulate = arguments.simulate;
    return run_dtrace(std::move(dtrace));
}

int watch(const WatchArguments& arguments) {
    if (arguments.list)
        return list_profiles(arguments.words);
    auto program = make_program(arguments);
    if (!program.ok())
        return fail(program.error());
    if (arguments.print) {
        put(program->text);
        return static_cast<int>(finish_stdout());
    }
    return arguments.boot ? arm(*program) : trace(arguments, *program);
}

/// Returns what is wrong with the options together; "" when nothing is.
std::string problem_of(const WatchArguments& arguments) {
    if (arguments.list)
        return "";
    if (arguments.profile.empty() == arguments.words.empty())
        return arguments.words.empty()
                   ? "name a profile or a probe: daybreak watch --list has the profiles"
                   : "-X takes the place of the probes: name one or the other";
    if (!arguments.profile.empty() && arguments.has_details())
        return "-A and -E are for probes: the profile says what it prints";
    if (!arguments.details.code.empty() && !arguments.details.arguments.empty())
        return "-E takes the place of what -A prints: give one of them";
    for (const std::string& word : arguments.words)
        if (word.find_first_not_of(":*") == word.npos)
            return "'" + word + "' is every probe there is: name a profile or a probe";
    if (arguments.boot && (arguments.simulate || !arguments.kernel.empty()))
        return "--boot is for the kernels of this machine: no --kernel and no --simulate";
    if (arguments.boot && !arguments.filter.pids.empty())
        return "--boot: -p names a process of this boot";
    if (arguments.boot && (arguments.json || !(arguments.output + arguments.command).empty()))
        return "--boot records: --json, -o and -c are for what runs now";
    return "";
}

std::string problem_when_empty(const std::string& value) {
    return value.find_first_not_of(" \t\n") == value.npos ? "needs a value" : "";
}

void add_filters(Command command, WatchFilter& filter) {
    auto add = [&](const char* names, std::vector<std::string>& values, const char* type,
                   const char* help) {
        command.add_option(names, values, help).one_value_each().type_name(type);
    };
    add("-k,--process", filter.processes, "NAME", "Programs of this name; * is any text");
    add("-p,--pid", filter.pids, "PID", "This process");
    add("-u,--user", filter.users, "USER", "Processes of this user, by name or number");
    add("-g,--group", filter.groups, "GROUP", "Processes of this group");
    add("--cgroup", filter.cgroups, "NAME",
        "Processes of this unit, or of this cgroup's path; * is any text");
    add("--container", filter.containers, "ID", "Processes of this container");
    add("-t,--test", filter.tests, "EXPR", "When this D expression holds");
}

} // namespace

void add_watch(Command app, int& status) {
    auto arguments = std::make_shared<WatchArguments>();
    Command command =
        app.add_subcommand("watch", "A line for each time that something happens, by one word");
    command.add_option("WORD", arguments->words,
                       "A profile, a system call, a kernel function, or a probe");
    command.add_option("-X,--profile", arguments->profile, "The profile of this name")
        .check(problem_when_empty)
        .type_name("NAME");
    command.add_flag("-l,--list", arguments->list,
                     "Print the profiles; with words, those with all of them");
    add_filters(command, arguments->filter);
    command
        .add_option("-A,--argument", arguments->details.arguments,
                    "Of a probe: print this D expression too")
        .one_value_each()
        .check(problem_when_empty)
        .type_name("EXPR");
    command
        .add_option("-E,--code", arguments->details.code,
                    "Of a probe: run these D statements instead of printing")
        .check(problem_when_empty)
        .type_name("CODE");
    command.add_option("-T,--time", arguments->time, "Stop after this time: 10s")
        .check(problem_when_empty)
        .type_name("TIME");
    command.add_option("-c,--command", arguments->command, "Run this command; stop when it ends")
        .check(problem_when_empty)
        .type_name("COMMAND");
    command.add_option("-o,--output", arguments->output, "Append to this file")
        .check(problem_when_empty)
        .type_name("FILE");
    command.add_flag("--json", arguments->json, "A line of JSON for each record and each count");
    command.add_flag("--boot", arguments->boot, "Watch the next boot, as daybreak install does");
    command.add_flag("--print", arguments->print, "Print the D program; run nothing");
    command.add_option("--kernel", arguments->kernel, "Kernel whose types are used")
        .check(problem_when_empty)
        .type_name("REL|FILE");
    command.add_flag("--simulate", arguments->simulate, "Watch a machine that is made up");
    command.footer("\nExample: which files does sshd open?\n"
                   "  daybreak watch opensnoop -k sshd\n"
                   "Example: who calls ptrace(), of whom?\n"
                   "  daybreak watch ptrace -A 'arg1'");
    command.callback([arguments, &status] {
        std::string problem = problem_of(*arguments);
        status = problem.empty() ? watch(*arguments) : misuse("watch", problem);
    });
}

} // namespace daybreak::cmd
