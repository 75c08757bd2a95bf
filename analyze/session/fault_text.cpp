// SPDX-License-Identifier: Apache-2.0
//
// Fault text: what is said when the execution of a DIF object was given up.
#include "analyze/session/fault_text.hpp"

#include "analyze/print/text.hpp"
#include "formats/abi/faults.h"

#include <cinttypes>

namespace daybreak::analyze {

namespace {

/// User space ends below it: 47 bits of address on x86-64, 56 with five levels of tables.
constexpr uint64_t kUserEnd = uint64_t{1} << 56;

struct FaultKind {
    const char* text;
    bool has_address;
};

FaultKind kind_of(uint64_t fault) {
    switch (fault) {
#define DBK_FAULT_CASE(name, code, text, has_address)                                              \
    case code:                                                                                     \
        return {text, has_address != 0};
        DBK_FAULTS(DBK_FAULT_CASE)
#undef DBK_FAULT_CASE
    default:
        return {"unknown fault", false};
    }
}

/// Returns the DIF object that faulted, or nothing when the clause does not have it.
std::optional<size_t> difo_of(const formats::DofProgram& program, const formats::DofEcb& clause,
                              uint64_t action) {
    if (action == 0)
        return clause.predicate;
    if (!clause.actions)
        return std::nullopt;
    const auto& actions = program.action_lists[*clause.actions].actions;
    return action <= actions.size() ? actions[action - 1].difo : std::nullopt;
}

/// Returns " at FILE:LINE", or nothing.
std::string source_place(const FaultArguments& arguments, const EcbPlan& plan,
                         RingProgram& program) {
    const formats::DofProgram* dof = program.program_of(*plan.ecb);
    const formats::DofEcb* clause = program.clause_of(*plan.ecb);
    if (!dof || !clause || arguments.dif_offset < 0)
        return "";
    auto difo = difo_of(*dof, *clause, arguments.action);
    auto instruction = static_cast<uint64_t>(arguments.dif_offset) / sizeof(uint32_t);
    const formats::DofLine* best = nullptr;
    for (const formats::DofLine& line : dof->lines)
        if (difo && line.difo == *difo && line.instruction <= instruction &&
            (!best || line.instruction >= best->instruction))
            best = &line;
    return best ? base::strprintf(" at %s:%u", best->file.c_str(), best->line) : "";
}

/// What helps against a fault: a call's argument may point to a page that is not there before the kernel
/// has read it.
const char* advice(const FaultArguments& arguments, const EcbPlan* plan) {
    bool at_entry = plan && plan->probe && plan->probe->provider == "syscall" &&
                    plan->probe->name == "entry";
    return at_entry && arguments.fault == DTRACEFLT_BADADDR && arguments.address < kUserEnd
               ? " (a page that the kernel has not read yet: copy it at return, as examples/opens.d does)"
               : "";
}

} // namespace

std::string enabling_text(uint64_t epid, const EcbPlan* plan) {
    static const formats::ProbeInfo kNoProbe;
    const formats::ProbeInfo& probe = plan && plan->probe ? *plan->probe : kNoProbe;
    return base::strprintf("error on enabled probe ID %" PRIu64 " (ID %u: %s:%s:%s:%s)", epid,
                           plan ? plan->ecb->probe_id : 0, probe.provider.c_str(),
                           probe.module.c_str(), probe.function.c_str(), probe.name.c_str());
}

Message fault_message(const FaultArguments& arguments, RingProgram& program, bool classic) {
    FaultKind kind = kind_of(arguments.fault);
    const EcbPlan* plan = arguments.epid <= UINT32_MAX
                              ? program.find(static_cast<uint32_t>(arguments.epid))
                              : nullptr;
    Message message;
    message.kind = Message::Kind::fault;
    std::string what = enabling_text(arguments.epid, plan) + ": " + kind.text;
    std::string where = " in predicate";
    if (arguments.action != 0)
        where = base::strprintf(" in action #%" PRIu64, arguments.action);
    std::string place = plan && !classic ? source_place(arguments, *plan, program) : "";
    if (!place.empty())
        where += place;
    else if (arguments.dif_offset >= 0)
        appendf(where, " at DIF offset %" PRId64, arguments.dif_offset);
    message.text = what;
    if (kind.has_address)
        appendf(message.text, " (0x%" PRIx64 ")", arguments.address);
    message.text += where;
    message.group = what + where + advice(arguments, plan);
    return message;
}

} // namespace daybreak::analyze
