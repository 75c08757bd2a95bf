// SPDX-License-Identifier: Apache-2.0
//
// Consumer: carries out the statements of one ring's records, as dtrace(1) does.
//
// It owns what DTrace's consumer keeps: the options in force, the aggregations, the flow of each
// CPU.  Text is appended to a buffer that several consumers share; the caller flushes it.
#pragma once

#include "analyze/aggregate/table.hpp"
#include "analyze/decode/merge.hpp"
#include "analyze/decode/program.hpp"
#include "analyze/print/context.hpp"
#include "analyze/print/flow.hpp"
#include "analyze/print/sink.hpp"
#include "analyze/print/user_stack.hpp"
#include "analyze/session/answer.hpp"

#include <functional>
#include <map>
#include <span>
#include <string>

namespace daybreak::base {
class JsonObject;
}

namespace daybreak::analyze {

/// How many broken statements are reported; the rest is counted.
constexpr uint64_t kProblemsReported = 20;

/// What leaves the analyzers while they print.  Empty functions: the action is not carried out.
struct ConsumerHooks {
    /// Returns why it could not be done.
    using Outcome = std::optional<std::string>;
    /// system(): set for programs that the user runs now, for a recording's only when asked to.
    std::function<Outcome(const std::string& command)> system;
    /// freopen(): "" is standard output again.
    std::function<Outcome(const std::string& file)> freopen;
    /// ftruncate(): of what standard output is now.
    std::function<void()> ftruncate;
};

/// State that all rings of a report share.
struct ConsumerShared {
    Sink& sink;
    const AddressNames& names;
    const ConsumerHooks& hooks;
    bool testing = false;    ///< no CPU and ID columns
    bool json = false;       ///< lines of JSON instead of text
    bool totals = false;     ///< clear() and trunc() do nothing
    uint64_t target_pid = 0; ///< as ReportOptions
    std::string out;         ///< text that the sink has not seen yet
    bool has_heading = false;
    uint64_t problems = 0; ///< statements that could not be carried out
    bool reported_system = false;
    bool field_was_cut = false, reported_cut = false;
    std::optional<int> exit_status;

    void flush();
    /// Reports a problem, the first few times.
    void problem(const std::string& text);
    void note(const std::string& text);
};

class Consumer {
public:
    /// All of these must outlive the consumer.
    Consumer(const formats::RingRecording& ring, const OutputOptions& options,
             ConsumerShared& shared, uint64_t aggregation_bytes_max = kAggregationBytesMax,
             const WantedProbes& wanted = {});

    /// The ring has got more ECBs: from here on `ring` is the one that is meant.  It must outlive
    /// the consumer, and so must those before it.
    void extend(const formats::RingRecording& ring);

    /// Counts what the record aggregated.  dtrace(1) takes a snapshot of aggregations before it
    /// reads records, so the caller counts all records of a firing before it consumes the first.
    void count(const MergedRecord& merged);
    /// The same of a record whose plan is at hand, with keys of records that were counted before.
    void count(EcbPlan& plan, base::ByteView record, RecentKeys* recent = nullptr) {
        for (Statement& statement : plan.statements)
            if (statement.kind == StatementKind::aggregate &&
                !count_flat(statement, record, recent))
                aggregate(plan, statement, record);
    }
    /// Returns whether the statement's key and value are copies of what a record has.
    bool is_flat(Statement& statement) { return ready(statement) && statement.flat; }
    /// Returns whether records of this ECB are to be consumed.
    bool is_consumed(const formats::EcbInfo& ecb) {
        const EcbPlan* plan = program_.find(ecb.epid);
        return plan && (plan->is_wanted || plan->is_fault);
    }
    /// Adds what was counted elsewhere for a statement that is flat.
    void add(Statement& statement, base::ByteView key, std::span<const uint64_t> cells);
    /// Prints a record, and what it does to aggregations and options.
    void consume(const MergedRecord& merged);
    /// Adds a snapshot that the engine counted.
    void merge(const formats::AggregationSnapshot& snapshot);
    /// Appends the aggregations that no printa() has shown.
    void print_unprinted();

    /// Adds the aggregations as data, printed or not.
    void add_answers(std::vector<Answer>& answers) const;

    /// Returns the aggregations in which other probes count than those asked for, too: "@a, @b".
    std::string shared_aggregations() const;

    const OutputOptions& options() const { return options_; }
    const AddressNames& names() const { return shared_.names; }
    RingProgram& program() { return program_; }
    AggregationTable& aggregations() { return table_; }
    /// Values that the table had no room for.
    uint64_t refused() const { return refused_; }

private:
    void consume_text(EcbPlan& plan, const MergedRecord& merged);
    void begin_line(const EcbPlan& plan, const MergedRecord& merged);
    void carry_out(EcbPlan& plan, Statement& statement, base::ByteView record);
    void tell_fault(const EcbPlan& plan, base::ByteView record);
    void tell_snapshot(const Statement& statement, base::ByteView record);
    void trace(const Statement& statement, base::ByteView record);
    void print_format(const Statement& statement, base::ByteView record);
    void print_by_type(const Statement& statement, base::ByteView record);
    void print_aggregations(const Statement& statement, base::ByteView record);
    void run_outside(const EcbPlan& plan, const Statement& statement, base::ByteView record);
    void set_option(const EcbPlan& plan, const Statement& statement, base::ByteView record);
    bool count_flat(const Statement& statement, base::ByteView record, RecentKeys* recent) {
        const std::optional<FlatAggregation>& flat = statement.flat;
        if (!flat)
            return false;
        if (!recent || RecentKeys::words_of(record) > kRecentWords)
            return count_key(statement, record, nullptr, 0);
        size_t slot = 0,
               place = recent->find(statement, statement.source, flat->mask(), record, slot);
        if (place == RecentKeys::kNowhere) [[unlikely]]
            return count_key(statement, record, recent, slot);
        if (statement.layout.function.kind == DTRACEAGG_COUNT) [[likely]]
            table_.count_at(place);
        else
            table_.update_at(place, *statement.layout_number, flat->value(record),
                             flat->increment(record));
        return true;
    }
    bool count_key(const Statement& statement, base::ByteView record, RecentKeys* recent,
                   size_t slot);
    void aggregate(EcbPlan& plan, Statement& statement, base::ByteView record);
    void merge_entry(const formats::AggEntryView& entry);
    bool make_key(const Statement& statement, base::ByteView bytes);
    bool ready(Statement& statement);
    void append_key(const Value& value);
    void begin_json(base::JsonObject& object, const char* kind) const;
    void consume_json(EcbPlan& plan, const MergedRecord& merged);
    void put_json(const AggregationEntry& entry);
    void put_json(std::span<const uint32_t> variables);
    void put_unprinted_json();
    std::vector<Value> checked_values(const Statement& statement, base::ByteView record);
    void problem(const EcbPlan& plan, const Statement* statement, const std::string& text);
    void aggregation_full();

    const formats::RingRecording* ring_;
    ConsumerShared& shared_;
    RingProgram program_;
    OutputOptions options_;
    std::optional<CountedVariables> counted_; // empty: all are wanted
    PrintContext context_;
    AggregationTable table_;
    AggregationKey key_;
    UnwoundKeys unwound_keys_;
    KeyTimes key_times_;
    FlatAggregation::Key flat_key_;
    std::map<uint16_t, FlowIndent> flow_; // by CPU
    std::string statement_problem_;       // set by what carries out a statement
    uint64_t refused_ = 0;                // values that the table had no room for
};

} // namespace daybreak::analyze
