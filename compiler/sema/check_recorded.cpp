// SPDX-License-Identifier: Apache-2.0
//
// Expressions of a program that is compiled for a replay: what the recording has, and what it has
// not.
#include "compiler/sema/checker.hpp"
#include "compiler/syntax/print.hpp"

#include "formats/abi/dif.h"

#include <algorithm>
#include <array>
#include <map>

namespace daybreak::compiler {

namespace {

/// What a replay knows without the recording's expressions: of the record, and of the replay.
constexpr std::array<std::string_view, 9> kAlwaysKnown = {
    "timestamp", "walltimestamp", "cpu", "probeprov", "probemod", "probefunc", "probename", "id",
    "epid"};

/// Subroutines that ask the machine, or its memory.
constexpr std::array<std::string_view, 15> kMachineCalls = {
    "copyin",      "copyinstr",        "copyinto",        "copyout",        "copyoutstr",
    "d_path",      "getmajor",         "getminor",        "mutex_owned",    "mutex_owner",
    "progenyof",   "mutex_type_adaptive", "mutex_type_spin", "rw_read_held", "rw_write_held"};

/// Subroutines that change what the program has: each call has another value.
constexpr std::array<std::string_view, 3> kProgramCalls = {"speculation", "alloca", "bcopy"};

template <size_t N>
bool is_among(const std::array<std::string_view, N>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// Whether an address is of what the program itself has: a string, a variable, scratch memory.
bool is_own_memory(const TypedExpr& address) {
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
                                   [](const TypedPtr& one) { return is_own_memory(*one); });
    }
}

/// The engine itself fires ERROR, of the replay's own faults.
bool is_argument_of_error(const ProbeDescription& probe, std::string_view name) {
    return probe.provider == "dtrace" && probe.name == "ERROR" && name.starts_with("arg");
}

} // namespace

/// Whether an expression means variables of the program: then it is its own, whatever an equal text
/// in the recorded program was.
bool ExprChecker::is_of_program(const Expr& expression) const {
    auto any = [this](const std::vector<ExprPtr>& list) {
        return std::ranges::any_of(list,
                                   [this](const ExprPtr& one) { return is_of_program(*one); });
    };
    if (const auto* name = expression.get_if<Identifier>()) {
        if (name->scope == VariableScope::kernel)
            return false;
        if (name->scope != VariableScope::global)
            return true;
        if (const InlineInfo* definition = symbols_.find_inline(name->name))
            return !definition->is_library; // curpsinfo is the machine's
        const Variable* variable = symbols_.find(VariableStorage::global, name->name);
        // What a probe is called is known everywhere; times are as they were recorded.
        return !variable || !variable->builtin || variable->name.starts_with("probe");
    }
    if (const auto* index = expression.get_if<Index>())
        return is_of_program(*index->base) || any(index->arguments);
    if (const auto* call = expression.get_if<Call>()) {
        const auto* name = call->function->get_if<Identifier>();
        return !name || is_among(kProgramCalls, name->name) || any(call->arguments);
    }
    if (const auto* member = expression.get_if<Member>())
        return is_of_program(*member->base);
    if (const auto* unary = expression.get_if<Unary>())
        return unary->op >= UnaryOp::pre_increment || is_of_program(*unary->operand);
    if (const auto* binary = expression.get_if<Binary>())
        return is_of_program(*binary->left) || is_of_program(*binary->right);
    if (const auto* conditional = expression.get_if<Conditional>())
        return is_of_program(*conditional->condition) || is_of_program(*conditional->if_true) ||
               is_of_program(*conditional->if_false);
    if (const auto* cast = expression.get_if<Cast>())
        return is_of_program(*cast->operand);
    if (const auto* text = expression.get_if<Stringof>())
        return is_of_program(*text->operand);
    return true; // constants need no record, assignments and aggregations are the program's
}

/// Returns the recorded value of an expression; null when it is not one.
TypedPtr ExprChecker::recorded_value(const Expr& expression) {
    if (!is_replayed() || !inlines_.empty() || is_of_program(expression))
        return nullptr;
    auto found = context_.recorded->find(*context_.probe, expression_text(expression));
    if (!found)
        return nullptr;
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

TypedPtr ExprChecker::with_needed_slots(TypedPtr predicate, const Span& span) const {
    std::map<uint32_t, uint64_t> bits; // by word
    for (uint32_t slot : context_.slots_needed)
        bits[presence_word(slot)] |= presence_bit(slot);
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

TypedPtr ExprChecker::not_recorded(const Span& span, const std::string& what) {
    const ProbeDescription& probe = *context_.probe;
    std::string hint = "recorded there: " + context_.recorded->all(probe);
    return refuse(Tag::D_IDENT_UNDEF, span,
                  what + " was not recorded at " + probe.provider + ":" + probe.module + ":" +
                      probe.function + ":" + probe.name,
                  std::move(hint));
}

/// Refuses what only the live machine could say; else the value itself.
TypedPtr ExprChecker::known_in_replay(const Expr& expression, TypedPtr value) {
    if (!is_replayed() || !value)
        return value;
    bool asks = false;
    switch (value->op) {
    case TypedOp::variable:
        if (value->variable->storage == VariableStorage::thread &&
            !context_.recorded->find(*context_.probe, "tid"))
            return not_recorded(expression.span, "tid, which " + value->variable->text() +
                                                     " needs,");
        asks = value->variable->builtin && !is_among(kAlwaysKnown, value->variable->name) &&
               !is_argument_of_error(*context_.probe, value->variable->name);
        break;
    case TypedOp::builtin_array:
    case TypedOp::symbol:
        asks = true;
        break;
    case TypedOp::load:
        asks = !is_own_memory(*value->operands[0]);
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
