// SPDX-License-Identifier: Apache-2.0
#include "cmd/command.hpp"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>

namespace daybreak::cmd {

Option Option::required() {
    return Option(option_->required());
}

Option Option::type_name(const std::string& name) {
    return Option(option_->type_name(name));
}

Option Option::group(const std::string& name) {
    return Option(option_->group(name));
}

Option Option::needs(const std::string& other) {
    return Option(option_->needs(other));
}

Option Option::needs(Option other) {
    return Option(option_->needs(other.option_));
}

Option Option::excludes(const std::string& other) {
    return Option(option_->excludes(other));
}

Option Option::excludes(Option other) {
    return Option(option_->excludes(other.option_));
}

Option Option::one_value_each() {
    return Option(option_->allow_extra_args(false));
}

Option Option::one_of(const std::vector<std::string>& values) {
    return Option(option_->check(CLI::IsMember(values)));
}

Option Option::range(int first, int last) {
    return Option(option_->check(CLI::Range(first, last)));
}

Option Option::check(std::function<std::string(const std::string&)> problem) {
    return Option(option_->check(std::move(problem)));
}

Option Option::show_default() {
    return Option(option_->capture_default_str());
}

size_t Option::count() const {
    return option_->count();
}

Command Command::add_subcommand(const std::string& name, const std::string& about) {
    return Command(app_->add_subcommand(name, about));
}

template <class T>
Option Command::add_option(const std::string& names, T& value, const std::string& help) {
    return Option(app_->add_option(names, value, help));
}

template Option Command::add_option(const std::string&, std::string&, const std::string&);
template Option Command::add_option(const std::string&, int&, const std::string&);
template Option Command::add_option(const std::string&, uint64_t&, const std::string&);
template Option Command::add_option(const std::string&, std::optional<uint64_t>&,
                                    const std::string&);
template Option Command::add_option(const std::string&, std::vector<std::string>&,
                                    const std::string&);
template Option Command::add_option(const std::string&, std::vector<uint16_t>&, const std::string&);

Option Command::add_flag(const std::string& names, bool& value, const std::string& help) {
    return Option(app_->add_flag(names, value, help));
}

Option Command::get_option(const std::string& name) {
    return Option(app_->get_option(name));
}

void Command::footer(const std::string& text) {
    app_->footer(text);
}

void Command::callback(std::function<void()> run) {
    app_->callback(std::move(run));
}

} // namespace daybreak::cmd
