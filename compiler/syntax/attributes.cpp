// SPDX-License-Identifier: Apache-2.0
//
// Stability attributes and versions: their words.
#include "compiler/syntax/attributes.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace daybreak::compiler {

namespace {

// In the order of the enums.
constexpr std::string_view kStabilities[] = {"Internal", "Private",  "Obsolete", "External",
                                             "Unstable", "Evolving", "Stable",   "Standard"};
constexpr std::string_view kClasses[] = {"Unknown", "CPU", "Platform", "Group", "ISA", "Common"};

template <typename Enum, size_t N>
std::optional<Enum> find(const std::string_view (&names)[N], std::string_view name) {
    auto found = std::find(std::begin(names), std::end(names), name);
    if (found == std::end(names))
        return std::nullopt;
    return static_cast<Enum>(found - std::begin(names));
}

} // namespace

Attributes minimum(const Attributes& a, const Attributes& b) {
    return {std::min(a.names, b.names), std::min(a.data, b.data),
            std::min(a.dependency, b.dependency)};
}

bool is_below(const Attributes& attributes, const Attributes& limit) {
    return attributes.names < limit.names || attributes.data < limit.data ||
           attributes.dependency < limit.dependency;
}

std::optional<Attributes> parse_attributes(std::string_view text) {
    size_t first = text.find('/');
    size_t second = first == std::string_view::npos ? first : text.find('/', first + 1);
    if (second == std::string_view::npos)
        return std::nullopt;
    auto names = find<Stability>(kStabilities, text.substr(0, first));
    auto data = find<Stability>(kStabilities, text.substr(first + 1, second - first - 1));
    auto dependency = find<DependencyClass>(kClasses, text.substr(second + 1));
    if (!names || !data || !dependency)
        return std::nullopt;
    return Attributes{*names, *data, *dependency};
}

std::string_view stability_name(Stability stability) {
    return kStabilities[static_cast<size_t>(stability)];
}

std::string_view dependency_class_name(DependencyClass dependency) {
    return kClasses[static_cast<size_t>(dependency)];
}

std::string attributes_text(const Attributes& attributes) {
    std::string text(stability_name(attributes.names));
    text += "/" + std::string(stability_name(attributes.data));
    return text + "/" + std::string(dependency_class_name(attributes.dependency));
}

std::optional<uint32_t> parse_version(std::string_view text) {
    uint32_t version = 0;
    for (unsigned part = 0; part < 3; part++) {
        uint32_t number = 0;
        auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (error != std::errc() || number > (part == 0 ? 0xffu : 0xfffu))
            return std::nullopt;
        version |= number << (part == 0 ? 24 : part == 1 ? 12 : 0);
        text.remove_prefix(static_cast<size_t>(end - text.data()));
        if (text.empty())
            return part == 0 ? std::nullopt : std::optional(version);
        if (text[0] != '.')
            return std::nullopt;
        text.remove_prefix(1);
    }
    return std::nullopt;
}

} // namespace daybreak::compiler
