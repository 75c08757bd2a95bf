// SPDX-License-Identifier: Apache-2.0
//
// Consumer: carries out the statements of one ring's records, as dtrace(1) does.
#include "analyze/session/consumer.hpp"

#include "analyze/aggregate/sort.hpp"
#include "analyze/decode/statement_values.hpp"
#include "analyze/print/default_print.hpp"
#include "analyze/print/format_print.hpp"
#include "analyze/print/text.hpp"
#include "analyze/print/typed_print.hpp"
#include "analyze/session/fault_text.hpp"

#include <algorithm>

namespace daybreak::analyze {

namespace {

constexpr size_t kFlushBytes = 64u << 10;

} // namespace

void ConsumerShared::flush() {
    if (!out.empty())
        sink.write(out);
    out.clear();
}

void ConsumerShared::problem(const std::string& text) {
    if (problems++ >= kProblemsReported)
        return;
    flush();
    sink.message({Message::Kind::error, "", text, ""});
}

void ConsumerShared::note(const std::string& text) {
    flush();
    sink.message({Message::Kind::note, "", text, ""});
}

Consumer::Consumer(const formats::RingRecording& ring, const OutputOptions& options,
                   ConsumerShared& shared, uint64_t aggregation_bytes_max,
                   const WantedProbes& wanted)
    : ring_(&ring), shared_(shared), program_(ring, wanted),
      options_(options), context_{.options = options_,
                                  .names = shared.names,
                                  .field_was_cut = &shared.field_was_cut,
                                  .unwound_keys = ring.info.facts.aggregate == DBK_AGGREGATE_ENGINE
                                                      ? nullptr
                                                      : &unwound_keys_,
                                  .target_pid = shared.target_pid},
      table_(aggregation_bytes_max) {
    options_.apply(program_.options());
    // What the command line asks for holds whatever the program says.
    options_.quiet |= options.quiet;
    options_.flowindent |= options.flowindent;
    options_.temporal |= options.temporal;
    if (wanted.is_set())
        counted_ = program_.counted_variables();
    for (const std::string& text : program_.problems())
        shared_.problem(base::strprintf("ring %u: %s", unsigned{ring.ring_id}, text.c_str()));
}

void Consumer::extend(const formats::RingRecording& ring) {
    ring_ = &ring;
    program_.extend(ring);
    if (counted_)
        counted_ = program_.counted_variables();
}

void Consumer::problem(const EcbPlan& plan, const Statement* statement, const std::string& text) {
    std::string where =
        base::strprintf("ring %u: EPID %u", unsigned{ring_->ring_id}, plan.ecb->epid);
    if (statement)
        where += base::strprintf(" action %u", statement->action);
    shared_.problem(where + ": " + text);
}

/// The values of a statement; one that the record does not hold is a problem of the statement's.
std::vector<Value> Consumer::checked_values(const Statement& statement, base::ByteView record) {
    std::vector<Value> values = values_of(statement, record);
    if (values.size() < statement.fields.size())
        statement_problem_ = "a value lies outside its record";
    return values;
}

void Consumer::begin_line(const EcbPlan& plan, const MergedRecord& merged) {
    static const formats::ProbeInfo kNoProbe;
    const formats::ProbeInfo& probe = plan.probe ? *plan.probe : kNoProbe;
    std::string& out = shared_.out;
    if (!shared_.has_heading) {
        if (options_.flowindent)
            appendf(out, "%3s %-41s\n", "CPU", "FUNCTION");
        else if (shared_.testing)
            appendf(out, "%32s\n", "FUNCTION:NAME");
        else
            appendf(out, "%3s %6s %32s\n", "CPU", "ID", "FUNCTION:NAME");
        shared_.has_heading = true;
    }
    if (options_.flowindent) {
        const EcbPlan* next = merged.next_epid ? program_.find(merged.next_epid) : nullptr;
        FlowProbe flow{plan.ecb->epid, plan.ecb->probe_id, probe.provider, probe.function,
                       probe.name};
        std::string text =
            flow_[merged.cpu].text(flow, merged.next_epid, next ? next->ecb->probe_id : 0);
        appendf(out, "%3u %-41s ", unsigned{merged.cpu}, text.c_str());
        return;
    }
    if (!shared_.testing)
        appendf(out, "%3u %6u ", unsigned{merged.cpu}, plan.ecb->probe_id);
    appendf(out, "%32s ", (probe.function + ":" + probe.name).c_str());
}

void Consumer::consume(const MergedRecord& merged) {
    EcbPlan* plan = program_.find(merged.record.epid);
    if (!plan)
        return; // a record whose EPID the ring does not have is never yielded
    if (!plan->problem.empty()) {
        problem(*plan, nullptr, plan->problem);
        return;
    }
    if (plan->is_fault) {
        tell_fault(*plan, merged.record.bytes);
        return;
    }
    if (shared_.json)
        consume_json(*plan, merged);
    else
        consume_text(*plan, merged);
    if (shared_.out.size() >= kFlushBytes)
        shared_.flush();
}

void Consumer::consume_text(EcbPlan& plan, const MergedRecord& merged) {
    bool is_line = plan.is_line && !options_.quiet;
    if (is_line)
        begin_line(plan, merged);
    for (Statement& statement : plan.statements)
        if (statement.kind != StatementKind::aggregate)
            carry_out(plan, statement, merged.record.bytes);
    if (is_line && !options_.quiet)
        shared_.out += '\n';
}

void Consumer::carry_out(EcbPlan& plan, Statement& statement, base::ByteView record) {
    if (!statement.problem.empty()) {
        problem(plan, &statement, statement.problem);
        return;
    }
    statement_problem_.clear();
    auto variable = [&] { return variable_of(statement.numbers[0], record); };
    switch (statement.kind) {
    case StatementKind::trace:
        trace(statement, record);
        break;
    case StatementKind::printf:
        print_format(statement, record);
        break;
    case StatementKind::print:
        print_by_type(statement, record);
        break;
    case StatementKind::printa:
        print_aggregations(statement, record);
        break;
    case StatementKind::system:
    case StatementKind::freopen:
        run_outside(plan, statement, record);
        break;
    case StatementKind::ftruncate:
        shared_.flush();
        if (shared_.hooks.ftruncate)
            shared_.hooks.ftruncate();
        break;
    case StatementKind::aggregate:
        aggregate(plan, statement, record);
        break;
    case StatementKind::clear:
        if (!shared_.totals)
            table_.clear(variable());
        break;
    case StatementKind::denormalize:
        table_.normalize(variable(), 1);
        break;
    case StatementKind::normalize:
        table_.normalize(variable(), number_of(statement.numbers[1], record));
        break;
    case StatementKind::trunc:
        if (!shared_.totals)
            truncate_aggregation(table_, variable(),
                                 static_cast<int64_t>(number_of(statement.numbers[1], record)));
        break;
    case StatementKind::setopt:
        set_option(plan, statement, record);
        break;
    case StatementKind::snapshot:
        if (!options_.quiet && !shared_.json)
            tell_snapshot(statement, record);
        break;
    case StatementKind::exit:
        shared_.exit_status = static_cast<int>(number_of(statement.numbers[0], record));
        break;
    }
    if (!statement_problem_.empty())
        problem(plan, &statement, statement_problem_);
    if (shared_.field_was_cut && !std::exchange(shared_.reported_cut, true))
        shared_.note(base::strprintf("fields of more than %d characters are cut to that",
                                     options_.field_width_max));
}

void Consumer::tell_fault(const EcbPlan& plan, base::ByteView record) {
    std::array<uint64_t, 5> arguments{0, 0, UINT64_MAX, 0, 0};
    for (size_t i = 0; i < std::min(arguments.size(), plan.statements.size()); i++) {
        const std::vector<FieldPlan>& fields = plan.statements[i].fields;
        auto value = fields.empty() ? std::nullopt : value_of(fields[0], record);
        if (value)
            arguments[i] = static_cast<uint64_t>(value->signed_integer());
    }
    const EcbPlan* faulted = program_.find(static_cast<uint32_t>(arguments[0]));
    if (!plan.is_wanted && !(faulted && faulted->is_wanted))
        return;
    shared_.flush();
    shared_.sink.message(
        fault_message({arguments[0], arguments[1], static_cast<int64_t>(arguments[2]), arguments[3],
                       arguments[4]},
                      program_, shared_.testing));
}

void Consumer::tell_snapshot(const Statement& statement, base::ByteView record) {
    bool entered = number_of(statement.numbers[0], record) != 0;
    std::string text = entered ? statement.name : statement.name + " (too soon)";
    print_traced(shared_.out, {{ValueKind::string, 0, DBK_ACT_SNAPSHOT}, base::as_bytes(text)},
                 context_);
}

void Consumer::trace(const Statement& statement, base::ByteView record) {
    std::vector<Value> values = checked_values(statement, record);
    if (values.empty())
        return;
    print_traced(shared_.out, values[0], context_);
}

void Consumer::print_format(const Statement& statement, base::ByteView record) {
    auto printed = print_formatted(shared_.out, *statement.format,
                                   checked_values(statement, record), {}, context_);
    if (!printed.ok())
        statement_problem_ = printed.error().message();
}

void Consumer::print_by_type(const Statement& statement, base::ByteView record) {
    std::vector<Value> values = checked_values(statement, record);
    if (values.empty())
        return;
    if (!options_.quiet)
        shared_.out += ' ';
    print_typed(shared_.out, *statement.type, values[0].data, context_.names);
    if (options_.quiet)
        shared_.out += '\n';
}

void Consumer::run_outside(const EcbPlan& plan, const Statement& statement, base::ByteView record) {
    bool is_system = statement.kind == StatementKind::system;
    const auto& hook = is_system ? shared_.hooks.system : shared_.hooks.freopen;
    if (!hook) {
        if (!std::exchange(shared_.reported_system, true))
            shared_.note(
                is_system
                    ? "system() is not carried out when a recording is printed: replay -w does"
                    : "freopen() is not carried out when a recording is printed: replay -w does");
        return;
    }
    std::string text;
    auto printed =
        print_formatted(text, *statement.format, checked_values(statement, record), {}, context_);
    if (!printed.ok()) {
        statement_problem_ = printed.error().message();
        return;
    }
    shared_.flush();
    auto failed = hook(statement.is_restoring ? "" : text);
    if (failed)
        shared_.sink.message({Message::Kind::fault, "",
                              enabling_text(plan.ecb->epid, &plan) + ": couldn't " +
                                  (is_system ? "run \"" : "freopen \"") + text + "\": " + *failed,
                              ""});
}

void Consumer::set_option(const EcbPlan& plan, const Statement& statement, base::ByteView record) {
    std::vector<Value> values = checked_values(statement, record);
    if (values.empty() || values[0].type.kind != ValueKind::string)
        return;
    std::string name(values[0].text());
    bool has_value = values.size() > 1 && values[1].type.kind == ValueKind::string;
    std::string value = has_value ? std::string(values[1].text()) : "1";
    SetOption result = options_.set(name, value);
    if (result == SetOption::done)
        return;
    shared_.flush();
    // The newline is DTrace's: a blank line follows such an error.
    shared_.sink.message({Message::Kind::fault, "",
                          enabling_text(plan.ecb->epid, &plan) + ": couldn't set option \"" + name +
                              "\" to \"" + value + "\": " + set_option_text(result) + "\n",
                          ""});
}

} // namespace daybreak::analyze
