// SPDX-License-Identifier: Apache-2.0
//
// RingProgram: what the records of a ring mean.
#include "analyze/decode/program.hpp"

#include "analyze/decode/planner.hpp"
#include "formats/abi/limits.h"

#include <algorithm>

namespace daybreak::analyze {

std::optional<uint64_t> constant_of(const formats::Difo& difo) {
    uint64_t registers[256] = {};
    bool known[256] = {true}; // register 0 reads 0
    for (uint32_t instruction : difo.text) {
        uint32_t to = DIF_INSTR_RD(instruction), from = DIF_INSTR_R1(instruction);
        switch (DIF_INSTR_OP(instruction)) {
        case DIF_OP_NOP:
            break;
        case DIF_OP_SETX: {
            uint32_t index = DIF_INSTR_INTEGER(instruction);
            if (index >= difo.integers.size() || to == 0)
                return std::nullopt;
            registers[to] = difo.integers[index];
            known[to] = true;
            break;
        }
        case DIF_OP_MOV:
            if (!known[from] || to == 0)
                return std::nullopt;
            registers[to] = registers[from];
            known[to] = true;
            break;
        case DIF_OP_RET:
            return known[to] ? std::optional(registers[to]) : std::nullopt;
        default:
            return std::nullopt;
        }
    }
    return std::nullopt;
}

Statement* EcbPlan::find_aggregation(uint32_t action) {
    std::vector<Statement>& planned = is_wanted ? statements : others;
    auto found = std::lower_bound(
        planned.begin(), planned.end(), action,
        [](const Statement& statement, uint32_t wanted) { return statement.action < wanted; });
    bool matches = found != planned.end() && found->action == action &&
                   found->kind == StatementKind::aggregate;
    return matches ? &*found : nullptr;
}

RingProgram::RingProgram(const formats::RingRecording& ring, const WantedProbes& wanted)
    : ring_(ring), wanted_(wanted) {
    read_images();
    extend(ring);
}

void RingProgram::extend(const formats::RingRecording& ring) {
    if (plans_.empty())
        plans_.reserve(ring.ecbs.all().size());
    for (const formats::EcbInfo& ecb : ring.ecbs.all()) {
        if (index_.find(ecb.epid))
            continue;
        EcbPlan plan;
        plan.ecb = &ecb;
        plan.probe = ring.find_probe(ecb.probe_id);
        plan.is_wanted = wanted_.has(ring.ring_id, ecb.probe_id);
        index_.add(ecb.epid, plans_.size());
        plans_.push_back(std::move(plan));
    }
}

const formats::DofProgram* RingProgram::program_of(const formats::EcbInfo& ecb) const {
    auto image = images_.find(ecb.dof_index);
    return image == images_.end() ? nullptr : &image->second.program;
}

const formats::DofEcb* RingProgram::clause_of(const formats::EcbInfo& ecb) const {
    auto clause = clauses_.find({ecb.dof_index, ecb.ecbdesc});
    return clause == clauses_.end() ? nullptr : clause->second;
}

void RingProgram::make_plan(EcbPlan& plan) {
    plan.is_planned = true;
    plan_statements(plan);
    if (!plan.is_wanted && !plan.is_fault)
        pass_over(plan);
}

void RingProgram::plan_statements(EcbPlan& plan) {
    static const std::vector<formats::DofAction> kNone;
    const formats::DofProgram* program = program_of(*plan.ecb);
    const formats::DofEcb* clause = clause_of(*plan.ecb);
    plan.is_fault = clause && clause->uarg == kErrorEnabling;
    if (!program || !clause) {
        plan.problem = program ? "its DOF does not hold the clause" : "its DOF is not there";
        return;
    }
    uint32_t strsize = ring_.info.facts.strsize_bytes;
    Planner(plan, *program,
            clause->actions ? program->action_lists[*clause->actions].actions : kNone,
            strsize ? strsize : DBK_STRSIZE_DEFAULT)
        .plan(next_source_);
    plan.only_aggregates =
        plan.problem.empty() && !plan.is_fault && !plan.is_line &&
        std::all_of(plan.statements.begin(), plan.statements.end(), [](const Statement& statement) {
            return statement.kind == StatementKind::aggregate && statement.problem.empty();
        });
}

/// Of records that were not asked for nothing is decoded, and nothing said.  A fault is of the
/// probe in whose clause it happened, which its record names.
void RingProgram::pass_over(EcbPlan& plan) {
    plan.others.swap(plan.statements);
    plan.problem.clear();
    plan.is_line = plan.has_aggregation = false;
    plan.only_aggregates = true;
}

CountedVariables RingProgram::counted_variables() {
    CountedVariables variables;
    for (EcbPlan& plan : plans_) {
        find(plan.ecb->epid);
        for (const Statement& statement : plan.is_wanted ? plan.statements : plan.others)
            if (statement.kind == StatementKind::aggregate)
                (plan.is_wanted ? variables.wanted : variables.others)
                    .insert(statement.layout.variable);
    }
    return variables;
}

void RingProgram::read_images() {
    for (const formats::DofBytes& dof : ring_.dof) {
        auto image = formats::parse_dof(dof.bytes);
        if (!image.ok()) {
            problems_.push_back(base::strprintf("DOF image %u: %s", unsigned{dof.index},
                                                image.error().message().c_str()));
            continue;
        }
        collect_functions(image->program);
        formats::DofProgram& program = (images_[dof.index] = std::move(image).value()).program;
        for (const formats::DofEcb& ecb : program.ecbs)
            clauses_.emplace(std::pair(dof.index, ecb.section), &ecb);
    }
}

void RingProgram::collect_functions(const formats::DofProgram& program) {
    for (const formats::DofActionList& list : program.action_lists) {
        for (size_t at = 0; at < list.actions.size(); at++) {
            const formats::DofAction& action = list.actions[at];
            if (!DTRACEACT_IS_AGG(action.kind) || action.tuple_count == 0 ||
                action.tuple_count > at)
                continue;
            const formats::DofAction& first = list.actions[at - action.tuple_count];
            auto variable = first.difo ? constant_of(program.difos[*first.difo]) : std::nullopt;
            if (!variable || *variable > UINT32_MAX)
                continue;
            bool has_argument =
                action.kind == DTRACEAGG_LQUANTIZE || action.kind == DTRACEAGG_LLQUANTIZE;
            functions_.try_emplace(static_cast<uint32_t>(*variable),
                                   AggregationFunction{action.kind, has_argument ? action.arg : 0});
        }
    }
}

bool RingProgram::reads_aggregations() const {
    auto reads = [](const formats::DofAction& action) {
        return action.kind == DTRACEACT_PRINTA || action.kind == DTRACEACT_LIBACT;
    };
    for (const auto& [index, image] : images_)
        for (const formats::DofActionList& list : image.program.action_lists)
            if (std::any_of(list.actions.begin(), list.actions.end(), reads))
                return true;
    return false;
}

std::string RingProgram::aggregation_name(uint32_t variable) const {
    for (const auto& [index, image] : images_)
        if (std::string name = image.program.aggregation_name(variable); !name.empty())
            return name;
    return {};
}

std::vector<formats::DofOption> RingProgram::options() const {
    std::vector<formats::DofOption> options;
    for (const auto& [index, image] : images_)
        options.insert(options.end(), image.program.options.begin(), image.program.options.end());
    return options;
}

uint32_t RingProgram::target() const {
    uint32_t pid = 0;
    for (const auto& [index, image] : images_)
        if (image.program.target && image.program.target->target_pid != 0)
            pid = image.program.target->target_pid;
    return pid;
}

} // namespace daybreak::analyze
