// SPDX-License-Identifier: Apache-2.0
//
// Checking expressions: the syntax tree into typed expressions.
//
// check() reports what is wrong and returns null; callers pass null on without a word.  Expressions
// of one clause are checked once per probe description when they look at args[].
#pragma once

#include "compiler/diagnostics/diagnostic.hpp"
#include "compiler/diagnostics/messages/identifiers.hpp"
#include "compiler/sema/ir.hpp"
#include "compiler/sema/recorded_state.hpp"
#include "compiler/sema/symbols.hpp"
#include "compiler/types/declare.hpp"

#include <set>
#include <vector>

namespace daybreak::compiler {

/// Option context: what every clause that records also captures.
struct ContextOption {
    OptionPlace place;
    std::vector<ExprPtr> expressions;
    bool with_aggregations = false; ///< option aggregate=record: what aggregates records, too
    bool is_checked = false;        ///< by a clause
};

/// What the parts of sema share during one compilation.
struct SemaContext {
    TypeTable& types;
    SymbolTable& symbols;
    Declarer& declarer;
    DiagnosticSink& sink;
    bool has_kernel = false; ///< kernel types can be asked for

    const RecordedState* recorded = nullptr; ///< of a replay; null: there is a machine
    std::set<uint32_t> slots_needed;         ///< that the clause reads, and not every firing has
    const ProbeDescription* probe = nullptr; ///< whose args[] are meant; null: none
    bool saw_args = false;                   ///< the clause's code depends on the probe
    bool in_library = false;                 ///< what is declared is the system's library
    ContextOption* context = nullptr;        ///< option context; null: it is not set
};

/// Says how to make kernel types available, as a hint.
extern const char* const kKernelHint;

class ExprChecker {
public:
    explicit ExprChecker(SemaContext& context)
        : context_(context), types_(context.types), symbols_(context.symbols) {}

    /// Returns the typed expression, or null after reporting.
    TypedPtr check(const Expr& expression);
    /// The same for an expression whose value is not used: x++ becomes an assignment.
    TypedPtr check_effect(const Expr& expression);
    /// Returns the value of an integer constant expression, or nothing, reporting only what is
    /// wrong with it as an expression.
    std::optional<int64_t> check_constant(const Expr& expression);
    /// The same for an expression of integer constants and inlines; nothing for any other.
    std::optional<int64_t> literal_value(const Expr& expression);

    /// Converts to a type it is assignable to; folds constants.
    TypedPtr convert(TypedPtr value, TypeId to);
    /// Arrays become pointers to their first element; char arrays stay what they are.
    TypedPtr decay(TypedPtr value);
    /// The same, and strings become pointers to their first character.
    TypedPtr as_pointer(TypedPtr value);
    /// Whether `value` is the integer constant 0, which any pointer and string accepts.
    static bool is_zero(const TypedPtr& value) { return value->is_constant() && value->value == 0; }
    TypedPtr make_constant(uint64_t value, TypeId type, const Span& span) const;
    /// Checks the keys of an associative array or aggregation; empty when one is wrong.
    std::optional<std::vector<TypedPtr>> check_keys(const std::vector<ExprPtr>& keys);
    /// Whether values of the type can be keys: scalars, strings, structs.
    bool is_key_type(TypeId type) const;
    /// Reports, unless every key suits its type; converts the keys.
    bool match_keys(const Span& span, const std::string& name, const std::vector<TypeId>& types,
                    std::vector<TypedPtr>& keys);

    /// Returns what args[] of one probe has; nothing, unreported, when the kernel's types, which
    /// say it, are not there or do not have it.
    std::optional<std::vector<ProbeArgument>> arguments_of(const ProbeDescription& probe);

    std::vector<ProbeArgument> call_arguments(const ProbeDescription& probe);

    /// Returns how many arguments the probes of a description have (arg0, arg1, ...); nothing when
    /// that is not known.  The program is not bound to the kernel by it.
    std::optional<size_t> argument_count(const ProbeDescription& probe);

    /// Checks a provider's declaration and adds its probes, or reports.
    void declare_provider(const Provider& syntax);
    /// Checks a translator's declaration and adds it, or reports.
    void declare_translator(const Translator& syntax);
    /// Whether the value is translated data that may be given to an object of that type.
    bool is_translated_to(const TypedPtr& value, TypeId type) const;

    TypedPtr error(Tag tag, const Span& span, const char* format, ...)
        __attribute__((format(printf, 4, 5)));
    /// The same with a text of compiler/diagnostics/messages and, for a person, what to do.
    TypedPtr refuse(Tag tag, const Span& span, std::string text, std::string hint = {});
    TypedPtr error_with_hint(Tag tag, const Span& span, std::string text, std::string hint);
    /// The same for a type that is not complete: when the kernel's types, where it might have been
    /// defined, could not be read, it is that which is wrong, D_TYPE_ERR.
    TypedPtr refuse_incomplete(Tag tag, const Span& span, TypeId type, std::string text,
                               std::string hint = {});
    /// Returns a predicate that also asks whether the firing has the slots that are needed.
    TypedPtr with_needed_slots(TypedPtr predicate, const Span& span) const;
    /// Returns the recorded value of an expression; null when it is not one.
    TypedPtr recorded_value(const Expr& expression);
    /// Returns an address as sym() and its kin are to have it: in a replay of several recordings
    /// that which stands for what is there.  Null: refused, as the process is not known.
    TypedPtr named_address(TypedPtr address, bool is_of_process);
    /// Returns whether the recording has an expression at the clause's probe, which the clause
    /// needs.
    bool needs_recorded(const std::string& expression);
    /// Reports what a recording does not have at the clause's probe.
    TypedPtr not_recorded(const Span& span, const std::string& what);
    /// Reports a function that does not exist.
    TypedPtr undefined_function(const Span& span, const std::string& name);
    /// What a value is, as messages show it: its type, or "aggregation" and the like.
    std::string type_name(const TypedPtr& value) const;

private:
    bool is_literal(const Expr& expression) const;
    TypedPtr check_node(const Expr&, const IntegerLiteral&);
    TypedPtr check_node(const Expr&, const FloatLiteral&);
    TypedPtr check_node(const Expr&, const StringLiteral&);
    TypedPtr check_node(const Expr&, const Identifier&);
    TypedPtr check_node(const Expr&, const Aggregation&);
    TypedPtr check_node(const Expr&, const Index&);
    TypedPtr check_node(const Expr&, const Call&);
    TypedPtr check_node(const Expr&, const Member&);
    TypedPtr check_node(const Expr&, const Unary&);
    TypedPtr check_node(const Expr&, const Binary&);
    TypedPtr check_node(const Expr&, const Assign&);
    TypedPtr check_node(const Expr&, const Conditional&);
    TypedPtr check_node(const Expr&, const Cast&);
    TypedPtr check_node(const Expr&, const SizeofType&);
    TypedPtr check_node(const Expr&, const SizeofExpr&);
    TypedPtr check_node(const Expr&, const Offsetof&);
    TypedPtr check_node(const Expr&, const Stringof&);
    TypedPtr check_node(const Expr&, const Xlate&);

    // replays (check_recorded.cpp)
    bool is_replayed() const { return context_.recorded && context_.probe && !context_.in_library; }
    /// Whose values an expression has: the program's variables, the machine's state.
    struct Owners {
        bool program = false, machine = false;
    };
    void find_owners(const Expr& expression, Owners& owners) const;
    void find_owner(const Identifier& name, Owners& owners) const;
    bool is_known_always(const Expr& expression, bool exact) const;
    bool is_made_of_known(const Expr& expression, bool exact) const;
    TypedPtr replay_word(uint32_t index, const Span& span) const;
    bool is_of_replayed_cpu(const Member& member) const;
    TypedPtr replayed_cpu(const Expr& expression, const Member& member);
    TypedPtr known_in_replay(const Expr& expression, TypedPtr value);

    // identifiers (check_names.cpp)
    TypedPtr check_variable(const Expr& expression, const Identifier& name);
    TypedPtr check_inline(const Span& span, const InlineInfo& definition,
                          const std::vector<ExprPtr>* arguments);
    TypedPtr undefined(const Span& span, const Identifier& name, bool is_assigned = false);
    bool is_undefined(const Expr& target) const;
    bool is_parameter(const Identifier& name) const;
    std::string node_name(const Expr& expression) const;
    TypedPtr wrong_kind(const Span& span, messages::IdentifierKind kind, std::string_view name,
                        messages::IdentifierKind as);
    TypedPtr check_element(const Expr& expression, const Index& index, Variable* variable,
                           const Identifier& name);
    TypedPtr check_args(const Expr& expression, const Index& index);
    std::optional<std::vector<ProbeArgument>> probe_arguments(const Span& span);
    std::optional<std::vector<TypeParameter>> kernel_arguments(const ProbeDescription& probe);
    void refuse_arguments(const Span& span);
    TypedPtr native_argument(const ProbeArgument& argument, const Span& span) const;
    bool is_stable_set(const ProbeDescription& probe) const;

    // providers (providers.cpp)
    std::optional<ProviderInfo::Probe> declared_probe(const ProviderProbe& syntax,
                                                      const std::string& shown);
    std::optional<ProbeArgument> declared_argument(const ProviderInfo::Probe& probe,
                                                   const TypeParameter& argument, size_t index,
                                                   const Span& span);
    TypedPtr check_action(const Expr& expression, const Call& call, ActionName action);
    TypedPtr check_argument(const Span& span, const Subroutine& subroutine, size_t index,
                            TypedPtr value);

    // translators (translators.cpp)
    TypedPtr translated(const TranslatorInfo& translator, TypedPtr input, bool pointer,
                        const Span& span) const;
    const TranslatorInfo* find_translator(TypeId output, const TypedPtr& input) const;
    TypedPtr translated_member(const Expr& expression, const Member& member, const TypedPtr& base);
    TypedPtr member_value(const TranslatorInfo& translator, const TranslatorInfo::Member& member,
                          const TypedPtr& input, const Span& span);
    TypedPtr translator_error(Tag tag, const Span& span, uint32_t end_line, std::string text);
    bool suits_member(TypeId member, const TypedPtr& value) const;
    bool check_translator_member(const TranslatorInfo& translator,
                                 const TranslatorInfo::Member& member);
    TypedPtr materialize(const TypedPtr& translated);
    TypedPtr member_store(const MemberLocation& member, const TypedPtr& object, TypedPtr value,
                          const Span& span);
    TypedPtr let(TypedPtr value, TypedPtr bound, TypedPtr body) const;
    TypedPtr bind(TypeId type, const Span& span);

    // kernel symbols (check_symbols.cpp)
    TypedPtr symbol(const std::string& name, TypeId type, const Span& span) const;
    TypedPtr per_cpu(TypedPtr offset, const Span& span);
    TypedPtr typed_symbol(const Expr& expression, const Identifier& name);
    TypedPtr check_symbol(const Expr& expression, const Identifier& name);
    TypedPtr untyped_symbol(const Expr& expression);
    TypedPtr cast_symbol(const Expr& expression, TypeId to, TypedPtr address);

    // memory (check_memory.cpp)
    TypedPtr load(TypeId type, TypedPtr address, const Span& span);
    TypedPtr address_of(const TypedPtr& lvalue) const;
    TypedPtr add_offset(TypedPtr address, uint64_t bytes) const;
    TypedPtr load_bits(const MemberLocation& member, TypedPtr address, const Span& span);
    TypedPtr check_subscript(const Expr& expression, const Index& index);
    TypedPtr dereference(TypedPtr pointer, const Span& span);
    std::string similar_member(TypeId type, const std::string& member);
    TypedPtr check_address_of(const Expr& expression, const Expr& operand);

    // operators (check_operators.cpp)
    /// How an operator was written: as itself, or as the assignment that stands for it.
    struct Written {
        BinaryOp op;
        bool is_assignment = false;
        std::string text() const;
    };
    TypedPtr binary(const Written& op, TypedPtr left, TypedPtr right, const Span& span);
    TypedPtr promote_bits(TypedPtr value) const;
    TypedPtr arithmetic(const Written& op, TypedPtr left, TypedPtr right, const Span& span);
    TypedPtr pointer_arithmetic(const Written& op, TypedPtr left, TypedPtr right, const Span& span);
    TypedPtr incompatible(const Written& op, const TypedPtr& left, const TypedPtr& right,
                          const Span& span);
    TypedPtr compare(BinaryOp op, TypedPtr left, TypedPtr right, const Span& span);
    TypedPtr logical(BinaryOp op, TypedPtr left, TypedPtr right, const Span& span);
    TypedPtr fold(TypedOp op, TypeId type, bool is_unsigned, const TypedPtr& left,
                  const TypedPtr& right, const Span& span);

    // assignment (check_assign.cpp)
    bool define(const Expr& target, TypeId type);
    bool define_operand(const Expr& operand);
    TypedPtr root_of(const TypedPtr& address) const;
    TypedPtr rebased(const TypedPtr& address, const TypedPtr& base) const;
    TypedPtr store(TypeId type, TypedPtr address, TypedPtr value, const Span& span);
    TypedPtr store_bits(const TypedPtr& field, TypedPtr value, const Span& span);
    TypedPtr assign(TypedPtr target, TypedPtr value, const Span& span, const char* op);
    TypedPtr check_step(const Expr& expression, const Unary& unary, bool value_used);

    TypedPtr make_folded(uint64_t value, TypeId type, const Span& span) const;
    TypedPtr make(TypedOp op, TypeId type, const Span& span, std::vector<TypedPtr> operands) const;

    SemaContext& context_;
    TypeTable& types_;
    SymbolTable& symbols_;
    /// Arguments of the inlines being expanded: names are looked up in the innermost only.
    struct InlineFrame {
        const std::vector<TypeParameter>* parameters;
        std::vector<TypedPtr> arguments;
        bool is_library = false; ///< what is wrong in it is the user's to hear where he used it
    };
    /// Expands a definition's expression; null after reporting, also when it goes too deep.
    TypedPtr expand(const Expr& value, InlineFrame frame, const Span& span);
    /// The same; an argument whose computing has an effect or a price is computed once.
    TypedPtr expand_once(const Expr& value, InlineFrame frame, const Span& span);
    std::vector<InlineFrame> inlines_;
    size_t inline_expansions_ = 0;
    std::optional<Span> library_use_; ///< where a library's definition was used, while it expands
    uint64_t bindings_ = 0;           ///< numbers of `bound` values
};

} // namespace daybreak::compiler
