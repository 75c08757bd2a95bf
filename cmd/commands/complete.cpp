// SPDX-License-Identifier: Apache-2.0
//
// daybreak complete: the words that a shell's completion offers, from the parsers themselves.
#include "cmd/commands.hpp"
#include "cmd/dtrace/options.hpp"
#include "cmd/watch/profiles.hpp"
#include "formats/dof/options.hpp"
#include "recorder/device.hpp"

#include <CLI/CLI.hpp>
#include <memory>

namespace daybreak::cmd {

namespace {

struct CompleteArguments {
    std::string command;
    bool settings = false, probes = false, profiles = false;
};

/// A word, and what it means where that is known.
std::string line_of(const std::string& word, const std::string& meaning) {
    return word + (meaning.empty() ? "" : "\t" + meaning) + "\n";
}

std::string commands_text(const CLI::App& app) {
    std::string text;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
        if (!command->get_group().empty()) // hidden
            text += line_of(command->get_name(), command->get_description());
    return text;
}

std::string options_text(const CLI::App& command) {
    std::string text;
    for (const CLI::Option* option : command.get_options()) {
        if (option->get_group().empty()) // hidden
            continue;
        for (const std::string& letter : option->get_snames())
            text += line_of("-" + letter, option->get_description());
        for (const std::string& name : option->get_lnames())
            text += line_of("--" + name, option->get_description());
    }
    return text;
}

/// The running kernel's probes; nothing where the module is not loaded.
std::string probes_text() {
    std::string text;
    auto device = recorder::open_device();
    for (uint32_t index = 0; device.ok(); index++) {
        auto probe = (*device)->probe(index);
        if (!probe.ok() || !*probe)
            break;
        text += (*probe)->provider + ":" + (*probe)->module + ":" + (*probe)->function + ":" +
                (*probe)->name + "\n";
    }
    return text;
}

std::string profiles_text() {
    std::string text;
    for (const Profile& profile : all_profiles(profile_folders()).profiles)
        text += line_of(profile.name, profile.title());
    return text;
}

std::string complete(const CLI::App& app, const CompleteArguments& arguments) {
    std::string text;
    if (arguments.probes)
        return probes_text();
    if (arguments.profiles)
        return profiles_text();
    if (arguments.settings) {
        for (const std::string& name : formats::option_names())
            text += name + "\n";
        return text;
    }
    if (arguments.command.empty())
        return commands_text(app);
    if (arguments.command == "dtrace") {
        for (const std::string& option : dtrace_option_words())
            text += option + "\n";
        return text;
    }
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
        if (command->get_name() == arguments.command)
            return options_text(*command);
    return "";
}

} // namespace

void add_complete(Command app, int& status) {
    auto arguments = std::make_shared<CompleteArguments>();
    Command command = app.add_subcommand("complete", "Print words for a shell's completion");
    command.parser().group(""); // for shells, not for --help
    command.add_option("COMMAND", arguments->command, "Its options; without it the commands");
    command.add_flag("--settings", arguments->settings, "The names of options for -x");
    command.add_flag("--probes", arguments->probes, "The running kernel's probes");
    command.add_flag("--profiles", arguments->profiles, "The profiles of daybreak watch");
    command.callback([app, arguments, &status] {
        put(complete(app.parser(), *arguments));
        status = static_cast<int>(finish_stdout());
    });
}

} // namespace daybreak::cmd
