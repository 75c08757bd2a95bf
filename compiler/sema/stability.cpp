// SPDX-License-Identifier: Apache-2.0
//
// How far one may rely on a program: the least stable of the names that each clause uses.
#include "compiler/sema/stability.hpp"

#include "compiler/diagnostics/messages/identifiers.hpp"
#include "compiler/sema/builtins.hpp"
#include "compiler/syntax/print.hpp"

#include <algorithm>

namespace daybreak::compiler {

namespace {

constexpr Attributes kStable{};
constexpr Attributes kUnstable{Stability::unstable, Stability::unstable, DependencyClass::common};
constexpr Attributes kEvolving{Stability::evolving, Stability::evolving, DependencyClass::common};
constexpr Attributes kEvolvingIsa{Stability::evolving, Stability::evolving, DependencyClass::isa};
constexpr Attributes kPrivate{Stability::private_, Stability::private_, DependencyClass::unknown};
constexpr Attributes kPrivateIsa{Stability::private_, Stability::private_, DependencyClass::isa};
/// The kernel's own: its symbols, and what curthread points to.
constexpr Attributes kKernelData{Stability::stable, Stability::private_, DependencyClass::common};

bool is_glob(const std::string& part) {
    return part.find_first_of("*?[\\") != std::string::npos;
}

} // namespace

std::optional<ProviderPart> provider_part(std::string_view word) {
    static constexpr std::string_view kWords[] = {"provider", "module", "function", "name", "args"};
    auto found = std::find(std::begin(kWords), std::end(kWords), word);
    if (found == std::end(kWords))
        return std::nullopt;
    return static_cast<ProviderPart>(found - std::begin(kWords));
}

// Attributes as every port publishes them; providers that only Linux has are like fbt.
StabilityRules::StabilityRules() {
    for (const char* name :
         {"ddi_pathname", "getmajor", "getminor", "htons", "htonl", "htonll", "ntohs", "ntohl",
          "ntohll", "mutex_owned", "mutex_owner", "mutex_type_adaptive", "mutex_type_spin",
          "rw_read_held", "rw_write_held", "rw_iswriter"})
        identifiers_[name] = kEvolving;
    identifiers_["curthread"] = kKernelData;
    providers_["dtrace"] = {kStable, kPrivate, kPrivate, kStable, kStable};
    providers_["profile"] = {kEvolving, kUnstable, kPrivate, kEvolving, kEvolving};
    providers_["syscall"] = {kEvolving, kPrivate, kEvolvingIsa, kEvolving, kPrivateIsa};
    for (const char* name :
         {"boot", "callout_execute", "cpc", "crash", "dtaudit", "dtmalloc", "fpuinfo", "fsinfo", "io", "ip", "lockstat", "mac_framework", "mib", "proc", "sched", "sctp", "sysinfo", "tcp", "udp", "vfs", "vminfo"})
        providers_[name] = {kEvolving, kPrivate, kPrivate, kEvolving, kEvolvingIsa};
    providers_["fbt"] = providers_["kinst"] = {kEvolving, kPrivate, kPrivate, kEvolving, kPrivateIsa};
    providers_["sdt"] = {kEvolving, kPrivate, kPrivate, kPrivate, kPrivateIsa};
}

void StabilityRules::set_provider(const std::string& provider, ProviderPart part,
                                  const Attributes& attributes) {
    auto [entry, is_new] = providers_.try_emplace(provider);
    if (is_new)
        entry->second.fill(kUnstable);
    entry->second[static_cast<size_t>(part)] = attributes;
}

Attributes StabilityRules::identifier(std::string_view name) const {
    auto found = identifiers_.find(name);
    return found == identifiers_.end() ? kStable : found->second;
}

Attributes StabilityRules::provider(std::string_view provider, ProviderPart part) const {
    auto found = providers_.find(provider);
    return found == providers_.end() ? kUnstable : found->second[static_cast<size_t>(part)];
}

Attributes StabilityRules::description(const ProbeDescription& probe) const {
    if (probe.provider.empty() || is_glob(probe.provider))
        return kUnstable;
    Attributes least = provider(probe.provider, ProviderPart::provider);
    const std::pair<const std::string&, ProviderPart> parts[] = {
        {probe.module, ProviderPart::module},
        {probe.function, ProviderPart::function},
        {probe.name, ProviderPart::name}};
    for (const auto& [part, which] : parts)
        if (!part.empty() && !is_glob(part))
            least = minimum(least, provider(probe.provider, which));
    return least;
}

/// Goes over a clause's expressions, operands first.
class StabilityRules::Visitor {
public:
    Visitor(StabilityRules& rules, const ProbeDescription& probe, DiagnosticSink& sink)
        : rules_(rules), probe_(probe), sink_(sink) {}

    Attributes visit(const Expr& expression) {
        Attributes attributes =
            std::visit([&](const auto& node) { return of(expression, node); }, expression.node);
        check(expression, attributes);
        return attributes;
    }

private:
    Attributes of(const Expr& expression, const Identifier& name) {
        if (name.scope == VariableScope::kernel)
            return kPrivate;
        auto assigned = rules_.variables_.find(expression_text(expression));
        if (assigned != rules_.variables_.end())
            return assigned->second;
        if (name.scope != VariableScope::global)
            return kStable;
        Attributes attributes = rules_.identifier(name.name);
        if (name.name == "args" && !probe_.provider.empty())
            return minimum(attributes, rules_.provider(probe_.provider, ProviderPart::arguments));
        return attributes;
    }
    Attributes of(const Expr&, const Aggregation& aggregation) {
        auto known = rules_.variables_.find("@" + aggregation.name);
        Attributes least = known == rules_.variables_.end() ? kStable : known->second;
        return minimum(least, all(aggregation.keys));
    }
    Attributes of(const Expr&, const Index& index) {
        return minimum(visit(*index.base), all(index.arguments));
    }
    Attributes of(const Expr&, const Call& call) {
        return minimum(visit(*call.function), all(call.arguments));
    }
    Attributes of(const Expr&, const Member& member) { return visit(*member.base); }
    Attributes of(const Expr&, const Binary& node) {
        Attributes left = visit(*node.left);
        return minimum(left, visit(*node.right));
    }
    Attributes of(const Expr&, const Assign& node) {
        Attributes least = visit(*node.right);
        least = minimum(least, visit(*node.left));
        const auto* index = node.left->get_if<Index>();
        const auto* aggregation = node.left->get_if<Aggregation>();
        rules_.variables_[aggregation ? "@" + aggregation->name
                                      : expression_text(index ? *index->base : *node.left)] = least;
        return least;
    }
    Attributes of(const Expr&, const Conditional& node) {
        Attributes least = visit(*node.condition);
        least = minimum(least, visit(*node.if_true));
        return minimum(least, visit(*node.if_false));
    }
    template <typename T>
    Attributes of(const Expr&, const T& node) {
        if constexpr (requires { node.operand; })
            return visit(*node.operand);
        else
            return kStable;
    }

    Attributes all(const std::vector<ExprPtr>& expressions) {
        Attributes least = kStable;
        for (const ExprPtr& expression : expressions)
            least = minimum(least, visit(*expression));
        return least;
    }

    /// Reports the first expression below the limit.
    void check(const Expr& expression, const Attributes& attributes) {
        if (reported_ || !rules_.limit_ || !is_below(attributes, *rules_.limit_))
            return;
        reported_ = true;
        sink_.report(diagnosticf(
            Tag::D_ATTR_MIN, expression.span, "%s",
            messages::below_minimum(node_name(expression), attributes_text(attributes)).c_str()));
    }

    static std::string node_name(const Expr& expression) {
        using messages::IdentifierKind;
        const auto* name = expression.get_if<Identifier>();
        if (const auto* call = expression.get_if<Call>())
            name = call->function->get_if<Identifier>();
        if (!name)
            return "expression";
        ActionName action;
        IdentifierKind kind = find_subroutine(name->name)       ? IdentifierKind::function
                              : find_action(name->name, action) ? IdentifierKind::action
                              : find_aggregating(name->name)    ? IdentifierKind::aggregating
                                                                : IdentifierKind::scalar;
        if (name->scope == VariableScope::kernel)
            kind = IdentifierKind::symbol;
        return std::string(identifier_kind(kind)) + " " + name->name;
    }

    StabilityRules& rules_;
    const ProbeDescription& probe_;
    DiagnosticSink& sink_;
    bool reported_ = false;
};

bool StabilityRules::check_description(const Clause& clause, const ProbeDescription& probe,
                                       DiagnosticSink& sink) const {
    Attributes attributes = description(probe);
    if (!limit_ || !is_below(attributes, *limit_))
        return true;
    // A clause is understood at its end.
    sink.report(
        diagnosticf(Tag::D_ATTR_MIN, probe.span.reached_with(clause.span), "%s",
                    messages::below_minimum("clause", attributes_text(attributes)).c_str()));
    return false;
}

ClauseStability StabilityRules::clause(const Clause& clause, const ProbeDescription& probe,
                                       DiagnosticSink& sink) {
    Visitor visitor(*this, probe, sink);
    ClauseStability stability;
    stability.description = description(probe);
    if (clause.predicate)
        stability.statements = visitor.visit(*clause.predicate);
    for (const Statement& statement : clause.statements)
        stability.statements = minimum(stability.statements, visitor.visit(*statement.expression));
    return stability;
}

} // namespace daybreak::compiler
