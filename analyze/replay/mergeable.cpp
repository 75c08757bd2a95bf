// SPDX-License-Identifier: Apache-2.0
//
// Mergeable programs: what they may do, by their DOF.
#include "analyze/replay/mergeable.hpp"

#include "formats/abi/dif.h"

#include <algorithm>
#include <set>

namespace daybreak::analyze {

namespace {

using base::errorf;

/// Of each CPU of the machine that runs BEGIN and END: what they record is little, the CPUs may be
/// many.
constexpr uint64_t kEndsBufferBytes = 1u << 20;

/// Variables of the program that clauses read and change, by scope and id, with their names.
struct Uses {
    using Variables = std::map<std::pair<uint8_t, uint32_t>, std::string>;
    Variables read, changed;
    bool is_random = false, has_id = false;

    void add(const formats::Difo& difo, bool with_locals = false) {
        for (const formats::DifVariable& variable : difo.variables) {
            if (variable.id < DIF_VAR_OTHER_UBASE ||
                (variable.scope == DIFV_SCOPE_LOCAL && !with_locals))
                continue;
            std::pair key(variable.scope, variable.id);
            if (variable.flags & DIFV_F_REF)
                read.emplace(key, variable.name);
            if (variable.flags & DIFV_F_MOD)
                changed.emplace(key, variable.name);
        }
        for (uint32_t instruction : difo.text) {
            is_random |= DIF_INSTR_OP(instruction) == DIF_OP_CALL &&
                         DIF_INSTR_SUBR(instruction) == DIF_SUBR_RAND;
            has_id |= DIF_INSTR_OP(instruction) == DIF_OP_LDGS &&
                      DIF_INSTR_VAR(instruction) == DIF_VAR_ID;
        }
    }

    /// Returns the name of one that these read and the others change; with its scope.
    std::optional<std::pair<uint8_t, std::string>> shared_with(const Uses& others,
                                                               std::optional<uint8_t> scope) const {
        for (const auto& [key, name] : read)
            if (others.changed.contains(key) && (!scope || *scope == key.first))
                return std::pair(key.first, name);
        return std::nullopt;
    }
};

bool is_own(const formats::DofEcb& ecb, const char* name) {
    return ecb.probe.provider == "dtrace" && ecb.probe.name == name;
}

bool is_of_ends(const formats::DofEcb& ecb) {
    return is_own(ecb, "BEGIN") || is_own(ecb, "END");
}

/// The clause that a consumer adds for its messages.
bool is_error_clause(const formats::DofEcb& ecb) {
    return is_own(ecb, "ERROR") && ecb.uarg == kErrorEnabling;
}

/// Returns what an action does that a part cannot; null when it only counts or computes.
const char* refused(const formats::DofProgram& program, const formats::DofAction& action) {
    // Without a value, as of an assignment, nothing is recorded.
    if (action.kind == DTRACEACT_DIFEXPR && action.difo &&
        program.difos[*action.difo].type.size == 0)
        return nullptr;
    switch (action.kind) {
    case DTRACEACT_NONE:
    case DTRACEACT_SPECULATE:
    case DTRACEACT_COMMIT:
    case DTRACEACT_DISCARD:
    case DTRACEACT_STOP:
    case DTRACEACT_RAISE:
    case DTRACEACT_BREAKPOINT:
    case DTRACEACT_PANIC:
    case DTRACEACT_CHILL:
        return nullptr; // of these a replay prints nothing
    case DTRACEACT_EXIT:
        return "calls exit(): where a replay ends depends on the order of the parts";
    case DTRACEACT_PRINTA:
        return "prints aggregations that are not merged yet: END may";
    case DTRACEACT_LIBACT:
        return "changes aggregations or options that are not merged yet: END may";
    case DTRACEACT_SYSTEM:
    case DTRACEACT_FREOPEN:
        return "runs a command or opens a file: END may";
    default:
        if (DTRACEACT_IS_AGG(action.kind) || DBK_ACT_IS_CAPTURE(action.kind))
            return nullptr;
        return "prints records: only aggregations can be merged";
    }
}

/// The actions that are keys of an aggregation, by index.
std::vector<bool> keys_of(const formats::DofActionList& list) {
    std::vector<bool> keys(list.actions.size());
    for (size_t at = 0; at < keys.size(); at++)
        if (DTRACEACT_IS_AGG(list.actions[at].kind))
            for (size_t i = at - std::min<size_t>(list.actions[at].tuple_count, at); i < at; i++)
                keys[i] = true;
    return keys;
}

base::Result<void> check_actions(const formats::DofProgram& program, const formats::DofEcb& ecb) {
    if (!ecb.actions)
        return errorf(base::ErrorCode::unsupported, "%s prints its firings: %s",
                      ecb.probe.text().c_str(), "only aggregations can be merged");
    const formats::DofActionList& list = program.action_lists[*ecb.actions];
    std::vector<bool> keys = keys_of(list);
    for (size_t at = 0; at < keys.size(); at++)
        if (const char* why = keys[at] ? nullptr : refused(program, list.actions[at]))
            return errorf(base::ErrorCode::unsupported, "a clause of %s %s",
                          ecb.probe.text().c_str(), why);
    return {};
}

/// BEGIN and END run where the parts are merged, and there is no kernel and no process there.
base::Result<void> check_end(const formats::DofProgram& program, const formats::DofEcb& ecb) {
    if (!ecb.actions)
        return {};
    for (const formats::DofAction& action : program.action_lists[*ecb.actions].actions)
        if (action.kind == DTRACEACT_SYM || action.kind == DTRACEACT_MOD ||
            action.kind == DTRACEACT_USYM || action.kind == DTRACEACT_UMOD ||
            action.kind == DTRACEACT_UADDR)
            return errorf(base::ErrorCode::unsupported,
                          "%s names an address, which has no name where parts are merged: name it "
                          "in a clause of a probe that was recorded",
                          ecb.probe.text().c_str());
    return {};
}

/// A tick that the recording does not have at each time fires by the clock of each part.
base::Result<void> check_timer(const formats::DofEcb& ecb, const CaptureTable& table) {
    if (!ecb.probe.name.starts_with("tick-"))
        return {};
    for (const auto& [id, probe] : table.probes())
        if (probe.info.name == ecb.probe.name && !probe.is_conditional)
            return {};
    return errorf(base::ErrorCode::unsupported,
                  "%s was not recorded each time it fired: each part would fire it by a clock of "
                  "its own",
                  ecb.probe.text().c_str());
}

/// BEGIN counts when parts are merged, once: over a part it only computes.
/// Error: unsupported, when it changes variables in what it counts.
base::Result<void> take_counts_from_begin(formats::DofProgram& part) {
    for (formats::DofEcb& ecb : part.ecbs) {
        if (!is_own(ecb, "BEGIN") || !ecb.actions)
            continue;
        const formats::DofActionList list = part.action_lists[*ecb.actions];
        std::vector<bool> keys = keys_of(list);
        formats::DofActionList kept;
        for (size_t at = 0; at < keys.size(); at++) {
            const formats::DofAction& action = list.actions[at];
            if (!keys[at] && !DTRACEACT_IS_AGG(action.kind)) {
                kept.actions.push_back(action);
                continue;
            }
            Uses uses;
            if (action.difo)
                uses.add(part.difos[*action.difo]);
            if (!uses.changed.empty())
                return errorf(base::ErrorCode::unsupported,
                              "BEGIN changes %s in an aggregation: change it in a statement of its "
                              "own",
                              uses.changed.begin()->second.c_str());
        }
        if (kept.actions.size() == list.actions.size())
            continue;
        ecb.actions = part.action_lists.size();
        part.action_lists.push_back(std::move(kept));
    }
    std::erase_if(part.ecbs, [&](const formats::DofEcb& ecb) {
        return is_own(ecb, "BEGIN") && ecb.actions &&
               part.action_lists[*ecb.actions].actions.empty();
    });
    return {};
}

/// What a merged printa() shows of a variable without values is said by the clauses that count in
/// it: of each variable one stays, at a probe that never fires.
void keep_functions(const formats::DofProgram& program, formats::DofProgram& ends) {
    std::set<uint64_t> known;
    for (formats::DofEcb ecb : program.ecbs) {
        if (is_of_ends(ecb) || !ecb.actions)
            continue;
        const formats::DofActionList& list = program.action_lists[*ecb.actions];
        bool is_new = false;
        for (size_t at = 0; at < list.actions.size(); at++) {
            const formats::DofAction& action = list.actions[at];
            if (!DTRACEACT_IS_AGG(action.kind) || action.tuple_count == 0 ||
                action.tuple_count > at)
                continue;
            const auto& first = list.actions[at - action.tuple_count].difo;
            if (auto variable = first ? constant_of(program.difos[*first]) : std::nullopt)
                is_new |= known.insert(*variable).second;
        }
        if (!is_new)
            continue;
        ecb.probe = {"merged", "", "", "none", 0};
        ecb.predicate.reset();
        ends.ecbs.push_back(std::move(ecb));
    }
}

/// Whether an expression's value comes of when and where its probe fires, or of chance.
bool is_of_firing(const formats::Difo& difo) {
    return std::ranges::any_of(difo.text, [](uint32_t instruction) {
        uint32_t op = DIF_INSTR_OP(instruction), variable = DIF_INSTR_VAR(instruction);
        bool is_name = variable == DIF_VAR_EPID || variable == DIF_VAR_ID ||
                       (variable >= DIF_VAR_PROBEPROV && variable <= DIF_VAR_PROBENAME);
        return (op == DIF_OP_LDGS && variable < DIF_VAR_OTHER_UBASE && !is_name) ||
               (op == DIF_OP_CALL && DIF_INSTR_SUBR(instruction) == DIF_SUBR_RAND);
    });
}

/// Variables that BEGIN sets to what is another in each part: it fires in each, at another time.
Uses set_anew_by_begin(const formats::DofProgram& program) {
    Uses anew;
    auto is_anew = [&](const formats::Difo& difo) {
        Uses uses;
        uses.add(difo, true);
        return is_of_firing(difo) || uses.shared_with(anew, std::nullopt).has_value();
    };
    for (size_t known = SIZE_MAX; known != anew.changed.size();) {
        known = anew.changed.size();
        for (const formats::DofEcb& ecb : program.ecbs) {
            if (!is_own(ecb, "BEGIN") || !ecb.actions)
                continue;
            bool is_chosen = ecb.predicate && is_anew(program.difos[*ecb.predicate]);
            for (const formats::DofAction& action : program.action_lists[*ecb.actions].actions)
                if (action.difo && (is_chosen || is_anew(program.difos[*action.difo])))
                    anew.add(program.difos[*action.difo], true);
        }
    }
    return anew;
}

void add_uses(const formats::DofProgram& program, const formats::DofEcb& ecb, Uses& uses) {
    if (ecb.predicate)
        uses.add(program.difos[*ecb.predicate]);
    if (ecb.actions)
        for (const formats::DofAction& action : program.action_lists[*ecb.actions].actions)
            if (action.difo)
                uses.add(program.difos[*action.difo]);
}

} // namespace

base::Result<MergeableProgram> mergeable_program(const formats::DofProgram& program,
                                                 const CaptureTable& table) {
    Uses of_records, of_end;
    for (const formats::DofEcb& ecb : program.ecbs) {
        if (is_of_ends(ecb))
            DBK_TRY_VOID(check_end(program, ecb));
        if (is_error_clause(ecb) || is_own(ecb, "BEGIN"))
            continue;
        add_uses(program, ecb, is_own(ecb, "END") ? of_end : of_records);
        if (is_own(ecb, "END"))
            continue;
        DBK_TRY_VOID(check_actions(program, ecb));
        DBK_TRY_VOID(check_timer(ecb, table));
    }
    if (of_records.is_random)
        return errorf(base::ErrorCode::unsupported,
                      "the program calls rand(), whose numbers are others in each part");
    if (of_records.has_id)
        return errorf(base::ErrorCode::unsupported,
                      "the program uses id, which numbers probes otherwise in each recording: "
                      "use probeprov, probemod, probefunc and probename");
    if (auto shared = of_end.shared_with(of_records, std::nullopt))
        return errorf(base::ErrorCode::unsupported,
                      "END uses %s%s, which other clauses change: variables cannot be merged, "
                      "aggregations can",
                      shared->first == DIFV_SCOPE_THREAD ? "self->" : "", shared->second.c_str());
    MergeableProgram result{program, program};
    std::erase_if(result.part.ecbs, [](const auto& ecb) { return is_own(ecb, "END"); });
    DBK_TRY_VOID(take_counts_from_begin(result.part));
    std::erase_if(result.ends.ecbs,
                  [](const auto& ecb) { return !is_of_ends(ecb) && !is_error_clause(ecb); });
    keep_functions(program, result.ends);
    std::erase_if(result.ends.options, [](const formats::DofOption& option) {
        return option.option == DTRACEOPT_BUFSIZE;
    });
    result.ends.options.push_back({DTRACEOPT_BUFSIZE, kEndsBufferBytes, std::nullopt});
    result.has_ticks = std::ranges::any_of(
        program.ecbs, [](const auto& ecb) { return ecb.probe.name.starts_with("tick-"); });
    result.keeps_thread_state = of_records.shared_with(of_records, DIFV_SCOPE_THREAD).has_value();
    result.keeps_global_state =
        of_records.shared_with(of_records, DIFV_SCOPE_GLOBAL).has_value() ||
        of_records.shared_with(set_anew_by_begin(program), DIFV_SCOPE_GLOBAL).has_value();
    return result;
}

} // namespace daybreak::analyze
