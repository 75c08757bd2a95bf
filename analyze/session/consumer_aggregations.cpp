// SPDX-License-Identifier: Apache-2.0
//
// Consumer: what records and snapshots do to its aggregations, and printa().
#include "analyze/session/consumer.hpp"

#include "analyze/decode/statement_values.hpp"
#include "analyze/print/aggregation_print.hpp"

#include <algorithm>
#include <cstring>
#include <span>

namespace daybreak::analyze {

void Consumer::count(const MergedRecord& merged) {
    EcbPlan* plan = program_.find(merged.record.epid);
    if (!plan || !plan->has_aggregation || ring_->info.facts.aggregate == DBK_AGGREGATE_ENGINE)
        return;
    count(*plan, merged.record.bytes);
}

bool Consumer::ready(Statement& statement) {
    if (statement.layout_number)
        return true;
    statement.layout_number = table_.intern(statement.layout);
    if (statement.layout_number && statement.problem.empty())
        statement.flat = FlatAggregation::of(statement);
    return statement.layout_number.has_value();
}

/// As dtrace(1): all addresses of a function, or of a module, are one key.  A stack with recorded
/// bytes is what these lead to.
void Consumer::append_key(const Value& value) {
    ValueKind kind = value.type.kind;
    if (!value.registers.empty())
        return key_.append(value.type, unwound_keys_.key_of(value, shared_.names));
    bool is_user = kind == ValueKind::usymbol || kind == ValueKind::umodule;
    size_t words = value.data.size() / sizeof(uint64_t);
    if (words == 0 || words > 2 || (is_user && options_.noresolve) ||
        (!is_user && kind != ValueKind::symbol && kind != ValueKind::module))
        return key_.append(value.type, value.data);
    uint64_t key[2] = {}; // a process and an address in it, or the address
    std::memcpy(key, value.data.data(), words * sizeof(uint64_t));
    const AddressNames& names = shared_.names;
    uint64_t pid = words == 2 ? key[0] : 0;
    uint64_t& address = key[words - 1];
    address = kind == ValueKind::symbol    ? names.symbol_start(address)
              : kind == ValueKind::module  ? names.module_start(address)
              : kind == ValueKind::usymbol ? names.user_symbol_start(pid, address, key_times_)
                                           : names.user_module_start(pid, address, key_times_);
    key_.append(value.type, std::as_bytes(std::span(key, words)));
}

bool Consumer::make_key(const Statement& statement, base::ByteView bytes) {
    key_.clear();
    for (const FieldPlan& field : statement.fields) {
        auto value = value_of(field, bytes);
        if (!value) {
            statement_problem_ = "a key lies outside its record";
            return false;
        }
        append_key(*value);
    }
    return true;
}

void Consumer::aggregation_full() {
    if (refused_++ == 0)
        shared_.note("aggregations do not fit into memory: further keys are not counted");
}

/// Counts a record by its key; `recent`, when there is one, knows it in that slot from then on.
bool Consumer::count_key(const Statement& statement, base::ByteView record, RecentKeys* recent,
                         size_t slot) {
    const FlatAggregation& flat = *statement.flat;
    if (!flat.read_key(record, flat_key_))
        return false;
    size_t place = table_.place(*statement.layout_number, statement.source, flat_key_.bytes());
    if (place == AggregationTable::kNowhere)
        return false;
    if (recent)
        recent->put(slot, statement, flat.mask(), record, place);
    table_.update_at(place, *statement.layout_number, flat.value(record), flat.increment(record));
    return true;
}

void Consumer::aggregate(EcbPlan& plan, Statement& statement, base::ByteView record) {
    statement_problem_ = statement.problem;
    if (!statement_problem_.empty() || !ready(statement) || !make_key(statement, record)) {
        problem(plan, &statement, statement_problem_);
        return;
    }
    int64_t value = 0, increment = 1;
    if (statement.value)
        if (auto recorded = value_of(*statement.value, record))
            value = recorded->signed_integer();
    if (statement.increment)
        if (auto recorded = value_of(*statement.increment, record))
            increment = recorded->signed_integer();
    if (!table_.update(*statement.layout_number, statement.source, key_.bytes(), value, increment))
        aggregation_full();
}

void Consumer::add(Statement& statement, base::ByteView key, std::span<const uint64_t> cells) {
    if (!ready(statement) || !table_.merge(*statement.layout_number, statement.source, key, cells))
        aggregation_full();
}

void Consumer::merge(const formats::AggregationSnapshot& snapshot) {
    AddressNames::Moment any_time(shared_.names, nullptr, 0);
    formats::AggregationCursor cursor = formats::entries_of(snapshot, *ring_);
    formats::AggEntryView entry;
    while (cursor.next(entry))
        merge_entry(entry);
}

std::string Consumer::shared_aggregations() const {
    std::string names;
    for (uint32_t variable : counted_ ? counted_->wanted : std::set<uint32_t>())
        if (counted_->others.contains(variable))
            names += (names.empty() ? "@" : ", @") + program_.aggregation_name(variable);
    return names;
}

void Consumer::merge_entry(const formats::AggEntryView& entry) {
    EcbPlan* plan = program_.find(entry.epid);
    if (!plan) {
        shared_.problem(base::strprintf("ring %u: an aggregation of EPID %u, which the ring does "
                                        "not have",
                                        unsigned{ring_->ring_id}, entry.epid));
        return;
    }
    Statement* statement = plan->find_aggregation(entry.action);
    if (!plan->problem.empty() || !statement || !statement->problem.empty()) {
        problem(*plan, statement,
                !plan->problem.empty() ? plan->problem
                : statement            ? statement->problem
                                       : "an aggregation that the clause does not have");
        return;
    }
    if (counted_ && !counted_->wanted.contains(statement->layout.variable))
        return;
    statement_problem_.clear();
    if (!ready(*statement) || !make_key(*statement, entry.key)) {
        problem(*plan, statement, statement_problem_);
        return;
    }
    size_t expected = *statement->layout.function.cell_count();
    if (entry.cell_count() != expected) {
        problem(*plan, statement,
                base::strprintf("%zu cells, expected %zu", entry.cell_count(), expected));
        return;
    }
    std::vector<uint64_t> cells(expected);
    for (size_t i = 0; i < expected; i++)
        cells[i] = entry.cell(i);
    if (!table_.merge(*statement->layout_number, statement->source, key_.bytes(), cells))
        aggregation_full();
}

void Consumer::print_unprinted() {
    AddressNames::Moment of_keys(shared_.names, key_times_);
    if (shared_.json)
        return put_unprinted_json();
    analyze::print_unprinted(shared_.out, table_, context_);
}

void Consumer::add_answers(std::vector<Answer>& answers) const {
    AddressNames::Moment of_keys(shared_.names, key_times_);
    analyze::add_answers(answers, table_, context_,
                         [this](uint32_t variable) { return program_.aggregation_name(variable); });
}

void Consumer::print_aggregations(const Statement& statement, base::ByteView record) {
    AddressNames::Moment of_keys(shared_.names, key_times_);
    std::vector<uint32_t> variables;
    for (const NumberPlan& number : statement.numbers)
        variables.push_back(variable_of(number, record));
    if (shared_.json)
        return put_json(variables);
    const Format* format = statement.format ? &*statement.format : nullptr;
    auto printed =
        print_printa(shared_.out, table_, variables, program_.functions(), format, context_);
    if (!printed.ok())
        statement_problem_ = printed.error().message();
}

} // namespace daybreak::analyze
