// SPDX-License-Identifier: Apache-2.0
//
// Assignment, op= and ++/--; the first one gives a variable its type.
#include "compiler/diagnostics/messages/actions.hpp"
#include "compiler/diagnostics/messages/identifiers.hpp"
#include "compiler/diagnostics/messages/operators.hpp"
#include "compiler/sema/checker.hpp"
#include "compiler/syntax/print.hpp"

namespace daybreak::compiler {

namespace {

/// The same value, which promotes as a bit-field does when `field` is one.
TypedPtr like_field(const TypedPtr& value, const TypedPtr& field) {
    if (field->bits.width == 0)
        return value;
    auto copy = std::make_shared<TypedExpr>(*value);
    copy->bits = field->bits;
    return copy;
}

/// The name at the root of `x`, `self->x`, `x[keys]`; null for anything else.
const Identifier* root_name(const Expr& target, const Index*& index) {
    index = target.get_if<Index>();
    const auto* name = (index ? *index->base : target).get_if<Identifier>();
    return name && name->scope != VariableScope::kernel && !name->name.empty() ? name : nullptr;
}

} // namespace

/// Whether `target` is the name of a variable that nothing has declared or assigned.
bool ExprChecker::is_undefined(const Expr& target) const {
    const auto* name = target.get_if<Identifier>();
    return name && name->scope != VariableScope::kernel &&
           !symbols_.find(storage_of(name->scope), name->name);
}

/// Makes the variable that `target` names when it does not exist yet; false after reporting.
bool ExprChecker::define(const Expr& target, TypeId type) {
    const Index* index = nullptr;
    const Identifier* name = root_name(target, index);
    if (!name)
        return true;
    VariableStorage storage = storage_of(name->scope);
    if (is_parameter(*name) || symbols_.find(storage, name->name))
        return true;
    if (storage == VariableStorage::global &&
        (symbols_.is_taken_by_inline(name->name) || symbols_.is_enumerator(name->name)))
        return true; // reported as not assignable
    if (index && storage == VariableStorage::clause) {
        refuse(Tag::D_ARR_LOCAL, target.span, messages::local_array(name->name));
        return false;
    }
    if (types_.is_char_array(type))
        type = types_.string_type();
    else if (types_.is_array(type))
        type = types_.pointer_to(types_.element_of(type));
    if (types_.is_void(type) || types_.is_function(type) || types_.is_float(type) ||
        types_.is_dynamic(type) || !types_.is_complete(type)) {
        refuse(types_.is_dynamic(type) ? Tag::D_OP_DYN : Tag::D_OP_INCOMPAT, target.span,
               messages::void_variable(types_.name(type)));
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
        refuse(Tag::D_ID_OFLOW, target.span, messages::too_many_identifiers(name->name));
        return false;
    }
    variable->is_array = index != nullptr;
    variable->keys = std::move(keys);
    return true;
}

/// Makes the variable that a unary operator reads when it does not exist yet: an int64_t.  A plain
/// global must have been assigned.  False after reporting.
bool ExprChecker::define_operand(const Expr& operand) {
    const auto* name = operand.get_if<Identifier>();
    bool has_scope = name && name->scope != VariableScope::global;
    return (!operand.get_if<Index>() && !has_scope) || define(operand, types_.int64_type());
}

/// Returns the D variable whose data an address lies in, or null: memory of its own.
TypedPtr ExprChecker::root_of(const TypedPtr& address) const {
    bool is_data = types_.is_by_reference(address->type) && !types_.is_string(address->type);
    switch (address->op) {
    case TypedOp::variable:
    case TypedOp::element:
        return types_.is_by_reference(address->type) && !address->variable->builtin ? address
                                                                                    : nullptr;
    case TypedOp::add:
    case TypedOp::subtract:
    case TypedOp::reinterpret:
        return root_of(address->operands[0]);
    case TypedOp::load:
        return is_data ? root_of(address->operands[0]) : nullptr;
    default:
        return nullptr;
    }
}

/// Returns the same address, computed from `base` in place of its root.
TypedPtr ExprChecker::rebased(const TypedPtr& address, const TypedPtr& base) const {
    if (address->op == TypedOp::variable || address->op == TypedOp::element)
        return base;
    auto copy = std::make_shared<TypedExpr>(*address);
    copy->operands[0] = rebased(address->operands[0], base);
    return copy;
}

/// Stores a value at an address.  When that is inside a D variable, the variable is loaded, or
/// made of zeros, changed, and stored again: an array's element is handed out as a copy.
TypedPtr ExprChecker::store(TypeId type, TypedPtr address, TypedPtr value, const Span& span) {
    TypedPtr root = root_of(address);
    if (!root)
        return make(TypedOp::store, type, span, {address, value});
    // The value is computed first, and kept: it may change the same variable.
    TypedPtr base = make(TypedOp::old, root->type, span, {});
    TypedPtr kept = bind(type, span);
    TypedPtr change = make(TypedOp::store, type, span, {rebased(address, base), kept});
    auto back = std::make_shared<TypedExpr>();
    back->op = TypedOp::assign;
    back->type = root->type;
    back->span = span;
    back->variable = root->variable;
    back->operands = root->operands;
    back->operands.push_back(base);
    TypedPtr data = make(TypedOp::fault_in, root->type, span, {root});
    TypedPtr update = make(TypedOp::with_old, root->type, span,
                           {data, make(TypedOp::sequence, root->type, span, {change, back})});
    return let(value, kept, make(TypedOp::sequence, type, span, {update, kept}));
}

/// Changes the bits of a bit-field in their unit; its value is the field, read again.
TypedPtr ExprChecker::store_bits(const TypedPtr& field, TypedPtr value, const Span& span) {
    TypeId word = types_.uint64_type();
    TypedPtr address = field->operands[1];
    uint64_t mask = field->bits.width == 64 ? ~0ull : (1ull << field->bits.width) - 1;
    auto number = [&](uint64_t bits) { return make_constant(bits, word, span); };
    TypeId unit = types_.integer_type(field->bits.unit_bytes, false);
    TypedPtr before = make(TypedOp::reinterpret, word, span, {load(unit, address, span)});
    TypedPtr kept =
        fold(TypedOp::bit_and, word, true, before, number(~(mask << field->bits.low)), span);
    // The value first: it may change other bits of the unit.
    value = convert(value, word);
    TypedPtr computed = value->is_constant() ? value : bind(word, span);
    TypedPtr bits = fold(TypedOp::bit_and, word, true, computed, number(mask), span);
    bits = fold(TypedOp::shift_left, word, true, bits, number(field->bits.low), span);
    TypedPtr after = fold(TypedOp::bit_or, word, true, kept, bits, span);
    TypedPtr stored = store(unit, address, after, span);
    if (!value->is_constant())
        stored = let(value, computed, stored);
    return like_field(make(TypedOp::sequence, field->type, span, {stored, field}), field);
}

/// Returns the assignment, or null after reporting that it cannot be.
TypedPtr ExprChecker::assign(TypedPtr target, TypedPtr value, const Span& span, const char* op) {
    bool is_variable = target->op == TypedOp::variable || target->op == TypedOp::element;
    if (!is_variable && target->op != TypedOp::load && !target->is_bitfield) {
        const TypedExpr* inner = target.get();
        while (inner->op == TypedOp::convert || inner->op == TypedOp::reinterpret)
            inner = inner->operands[0].get();
        bool builtin = inner->op == TypedOp::builtin_array;
        return builtin ? refuse(Tag::D_OP_WRITE, span, messages::requires_writable(op))
                       : refuse(Tag::D_OP_LVAL, span, messages::requires_lvalue(op));
    }
    if (is_variable && target->variable->builtin)
        return refuse(Tag::D_OP_WRITE, span, messages::requires_writable(op),
                      target->variable->name + " is a built-in variable");
    TypeId type = target->type;
    if (is_translated_to(value, type) && types_.is_struct_or_union(type)) {
        value = materialize(value);
        if (!value)
            return nullptr;
    }
    if (types_.is_array(type))
        return refuse(Tag::D_OP_ARRFUN, span, messages::not_applicable(op, types_.name(type)));
    // 0 given to a string or struct variable frees it, as everywhere in D.
    bool frees = is_variable && is_zero(value) && types_.is_integer(value->type);
    if (!frees && !types_.assignable(type, value->type) &&
        !(is_zero(value) && types_.is_pointer(type))) {
        TypedPtr pointer = decay(value);
        if (!types_.is_pointer(type) || !types_.assignable(type, pointer->type))
            return refuse(Tag::D_OP_INCOMPAT, span,
                          messages::incompatible(types_.name(type), op, type_name(value)));
        value = pointer;
    }
    if (!(frees && types_.is_by_reference(type)))
        value = convert(value, type);
    auto node = std::make_shared<TypedExpr>();
    node->type = type;
    node->span = span;
    if (target->is_bitfield)
        return store_bits(target, value, span);
    if (target->op == TypedOp::load)
        return store(type, target->operands[0], value, span);
    node->op = TypedOp::assign;
    node->variable = target->variable;
    node->operands = target->operands;
    node->operands.push_back(value);
    return node;
}

TypedPtr ExprChecker::check_node(const Expr& expression, const Assign& node) {
    if (node.left->get_if<Aggregation>())
        return refuse(Tag::D_AGG_FUNC, expression.span,
                      messages::not_aggregating(node.left->get_if<Aggregation>()->name),
                      "an aggregation is assigned to as a statement of its own");
    std::string op = node.op ? std::string(operator_text(*node.op)) + "=" : "=";
    TypedPtr right = check(*node.right);
    if (!right)
        return nullptr;
    // What reads a variable first cannot be what gives it a type it never could have.
    if (node.op && types_.is_void(right->type) && is_undefined(*node.left))
        return undefined(node.left->span, *node.left->get_if<Identifier>(), true);
    // Translated data is what it was translated to, once it is kept.
    bool is_data = right->type == types_.translated_type();
    if (!define(*node.left, is_data ? right->translator->output : right->type))
        return nullptr;
    TypedPtr target = check(*node.left);
    if (!target)
        return nullptr;
    if (node.op) {
        if (target->op == TypedOp::constant)
            return refuse(Tag::D_OP_LVAL, expression.span, messages::requires_lvalue(op));
        right = binary({*node.op, true}, target, right, expression.span);
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
        return refuse(Tag::D_OP_SCALAR, expression.span, messages::step_requires_scalar(op),
                      "the operand is \"" + type_name(target) + "\"");
    TypeId pointed =
        types_.is_pointer(target->type) ? types_.element_of(target->type) : target->type;
    if (types_.is_void(pointed) || types_.is_function(pointed))
        return refuse(Tag::D_OP_VFPTR, expression.span, messages::step_requires_size(op),
                      "\"" + type_name(target) + "\" points to nothing of a size");
    TypedPtr old = target;
    bool keep = post && value_used;
    if (keep)
        old = make(TypedOp::old, target->type, expression.span, {});
    TypedPtr one = make_constant(1, types_.int_type(), expression.span);
    TypedPtr value =
        binary({increment ? BinaryOp::add : BinaryOp::subtract}, old, one, expression.span);
    if (!value)
        return nullptr;
    TypedPtr update = assign(target, value, expression.span, op);
    if (!update || !keep)
        return update;
    return like_field(make(TypedOp::with_old, target->type, expression.span, {target, update}),
                      target);
}

} // namespace daybreak::compiler
