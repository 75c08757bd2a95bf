// SPDX-License-Identifier: Apache-2.0
//
// Stability attributes: how far one may rely on a name, on what it means, and on which machines.
//
// Everything that a D program names has three of them, written "Evolving/Evolving/Common".  What is
// made of several names has the least of each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace daybreak::compiler {

/// From the least to the most, as published numbers have them.
enum class Stability : uint8_t {
    internal,
    private_,
    obsolete,
    external,
    unstable,
    evolving,
    stable,
    standard,
};

/// From the narrowest to the widest.
enum class DependencyClass : uint8_t { unknown, cpu, platform, group, isa, common };

struct Attributes {
    Stability names = Stability::stable;
    Stability data = Stability::stable;
    DependencyClass dependency = DependencyClass::common;

    bool operator==(const Attributes&) const = default;
};

/// Returns the lesser of each.
Attributes minimum(const Attributes& a, const Attributes& b);

/// Returns whether any of the three is less than the limit's.
bool is_below(const Attributes& attributes, const Attributes& limit);

/// Returns what "Stable/Evolving/Common" says; nothing when it is none.
std::optional<Attributes> parse_attributes(std::string_view text);

/// Returns "Stable/Evolving/Common".
std::string attributes_text(const Attributes& attributes);

/// Returns "Evolving", "ISA".
std::string_view stability_name(Stability stability);
std::string_view dependency_class_name(DependencyClass dependency);

/// A version of the D language, "1.2" or "1.2.3", as a number that grows with it.
std::optional<uint32_t> parse_version(std::string_view text);

} // namespace daybreak::compiler
