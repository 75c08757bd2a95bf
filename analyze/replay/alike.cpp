// SPDX-License-Identifier: Apache-2.0
//
// AlikeProgram: a program whose clauses do the same for records that hold the same.
#include "analyze/replay/alike.hpp"

#include "analyze/replay/asked_probes.hpp"
#include "formats/abi/dif.h"

#include <algorithm>
#include <array>
#include <set>

namespace daybreak::analyze {

namespace {

/// Which slots of a firing an expression reads.
using Slots = std::set<uint32_t>;

/// Subroutines whose result depends on their arguments only, and that change nothing.
constexpr std::array kPureCalls = {
    DIF_SUBR_STRLEN,   DIF_SUBR_STRJOIN, DIF_SUBR_LLTOSTR, DIF_SUBR_BASENAME, DIF_SUBR_DIRNAME,
    DIF_SUBR_STRCHR,   DIF_SUBR_STRRCHR, DIF_SUBR_STRSTR,  DIF_SUBR_SUBSTR,   DIF_SUBR_INDEX,
    DIF_SUBR_RINDEX,   DIF_SUBR_HTONS,   DIF_SUBR_HTONL,   DIF_SUBR_HTONLL,   DIF_SUBR_NTOHS,
    DIF_SUBR_NTOHL,    DIF_SUBR_NTOHLL,  DIF_SUBR_TOUPPER, DIF_SUBR_TOLOWER,  DIF_SUBR_STRTOLL,
    DIF_SUBR_CLEANPATH};

/// Built-in variables that each firing of a clause has the same.
constexpr std::array kNames = {DIF_VAR_PROBEPROV, DIF_VAR_PROBEMOD, DIF_VAR_PROBEFUNC,
                               DIF_VAR_PROBENAME, DIF_VAR_ID,       DIF_VAR_EPID};

template <class List>
bool has(const List& list, uint32_t one) {
    return std::ranges::any_of(list, [one](auto each) { return each == one; });
}

bool is_branch(uint32_t op) {
    return op >= DIF_OP_BA && op <= DIF_OP_BLEU;
}

/// The slot that an instruction reads as args[n]: the one before it sets n, whichever way it was
/// come to.
std::optional<uint32_t> slot_of(const formats::Difo& difo, size_t at) {
    uint32_t load = difo.text[at];
    if (DIF_INSTR_R1(load) != DIF_VAR_ARGS || at == 0)
        return std::nullopt;
    uint32_t set = difo.text[at - 1];
    bool is_target = std::ranges::any_of(difo.text, [at](uint32_t one) {
        return is_branch(DIF_INSTR_OP(one)) && DIF_INSTR_LABEL(one) == at;
    });
    if (is_target || DIF_INSTR_OP(set) != DIF_OP_SETX || DIF_INSTR_RD(set) != DIF_INSTR_R2(load) ||
        DIF_INSTR_INTEGER(set) >= difo.integers.size())
        return std::nullopt;
    uint64_t slot = difo.integers[DIF_INSTR_INTEGER(set)];
    return slot < formats::kFirstSlot || slot > UINT32_MAX ? std::nullopt
                                                           : std::optional<uint32_t>(slot);
}

/// Whether an expression depends on the firing's slots and names only.
bool is_pure(const formats::Difo& difo, Slots& slots) {
    for (size_t i = 0; i < difo.text.size(); i++) {
        uint32_t instruction = difo.text[i], op = DIF_INSTR_OP(instruction);
        bool computes = op >= DIF_OP_OR && op <= DIF_OP_SCMP;
        bool pushes = op >= DIF_OP_PUSHTR && op <= DIF_OP_FLUSHTS;
        if (op == DIF_OP_LDGA) {
            std::optional<uint32_t> slot = slot_of(difo, i);
            if (!slot)
                return false;
            slots.insert(*slot);
        } else if (op == DIF_OP_LDGS) {
            if (!has(kNames, DIF_INSTR_VAR(instruction)))
                return false;
        } else if (op == DIF_OP_CALL) {
            if (!has(kPureCalls, DIF_INSTR_SUBR(instruction)))
                return false;
        } else if (!computes && !pushes && op != DIF_OP_SRA) {
            return false;
        }
    }
    return true;
}

/// Whether an expression of BEGIN or END sees nothing of the records: neither what they hold nor
/// how far they brought the time.
bool is_apart(const formats::Difo& difo) {
    return std::ranges::none_of(difo.text, [](uint32_t instruction) {
        uint32_t op = DIF_INSTR_OP(instruction), variable = DIF_INSTR_VAR(instruction);
        bool is_thread = op == DIF_OP_LDTA || op == DIF_OP_LDTS || op == DIF_OP_STTS ||
                         op == DIF_OP_LDTAA || op == DIF_OP_STTAA;
        bool is_machine =
            op == DIF_OP_LDGS && variable < DIF_VAR_OTHER_UBASE && !has(kNames, variable);
        return is_thread || is_machine || op == DIF_OP_LDGA || op == DIF_OP_CALL;
    });
}

/// Calls check(difo) for each expression of a clause; false when any is not as it has to be.
template <class Check>
bool all_of(const formats::DofProgram& program, const formats::DofEcb& clause, Check check) {
    if (clause.predicate && !check(program.difos[*clause.predicate]))
        return false;
    if (!clause.actions)
        return true;
    return std::ranges::all_of(program.action_lists[*clause.actions].actions,
                               [&](const formats::DofAction& action) {
                                   return !action.difo || check(program.difos[*action.difo]);
                               });
}

bool has_only(const formats::DofProgram& program, const formats::DofEcb& clause,
              std::initializer_list<uint32_t> kinds) {
    return !clause.actions || std::ranges::all_of(program.action_lists[*clause.actions].actions,
                                                  [&](const formats::DofAction& action) {
                                                      return has(kinds, action.kind) ||
                                                             DTRACEACT_IS_AGG(action.kind);
                                                  });
}

bool is_of_engine(const formats::DofEcb& clause, const char* name) {
    return clause.probe.provider == "dtrace" && clause.probe.name == name;
}

/// Whether records may be taken as they lie: none of them came later than it was made.
bool is_orderly(const formats::DofProgram& program, const formats::RingRecording& ring) {
    return std::ranges::none_of(ring.ecbs.all(),
                                [](const formats::EcbInfo& ecb) {
                                    return (ecb.flags & DBK_ECB_F_SPECULATES) != 0;
                                }) &&
           std::ranges::none_of(program.options, [](const formats::DofOption& option) {
               return option.option == DTRACEOPT_FLOWINDENT;
           });
}

/// Whether clauses look at when a record was made: no two are alike.
bool has_times(const Slots& slots, const CaptureSlots& all) {
    return slots.contains(all.timestamp()) || slots.contains(all.walltimestamp());
}

/// By recorded id, what the clauses of each probe of a recording look at.  Empty: a clause is not
/// one of these.
std::optional<std::map<uint32_t, Slots>> slots_of(const formats::DofProgram& program,
                                                  const ReplayedProbes& probes, size_t recording) {
    std::map<uint32_t, Slots> asked;
    std::map<const formats::DofEcb*, Slots> looked_at;
    std::set<const formats::DofEcb*> with_records;
    auto apart = [](const formats::Difo& difo) { return is_apart(difo); };
    for (const formats::DofEcb& clause : program.ecbs) {
        if (is_of_engine(clause, "ERROR"))
            continue;
        bool is_begin = is_of_engine(clause, "BEGIN");
        if (is_begin || is_of_engine(clause, "END")) {
            bool is_known = is_begin
                                ? has_only(program, clause, {DTRACEACT_DIFEXPR, DTRACEACT_PRINTF})
                                : has_only(program, clause,
                                           {DTRACEACT_DIFEXPR, DTRACEACT_PRINTF, DTRACEACT_PRINTA,
                                            DTRACEACT_LIBACT});
            if (!is_known || !all_of(program, clause, apart))
                return std::nullopt;
            continue;
        }
        Slots slots;
        if (!has_only(program, clause, {DTRACEACT_DIFEXPR}) ||
            clause.probe.name.starts_with("tick-") ||
            !all_of(program, clause,
                    [&](const formats::Difo& difo) { return is_pure(difo, slots); }) ||
            has_times(slots, probes.slots()))
            return std::nullopt;
        looked_at[&clause] = std::move(slots);
    }
    for (const auto& [id, clauses] : clauses_of_probes(program, probes, recording))
        for (const formats::DofEcb* clause : clauses) {
            const Slots& slots = looked_at.at(clause);
            asked[id].insert(slots.begin(), slots.end());
            with_records.insert(clause);
        }
    if (with_records.size() != looked_at.size())
        return std::nullopt;
    return asked.empty() ? std::nullopt : std::optional(std::move(asked));
}

} // namespace

std::optional<AlikeProgram> AlikeProgram::of(const formats::DofProgram& program,
                                             const ReplayedProbes& probes, size_t recording) {
    const formats::RingRecording& ring = probes.recordings()[recording].ring();
    const CaptureTable& table = *probes.recordings()[recording].table;
    if (!is_orderly(program, ring))
        return std::nullopt;
    auto asked = slots_of(program, probes, recording);
    if (!asked)
        return std::nullopt;
    AlikeProgram alike;
    std::set<uint32_t> recorded; // probes whose ECB was found
    const std::vector<formats::EcbInfo>& ecbs = ring.ecbs.all();
    for (size_t i = 0; i < ecbs.size(); i++) {
        Ecb& ecb = alike.ecbs.emplace_back();
        auto slots = asked->find(ecbs[i].probe_id);
        if (slots == asked->end() || ecbs[i].no_record())
            continue;
        // Of several clauses that recorded, each record has a part of what its firing holds.
        if (!recorded.insert(ecbs[i].probe_id).second)
            return std::nullopt;
        ecb.fires = true;
        ecb.probe_id = ecbs[i].probe_id;
        for (const CapturedField& field : table.fields_of(i)) {
            if (field.kind != CapturedKind::integer && field.kind != CapturedKind::string)
                continue;
            if (slots->second.contains(field.slot))
                ecb.fields.push_back(field);
        }
    }
    return alike;
}

} // namespace daybreak::analyze
