// SPDX-License-Identifier: Apache-2.0
//
// daybreak: the command line.  Builds the parser from the subcommands and turns what happens into
// an exit status.
#include "base/nearest_name.hpp"
#include "cmd/commands.hpp"
#include "cmd/commands/install.hpp"
#include "cmd/dtrace/dtrace.hpp"
#include "cmd/watch/profiles.hpp"
#include "daybreak_version.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <memory>
#include <new>
#include <sstream>
#include <string_view>
#include <vector>

namespace {

constexpr size_t kHelpColumns = 79;
constexpr const char* kFooter =
    "\nTrace the next boot of this machine, then look, as root:\n"
    "  daybreak install --once && reboot\n"
    "  daybreak status; daybreak report /var/log/daybreak\n"
    "Trace the system that runs:\n"
    "  daybreak dtrace -n 'syscall:::entry { @[execname] = count(); }'\n"
    "\nUnder the name dtrace it takes dtrace(1)'s command line, as `daybreak dtrace`\n"
    "does. `daybreak COMMAND --help` has an example for each; daybreak(1) is the\nmanual.";

/// As CLI11 formats help, with descriptions that end before the 80th column.
class NarrowFormatter : public CLI::Formatter {
public:
    std::string make_option_desc(const CLI::Option* option) const override {
        return wrapped(CLI::Formatter::make_option_desc(option));
    }
    std::string make_option_opts(const CLI::Option* option) const override {
        // What an option excludes follows its name, and may be many.
        std::string lines = wrapped(CLI::Formatter::make_option_opts(option));
        for (size_t end = lines.find('\n'); end != std::string::npos;
             end = lines.find('\n', end + 1))
            lines.insert(end + 1, 10, ' ');
        return lines.empty() ? lines : " " + lines;
    }
    std::string make_subcommand(const CLI::App* command) const override {
        std::stringstream out;
        CLI::detail::format_help(out, command->get_display_name(true),
                                 wrapped(command->get_description()), column_width_);
        return out.str();
    }

private:
    std::string wrapped(const std::string& text) const {
        std::istringstream words(text);
        std::string out, word;
        for (size_t column = 0; words >> word; column += word.size() + 1) {
            bool is_new_line = column != 0 && column + word.size() > kHelpColumns - column_width_;
            out += column == 0 ? "" : is_new_line ? "\n" : " ";
            if (is_new_line)
                column = 0;
            out += word;
        }
        return out;
    }
};

struct Entry {
    const char* name;
    void (*add)(daybreak::cmd::Command app, int& status);
};

/// In the order of the help.
constexpr Entry kCommands[] = {
    {"backfill", daybreak::cmd::add_backfill}, {"compile", daybreak::cmd::add_compile},
    {"complete", daybreak::cmd::add_complete}, {"dof", daybreak::cmd::add_dof},
    {"embed", daybreak::cmd::add_embed},       {"sign", daybreak::cmd::add_sign},
    {"install", daybreak::cmd::add_install},   {"uninstall", daybreak::cmd::add_uninstall},
    {"selftest", daybreak::cmd::add_selftest}, {"record", daybreak::cmd::add_record},
    {"extract", daybreak::cmd::add_extract},   {"recover", daybreak::cmd::add_recover},
    {"report", daybreak::cmd::add_report},     {"info", daybreak::cmd::add_info},
    {"list", daybreak::cmd::add_list},         {"start", daybreak::cmd::add_start},
    {"stop", daybreak::cmd::add_stop},         {"status", daybreak::cmd::add_status},
    {"sim", daybreak::cmd::add_sim},           {"snapshot", daybreak::cmd::add_snapshot},
    {"pack", daybreak::cmd::add_pack},         {"verify", daybreak::cmd::add_verify},
    {"replay", daybreak::cmd::add_replay},     {"diff", daybreak::cmd::add_diff},
    {"boot-report", daybreak::cmd::add_boot_report},
    {"postmortem", daybreak::cmd::add_postmortem},
    {"merge", daybreak::cmd::add_merge},       {"watch", daybreak::cmd::add_watch},
};

/// Adds the command that is the first word: the options of all were a fifth of a compilation.  All
/// of them, when it is none, and for `complete`, which prints them.
void add_commands(CLI::App& app, const std::vector<std::string>& words, int& status) {
    auto is_first = [&words](const Entry& command) {
        return !words.empty() && words[0] == command.name && words[0] != "complete";
    };
    bool is_known = std::any_of(std::begin(kCommands), std::end(kCommands), is_first);
    for (const Entry& command : kCommands)
        if (!is_known || is_first(command))
            command.add(daybreak::cmd::Command(&app), status);
}

/// The words of a command line; `help X` is `X --help`, and A -- B of diff is A --against B.
std::vector<std::string> words_of(int argc, char** argv) {
    std::vector<std::string> words(argv + (argc > 0), argv + argc);
    if (!words.empty() && words[0] == "diff") // the parser drops "--"
        std::replace(words.begin() + 1, words.end(), std::string("--"), std::string("--against"));
    if (words.empty() || words[0] != "help" || words.size() > 2)
        return words;
    words.erase(words.begin());
    words.emplace_back("--help");
    return words;
}

/// What is wrong with the "--" of a diff; "": nothing.  The parser would name --against.
std::string divider_problem(const std::vector<std::string>& given) {
    auto divider = std::find(given.begin(), given.end(), "--");
    if (given.empty() || given[0] != "diff" || divider == given.end())
        return "";
    auto next = std::next(divider);
    if (std::find(next, given.end(), "--") != given.end())
        return "diff takes one --, between the two sets of boots: A1 A2 -- B1 B2";
    return next == given.end() || next->starts_with("-") ? "no recording follows --: A1 A2 -- B1 B2"
                                                         : "";
}

/// Whether the first word should be a command and is not; says so.
bool is_unknown_command(const CLI::App& app, const std::vector<std::string>& words) {
    if (words.empty() || words[0].starts_with("-"))
        return false;
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
        names.push_back(command->get_name());
    if (std::find(names.begin(), names.end(), words[0]) != names.end())
        return false;
    auto profile = daybreak::cmd::find_profile(words[0], daybreak::cmd::profile_folders());
    daybreak::cmd::complain("there is no command '" + words[0] + "'" +
                            (profile.ok() && *profile
                                 ? ": daybreak watch " + words[0] + " has that profile"
                                 : daybreak::base::suggestion(words[0], names)) +
                            " (daybreak --help says more)");
    return true;
}

/// What was wrong with a command line, what it could have meant, and where the help is.
std::string explain(CLI::App& app, const CLI::ParseError& wrong,
                    const std::vector<std::string>& words) {
    std::string text = wrong.what();
    while (!text.empty() && text.back() == '\n')
        text.pop_back();
    auto parsed = app.get_subcommands();
    const CLI::App& command = parsed.empty() ? app : *parsed.front();
    auto is = [&wrong](CLI::ExitCodes code) {
        return wrong.get_exit_code() == static_cast<int>(code);
    };
    if (is(CLI::ExitCodes::ConversionError))
        text += ": expected a number";
    if (is(CLI::ExitCodes::ExtrasError)) {
        std::vector<std::string> names;
        for (const CLI::Option* option : command.get_options())
            for (const std::string& name : option->get_lnames())
                names.push_back("--" + name);
        for (const std::string& word : words)
            if (word.starts_with("--") && text.find(word) != std::string::npos)
                text += daybreak::base::suggestion(word.substr(0, word.find('=')), names);
    }
    return text + " (daybreak" + (parsed.empty() ? "" : " " + command.get_name()) +
           " --help says more)";
}

/// Runs the command that the words name.  Returns the exit status.
int run(int argc, char** argv) {
    using namespace daybreak::cmd;
    // dtrace(1)'s conventions are older than those of the other commands: it parses its words
    // itself.
    std::string_view name = argc > 0 ? argv[0] : "";
    if (name.substr(name.rfind('/') + 1) == "dtrace")
        return run_dtrace("dtrace", std::vector<std::string>(argv + 1, argv + argc));
    std::vector<std::string> words = words_of(argc, argv);
    if (!words.empty() && words[0] == "dtrace")
        return run_dtrace("dtrace", std::vector<std::string>(words.begin() + 1, words.end()));

    CLI::App app("Trace a boot from the first instruction of userspace, in D.", "daybreak");
    app.set_version_flag("--version", "daybreak " DAYBREAK_VERSION);
    app.footer(kFooter);
    app.formatter(std::make_shared<NarrowFormatter>());
    app.require_subcommand(1);
    app.failure_message(CLI::FailureMessage::simple);
    int status = static_cast<int>(Exit::ok);
    add_commands(app, words, status);
    app.add_subcommand("dtrace", "Trace now, with dtrace(1)'s own command line");
    if (words.empty()) {
        complain("name a command: compile, embed, record, report ... (daybreak --help has all)");
        return static_cast<int>(Exit::usage);
    }
    if (is_unknown_command(app, words))
        return static_cast<int>(Exit::usage);
    if (std::string problem = divider_problem({argv + 1, argv + argc}); !problem.empty())
        return misuse("diff", problem);

    try {
        app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    } catch (const CLI::Success& wanted) { // --help, --version
        return app.exit(wanted);
    } catch (const CLI::ParseError& wrong) {
        complain(explain(app, wrong, words));
        return static_cast<int>(Exit::usage);
    }
    return status;
}

} // namespace

int main(int argc, char** argv) {
    using namespace daybreak::cmd;
    std::signal(SIGPIPE, SIG_IGN); // a closed pipe is an error of write(), and a quiet end
    try {
        return run(argc, argv);
    } catch (const std::bad_alloc&) {
        complain("out of memory (name fewer files or a shorter --since and --until, or raise "
                 "ulimit -v)");
        return static_cast<int>(Exit::failed);
    }
}
