// SPDX-License-Identifier: Apache-2.0
//
// Assignment, op= and ++/--; the first one gives a variable its type.
#include "compiler/sema/checker.hpp"
#include "compiler/syntax/print.hpp"

namespace daybreak::compiler {

namespace {

VariableStorage storage_of(VariableScope scope) {
    return scope == VariableScope::thread   ? VariableStorage::thread
           : scope == VariableScope::clause ? VariableStorage::clause
                                            : VariableStorage::global;
}

/// The name at the root of `x`, `self->x`, `x[keys]`; null for anything else.
const Identifier* root_name(const Expr& target, const Index*& index) {
    index = target.get_if<Index>();
    const auto* name = (index ? *index->base : target).get_if<Identifier>();
    return name && name->scope != VariableScope::kernel && !name->name.empty() ? name : nullptr;
}

} // namespace

/// Makes the variable that `target` names when it does not exist yet; false after reporting.
bool ExprChecker::define(const Expr& target, TypeId type) {
    const Index* index = nullptr;
    const Identifier* name = root_name(target, index);
    if (!name)
        return true;
    VariableStorage storage = storage_of(name->scope);
    if (symbols_.find(storage, name->name))
        return true;
    if (storage == VariableStorage::global &&
        (symbols_.find_inline(name->name) || symbols_.is_enumerator(name->name)))
        return true; // reported as not assignable
    if (index && storage == VariableStorage::clause) {
        error(Tag::D_ARR_LOCAL, target.span, "a clause-local array (this->%s[]) cannot be",
              name->name.c_str());
        return false;
    }
    if (types_.is_char_array(type))
        type = types_.string_type();
    else if (types_.is_array(type))
        type = types_.pointer_to(types_.element_of(type));
    if (types_.is_void(type) || types_.is_function(type) || types_.is_float(type) ||
        types_.is_dynamic(type) || !types_.is_complete(type)) {
        error(types_.is_dynamic(type) ? Tag::D_OP_DYN : Tag::D_OP_INCOMPAT, target.span,
              "a variable cannot be of type \"%s\"", types_.name(type).c_str());
        return false;
    }
    std::vector<TypeId> keys;
    if (index) {
        auto checked = check_keys(index->arguments);
        if (!checked)
            return false;
        for (const TypedPtr& key : *checked)
            keys.push_back(types_.unqualified(key->type));
    }
    Variable* variable = symbols_.add(storage, name->name, types_.unqualified(type));
    if (!variable) {
        error(Tag::D_ID_OFLOW, target.span, "more variables than there are ids for");
        return false;
    }
    variable->is_array = index != nullptr;
    variable->keys = std::move(keys);
    return true;
}

/// Returns the typed target of an assignment, or null after reporting that it cannot be one.
TypedPtr ExprChecker::assign(TypedPtr target, TypedPtr value, const Span& span, const char* op) {
    bool is_variable = target->op == TypedOp::variable || target->op == TypedOp::element;
    if (!is_variable && target->op != TypedOp::load) {
        const TypedExpr* inner = target.get();
        while (inner->op == TypedOp::convert || inner->op == TypedOp::reinterpret)
            inner = inner->operands[0].get();
        bool builtin = inner->op == TypedOp::builtin_array;
        return error(builtin ? Tag::D_OP_WRITE : Tag::D_OP_LVAL, span,
                     builtin ? "%s: a built-in variable cannot be written"
                             : "%s needs something that can be assigned to",
                     op);
    }
    if (is_variable && target->variable->builtin)
        return error(Tag::D_OP_WRITE, span, "%s: %s is a built-in variable and cannot be written",
                     op, target->variable->name.c_str());
    TypeId type = target->type;
    if (types_.is_array(type))
        return error(Tag::D_OP_ARRFUN, span, "%s: an array (\"%s\") cannot be assigned to", op,
                     types_.name(type).c_str());
    if (!is_variable && types_.is_by_reference(type))
        return error(Tag::D_OP_LVAL, span, "%s: \"%s\" in memory cannot be written; use bcopy()",
                     op, types_.name(type).c_str());
    // 0 given to a string or struct variable frees it, as everywhere in D.
    bool frees = is_variable && is_zero(value) && types_.is_integer(value->type);
    if (!frees && !types_.assignable(type, value->type) &&
        !(is_zero(value) && types_.is_pointer(type))) {
        TypedPtr pointer = decay(value);
        if (!types_.is_pointer(type) || !types_.assignable(type, pointer->type))
            return error(Tag::D_OP_INCOMPAT, span, "%s: \"%s\" cannot be given a value of \"%s\"",
                         op, types_.name(type).c_str(), type_name(value).c_str());
        value = pointer;
    }
    if (!(frees && types_.is_by_reference(type)))
        value = convert(value, type);
    auto node = std::make_shared<TypedExpr>();
    node->type = type;
    node->span = span;
    if (target->op == TypedOp::load) {
        node->op = TypedOp::store;
        node->operands = {target->operands[0], value};
        return node;
    }
    node->op = TypedOp::assign;
    node->variable = target->variable;
    node->operands = target->operands;
    node->operands.push_back(value);
    return node;
}

TypedPtr ExprChecker::check_node(const Expr& expression, const Assign& node) {
    if (node.left->get_if<Aggregation>())
        return error(Tag::D_AGG_FUNC, expression.span,
                     "an aggregation is assigned to as a statement of its own");
    std::string op = node.op ? std::string(operator_text(*node.op)) + "=" : "=";
    TypedPtr right = check(*node.right);
    if (!right || !define(*node.left, right->type))
        return nullptr;
    TypedPtr target = check(*node.left);
    if (!target)
        return nullptr;
    if (node.op) {
        if (target->op == TypedOp::constant)
            return error(Tag::D_OP_LVAL, expression.span,
                         "%s needs something that can be assigned to", op.c_str());
        right = binary(*node.op, target, right, expression.span);
        if (!right)
            return nullptr;
    }
    return assign(target, right, expression.span, op.c_str());
}

TypedPtr ExprChecker::check_step(const Expr& expression, const Unary& node, bool value_used) {
    bool increment = node.op == UnaryOp::pre_increment || node.op == UnaryOp::post_increment;
    bool post = node.op == UnaryOp::post_increment || node.op == UnaryOp::post_decrement;
    const char* op = increment ? "++" : "--";
    if (!define(*node.operand, types_.int64_type()))
        return nullptr;
    TypedPtr target = check(*node.operand);
    if (!target)
        return nullptr;
    if (!types_.is_integer(target->type) && !types_.is_pointer(target->type))
        return error(Tag::D_OP_SCALAR, expression.span,
                     "%s needs an integer or a pointer, not \"%s\"", op, type_name(target).c_str());
    TypeId pointed =
        types_.is_pointer(target->type) ? types_.element_of(target->type) : target->type;
    if (types_.is_void(pointed) || types_.is_function(pointed))
        return error(Tag::D_OP_VFPTR, expression.span, "%s: \"%s\" points to nothing of a size", op,
                     type_name(target).c_str());
    TypedPtr old = target;
    bool keep = post && value_used;
    if (keep)
        old = make(TypedOp::old, target->type, expression.span, {});
    TypedPtr one = make_constant(1, types_.int_type(), expression.span);
    TypedPtr value =
        binary(increment ? BinaryOp::add : BinaryOp::subtract, old, one, expression.span);
    if (!value)
        return nullptr;
    TypedPtr update = assign(target, value, expression.span, op);
    if (!update || !keep)
        return update;
    return make(TypedOp::with_old, target->type, expression.span, {target, update});
}

} // namespace daybreak::compiler
