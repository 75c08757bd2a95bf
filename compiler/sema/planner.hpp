// SPDX-License-Identifier: Apache-2.0
//
// Planning a clause: its predicate and statements into typed actions.
#pragma once

#include "compiler/diagnostics/messages/actions.hpp"
#include "compiler/sema/checker.hpp"
#include "compiler/sema/format.hpp"

namespace daybreak::compiler {

/// Whether the action leaves something in the clause's record.  DTrace lets system() and freopen()
/// pass here, and then loses them.
bool is_recording(const PlannedAction& action);

struct PlannedClause {
    TypedPtr predicate; ///< null: none
    std::vector<PlannedAction> actions;
};

class ClausePlanner {
public:
    explicit ClausePlanner(SemaContext& context)
        : context_(context), types_(context.types), symbols_(context.symbols), checker_(context) {}

    /// Plans a clause; what is wrong is reported, the rest is planned.
    PlannedClause plan(const Clause& clause);
    /// Makes the aggregation known that a statement of a left-out clause aggregates in.  Returns a
    /// clause that counts in it, for a probe that never fires; nothing, when it is known or none.
    std::optional<PlannedClause> plan_empty(const Statement& statement);
    /// Checks what option context captures as if a clause of the context's probe recorded.
    void check_context();

private:
    // planner.cpp
    void predicate(const Clause& clause);
    void statement(const Statement& statement);
    void action(const Expr& expression, const Call& call, ActionName action);
    void change_aggregation(const Expr& expression, const Call& call, ActionName action);
    bool count_arguments(const Expr& expression, const Call& call, size_t least, size_t most);
    /// Reports that argument `index` does not suit its parameter.
    void wrong_argument(const Call& call, size_t index, std::string_view prototype,
                        const TypedPtr& value, Tag tag = Tag::D_PROTO_ARG);
    void pcap(const Expr& expression, const Call& call);
    void trace(const Expr& expression, const Call& call);
    void exit(const Expr& expression, const Call& call);
    bool stack_argument(const Expr& expression, const Call& call, ActionName action,
                        PlannedAction& planned);
    void tracemem(const Expr& expression, const Call& call);
    bool symbol_argument(const Expr& expression, const Call& call, ActionName action,
                         PlannedAction& planned);
    void setopt(const Expr& expression, const Call& call);
    std::optional<uint64_t> positive_constant(const Expr& argument, Tag tag, std::string text,
                                              uint64_t least, uint64_t most);

    // plan_actions.cpp
    void destructive(const Expr& expression, const Call& call, ActionName action);
    void print(const Expr& expression, const Call& call);
    void ftruncate(const Expr& expression, const Call& call);
    void snapshot(const Expr& expression, const Call& call);

    // plan_capture.cpp
    void capture(const Expr& expression, const Call& call);
    void capture_standard(const Expr& expression);
    /// Captures a value; with `once` not when the clause records it already.
    bool capture_value(const Expr& source, bool once);
    bool capture_stack(const Expr& source, const Call& call, ActionName action,
                       PlannedAction& planned);
    bool is_recorded(const PlannedAction& wanted) const;
    bool leaves_record() const;
    /// Captures what option context says, at the end of a clause that records.
    void add_context();

    // plan_aggregation.cpp
    void aggregate(const Expr& expression, const Assign& assign);
    bool increment(const Call& call, uint32_t kind, std::optional<PlannedAction>& weight);
    bool aggregation_key(const Expr& key, PlannedAction& planned, TypeId& type);
    bool match_aggregation(const Aggregation& target, const Span& span, AggregationInfo& info,
                           std::vector<PlannedAction>& keys, const std::vector<TypeId>& types);
    std::optional<uint64_t> quantize_parameters(const Expr& expression, const Call& call,
                                                uint32_t kind, const AggregationInfo& info);
    std::optional<uint64_t> lquantize(const Expr& expression, const Call& call,
                                      const AggregationInfo& info);
    std::optional<uint64_t> llquantize(const Expr& expression, const Call& call,
                                       const AggregationInfo& info);
    std::optional<int64_t> quantize_constant(const Call& call, Tag tag,
                                             const messages::QuantizeParameter& parameter);
    std::optional<uint64_t> mismatch(const Span& span, Tag tag, std::string text);
    bool llquantize_fits(const Span& span, const uint64_t (&values)[4]);
    struct AggregationTags {
        const char* name;
        Tag length, argument, undefined;
    };
    AggregationInfo* aggregation_argument(const Call& call, size_t index,
                                          const AggregationTags& tags);
    void library_aggregation(const Expr& expression, const Call& call, uint32_t library_action,
                             bool takes_value, Tag scalar_tag, const AggregationTags& tags);
    PlannedAction aggregation_id(const AggregationInfo& info, const Span& span);

    // plan_speculation.cpp
    void speculative(const Expr& expression, const Call& call, ActionName action);
    /// Checks the actions from `first` on, those of one statement, against those before.
    void check_order(size_t first, const Span& span);

    // plan_printf.cpp
    void printf(const Expr& expression, const Call& call, uint32_t kind, const char* name);
    void printa(const Expr& expression, const Call& call);
    std::optional<Format> format_argument_of(const Expr& expression, const Call& call,
                                             const char* name);
    /// Of which action a conversion is, which one of its format, and of which argument.
    struct ConversionPlace {
        const char* action;
        size_t number, argument;
        Span span;
    };
    bool check_conversion(FormatConversion& conversion, const ConversionPlace& place, TypeId type,
                          bool is_stack, const std::string& shown);
    std::string key_type_name(const AggregationInfo& info, size_t key) const;
    bool printf_argument(const Call& call, size_t& next, FormatConversion& conversion,
                         const char* name, size_t number, std::vector<PlannedAction>& planned);
    bool printa_format(Format& format, const AggregationInfo& info, const Span& span);

    void add(PlannedAction planned);
    PlannedAction recorded(uint32_t kind, TypedPtr value, const Expr& source);
    void error(Tag tag, const Span& span, const char* format, ...)
        __attribute__((format(printf, 4, 5)));
    /// The same with a text of compiler/diagnostics/messages and, for a person, what to do.
    void refuse(Tag tag, const Span& span, std::string text, std::string hint = {});

    SemaContext& context_;
    TypeTable& types_;
    SymbolTable& symbols_;
    ExprChecker checker_;
    PlannedClause* clause_ = nullptr;
    uint32_t statement_ = 0;
};

} // namespace daybreak::compiler
