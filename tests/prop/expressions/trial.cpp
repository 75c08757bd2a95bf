// SPDX-License-Identifier: Apache-2.0
//
// One program through compiler, verifier and engine; what its clauses recorded
#include "tests/prop/expressions/trial.hpp"

#include "engine/sim/sim_host.hpp"
#include "engine/sim/simulation.hpp"
#include "tests/prop/programs.hpp"

#include <algorithm>
#include <functional>
#include <set>

namespace daybreak::prop {

namespace {

constexpr uint64_t kDivisionByZero = 4; // DTRACEFLT_DIVZERO

/// The clauses that need too many registers; false when something else is wrong.
bool find_too_large(const compiler::CompileOutput& output, unsigned first_line,
                    std::set<size_t>& clauses_ret) {
    for (const compiler::Diagnostic& diagnostic : output.diagnostics.diagnostics()) {
        if (diagnostic.severity != compiler::Severity::error)
            continue;
        if (diagnostic.tag != compiler::Tag::D_NOREG || diagnostic.span.line < first_line)
            return false;
        clauses_ret.insert(diagnostic.span.line - first_line);
    }
    return !clauses_ret.empty();
}

Clause zero_clause() {
    Expr zero{Op::literal, &kInt};
    zero.text = "0";
    return {make(std::move(zero)), false, {}};
}

/// What one clause recorded: its number, then the value.
void take_record(const formats::RecordView& record, const std::vector<Clause>& clauses,
                 std::vector<Outcome>& outcomes, std::vector<uint64_t>& faults) {
    if (record.ecb->fields.size() == 5) { // the compiler's clause of dtrace:::ERROR
        faults.push_back(record.integer(3).value_or(0));
        return;
    }
    uint64_t number = record.integer(0).value_or(clauses.size());
    if (record.ecb->fields.size() != 2 || number >= clauses.size())
        return;
    Outcome& outcome = outcomes[number];
    const Type& type = *clauses[number].expression->type;
    outcome.faults = false;
    if (clauses[number].is_predicate)
        outcome.value.number = 1;
    else if (type.is_string())
        outcome.value.text = std::string(record.string(1).value_or("?"));
    else
        outcome.value.number = cut(record.integer(1).value_or(~0ull), type);
}

/// What a program recorded: by clause, and to the byte.
struct Run {
    std::vector<Outcome> outcomes;
    std::string bytes;
};

std::string run(const base::Bytes& dof, const std::vector<Clause>& clauses, std::optional<translate::Speed> native, Run& made) {
    auto host = sim::SimHost::create({});
    if (!host.ok())
        return host.error().message();
    std::unique_ptr<translate::Library> library;
    sim::SimulationOptions options;
    if (native)
        options.created = [&](dbk_consumer* consumer) {
            return make_native(consumer, dof, *native, library);
        };
    auto simulation = sim::Simulation::load(**host, dof, options);
    if (!simulation.ok())
        return "the engine refuses it: " + simulation.error().message();
    auto end = (*simulation)->run();
    if (!end.ok())
        return end.error().message();
    formats::Recording recording = (*simulation)->recording();
    std::vector<uint64_t> faults;
    for (size_t i = 0; i < clauses.size(); i++)
        made.outcomes.push_back({!clauses[i].is_predicate, {}});
    for (const auto& ring : recording.rings)
        for (const auto& cpu : ring.cpus)
            for (const auto& segment : cpu.segments) {
                auto cursor = formats::records_of(segment, ring);
                formats::RecordView record;
                while (cursor.next(record)) {
                    take_record(record, clauses, made.outcomes, faults);
                    made.bytes.append(reinterpret_cast<const char*>(record.bytes.data()),
                                      record.bytes.size());
                }
            }
    if (recording.has_losses() || recording.findings.count() != 0)
        return "the recording has losses";
    for (uint64_t fault : faults)
        if (fault != kDivisionByZero)
            return "a fault of kind " + std::to_string(fault) + ", expected divisions by zero only";
    return "";
}

/// Runs it, and with `native` once more; all of its records must be the same then.
std::string run_ways(const base::Bytes& dof, const std::vector<Clause>& clauses,
                     std::optional<translate::Speed> native, Trial& trial) {
    Run interpreted, translated;
    std::string error = run(dof, clauses, {}, interpreted);
    trial.outcomes = interpreted.outcomes;
    if (!error.empty() || !native)
        return error;
    error = run(dof, clauses, native, translated);
    if (!error.empty())
        return "native: " + error;
    for (size_t i = 0; i < clauses.size(); i++)
        if (translated.outcomes[i] != interpreted.outcomes[i])
            return "native differs from interpreted: clause " + std::to_string(i);
    return translated.bytes == interpreted.bytes ? "" : "native records other bytes";
}

/// Everything that may stand in place of a node: its parts of the same sort, constants.
std::vector<ExprPtr> smaller(const Expr& node) {
    std::vector<ExprPtr> made;
    std::vector<Value> values = {{0, ""}, {1, ""}, {~0ull, ""}, {0, "a"}};
    for (const ExprPtr& operand : node.operands)
        if (operand->type->is_string() == node.type->is_string())
            made.push_back(operand);
    if (node.op == Op::literal || node.op == Op::string)
        return made;
    for (Value value : values) {
        if (node.type->is_string() != (value.number == 0 && !value.text.empty()))
            continue;
        Expr constant{node.type->is_string() ? Op::string : Op::literal, node.type};
        constant.number = cut(value.number, *node.type);
        constant.text =
            node.type->is_string() ? value.text : print_value({constant.number, ""}, *node.type);
        made.push_back(make(std::move(constant)));
    }
    return made;
}

/// The types of inner nodes follow from their operands: recomputed from the leaves up.
ExprPtr retyped(Expr node, const std::vector<Place>& places) {
    auto of = [&](size_t i) { return promoted(*node.operands[i], places); };
    if (node.op >= Op::negate && node.op <= Op::plus && node.op != Op::logical_not)
        node.type = of(0);
    else if (node.op == Op::shift_left || node.op == Op::shift_right)
        node.type = of(0);
    else if ((node.op >= Op::multiply && node.op <= Op::subtract) ||
             (node.op >= Op::bit_and && node.op <= Op::bit_or))
        node.type = common(of(0), of(1));
    else if (node.op == Op::conditional && !node.type->is_string())
        node.type = common(of(1), of(2));
    else if (node.op == Op::comma)
        node.type = node.operands[1]->type;
    else if (node.op == Op::size_of && !node.operands.empty())
        node.number = node.operands[0]->type->bytes;
    return make(std::move(node));
}

/// Calls `keep` with each variant of the tree in which one node became smaller, until it says yes.
bool try_smaller(const ExprPtr& node, const std::vector<Place>& places,
                 const std::function<bool(const ExprPtr&)>& keep) {
    for (const ExprPtr& one : smaller(*node))
        if (keep(one))
            return true;
    for (size_t i = 0; i < node->operands.size(); i++) {
        bool kept = try_smaller(node->operands[i], places, [&](const ExprPtr& one) {
            Expr copy = *node;
            copy.operands[i] = one;
            return keep(retyped(std::move(copy), places));
        });
        if (kept)
            return true;
    }
    return false;
}

std::string text_of(const Outcome& outcome, const Type& type) {
    return outcome.faults ? "division by zero" : print_value(outcome.value, type);
}

std::string expectation(const Clause& clause, const Outcome& expected, const Outcome& found) {
    const Type& type = clause.is_predicate ? kInt : *clause.expression->type;
    return "expected " + text_of(expected, type) + ", found " + text_of(found, type);
}

/// The clause, then clauses that read what it has written.
std::vector<Clause> with_readers(const World& world, const Clause& clause) {
    std::vector<Clause> clauses = {clause};
    for (unsigned i = 0; i < world.places.size(); i++) {
        const Place& place = world.places[i];
        bool is_written = (clause.expression->writes >> i & 1) != 0;
        if (!is_written || place.is_scratch || (place.elements == 0 && !place.keys.empty()))
            continue;
        for (unsigned k = 0; k < std::max(1u, place.elements); k++) {
            Expr node{Op::variable, place.type};
            node.place = i;
            Expr key{Op::literal, &kInt};
            key.number = k;
            key.text = std::to_string(k);
            if (place.elements != 0)
                node.operands = {make(std::move(key))};
            clauses.push_back({make(std::move(node)), false, {}});
        }
    }
    return clauses;
}

/// Whether the clause, in that world, comes out or leaves something different; says what.
bool differs(const World& world, const Clause& clause, std::string& text_ret) {
    std::vector<Clause> clauses = with_readers(world, clause);
    Trial trial = run_trial(world, clauses, {});
    if (!trial.error.empty() || trial.too_large != 0)
        return false;
    World now = world;
    for (size_t i = 0; i < clauses.size(); i++) {
        Outcome expected = evaluate(clauses[i], now);
        if (expected == trial.outcomes[i])
            continue;
        text_ret = (i == 0 ? "" : "then " + print(*clauses[i].expression, world.places) + ": ") +
                   expectation(clauses[i], expected, trial.outcomes[i]);
        return true;
    }
    return false;
}

} // namespace

Trial run_trial(const World& world, std::vector<Clause>& clauses, std::optional<translate::Speed> native) {
    Trial trial;
    for (;;) {
        unsigned first_line = 0;
        std::string text = print_program(world, clauses, &first_line);
        compiler::CompileOutput output = compile_text(text);
        if (output.dof) {
            trial.error = run_ways(*output.dof, clauses, native, trial);
            if (!trial.error.empty())
                trial.error += "\n" + text;
            return trial;
        }
        std::set<size_t> too_large;
        if (!find_too_large(output, first_line, too_large)) {
            trial.error = render_all(output.diagnostics, output.sources, {}, {});
            return trial;
        }
        for (size_t i : too_large)
            clauses[i] = zero_clause();
        trial.too_large += static_cast<unsigned>(too_large.size());
    }
}

std::string describe(const World& world, const std::vector<Clause>& clauses, size_t at,
                     const Outcome& expected, const Outcome& found) {
    // The clause that came out wrong, or the one before it that left something wrong.
    std::vector<World> before = {world};
    for (size_t i = 0; i < at; i++) {
        before.push_back(before.back());
        evaluate(clauses[i], before.back());
    }
    size_t culprit = at;
    std::string what;
    while (!differs(before[culprit], clauses[culprit], what)) {
        if (culprit-- > 0)
            continue;
        unsigned first_line = 0;
        return "difference, only in its program: " + print(*clauses[at].expression, world.places) +
               "\n  " + expectation(clauses[at], expected, found) + "\n" +
               print_program(world, clauses, &first_line);
    }
    Clause least = clauses[culprit];
    auto still_differs = [&](const ExprPtr& one) {
        Clause next = least;
        next.expression = one;
        if (!differs(before[culprit], next, what))
            return false;
        least = next;
        return true;
    };
    while (try_smaller(least.expression, world.places, still_differs))
        ;
    std::string text = std::string("difference: ") + (least.is_predicate ? "predicate " : "") +
                       print(*least.expression, world.places) + "\n  " + what;
    uint64_t used = least.expression->reads | least.expression->writes;
    for (unsigned i = 0; i < world.places.size(); i++)
        for (const auto& [keys, value] : before[culprit].values[i])
            if (used >> i & 1)
                text += "\n  " + std::string(world.places[i].type->name) + " " +
                        world.places[i].name + (keys.empty() ? "" : "[...]") + " = " +
                        print_value(value, *world.places[i].type);
    return text;
}

} // namespace daybreak::prop
