// SPDX-License-Identifier: Apache-2.0
//
// Clauses of a program that is compiled for a replay: one for each recorded probe, and what is left
// out where the recording does not have what they ask.
#include "compiler/compilation.hpp"

#include <algorithm>

namespace daybreak::compiler {

namespace {

/// Of recordings that differ a probe of one name is several.
std::string key_of(const ProbeDescription& probe) {
    return std::to_string(probe.id.value_or(0)) + ":" + probe.parts();
}

/// Returns the clause and those that `if` made of the rest of it.
std::vector<const Clause*> parts_of(const Clause& clause, const Program& program) {
    std::vector<const Clause*> parts;
    for (const Item& item : program.items) {
        const auto* one = std::get_if<Clause>(&item);
        if (one && !parts.empty() && !one->is_continued)
            break;
        if (one && (one == &clause || !parts.empty()))
            parts.push_back(one);
    }
    return parts;
}

} // namespace

/// Compiles a clause for each recorded probe that its descriptions match: what was recorded differs
/// from probe to probe.
void Compilation::compile_for_replay(const Clause& clause,
                                     const std::vector<const ProbeDescription*>& descriptions) {
    std::vector<ProbeDescription> probes;
    for (const ProbeDescription* description : descriptions)
        for (ProbeDescription& probe : options_.recorded->matches(*description))
            probes.push_back(std::move(probe));
    if (options_.where_possible && !clause.is_continued)
        find_left_out(clause, probes);
    for (const ProbeDescription& probe : probes) {
        if (sink_.has_errors())
            break;
        if (!left_out_probes_.contains(key_of(probe)))
            link(clause, {&probe}, plan_for_replay(clause, probe));
    }
    context_.probe = nullptr;
}

PlannedClause Compilation::plan_for_replay(const Clause& clause, const ProbeDescription& probe) {
    context_.probe = &probe;
    context_.slots_needed.clear();
    if (probe.machine_slot)
        context_.slots_needed.insert(*probe.machine_slot);
    PlannedClause planned = ClausePlanner(context_).plan(clause);
    planned.predicate =
        ExprChecker(context_).with_needed_slots(std::move(planned.predicate), clause.span);
    return planned;
}

/// Plans the whole clause for each probe, and remembers for which it cannot be.  Says why of the
/// first, and how many there are.
void Compilation::find_left_out(const Clause& clause, const std::vector<ProbeDescription>& probes) {
    left_out_probes_.clear();
    std::vector<Diagnostic> why;
    for (const ProbeDescription& probe : probes) {
        size_t first = sink_.diagnostics().size();
        for (const Clause* part : parts_of(clause, *programs_.back()))
            if (!sink_.has_errors())
                plan_for_replay(*part, probe);
        bool is_planned = !sink_.has_errors();
        std::vector<Diagnostic> reported = sink_.take_back(first);
        if (is_planned) // warnings come again
            continue;
        left_out_probes_.insert(key_of(probe));
        if (why.empty())
            why = std::move(reported);
        else if (!std::ranges::all_of(reported, &Diagnostic::is_unrecorded))
            return static_cast<void>(leave_out(std::move(reported)));
    }
    if (why.empty())
        return;
    bool is_left_out = std::ranges::all_of(probes, [&](const ProbeDescription& probe) {
        return left_out_probes_.contains(key_of(probe));
    });
    output_.has_clause_left_out |= is_left_out;
    if (size_t others = left_out_probes_.size() - 1; others != 0)
        why[0].text += base::strprintf(" and at %zu more of its probes", others);
    if (leave_out(std::move(why)) && is_left_out)
        keep_aggregations(clause);
}

/// What a left-out clause aggregates in is as if its probes had not fired: END may print it.
void Compilation::keep_aggregations(const Clause& clause) {
    for (const Clause* part : parts_of(clause, *programs_.back()))
        for (const Statement& statement : part->statements)
            if (auto planned = ClausePlanner(context_).plan_empty(statement))
                empty_.emplace_back(
                    statement.expression->get_if<Assign>()->left->get_if<Aggregation>()->name,
                    std::move(*planned));
}

/// What printa() shows of an aggregation without values is said by the clauses that aggregate.
void Compilation::link_empty_aggregations() {
    ProbeDescription never;
    never.provider = "left-out";
    never.name = "none";
    for (const auto& [name, planned] : empty_) {
        const AggregationInfo* info = symbols_.find_aggregation(name);
        if (!info->has_open_keys || !info->is_read)
            continue;
        linker_.add_clause({&never}, planned);
        Diagnostic empty;
        empty.tag = Tag::D_IDENT_UNDEF;
        empty.severity = Severity::warning;
        empty.span = info->first_use;
        empty.text = "@" + name + " is empty: every clause that aggregates in it is left out";
        sink_.report(std::move(empty));
    }
    empty_.clear();
}

/// Reports what is only not recorded as warnings, all else as it was.  Returns whether there was
/// nothing else.
bool Compilation::leave_out(std::vector<Diagnostic> reported) {
    bool may = std::ranges::all_of(reported, [](const Diagnostic& one) {
        return one.is_unrecorded || one.severity == Severity::warning;
    });
    for (Diagnostic& one : reported) {
        if (may && one.severity == Severity::error) {
            one.severity = Severity::warning;
            one.text = "left out: " + one.text;
        }
        sink_.report(std::move(one));
    }
    has_left_out_ |= may;
    return may;
}

void Compilation::check_anything_is_left() {
    if (!has_left_out_ || sink_.has_errors() || !linker_.program().ecbs.empty())
        return;
    Diagnostic nothing;
    nothing.tag = Tag::D_EMPTY;
    nothing.text = "no clause of the program can be replayed over what was recorded";
    nothing.hints = {"the warnings, left out, say what each clause misses"};
    sink_.report(std::move(nothing));
}

} // namespace daybreak::compiler
