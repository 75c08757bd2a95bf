// SPDX-License-Identifier: Apache-2.0
//
// Linking: planned clauses, compiled, into one DofProgram.
#pragma once

#include "compiler/codegen/generator.hpp"
#include "compiler/sema/planner.hpp"
#include "compiler/syntax/ast.hpp"

namespace daybreak::compiler {

class ProgramLinker {
public:
    ProgramLinker(const TypeTable& types, const SourceManager& sources, DiagnosticSink& sink)
        : types_(types), sources_(sources), sink_(sink) {}

    /// Compiles a clause and adds an ECB per probe description; they share its code.
    void add_clause(const std::vector<const ProbeDescription*>& probes,
                    const PlannedClause& clause);
    /// Adds the clause that reports faults: dtrace:::ERROR { trace(arg1); ... trace(arg5); }.
    void add_error_clause();
    /// Sets an option; a later value replaces an earlier one.
    void set_option(uint32_t id, uint64_t value);

    formats::DofProgram& program() { return program_; }

private:
    std::optional<size_t> add_difo(const TypedExpr& value, const dif_type& result, ValueUse use);
    dif_type result_type(const PlannedAction& action) const;

    const TypeTable& types_;
    const SourceManager& sources_;
    DiagnosticSink& sink_;
    formats::DofProgram program_;
};

} // namespace daybreak::compiler
