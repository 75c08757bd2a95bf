// SPDX-License-Identifier: Apache-2.0
//
// How far one may rely on a program: the least stable of the names that each clause uses.
//
// A clause has two results.  Its probe description has those of the provider's parts that it spells
// out; without a provider anybody's probes may match, which is Unstable.  Its statements have the
// least of the variables, functions and symbols in them; a variable of the program is as stable as
// what was assigned to it.
#pragma once

#include "compiler/diagnostics/diagnostic.hpp"
#include "compiler/syntax/ast_types.hpp"
#include "compiler/syntax/attributes.hpp"

#include <array>
#include <map>
#include <string>

namespace daybreak::compiler {

/// What `dtrace -v` reports of a clause and one of its probe descriptions.
struct ClauseStability {
    Attributes description;
    Attributes statements;
};

/// The five kinds of names that a provider publishes.
enum class ProviderPart : uint8_t { provider, module, function, name, arguments };

class StabilityRules {
public:
    StabilityRules();

    /// #pragma D attributes A name
    void set_identifier(const std::string& name, const Attributes& attributes) {
        identifiers_[name] = attributes;
    }
    /// #pragma D attributes A provider NAME part
    void set_provider(const std::string& provider, ProviderPart part, const Attributes& attributes);

    /// Returns the attributes of a name of global scope: built in, declared or defined.
    Attributes identifier(std::string_view name) const;
    /// Returns what a provider says of a part; of an unknown one, what new providers start with.
    Attributes provider(std::string_view provider, ProviderPart part) const;
    Attributes description(const ProbeDescription& probe) const;

    /// -x amin: what is less stable is D_ATTR_MIN.
    void set_limit(const Attributes& limit) { limit_ = limit; }
    /// Reports a clause whose probe description is below the limit; true when it is not.
    bool check_description(const Clause& clause, const ProbeDescription& probe,
                           DiagnosticSink& sink) const;

    /// Returns a clause's attributes with one of its descriptions.  Statements below the limit are
    /// reported, each at the innermost expression that makes it so.
    ClauseStability clause(const Clause& clause, const ProbeDescription& probe,
                           DiagnosticSink& sink);

private:
    class Visitor;
    std::map<std::string, Attributes, std::less<>> identifiers_;
    std::map<std::string, Attributes, std::less<>> variables_; ///< by text: "x", "self->x", "@a"
    std::map<std::string, std::array<Attributes, 5>, std::less<>> providers_;
    std::optional<Attributes> limit_;
};

/// Returns the part that "module" or "args" names.
std::optional<ProviderPart> provider_part(std::string_view word);

} // namespace daybreak::compiler
