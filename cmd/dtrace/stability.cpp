// SPDX-License-Identifier: Apache-2.0
//
// Stabilities: how far one may rely on a probe or a program.
#include "cmd/dtrace/stability.hpp"

#include <algorithm>

namespace daybreak::cmd {

namespace {

constexpr const char* kStabilityNames[] = {"Internal", "Private",  "Obsolete", "External",
                                           "Unstable", "Evolving", "Stable",   "Standard"};
constexpr const char* kClassNames[] = {"Unknown", "CPU", "Platform", "Group", "ISA", "Common"};

constexpr Attributes kPrivate{Stability::private_, Stability::private_, DependencyClass::unknown};
constexpr Attributes kStable{};
constexpr Attributes kEvolving{Stability::evolving, Stability::evolving, DependencyClass::common};
constexpr Attributes kEvolvingIsa{Stability::evolving, Stability::evolving, DependencyClass::isa};
constexpr Attributes kUnstableIsa{Stability::unstable, Stability::unstable, DependencyClass::isa};
constexpr Attributes kUnstable{Stability::unstable, Stability::unstable, DependencyClass::common};

/// What a provider publishes of its five kinds of names.
struct ProviderAttributes {
    const char* name;
    Attributes provider, module, function, probe, arguments;
};

// DTrace's own providers, as its documentation has them; the rest is like fbt.
constexpr ProviderAttributes kProviders[] = {
    {"dtrace", kStable, kPrivate, kPrivate, kStable, kStable},
    {"profile", kEvolving, kUnstable, kPrivate, kEvolving, kEvolving},
    {"syscall", kEvolving, kPrivate, kUnstableIsa, kEvolving, kUnstableIsa},
    {"proc", kEvolvingIsa, kPrivate, kPrivate, kEvolvingIsa, kEvolvingIsa},
    {"sched", kEvolvingIsa, kPrivate, kPrivate, kEvolvingIsa, kEvolvingIsa},
    {"io", kEvolvingIsa, kPrivate, kPrivate, kEvolvingIsa, kEvolvingIsa},
    {"", kEvolving, kPrivate, kPrivate, kEvolving, kPrivate},
};

const ProviderAttributes& provider_of(const SessionProbe& probe) {
    const ProviderAttributes* found = std::begin(kProviders);
    while (found->name[0] != '\0' && probe.provider != found->name)
        found++;
    return *found;
}

/// Of what a DIF object reads and calls.
Attributes code_attributes(const formats::Difo& difo) {
    Attributes least;
    for (uint32_t instruction : difo.text) {
        uint32_t op = DIF_INSTR_OP(instruction);
        if (op == DIF_OP_LDGS && DIF_INSTR_VAR(instruction) == DIF_VAR_CURTHREAD)
            least =
                minimum(least, {Stability::stable, Stability::private_, DependencyClass::common});
        if (op != DIF_OP_CALL)
            continue;
        switch (DIF_INSTR_SUBR(instruction)) {
        case DIF_SUBR_MUTEX_OWNED:
        case DIF_SUBR_MUTEX_OWNER:
        case DIF_SUBR_MUTEX_TYPE_ADAPTIVE:
        case DIF_SUBR_MUTEX_TYPE_SPIN:
        case DIF_SUBR_RW_READ_HELD:
        case DIF_SUBR_RW_WRITE_HELD:
        case DIF_SUBR_RW_ISWRITER:
        case DIF_SUBR_GETMAJOR:
        case DIF_SUBR_GETMINOR:
        case DIF_SUBR_DDI_PATHNAME:
        case DIF_SUBR_HTONS:
        case DIF_SUBR_HTONL:
        case DIF_SUBR_HTONLL:
        case DIF_SUBR_NTOHS:
        case DIF_SUBR_NTOHL:
        case DIF_SUBR_NTOHLL:
            least = minimum(least, kEvolving);
            break;
        default:
            break;
        }
    }
    return least;
}

} // namespace

Attributes minimum(const Attributes& a, const Attributes& b) {
    return {std::min(a.names, b.names), std::min(a.data, b.data),
            std::min(a.dependency, b.dependency)};
}

Attributes probe_attributes(const SessionProbe& probe) {
    const ProviderAttributes& provider = provider_of(probe);
    Attributes least = provider.provider;
    if (!probe.module.empty())
        least = minimum(least, provider.module);
    if (!probe.function.empty())
        least = minimum(least, provider.function);
    return minimum(least, provider.probe);
}

Attributes argument_attributes(const SessionProbe& probe) {
    return provider_of(probe).arguments;
}

Attributes statement_attributes(const formats::DofProgram& program, const formats::DofEcb& ecb) {
    Attributes least;
    if (ecb.predicate)
        least = code_attributes(program.difos[*ecb.predicate]);
    if (!ecb.actions)
        return least;
    for (const formats::DofAction& action : program.action_lists[*ecb.actions].actions)
        if (action.difo)
            least = minimum(least, code_attributes(program.difos[*action.difo]));
    return least;
}

void print_attributes(std::string& out, const char* title, const Attributes& attributes) {
    out += base::strprintf("\n\t%s\n\t\tIdentifier Names: %s\n\t\tData Semantics:   %s\n"
                           "\t\tDependency Class: %s\n",
                           title, kStabilityNames[static_cast<size_t>(attributes.names)],
                           kStabilityNames[static_cast<size_t>(attributes.data)],
                           kClassNames[static_cast<size_t>(attributes.dependency)]);
}

} // namespace daybreak::cmd
