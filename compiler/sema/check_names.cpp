// SPDX-License-Identifier: Apache-2.0
//
// Identifiers: variables, inlines, enumerators, args[], subroutine calls.
#include "compiler/sema/checker.hpp"

#include "base/nearest_name.hpp"
#include "compiler/diagnostics/messages/actions.hpp"
#include "compiler/diagnostics/messages/identifiers.hpp"
#include "compiler/diagnostics/messages/prototypes.hpp"
#include "compiler/diagnostics/other_tracers.hpp"

#include "formats/abi/dif.h"

namespace daybreak::compiler {

using messages::IdentifierKind;

namespace {

std::string scoped(VariableStorage storage, const std::string& name) {
    Variable variable;
    variable.storage = storage;
    variable.name = name;
    return variable.text();
}

} // namespace

/// Reports a variable that does not exist.  Those of a scope, and those that are about to be
/// assigned, exist as names and have no value yet; any other name means nothing.
TypedPtr ExprChecker::undefined(const Span& span, const Identifier& name, bool is_assigned) {
    VariableStorage storage = storage_of(name.scope);
    std::string hint = storage == VariableStorage::global ? hint_for_foreign_name(name.name) : "";
    std::string similar = hint.empty() ? symbols_.similar(storage, name.name) : "";
    if (!similar.empty())
        hint = base::did_you_mean(scoped(storage, similar));
    if (hint.empty())
        hint = "a variable has a type once something is assigned to it, or by a declaration";
    if (storage != VariableStorage::global || is_assigned)
        return refuse(Tag::D_VAR_UNDEF, span,
                      messages::unassigned_variable(scoped(storage, name.name)), std::move(hint));
    return refuse(Tag::D_IDENT_UNDEF, span, messages::unknown_variable(name.name), std::move(hint));
}

TypedPtr ExprChecker::undefined_function(const Span& span, const std::string& name) {
    std::string hint = hint_for_foreign_name(name);
    if (hint.empty())
        hint = base::did_you_mean(symbols_.similar(VariableStorage::global, name));
    return refuse(Tag::D_FUNC_UNDEF, span, messages::unknown_function(name), std::move(hint));
}

/// What an expression is, as messages call it: "scalar x", "operator +".
std::string ExprChecker::node_name(const Expr& expression) const {
    const auto* name = expression.get_if<Identifier>();
    if (!name)
        return "expression";
    const Variable* variable = symbols_.find(storage_of(name->scope), name->name);
    IdentifierKind kind =
        variable && variable->is_array ? IdentifierKind::array : IdentifierKind::scalar;
    return std::string(identifier_kind(kind)) + " " + name->name;
}

TypedPtr ExprChecker::wrong_kind(const Span& span, IdentifierKind kind, std::string_view name,
                                 IdentifierKind as) {
    return refuse(Tag::D_IDENT_BADREF, span,
                  messages::wrong_kind(identifier_kind(kind), name, identifier_kind(as)),
                  name == "args" ? "args[0] is the first; daybreak list -lv has their types" : "");
}

TypedPtr ExprChecker::check_node(const Expr& expression, const Identifier& name) {
    if (name.scope == VariableScope::kernel)
        return check_symbol(expression, name);
    if (name.name.empty())
        return error(Tag::D_IDENT_BADREF, expression.span,
                     "self and this stand before \"->\" and a name only");
    if (name.scope == VariableScope::global && symbols_.hides(name.name))
        return undefined(expression.span, name);
    if (name.scope == VariableScope::global) {
        if (!inlines_.empty()) {
            const InlineFrame& frame = inlines_.back();
            for (size_t i = 0; i < frame.arguments.size(); i++)
                if ((*frame.parameters)[i].name == name.name)
                    return frame.arguments[i];
        }
        if (const InlineInfo* definition = symbols_.find_inline(name.name))
            return check_inline(expression.span, *definition, nullptr);
    }
    return check_variable(expression, name);
}

TypedPtr ExprChecker::check_variable(const Expr& expression, const Identifier& name) {
    VariableStorage storage = storage_of(name.scope);
    Variable* variable = symbols_.find(storage, name.name);
    if (variable) {
        if (variable->is_array)
            return wrong_kind(expression.span, IdentifierKind::array, variable->name,
                              IdentifierKind::scalar);
        if (variable->builtin && variable->id == kReplayVariable)
            return error(Tag::D_IDENT_UNDEF, expression.span,
                         context_.recorded
                             ? "%s is what each recording has: no constant, and known "
                               "in clauses only"
                             : "%s is known in a replay only, which may be of "
                               "several machines and boots",
                         variable->name.c_str());
        auto node = std::make_shared<TypedExpr>();
        node->op = TypedOp::variable;
        node->type = variable->type;
        node->span = expression.span;
        node->variable = variable;
        return node;
    }
    if (storage == VariableStorage::global)
        if (auto enumerator = types_.find_enumerator(name.name))
            return make_constant(static_cast<uint64_t>(enumerator->value), types_.int_type(),
                                 expression.span);
    return undefined(expression.span, name);
}

TypedPtr ExprChecker::check_inline(const Span& span, const InlineInfo& definition,
                                   const std::vector<ExprPtr>* arguments) {
    size_t expected = definition.parameters.size();
    if (!arguments && expected != 0)
        return wrong_kind(span, IdentifierKind::array, definition.name, IdentifierKind::scalar);
    if (arguments && expected == 0)
        return wrong_kind(span, IdentifierKind::scalar, definition.name, IdentifierKind::array);
    if (definition.constant)
        return make_constant(static_cast<uint64_t>(*definition.constant), definition.type, span);
    if (arguments && arguments->size() != expected)
        return refuse(Tag::D_PROTO_LEN, span,
                      messages::prototype_length({definition.name, true}, arguments->size(),
                                                 expected, expected));
    if (is_replayed() && definition.yields && expected == 0) // of the machine, as a whole
        return not_recorded(span, definition.name);
    InlineFrame frame{&definition.parameters, {}, definition.is_library};
    for (size_t i = 0; arguments && i < expected; i++) {
        TypedPtr value = check(*(*arguments)[i]);
        if (!value)
            return nullptr;
        if (!types_.assignable(definition.parameters[i].type, value->type))
            return refuse(Tag::D_PROTO_ARG, (*arguments)[i]->span,
                          messages::prototype_argument({definition.name, true}, i + 1,
                                                       types_.name(definition.parameters[i].type),
                                                       type_name(value)));
        frame.arguments.push_back(convert(value, definition.parameters[i].type));
    }
    TypedPtr value = expand_once(*definition.value, std::move(frame), span);
    if (!value || is_translated_to(value, definition.type))
        return value;
    if (!types_.assignable(definition.type, value->type) &&
        !(is_zero(value) && types_.is_pointer(definition.type)))
        return refuse(Tag::D_OP_INCOMPAT, span,
                      messages::inline_incompatible(definition.name, types_.name(definition.type),
                                                    type_name(value)));
    return convert(value, definition.type);
}

TypedPtr ExprChecker::expand(const Expr& value, InlineFrame frame, const Span& span) {
    // A definition may name earlier ones several times each, and a translator's member itself: what
    // that comes to is bounded here.
    constexpr size_t kExpansionsMax = 20000, kDepthMax = 64;
    if (++inline_expansions_ > kExpansionsMax || inlines_.size() >= kDepthMax) {
        if (inline_expansions_ > kExpansionsMax + 1)
            return nullptr;
        inline_expansions_ = kExpansionsMax + 1;
        return error(Tag::D_UNKNOWN, span,
                     "inlines and translators expand to more than %zu expressions, or more than "
                     "%zu deep",
                     kExpansionsMax, kDepthMax);
    }
    std::optional<Span> outer = library_use_;
    if (frame.is_library && !outer)
        library_use_ = span;
    inlines_.push_back(std::move(frame));
    TypedPtr expanded = check(value);
    inlines_.pop_back();
    library_use_ = outer;
    return expanded;
}

TypedPtr ExprChecker::check_node(const Expr& expression, const Aggregation& aggregation) {
    const AggregationInfo* known = symbols_.find_aggregation(aggregation.name);
    if (!known || known->kind == 0)
        return refuse(Tag::D_IDENT_UNDEF, expression.span,
                      messages::undefined_aggregation(aggregation.name));
    return make(TypedOp::action, types_.dynamic_type(), expression.span, {});
}

/// Whether a name is a parameter of the inline that is being expanded.
bool ExprChecker::is_parameter(const Identifier& name) const {
    if (name.scope == VariableScope::global && !inlines_.empty())
        for (const TypeParameter& parameter : *inlines_.back().parameters)
            if (parameter.name == name.name)
                return true;
    return false;
}

TypedPtr ExprChecker::check_node(const Expr& expression, const Index& index) {
    const auto* name = index.base->get_if<Identifier>();
    if (!name || name->scope == VariableScope::kernel || name->name.empty())
        return check_subscript(expression, index);
    if (is_parameter(*name))
        return check_subscript(expression, index);
    if (name->scope == VariableScope::global)
        if (const InlineInfo* definition = symbols_.find_inline(name->name))
            return definition->parameters.empty()
                       ? check_subscript(expression, index)
                       : check_inline(expression.span, *definition, &index.arguments);
    Variable* variable = symbols_.find(storage_of(name->scope), name->name);
    if (!variable)
        return undefined(index.base->span, *name);
    if (!variable->is_array) {
        if (types_.is_pointer(variable->type) || types_.is_array(variable->type) ||
            types_.is_string(variable->type))
            return check_subscript(expression, index);
        return wrong_kind(expression.span, IdentifierKind::scalar, variable->name,
                          IdentifierKind::array);
    }
    return check_element(expression, index, variable, *name);
}

TypedPtr ExprChecker::check_element(const Expr& expression, const Index& index, Variable* variable,
                                    const Identifier&) {
    if (variable->builtin && variable->id == DIF_VAR_ARGS)
        return check_args(expression, index);
    auto node = std::make_shared<TypedExpr>();
    node->type = variable->type;
    node->span = expression.span;
    node->variable = variable;
    if (variable->builtin) {
        if (index.arguments.size() != 1)
            return refuse(
                Tag::D_PROTO_LEN, expression.span,
                messages::prototype_length({variable->name, true}, index.arguments.size(), 1, 1));
        TypedPtr at = check(*index.arguments[0]);
        if (!at)
            return nullptr;
        if (!types_.is_integer(at->type))
            return refuse(
                Tag::D_PROTO_ARG, expression.span,
                messages::prototype_argument({variable->name, true}, 1, "int64_t", type_name(at)));
        node->op = TypedOp::builtin_array;
        node->value = variable->id;
        node->operands = {at};
        return node;
    }
    auto keys = check_keys(index.arguments);
    if (!keys || !match_keys(expression.span, variable->text(), variable->keys, *keys))
        return nullptr;
    node->op = TypedOp::element;
    node->operands = std::move(*keys);
    return node;
}

std::optional<std::vector<TypedPtr>>
ExprChecker::check_keys(const std::vector<ExprPtr>& expressions) {
    std::vector<TypedPtr> keys;
    for (const ExprPtr& expression : expressions) {
        TypedPtr key = check(*expression);
        if (!key)
            return std::nullopt;
        if (types_.is_char_array(key->type))
            key = make(TypedOp::reinterpret, types_.string_type(), key->span, {key});
        if (!is_key_type(key->type)) {
            refuse(Tag::D_KEY_TYPE, expression->span, messages::invalid_key(type_name(key)));
            return std::nullopt;
        }
        keys.push_back(std::move(key));
    }
    if (keys.size() <= DIF_DTR_NREGS)
        return keys;
    Diagnostic diagnostic = diagnosticf(Tag::D_NOREG, expressions[DIF_DTR_NREGS]->span,
                                        "Insufficient registers to generate code");
    diagnostic.classic_bare = true;
    diagnostic.hints.push_back(base::strprintf("an array has at most %u keys", DIF_DTR_NREGS));
    context_.sink.report(std::move(diagnostic));
    return std::nullopt;
}

bool ExprChecker::is_key_type(TypeId type) const {
    return types_.is_string(type) || (types_.is_scalar(type) && !types_.is_float(type)) ||
           (types_.is_struct_or_union(type) && types_.is_complete(type));
}

bool ExprChecker::match_keys(const Span& span, const std::string& name,
                             const std::vector<TypeId>& types, std::vector<TypedPtr>& keys) {
    if (keys.size() != types.size()) {
        refuse(Tag::D_PROTO_LEN, span,
               messages::prototype_length({name, true}, keys.size(), types.size(), types.size()));
        return false;
    }
    for (size_t i = 0; i < keys.size(); i++) {
        if (!types_.assignable(types[i], keys[i]->type) &&
            !(is_zero(keys[i]) && types_.is_pointer(types[i]))) {
            refuse(Tag::D_PROTO_ARG, keys[i]->span,
                   messages::prototype_argument({name, true}, i + 1, types_.name(types[i]),
                                                type_name(keys[i])));
            return false;
        }
        keys[i] = convert(keys[i], types[i]);
    }
    return true;
}

TypedPtr ExprChecker::check_node(const Expr& expression, const Call& call) {
    const auto* name = call.function->get_if<Identifier>();
    if (!name || name->scope != VariableScope::global)
        return refuse(Tag::D_FUNC_IDENT, call.function->span, messages::not_a_function_name());
    if (symbols_.hides(name->name))
        return refuse(Tag::D_FUNC_UNDEF, call.function->span,
                      messages::unknown_function(name->name),
                      std::string("it came with D ") + std::string(introduced_in(name->name)));
    const Subroutine* subroutine = find_subroutine(name->name);
    if (!subroutine) {
        ActionName action;
        if (find_action(name->name, action))
            return check_action(expression, call, action);
        if (find_aggregating(name->name))
            return refuse(Tag::D_CG_EXPR, call.function->span,
                          messages::needs_action_context(
                              identifier_kind(IdentifierKind::aggregating), name->name),
                          "it goes to an aggregation only: @ = " + name->name + "(...)");
        const Variable* variable = symbols_.find(VariableStorage::global, name->name);
        if (variable || symbols_.find_inline(name->name))
            return refuse(Tag::D_FUNC_IDKIND, call.function->span,
                          messages::wrong_kind(identifier_kind(variable && variable->is_array
                                                                   ? IdentifierKind::array
                                                                   : IdentifierKind::scalar),
                                               name->name,
                                               identifier_kind(IdentifierKind::function)),
                          name->name + " is a variable: write it without ( )");
        return undefined_function(call.function->span, name->name);
    }
    size_t required = 0;
    for (const SubroutineParameter& parameter : subroutine->parameters)
        required += parameter.optional ? 0 : 1;
    size_t given = call.arguments.size(), most = subroutine->parameters.size();
    if (messages::wrong_length(given, required, most))
        return refuse(Tag::D_PROTO_LEN, expression.span,
                      messages::prototype_length({name->name}, given, required, most));
    auto node = std::make_shared<TypedExpr>();
    for (size_t i = 0; i < given; i++) {
        TypedPtr argument = check(*call.arguments[i]);
        if (argument)
            argument = check_argument(call.arguments[i]->span, *subroutine, i, argument);
        if (!argument)
            return nullptr;
        node->operands.push_back(std::move(argument));
    }
    node->op = TypedOp::call;
    node->span = expression.span;
    node->value = subroutine->id;
    node->text = subroutine->name;
    node->type = subroutine->result == "task"
                     ? symbols_.find(VariableStorage::global, "curthread")->type
                     : types_.find(subroutine->result);
    return node;
}

/// An action has no value.  What an expression would do with it says which error that is; where
/// nothing is done with it, code generation refuses it.
TypedPtr ExprChecker::check_action(const Expr& expression, const Call& call, ActionName action) {
    ActionArity arity = action_arity(action);
    size_t given = call.arguments.size();
    if (messages::wrong_length(given, arity.least, arity.most))
        return refuse(Tag::D_PROTO_LEN, expression.span,
                      messages::prototype_length({call.function->get_if<Identifier>()->name}, given,
                                                 arity.least, arity.most));
    return make(TypedOp::action, types_.void_type(), expression.span, {});
}

TypedPtr ExprChecker::check_argument(const Span& span, const Subroutine& subroutine, size_t index,
                                     TypedPtr value) {
    const SubroutineParameter& parameter = subroutine.parameters[index];
    bool is_integer = types_.is_integer(value->type), fits = false;
    switch (parameter.kind) {
    case ParameterKind::integer:
        fits = is_integer;
        break;
    case ParameterKind::address:
        value = decay(value);
        fits = is_integer || types_.is_pointer(value->type);
        break;
    case ParameterKind::pointer:
        fits = types_.is_pointer(value->type) || types_.is_array(value->type) ||
               types_.is_string(value->type) || is_zero(value);
        break;
    case ParameterKind::string:
        fits = types_.is_string_like(value->type) || is_zero(value);
        break;
    }
    if (!fits)
        return refuse(Tag::D_PROTO_ARG, span,
                      messages::prototype_argument(
                          {subroutine.name}, index + 1,
                          parameter.kind == ParameterKind::string ? "const char *" : parameter.type,
                          type_name(value)),
                      parameter.kind == ParameterKind::string &&
                              (is_integer || types_.is_pointer(value->type))
                          ? "an address in the kernel becomes a string with stringof(), one of the "
                            "process with copyinstr()"
                          : "");
    // An address that is written as a number has 64 bits.
    if (parameter.kind != ParameterKind::integer && is_integer && value->is_constant())
        return convert(value, types_.unsigned_long_type());
    return parameter.kind == ParameterKind::integer ? convert(value, types_.find(parameter.type))
                                                    : value;
}

} // namespace daybreak::compiler
