// SPDX-License-Identifier: Apache-2.0
//
// A subcommand and its options, as the subcommands describe them.  Only command.cpp, main.cpp and
// complete.cpp include CLI11, which parses them: its header costs seconds in each file.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace daybreak::cmd {

/// One option, flag or positional argument: a reference to what the parser holds.  Each setter
/// returns it again.
class Option {
public:
    explicit Option(CLI::Option* option) : option_(option) {}

    Option required();
    /// What help calls the value.
    Option type_name(const std::string& name);
    /// The heading in the help; "" hides it.
    Option group(const std::string& name);
    /// An error without the other, or with it.
    Option needs(const std::string& other);
    Option needs(Option other);
    Option excludes(const std::string& other);
    Option excludes(Option other);
    /// A list gets one value each time it is given: what follows is not its.
    Option one_value_each();
    /// An error for other values; `problem` returns what is wrong with one, or "".
    Option one_of(const std::vector<std::string>& values);
    Option range(int first, int last);
    Option check(std::function<std::string(const std::string&)> problem);
    /// Help says what the variable holds now.
    Option show_default();

    /// How often it was given; known when the subcommand runs.
    size_t count() const;

private:
    CLI::Option* option_;
};

/// A subcommand, or the program that has them: a reference to what the parser holds.  Variables
/// must live until it was parsed.
class Command {
public:
    explicit Command(CLI::App* app) : app_(app) {}

    Command add_subcommand(const std::string& name, const std::string& about);
    /// `names`: "-o,--output", or "FILE" for a positional argument.  T: one of the types that
    /// command.cpp lists, strings, numbers and lists of them.
    template <class T>
    Option add_option(const std::string& names, T& value, const std::string& help);
    Option add_flag(const std::string& names, bool& value, const std::string& help);
    /// One that was added before.
    Option get_option(const std::string& name);
    /// What help ends with.
    void footer(const std::string& text);
    /// Runs when it is the one that was named.
    void callback(std::function<void()> run);

    CLI::App& parser() const { return *app_; }

private:
    CLI::App* app_;
};

} // namespace daybreak::cmd
