// SPDX-License-Identifier: Apache-2.0
//
// Identifiers: variables, inlines, enumerators, args[], subroutine calls.
#include "compiler/sema/checker.hpp"

#include "formats/abi/dif.h"

namespace daybreak::compiler {

using base::strprintf;

namespace {

VariableStorage storage_of(VariableScope scope) {
    switch (scope) {
    case VariableScope::thread:
        return VariableStorage::thread;
    case VariableScope::clause:
        return VariableStorage::clause;
    default:
        return VariableStorage::global;
    }
}

std::string scoped(VariableStorage storage, const std::string& name) {
    Variable variable;
    variable.storage = storage;
    variable.name = name;
    return variable.text();
}

} // namespace

TypedPtr ExprChecker::undefined(const Span& span, VariableStorage storage,
                                const std::string& name) {
    std::string similar = symbols_.similar(storage, name);
    std::string hint = similar.empty() ? "" : "did you mean \"" + scoped(storage, similar) + "\"?";
    if (storage != VariableStorage::global)
        return error_with_hint(Tag::D_VAR_UNDEF, span,
                               scoped(storage, name) + " has not been declared or assigned yet",
                               hint);
    return error_with_hint(Tag::D_IDENT_UNDEF, span, "unknown identifier \"" + name + "\"", hint);
}

TypedPtr ExprChecker::check_node(const Expr& expression, const Identifier& name) {
    if (name.scope == VariableScope::kernel)
        return error_with_hint(
            Tag::D_SYM_NOTYPES, expression.span,
            "kernel variables (" + name.module + "`" + name.name + ") are not supported yet", "");
    if (name.name.empty())
        return error(Tag::D_IDENT_BADREF, expression.span,
                     "self and this stand before \"->\" and a name only");
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
            return error(Tag::D_IDENT_BADREF, expression.span, "%s is an array and needs an index",
                         variable->text().c_str());
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
    return undefined(expression.span, storage, name.name);
}

TypedPtr ExprChecker::check_inline(const Span& span, const InlineInfo& definition,
                                   const std::vector<ExprPtr>* arguments) {
    size_t expected = definition.parameters.size();
    if (!arguments && expected != 0)
        return error(Tag::D_IDENT_BADREF, span, "inline %s needs %zu arguments in []",
                     definition.name.c_str(), expected);
    if (arguments && expected == 0)
        return error(Tag::D_IDENT_BADREF, span, "inline %s takes no arguments",
                     definition.name.c_str());
    if (definition.constant)
        return make_constant(static_cast<uint64_t>(*definition.constant), definition.type, span);
    if (arguments && arguments->size() != expected)
        return error(Tag::D_PROTO_LEN, span, "inline %s: %zu arguments given, %zu expected",
                     definition.name.c_str(), arguments->size(), expected);
    InlineFrame frame{&definition.parameters, {}, definition.is_library};
    for (size_t i = 0; arguments && i < expected; i++) {
        TypedPtr value = check(*(*arguments)[i]);
        if (!value)
            return nullptr;
        if (!types_.assignable(definition.parameters[i].type, value->type))
            return error(Tag::D_PROTO_ARG, (*arguments)[i]->span,
                         "inline %s: argument %zu is \"%s\", expected \"%s\"",
                         definition.name.c_str(), i + 1, type_name(value).c_str(),
                         types_.name(definition.parameters[i].type).c_str());
        frame.arguments.push_back(convert(value, definition.parameters[i].type));
    }
    TypedPtr value = expand_once(*definition.value, std::move(frame), span);
    if (!value || is_translated_to(value, definition.type))
        return value;
    if (!types_.assignable(definition.type, value->type) &&
        !(is_zero(value) && types_.is_pointer(definition.type)))
        return error(Tag::D_OP_INCOMPAT, span, "inline %s: its value is \"%s\", declared \"%s\"",
                     definition.name.c_str(), type_name(value).c_str(),
                     types_.name(definition.type).c_str());
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
        return error(Tag::D_IDENT_UNDEF, expression.span, "undefined aggregation @%s",
                     aggregation.name.c_str());
    return make(TypedOp::action, types_.dynamic_type(), expression.span, {});
}

TypedPtr ExprChecker::check_node(const Expr& expression, const Index& index) {
    const auto* name = index.base->get_if<Identifier>();
    if (!name || name->scope == VariableScope::kernel || name->name.empty())
        return check_subscript(expression, index);
    bool is_parameter = false;
    if (name->scope == VariableScope::global && !inlines_.empty())
        for (const TypeParameter& parameter : *inlines_.back().parameters)
            is_parameter |= parameter.name == name->name;
    if (is_parameter)
        return check_subscript(expression, index);
    if (name->scope == VariableScope::global)
        if (const InlineInfo* definition = symbols_.find_inline(name->name))
            return definition->parameters.empty()
                       ? check_subscript(expression, index)
                       : check_inline(expression.span, *definition, &index.arguments);
    Variable* variable = symbols_.find(storage_of(name->scope), name->name);
    if (!variable)
        return undefined(index.base->span, storage_of(name->scope), name->name);
    if (!variable->is_array) {
        if (types_.is_pointer(variable->type) || types_.is_array(variable->type))
            return check_subscript(expression, index);
        return error(Tag::D_IDENT_BADREF, expression.span, "%s is not an array but \"%s\"",
                     variable->text().c_str(), types_.name(variable->type).c_str());
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
            return error(Tag::D_PROTO_LEN, expression.span, "%s[] takes one index",
                         variable->name.c_str());
        TypedPtr at = check(*index.arguments[0]);
        if (!at)
            return nullptr;
        if (!types_.is_integer(at->type))
            return error(Tag::D_PROTO_ARG, expression.span, "%s[]: the index must be an integer",
                         variable->name.c_str());
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
            error(Tag::D_KEY_TYPE, expression->span, "a value of \"%s\" cannot be a key",
                  type_name(key).c_str());
            return std::nullopt;
        }
        keys.push_back(std::move(key));
    }
    return keys;
}

bool ExprChecker::is_key_type(TypeId type) const {
    return types_.is_string(type) || (types_.is_scalar(type) && !types_.is_float(type)) ||
           (types_.is_struct_or_union(type) && types_.is_complete(type));
}

bool ExprChecker::match_keys(const Span& span, const std::string& name,
                             const std::vector<TypeId>& types, std::vector<TypedPtr>& keys) {
    if (keys.size() != types.size()) {
        error(Tag::D_PROTO_LEN, span, "%s: %zu keys given, %zu expected", name.c_str(), keys.size(),
              types.size());
        return false;
    }
    for (size_t i = 0; i < keys.size(); i++) {
        if (!types_.assignable(types[i], keys[i]->type) &&
            !(is_zero(keys[i]) && types_.is_pointer(types[i]))) {
            error(Tag::D_PROTO_ARG, keys[i]->span, "%s: key %zu is \"%s\", expected \"%s\"",
                  name.c_str(), i + 1, type_name(keys[i]).c_str(), types_.name(types[i]).c_str());
            return false;
        }
        keys[i] = convert(keys[i], types[i]);
    }
    return true;
}

TypedPtr ExprChecker::check_node(const Expr& expression, const Call& call) {
    const auto* name = call.function->get_if<Identifier>();
    if (!name || name->scope != VariableScope::global)
        return error(Tag::D_FUNC_IDENT, call.function->span,
                     "only a function's name can be called");
    const Subroutine* subroutine = find_subroutine(name->name);
    if (!subroutine) {
        ActionName action;
        if (find_action(name->name, action))
            return check_action(expression, call, action);
        if (find_aggregating(name->name))
            return error(Tag::D_FUNC_IDKIND, call.function->span,
                         "%s() goes to an aggregation only: @ = %s(...)", name->name.c_str(),
                         name->name.c_str());
        if (symbols_.find(VariableStorage::global, name->name) || symbols_.find_inline(name->name))
            return error(Tag::D_FUNC_IDKIND, call.function->span, "%s is not a function",
                         name->name.c_str());
        std::string similar = symbols_.similar(VariableStorage::global, name->name);
        return error_with_hint(Tag::D_FUNC_UNDEF, call.function->span,
                               "unknown function \"" + name->name + "\"",
                               similar.empty() ? "" : "did you mean \"" + similar + "\"?");
    }
    size_t required = 0;
    for (const SubroutineParameter& parameter : subroutine->parameters)
        required += parameter.optional ? 0 : 1;
    size_t given = call.arguments.size(), most = subroutine->parameters.size();
    if (given < required || given > most)
        return error(Tag::D_PROTO_LEN, expression.span,
                     required == most ? "%s(): %zu arguments given, %zu expected"
                                      : "%s(): %zu arguments given, %zu to %zu expected",
                     name->name.c_str(), given, required, most);
    auto node = std::make_shared<TypedExpr>();
    for (size_t i = 0; i < given; i++) {
        TypedPtr argument = check(*call.arguments[i]);
        if (argument)
            argument = check_argument(call.arguments[i]->span, *subroutine, i, argument);
        if (!argument)
            return nullptr;
        node->operands.push_back(std::move(argument));
    }
    if (!subroutine->supported)
        return error(Tag::D_UNKNOWN, expression.span, "%s() is not supported yet",
                     name->name.c_str());
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
    if (given < arity.least || given > arity.most)
        return error(Tag::D_PROTO_LEN, expression.span, "%s(): %zu arguments given, %zu expected",
                     call.function->get_if<Identifier>()->name.c_str(), given,
                     given < arity.least ? arity.least : arity.most);
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
        return error_with_hint(
            Tag::D_PROTO_ARG, span,
            strprintf("%s(): argument %zu is \"%s\", expected \"%s\"",
                      std::string(subroutine.name).c_str(), index + 1, type_name(value).c_str(),
                      parameter.kind == ParameterKind::string
                          ? "const char *"
                          : std::string(parameter.type).c_str()),
            parameter.kind == ParameterKind::string &&
                    (is_integer || types_.is_pointer(value->type))
                ? "an address in the kernel becomes a string with stringof(), one of the "
                  "process with copyinstr()"
                : "");
    return parameter.kind == ParameterKind::integer ? convert(value, types_.find(parameter.type))
                                                    : value;
}

} // namespace daybreak::compiler
