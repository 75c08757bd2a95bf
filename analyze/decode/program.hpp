// SPDX-License-Identifier: Apache-2.0
//
// RingProgram: what the records of a ring mean.
//
// The ring's metadata gives the fields of each ECB, its DOF images what the actions are that stored
// them.  Here both meet: every EPID becomes an EcbPlan, a list of D statements with the fields each
// one reads.  Nothing of either is trusted: a plan refers only to fields that the ECB has, and an
// EPID whose DOF is missing or contradicts its ECB has a plan that says so.
//
//     EPID --META_ECBS--> fields -+
//       '--ECBDESC--> actions ----+--> statements: printf(fields 0 1), aggregate(key 2, value 3)
//       ...
#pragma once

#include "analyze/aggregate/table.hpp"
#include "analyze/decode/flat_aggregation.hpp"
#include "analyze/decode/wanted_probes.hpp"
#include "analyze/values/format.hpp"
#include "analyze/values/type_description.hpp"
#include "formats/dof/dof_reader.hpp"
#include "formats/segment/recording.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace daybreak::analyze {

/// ECBDESC's uarg of the clause that a consumer adds to dtrace:::ERROR for its own messages.
constexpr uint64_t kErrorEnabling = 1;

/// A field of the ECB and what its bytes mean.
struct FieldPlan {
    formats::FieldInfo info{};
    ValueType type;
};

/// A number that a statement needs: recorded, or the constant its DIF object returns.
struct NumberPlan {
    std::optional<FieldPlan> field;
    uint64_t constant = 0;
};

enum class StatementKind : uint8_t {
    trace,     ///< fields[0] as it is: trace(), stack(), sym(), tracemem() ...
    printf,    ///< fields by format
    printa,    ///< the aggregations in numbers, by format if there is one
    system,    ///< text for a shell: fields by format
    freopen,   ///< name of a file: fields by format
    ftruncate, ///< of standard output
    aggregate, ///< fields are the key
    clear,
    normalize,
    denormalize,
    trunc,    ///< numbers[0] is the variable, [1] the factor or count
    setopt,   ///< fields[0] is the name, fields[1] the value if it is a string
    exit,     ///< numbers[0]
    print,    ///< fields[0] by `type`
    snapshot, ///< numbers[0] is what was entered, 0: it was too soon
};

struct Statement {
    StatementKind kind = StatementKind::trace;
    uint32_t action = 0; ///< index of its last action in the ECB's list
    std::vector<FieldPlan> fields;
    std::vector<NumberPlan> numbers;
    std::optional<Format> format;
    std::optional<TypeDescription> type;
    std::string name;          ///< snapshot(): of the trigger
    bool is_restoring = false; ///< freopen(""): standard output again
    std::string problem;       ///< why it cannot be carried out; empty when it can
    // Of an aggregation:
    std::optional<FieldPlan> value, increment;
    AggregationLayout layout;
    uint32_t fixed_bytes = 0;              ///< of its records
    uint32_t source = 0;                   ///< numbers the aggregating actions of the ring
    std::optional<uint32_t> layout_number; ///< in the ring's table, once interned
    std::optional<FlatAggregation> flat;   ///< once interned, when copying is enough
};

struct EcbPlan {
    const formats::EcbInfo* ecb = nullptr;
    const formats::ProbeInfo* probe = nullptr; ///< may be null
    bool is_planned = false;
    bool is_wanted = true; ///< false: of a probe that was not asked for; it has no statements
    std::vector<Statement> others; ///< those it would have; the engine may have counted for them
    std::vector<Statement> statements; ///< ascending by action
    /// Whether a record is a line of output: it holds more than what was aggregated and captured.
    bool is_line = false;
    bool has_aggregation = false;
    /// Whether a record does nothing but add to aggregations, if that: nothing is printed for it.
    bool only_aggregates = false;
    bool is_fault = false; ///< of the consumer's own clause of dtrace:::ERROR: a message, no output
    std::string problem;   ///< why the statements are not known; empty when they are

    Statement* find_aggregation(uint32_t action);
};

/// The aggregation variables in which clauses of the probes that were asked for count, and those in
/// which clauses of other probes do.
struct CountedVariables {
    std::set<uint32_t> wanted, others;
};

class RingProgram {
public:
    /// Reads the ring's DOF and plans its ECBs; `ring` must outlive the program.
    explicit RingProgram(const formats::RingRecording& ring, const WantedProbes& wanted = {});
    /// Adds the ECBs that the ring got since; `ring` must outlive the program.
    void extend(const formats::RingRecording& ring);

    /// Returns the plan, or null for an EPID that the ring does not have.  It is made when it is
    /// first asked for, and lives as long as the program.
    EcbPlan* find(uint32_t epid) {
        std::optional<size_t> at = index_.find(epid);
        if (!at)
            return nullptr;
        EcbPlan* plan = &plans_[*at];
        if (!plan->is_planned)
            make_plan(*plan);
        return plan;
    }
    /// The clause of an ECB and the program it stands in, or null.
    const formats::DofEcb* clause_of(const formats::EcbInfo& ecb) const;
    const formats::DofProgram* program_of(const formats::EcbInfo& ecb) const;
    CountedVariables counted_variables();
    /// The functions of the aggregation variables of all images.
    const AggregationFunctions& functions() const { return functions_; }
    /// Returns whether any clause reads or changes aggregations, or options, while records are
    /// consumed: what it sees depends on the records before it.
    bool reads_aggregations() const;
    /// Returns the name of an aggregation variable, "" when no image says it.
    std::string aggregation_name(uint32_t variable) const;
    /// The images that could be read, by index.
    const std::map<uint16_t, formats::DofImage>& images() const { return images_; }
    /// Why images could not be read: "image 0: ...".
    const std::vector<std::string>& problems() const { return problems_; }
    /// Returns the options of all images, in order.
    std::vector<formats::DofOption> options() const;
    /// Returns the process that it was recorded with by -c or -p; 0: none.
    uint32_t target() const;

private:
    void read_images();
    void make_plan(EcbPlan& plan);
    void plan_statements(EcbPlan& plan);
    static void pass_over(EcbPlan& plan);
    void collect_functions(const formats::DofProgram& program);

    const formats::RingRecording& ring_;
    const WantedProbes wanted_;
    std::map<uint16_t, formats::DofImage> images_;
    /// By image and section.
    std::map<std::pair<uint16_t, uint32_t>, const formats::DofEcb*> clauses_;
    std::vector<std::string> problems_;
    uint32_t next_source_ = 0;
    std::vector<EcbPlan> plans_;
    formats::EpidIndex index_; // in plans_
    AggregationFunctions functions_;
};

/// Returns what a DIF object returns if that does not depend on anything: it is "setx; ret" or so.
std::optional<uint64_t> constant_of(const formats::Difo& difo);

} // namespace daybreak::analyze
