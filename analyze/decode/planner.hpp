// SPDX-License-Identifier: Apache-2.0
//
// Planner: one ECB's actions and fields into statements.
#pragma once

#include "analyze/decode/program.hpp"

namespace daybreak::analyze {

/// Fills in `plan`, whose ecb is set, from the list of actions its ECBDESC names.
class Planner {
public:
    /// `strsize_bytes` is the room of a string whose field does not tell.
    Planner(EcbPlan& plan, const formats::DofProgram& program,
            const std::vector<formats::DofAction>& actions, uint32_t strsize_bytes);

    /// `next_source` numbers the ring's aggregating actions.
    void plan(uint32_t& next_source);

private:
    using Action = formats::DofAction;

    void collect_fields();
    void plan_action(size_t at, size_t& end, uint32_t& next_source);
    void plan_aggregation(size_t at, uint32_t& next_source);
    void plan_formatted(size_t at, size_t& end, StatementKind kind);
    void plan_library(size_t at, size_t& end);
    void plan_memory(size_t at, size_t& end);
    void plan_trace(size_t at);
    void plan_print(size_t at);
    /// Returns the end of the run of actions of this kind that belong to one D statement.
    size_t statement_end(size_t at) const;
    FieldPlan field_plan(const formats::FieldInfo& info, const Action& action) const;
    std::optional<FieldPlan> field_of(size_t at) const;
    NumberPlan number_of(size_t at) const;
    std::optional<uint64_t> constant_at(size_t at) const;
    Statement& add(StatementKind kind, size_t action);

    EcbPlan& plan_;
    const formats::DofProgram& program_;
    const std::vector<Action>& actions_;
    uint32_t strsize_bytes_;
    std::vector<const formats::FieldInfo*> plain_; // by action; null: it records nothing
    std::vector<std::vector<const formats::FieldInfo*>> aggregated_; // by action
    std::vector<bool> in_tuple_;                                     // by action
};

} // namespace daybreak::analyze
