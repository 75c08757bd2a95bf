// SPDX-License-Identifier: Apache-2.0
//
// Expressions of a program that is compiled for a replay: what the recording has, and what it has
// not.
#include "compiler/diagnostics/messages/operators.hpp"
#include "compiler/sema/checker.hpp"
#include "compiler/syntax/print.hpp"

#include "formats/abi/dif.h"
#include "formats/dof/replay_slots.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace daybreak::compiler {

namespace {

/// What a replay knows without the recording's expressions: of the record, and of the replay.
constexpr std::array<std::string_view, 9> kAlwaysKnown = {
    "timestamp", "walltimestamp", "cpu", "probeprov", "probemod",
    "probefunc", "probename",     "id",  "epid"};

/// And of curcpu.
constexpr std::array<std::string_view, 2> kKnownOfCpu = {"cpu_id", "cpu_pset"};

/// Subroutines that ask the machine, or its memory.
constexpr std::array<std::string_view, 17> kMachineCalls = {
    "copyin",          "copyinstr",   "copyinto",    "copyout",
    "copyoutstr",      "d_path",      "getmajor",    "getminor",
    "link_ntop",       "mutex_owned", "mutex_owner", "mutex_type_adaptive",
    "mutex_type_spin", "progenyof",   "rw_iswriter", "rw_read_held",
    "rw_write_held"};

/// Subroutines of which each call has another value, or changes what the program has.
constexpr std::array<std::string_view, 5> kProgramCalls = {"speculation", "alloca", "bcopy",
                                                           "strtok", "rand"};

template <size_t N>
bool is_among(const std::array<std::string_view, N>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// Whether an address is of what the program itself has: a string, recorded ones too, a variable,
/// scratch memory.
bool is_own_memory(const TypeTable& types, const TypedExpr& address) {
    if (types.is_string(address.type))
        return true;
    switch (address.op) {
    case TypedOp::string:
    case TypedOp::variable:
    case TypedOp::element:
    case TypedOp::scratch:
    case TypedOp::fault_in:
    case TypedOp::call:
    case TypedOp::bound:
        return true;
    default:
        return std::ranges::any_of(address.operands,
                                   [&](const TypedPtr& one) { return is_own_memory(types, *one); });
    }
}

bool is_time(std::string_view name) {
    return name == "timestamp" || name == "walltimestamp";
}

/// The engine itself fires ERROR, of the replay's own faults.
bool is_argument_of_error(const ProbeDescription& probe, std::string_view name) {
    return probe.provider == "dtrace" && probe.name == "ERROR" && name.starts_with("arg");
}

} // namespace

/// Finds out whose values an expression has.  One with variables of the program is its own,
/// whatever an equal text in the recorded program was; constants are of anyone.
void ExprChecker::find_owners(const Expr& expression, Owners& owners) const {
    auto each = [&](const std::vector<ExprPtr>& list) {
        for (const ExprPtr& one : list)
            find_owners(*one, owners);
    };
    if (const auto* name = expression.get_if<Identifier>()) {
        find_owner(*name, owners);
    } else if (const auto* index = expression.get_if<Index>()) {
        find_owners(*index->base, owners);
        each(index->arguments);
    } else if (const auto* call = expression.get_if<Call>()) {
        const auto* function = call->function->get_if<Identifier>();
        owners.program |= !function || is_among(kProgramCalls, function->name);
        each(call->arguments);
    } else if (const auto* member = expression.get_if<Member>()) {
        find_owners(*member->base, owners);
    } else if (const auto* unary = expression.get_if<Unary>()) {
        owners.program |= unary->op >= UnaryOp::pre_increment;
        find_owners(*unary->operand, owners);
    } else if (const auto* binary = expression.get_if<Binary>()) {
        find_owners(*binary->left, owners);
        find_owners(*binary->right, owners);
    } else if (const auto* conditional = expression.get_if<Conditional>()) {
        find_owners(*conditional->condition, owners);
        find_owners(*conditional->if_true, owners);
        find_owners(*conditional->if_false, owners);
    } else if (const auto* cast = expression.get_if<Cast>()) {
        find_owners(*cast->operand, owners);
    } else if (const auto* text = expression.get_if<Stringof>()) {
        find_owners(*text->operand, owners);
    } else if (const auto* size = expression.get_if<SizeofExpr>()) {
        find_owners(*size->operand, owners);
    } else {
        owners.program |= expression.get_if<Assign>() || expression.get_if<Aggregation>() ||
                          expression.get_if<Xlate>();
    }
}

void ExprChecker::find_owner(const Identifier& name, Owners& owners) const {
    if (name.scope == VariableScope::kernel) {
        owners.machine = true;
        return;
    }
    const InlineInfo* definition = symbols_.find_inline(name.name);
    if (name.scope != VariableScope::global || is_parameter(name)) {
        owners.program = true;
    } else if (definition) {
        owners.machine |= definition->is_library; // curpsinfo is the machine's
        owners.program |= !definition->is_library;
    } else if (const Variable* variable = symbols_.find(VariableStorage::global, name.name)) {
        // A number of the recorded clause is none of the new one.
        owners.program |= !variable->builtin || variable->name == "epid" || variable->name == "id";
        // What a probe is called is known everywhere.
        owners.machine |= variable->builtin && !variable->name.starts_with("probe");
    } else {
        owners.program = true; // of enumerators, too: each program may have its own
    }
}

/// Whether each firing has it, as far as no clause faulted and no record was dropped; `exact`: with
/// the times that its clauses read, which the record's are not quite.
bool ExprChecker::is_known_always(const Expr& expression, bool exact) const {
    auto found = context_.recorded->find(*context_.probe, expression_text(expression));
    return (found && !found->is_conditional) || is_made_of_known(expression, exact);
}

/// The same of what an expression is made of.
bool ExprChecker::is_made_of_known(const Expr& expression, bool exact) const {
    if (const auto* name = expression.get_if<Identifier>())
        return name->scope == VariableScope::global && is_among(kAlwaysKnown, name->name) &&
               !(exact && is_time(name->name));
    if (const auto* member = expression.get_if<Member>())
        return is_of_replayed_cpu(*member) && is_among(kKnownOfCpu, member->member);
    if (const auto* unary = expression.get_if<Unary>())
        return unary->op != UnaryOp::dereference && is_known_always(*unary->operand, exact);
    if (const auto* binary = expression.get_if<Binary>())
        return is_known_always(*binary->left, exact) && is_known_always(*binary->right, exact);
    if (const auto* conditional = expression.get_if<Conditional>())
        return is_known_always(*conditional->condition, exact) &&
               is_known_always(*conditional->if_true, exact) &&
               is_known_always(*conditional->if_false, exact);
    if (const auto* cast = expression.get_if<Cast>())
        return is_known_always(*cast->operand, exact);
    return expression.get_if<IntegerLiteral>() || expression.get_if<StringLiteral>();
}

/// Returns what was recorded of the expression as a whole; null: nothing, or what it is made of is
/// known at more firings.
TypedPtr ExprChecker::recorded_value(const Expr& expression) {
    if (!is_replayed() || (!inlines_.empty() && inlines_.back().is_library))
        return nullptr;
    Owners owners;
    find_owners(expression, owners);
    if (owners.program || !owners.machine)
        return nullptr;
    const std::string text = expression_text(expression);
    auto found = context_.recorded->find(*context_.probe, text);
    if (!found)
        return nullptr;
    if (!found->is_always && is_made_of_known(expression, !found->is_conditional))
        return nullptr;
    context_.recorded->use(*context_.probe, text);
    TypeId type = types_.find(found->type);
    if (type == TypeId::none)
        type = types_.uint64_type();
    if (!found->is_always)
        context_.slots_needed.insert(found->slot);
    TypedPtr node = replay_word(found->slot, expression.span);
    if (types_.is_string(type))
        return make(TypedOp::reinterpret, type, expression.span, {node});
    if (types_.size_of(type).value_or(8) < 8)
        return make(TypedOp::convert, type, expression.span, {node});
    return make(TypedOp::reinterpret, type, expression.span, {node});
}

/// args[index] of the replayed firing, as it is.
TypedPtr ExprChecker::replay_word(uint32_t index, const Span& span) const {
    auto node = std::make_shared<TypedExpr>();
    node->op = TypedOp::builtin_array;
    node->value = DIF_VAR_ARGS;
    node->variable = symbols_.find(VariableStorage::global, "args");
    node->span = span;
    node->operands = {make_constant(index, types_.int_type(), span)};
    node->type = types_.uint64_type();
    return node;
}

TypedPtr ExprChecker::named_address(TypedPtr value, bool is_of_process) {
    if (!is_replayed() || !value)
        return value;
    if (is_of_process && !context_.recorded->has_process(*context_.probe))
        return not_recorded(value->span, "pid, which an address of a process needs,");
    if (!context_.recorded->has_places(is_of_process))
        return value;
    auto place = std::make_shared<TypedExpr>();
    place->op = TypedOp::call;
    place->type = types_.uint64_type();
    place->span = value->span;
    place->value = DIF_SUBR_PLACE;
    place->text = "place";
    place->operands = {value, make_constant(is_of_process, types_.int_type(), value->span)};
    return place;
}

TypedPtr ExprChecker::with_needed_slots(TypedPtr predicate, const Span& span) const {
    std::map<uint32_t, uint64_t> bits; // by word
    for (uint32_t slot : context_.slots_needed)
        bits[formats::presence_word(slot)] |= formats::presence_bit(slot);
    TypeId word = types_.uint64_type();
    for (auto [index, needed] : bits) {
        TypedPtr all = make_constant(needed, word, span);
        TypedPtr has = make(TypedOp::bit_and, word, span, {replay_word(index, span), all});
        TypedPtr test = make(TypedOp::equal, types_.int_type(), span, {has, all});
        predicate = predicate ? make(TypedOp::logical_and, types_.int_type(), span,
                                     {std::move(test), std::move(predicate)})
                              : std::move(test);
    }
    return predicate;
}

bool ExprChecker::needs_recorded(const std::string& expression) {
    auto found = context_.recorded->find(*context_.probe, expression);
    if (!found)
        return false;
    context_.recorded->use(*context_.probe, expression);
    if (!found->is_always)
        context_.slots_needed.insert(found->slot);
    return true;
}

TypedPtr ExprChecker::not_recorded(const Span& span, const std::string& what) {
    const ProbeDescription& probe = *context_.probe;
    Diagnostic diagnostic;
    diagnostic.tag = Tag::D_IDENT_UNDEF;
    diagnostic.span = library_use_.value_or(span);
    diagnostic.text =
        what + " was not recorded at " + probe.parts() + context_.recorded->place(probe);
    diagnostic.hints = {"recorded there: " + context_.recorded->all(probe)};
    diagnostic.is_unrecorded = true;
    context_.sink.report(std::move(diagnostic));
    return nullptr;
}

/// Whether it is a member of curcpu, which no clause recorded.
bool ExprChecker::is_of_replayed_cpu(const Member& member) const {
    const Expr* base = member.base.get();
    if (const auto* star = base->get_if<Unary>(); star && star->op == UnaryOp::dereference)
        base = member.arrow ? nullptr : star->operand.get();
    else if (!member.arrow)
        base = nullptr;
    const auto* name = base ? base->get_if<Identifier>() : nullptr;
    return is_replayed() && name && name->name == "curcpu" &&
           name->scope == VariableScope::global && !is_parameter(*name) &&
           !symbols_.find_inline(name->name);
}

/// The CPU is the record's, and belongs to no processor set; package and node are not recorded.
TypedPtr ExprChecker::replayed_cpu(const Expr& expression, const Member& member) {
    TypeId type = symbols_.find(VariableStorage::global, "curcpu")->type;
    type = types_.complete(types_.resolve(types_.element_of(type)));
    auto location = types_.find_member(type, member.member);
    if (!location)
        return refuse(Tag::D_TYPE_MEMBER, member.member_span,
                      messages::no_member(member.member, types_.name(type)),
                      similar_member(type, member.member));
    if (member.member == "cpu_pset")
        return make_constant(0, location->type, expression.span);
    if (member.member != "cpu_id")
        return not_recorded(expression.span, expression_text(expression));
    auto cpu = std::make_shared<TypedExpr>();
    cpu->op = TypedOp::variable;
    cpu->variable = symbols_.find(VariableStorage::global, "cpu");
    cpu->type = cpu->variable->type;
    cpu->span = expression.span;
    return make(TypedOp::convert, location->type, expression.span, {cpu});
}

/// Refuses what only the live machine could say; else the value itself.
TypedPtr ExprChecker::known_in_replay(const Expr& expression, TypedPtr value) {
    if (!is_replayed() || !value)
        return value;
    bool asks = false;
    switch (value->op) {
    case TypedOp::variable:
    case TypedOp::element:
        if (value->variable->storage == VariableStorage::thread && !needs_recorded("tid"))
            return not_recorded(expression.span,
                                "tid, which " + value->variable->text() + " needs,");
        asks = value->variable->builtin && !is_among(kAlwaysKnown, value->variable->name) &&
               !is_argument_of_error(*context_.probe, value->variable->name);
        break;
    case TypedOp::builtin_array:
    case TypedOp::symbol:
        asks = true;
        break;
    case TypedOp::load:
        asks = !is_own_memory(types_, *value->operands[0]);
        break;
    case TypedOp::call:
        asks = is_among(kMachineCalls, value->text);
        break;
    default:
        break;
    }
    return asks ? not_recorded(expression.span, expression_text(expression)) : value;
}

} // namespace daybreak::compiler
