// SPDX-License-Identifier: Apache-2.0
//
// What lies in memory: members, subscripts, dereference and address-of.
//
// An lvalue in memory is a `load` of an address.  For types that are by reference the load only
// says what lies there: the value is the address.
#include "base/nearest_name.hpp"
#include "compiler/diagnostics/messages/operators.hpp"
#include "compiler/sema/checker.hpp"

namespace daybreak::compiler {

TypedPtr ExprChecker::load(TypeId type, TypedPtr address, const Span& span) {
    return make(TypedOp::load, type, span, {std::move(address)});
}

/// Returns the address of what lies in memory; of a by-reference value that is the value itself.
TypedPtr ExprChecker::address_of(const TypedPtr& lvalue) const {
    return lvalue->op == TypedOp::load ? lvalue->operands[0] : lvalue;
}

TypedPtr ExprChecker::add_offset(TypedPtr address, uint64_t bytes) const {
    if (bytes == 0)
        return address;
    TypeId word = types_.unsigned_long_type();
    // What has the same value: casts between pointers, and what lies somewhere by reference.
    while ((address->op == TypedOp::reinterpret &&
            (types_.is_by_reference(address->operands[0]->type) ||
             types_.size_of(address->operands[0]->type) == 8)) ||
           (address->op == TypedOp::load && types_.is_by_reference(address->type)))
        address = address->operands[0];
    if (address->op == TypedOp::add && address->operands[1]->is_constant()) {
        bytes += address->operands[1]->value;
        address = address->operands[0];
    }
    if (address->op == TypedOp::symbol) {
        auto moved = std::make_shared<TypedExpr>(*address);
        moved->value += bytes;
        return moved;
    }
    Span span = address->span;
    return make(TypedOp::add, word, span, {std::move(address), make_constant(bytes, word, span)});
}

/// Returns the hint that names a member much like the one that is not there; "" without one.
std::string ExprChecker::similar_member(TypeId type, const std::string& member) {
    std::string similar = base::nearest_name(member, types_.member_names(type));
    if (!similar.empty())
        return base::did_you_mean(similar);
    constexpr size_t kShownMax = 8; // more would not be read
    std::vector<std::string> names = types_.member_names(type);
    std::string all;
    for (const std::string& name : names)
        all += (all.empty() ? "" : ", ") + name;
    return names.size() > kShownMax ? "" : "it has " + all;
}

TypedPtr ExprChecker::check_node(const Expr& expression, const Member& member) {
    if (is_of_replayed_cpu(member))
        return replayed_cpu(expression, member);
    TypedPtr base = check(*member.base);
    if (!base)
        return nullptr;
    const char* op = member.arrow ? "->" : ".";
    if (base->op == TypedOp::translated &&
        member.arrow == (base->type == types_.translated_pointer_type()))
        return translated_member(expression, member, base);
    TypeId type = base->type;
    if (member.arrow) {
        base = decay(base);
        if (!types_.is_pointer(base->type))
            return refuse(Tag::D_OP_PTR, expression.span, messages::arrow_requires_pointer(),
                          types_.is_struct_or_union(type)
                              ? "use . for a struct or union"
                              : "\"" + type_name(base) + "\" is not a pointer");
        type = types_.element_of(base->type);
    } else if (types_.is_pointer(type) && types_.is_struct_or_union(types_.element_of(type))) {
        return refuse(Tag::D_OP_SOU, expression.span,
                      messages::dot_requires_struct(types_.name(type)), "use -> for a pointer");
    }
    type = types_.complete(types_.resolve(type));
    if (types_.kind(type) == TypeKind::forward) {
        return refuse_incomplete(Tag::D_OP_INCOMPLETE, expression.span, type,
                                 messages::forward_declared(op, types_.name(type)),
                                 context_.has_kernel ? "" : kKernelHint);
    }
    if (!types_.is_struct_or_union(type))
        return refuse(Tag::D_OP_SOU, expression.span,
                      member.arrow ? messages::arrow_requires_struct(types_.name(type))
                                   : messages::dot_requires_struct(types_.name(type)));
    auto location = types_.find_member(type, member.member);
    if (!location)
        return refuse(Tag::D_TYPE_MEMBER, member.member_span,
                      messages::no_member(member.member, types_.name(type)),
                      similar_member(type, member.member));
    TypedPtr address = member.arrow ? base : address_of(base);
    if (location->bitfield_bits != 0)
        return load_bits(*location, address, expression.span);
    return load(location->type, add_offset(address, location->offset_bits / 8), expression.span);
}

/// Loads the smallest aligned unit that holds the bits, then shifts them into place.
TypedPtr ExprChecker::load_bits(const MemberLocation& member, TypedPtr address, const Span& span) {
    uint64_t first = member.offset_bits, width = member.bitfield_bits;
    uint64_t unit_bits = 8;
    while (unit_bits < 64 && first / unit_bits != (first + width - 1) / unit_bits)
        unit_bits *= 2;
    uint64_t start = first / unit_bits * unit_bits, low = first - start;
    bool is_signed = types_.is_signed(member.type);
    TypeId word = types_.integer_type(8, is_signed);
    address = add_offset(std::move(address), start / 8);
    TypedPtr value = load(types_.integer_type(unit_bits / 8, false), address, span);
    value = make(TypedOp::reinterpret, word, span, {value});
    auto shift = [&](TypedOp op, uint64_t bits) {
        if (bits == 0)
            return;
        auto node = std::make_shared<TypedExpr>();
        node->op = op;
        node->type = word;
        node->span = span;
        node->is_unsigned = !is_signed;
        node->operands = {value, make_constant(bits, types_.int_type(), span)};
        value = node;
    };
    if (is_signed) {
        shift(TypedOp::shift_left, 64 - low - width);
        shift(TypedOp::shift_right, 64 - width);
    } else {
        shift(TypedOp::shift_right, low);
        if (low + width != unit_bits)
            value = make(TypedOp::bit_and, word, span,
                         {value, make_constant((1ull << width) - 1, word, span)});
    }
    auto result = std::make_shared<TypedExpr>();
    result->op = TypedOp::reinterpret;
    result->type = member.type;
    result->span = span;
    result->operands = {value, address};
    result->is_bitfield = true;
    result->bits = {static_cast<uint8_t>(low), static_cast<uint8_t>(width),
                    static_cast<uint8_t>(unit_bits / 8)};
    return result;
}

TypedPtr ExprChecker::check_subscript(const Expr& expression, const Index& index) {
    TypedPtr base = check(*index.base);
    if (!base)
        return nullptr;
    if (!types_.is_pointer(base->type) && !types_.is_array(base->type) &&
        !types_.is_string(base->type))
        return refuse(Tag::D_ARR_BADREF, expression.span,
                      messages::not_associative(node_name(*index.base)),
                      "\"" + type_name(base) + "\" cannot be indexed");
    if (index.arguments.size() != 1)
        return refuse(Tag::D_ARR_BADREF, expression.span,
                      messages::not_associative(node_name(*index.base)),
                      "\"" + type_name(base) + "\" takes one index");
    TypedPtr at = check(*index.arguments[0]);
    if (!at)
        return nullptr;
    if (!types_.is_integer(at->type))
        return refuse(Tag::D_OP_INT, index.arguments[0]->span,
                      messages::array_index_not_integral(type_name(at)));
    // Of an element of an associative array nothing is known until it runs.
    if (types_.is_array(base->type) && at->is_constant() && base->op != TypedOp::element) {
        uint64_t count = types_.resolved(base->type).count;
        if (count > 1 && at->value >= count)
            return refuse(Tag::D_ARR_BOUNDS, expression.span,
                          messages::array_bounds(static_cast<long long>(at->value), count),
                          "the array is \"" + type_name(base) + "\"");
    }
    TypedPtr pointer = pointer_arithmetic({BinaryOp::add}, as_pointer(base), at, expression.span);
    return pointer ? dereference(pointer, expression.span) : nullptr;
}

TypedPtr ExprChecker::dereference(TypedPtr pointer, const Span& span) {
    if (pointer->type == types_.translated_pointer_type())
        return translated(*pointer->translator, pointer->operands[0], false, span);
    if (!types_.is_pointer(pointer->type))
        return refuse(Tag::D_DEREF_NONPTR, span, messages::dereference_non_pointer(),
                      "the operand is \"" + type_name(pointer) + "\"");
    TypeId target = types_.complete(types_.element_of(pointer->type));
    if (types_.is_void(target))
        return refuse(Tag::D_DEREF_VOID, span, messages::dereference_void(),
                      "cast it to a pointer of the type that lies there");
    if (types_.is_function(target))
        return refuse(Tag::D_DEREF_FUNC, span, messages::dereference_function());
    if (types_.is_float(target))
        return refuse(Tag::D_OP_ARITH, span, messages::requires_integral_operand("*"),
                      "floating-point values cannot be loaded");
    return load(target, std::move(pointer), span);
}

TypedPtr ExprChecker::check_address_of(const Expr& expression, const Expr& operand) {
    if (operand.get_if<Aggregation>())
        return refuse(Tag::D_ADDROF_VAR, expression.span, messages::address_of_variable());
    if (TypedPtr address = untyped_symbol(operand))
        return address;
    TypedPtr value = check(operand);
    if (!value)
        return nullptr;
    if (value->op == TypedOp::reinterpret && value->operands[0]->op == TypedOp::symbol)
        return value; // a function's
    if (value->type == types_.translated_type())
        return translated(*value->translator, value->operands[0], true, expression.span);
    if (value->is_bitfield)
        return refuse(Tag::D_ADDROF_BITFIELD, expression.span, messages::address_of_bitfield());
    bool variable = value->op == TypedOp::variable || value->op == TypedOp::element ||
                    value->op == TypedOp::builtin_array;
    const TypedExpr* inner = value.get();
    while (inner->op == TypedOp::convert || inner->op == TypedOp::reinterpret)
        inner = inner->operands[0].get();
    if (variable || inner->op == TypedOp::builtin_array)
        return refuse(Tag::D_ADDROF_VAR, expression.span, messages::address_of_variable());
    if (value->op != TypedOp::load)
        return refuse(Tag::D_ADDROF_LVAL, expression.span, messages::address_of_value());
    return make(TypedOp::reinterpret, types_.pointer_to(value->type), expression.span,
                {value->operands[0]});
}

} // namespace daybreak::compiler
