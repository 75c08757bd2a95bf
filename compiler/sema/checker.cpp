// SPDX-License-Identifier: Apache-2.0
//
// The checker's entry points, literals, casts and what is known without evaluating.
#include "compiler/sema/checker.hpp"

#include "compiler/diagnostics/messages/actions.hpp"
#include "compiler/diagnostics/messages/identifiers.hpp"
#include "compiler/diagnostics/messages/operators.hpp"

#include <cstdarg>

namespace daybreak::compiler {

const char* const kKernelHint =
    "give the kernel to compile for with --kernel RELEASE, or its types with --btf FILE";

TypedPtr ExprChecker::check(const Expr& expression) {
    if (context_.recorded)
        if (TypedPtr value = recorded_value(expression))
            return value;
    TypedPtr value = std::visit([&](const auto& node) { return check_node(expression, node); },
                                expression.node);
    return context_.recorded ? known_in_replay(expression, std::move(value)) : value;
}

TypedPtr ExprChecker::check_effect(const Expr& expression) {
    if (const auto* unary = expression.get_if<Unary>())
        if (unary->op >= UnaryOp::pre_increment)
            return check_step(expression, *unary, false);
    if (const auto* binary = expression.get_if<Binary>(); binary && binary->op == BinaryOp::comma) {
        TypedPtr first = check_effect(*binary->left);
        TypedPtr second = check_effect(*binary->right);
        if (!first || !second)
            return nullptr;
        return make(TypedOp::sequence, second->type, expression.span, {first, second});
    }
    return check(expression);
}

std::optional<int64_t> ExprChecker::check_constant(const Expr& expression) {
    TypedPtr value = check(expression);
    if (!value || !value->is_constant())
        return std::nullopt;
    return static_cast<int64_t>(value->value);
}

/// Whether an expression is made of integer constants and inlines.
bool ExprChecker::is_literal(const Expr& expression) const {
    if (const auto* unary = expression.get_if<Unary>())
        return unary->op <= UnaryOp::logical_not && is_literal(*unary->operand);
    if (const auto* binary = expression.get_if<Binary>())
        return binary->op != BinaryOp::comma && is_literal(*binary->left) &&
               is_literal(*binary->right);
    if (const auto* cast = expression.get_if<Cast>())
        return is_literal(*cast->operand);
    if (const auto* name = expression.get_if<Identifier>()) {
        if (name->scope != VariableScope::global || symbols_.hides(name->name))
            return false;
        const InlineInfo* definition = symbols_.find_inline(name->name);
        return definition && definition->constant && definition->parameters.empty();
    }
    return expression.get_if<IntegerLiteral>() || expression.get_if<SizeofType>();
}

std::optional<int64_t> ExprChecker::literal_value(const Expr& expression) {
    return is_literal(expression) ? check_constant(expression) : std::nullopt;
}

TypedPtr ExprChecker::error(Tag tag, const Span& span, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char text[512];
    std::vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    Diagnostic diagnostic;
    diagnostic.tag = tag;
    diagnostic.span = library_use_.value_or(span);
    diagnostic.text = text;
    context_.sink.report(std::move(diagnostic));
    return nullptr;
}

TypedPtr ExprChecker::error_with_hint(Tag tag, const Span& span, std::string text,
                                      std::string hint) {
    return refuse(tag, span, std::move(text), std::move(hint));
}

std::string ExprChecker::type_name(const TypedPtr& value) const {
    if (value->op == TypedOp::action && types_.is_dynamic(value->type))
        return std::string(identifier_kind(messages::IdentifierKind::aggregation));
    return types_.name(value->type);
}

TypedPtr ExprChecker::refuse(Tag tag, const Span& span, std::string text, std::string hint) {
    Diagnostic diagnostic;
    diagnostic.tag = tag;
    diagnostic.span = library_use_.value_or(span);
    diagnostic.text = std::move(text);
    if (!hint.empty())
        diagnostic.hints.push_back(std::move(hint));
    context_.sink.report(std::move(diagnostic));
    return nullptr;
}

TypedPtr ExprChecker::refuse_incomplete(Tag tag, const Span& span, TypeId type, std::string text,
                                        std::string hint) {
    if (types_.kernel_error() && types_.kind(types_.resolve(type)) == TypeKind::forward)
        return refuse(Tag::D_TYPE_ERR, span,
                      messages::lookup_failed(types_.name(type), types_.kernel_error()->message()));
    return refuse(tag, span, std::move(text), std::move(hint));
}

TypedPtr ExprChecker::make(TypedOp op, TypeId type, const Span& span,
                           std::vector<TypedPtr> operands) const {
    auto node = std::make_shared<TypedExpr>();
    node->op = op;
    node->type = type;
    node->span = span;
    node->operands = std::move(operands);
    return node;
}

namespace {

/// Returns the bits of `value` extended as an integer of that size and sign is.
uint64_t extend(uint64_t value, uint64_t bytes, bool is_signed) {
    if (bytes >= 8)
        return value;
    unsigned shift = static_cast<unsigned>(64 - 8 * bytes);
    return is_signed ? static_cast<uint64_t>(static_cast<int64_t>(value << shift) >> shift)
                     : (value << shift) >> shift;
}

} // namespace

TypedPtr ExprChecker::make_constant(uint64_t value, TypeId type, const Span& span) const {
    auto node = std::make_shared<TypedExpr>();
    node->op = TypedOp::constant;
    node->type = type;
    node->span = span;
    uint64_t bytes = types_.size_of(type).value_or(8);
    node->value =
        types_.resolved(type).is_bool ? value != 0 : extend(value, bytes, types_.is_signed(type));
    return node;
}

TypedPtr ExprChecker::convert(TypedPtr value, TypeId to) {
    if (!value || value->type == to)
        return value;
    if (value->is_constant() && types_.is_scalar(to)) {
        bool same = types_.is_integer(to) && types_.size_of(to) == types_.size_of(value->type) &&
                    types_.is_signed(to) == types_.is_signed(value->type);
        auto constant =
            std::make_shared<TypedExpr>(same ? *make_folded(value->value, to, value->span)
                                             : *make_constant(value->value, to, value->span));
        bool was_int = types_.size_of(value->type) == 4 && types_.is_signed(value->type);
        constant->is_widened = types_.size_of(to) == 8 && (was_int || value->is_widened);
        return constant;
    }
    if (!types_.is_integer(to) || !types_.is_scalar(value->type))
        return make(TypedOp::reinterpret, to, value->span, {value});
    uint64_t to_bytes = types_.size_of(to).value_or(8);
    uint64_t from_bytes = types_.size_of(value->type).value_or(8);
    bool to_signed = types_.is_signed(to), from_signed = types_.is_signed(value->type);
    bool same_bits = to_bytes == 8 || (to_bytes > from_bytes && (to_signed || !from_signed)) ||
                     (to_bytes == from_bytes && to_signed == from_signed);
    if (types_.resolved(to).is_bool && !types_.resolved(value->type).is_bool) {
        TypedPtr zero = make_constant(0, value->type, value->span);
        value = compare(BinaryOp::not_equal, value, zero, value->span);
        same_bits = true;
    }
    return make(same_bits ? TypedOp::reinterpret : TypedOp::convert, to, value->span, {value});
}

TypedPtr ExprChecker::decay(TypedPtr value) {
    if (!value || !types_.is_array(value->type))
        return value;
    TypeId pointer = types_.pointer_to(types_.element_of(value->type));
    return make(TypedOp::reinterpret, pointer, value->span, {value});
}

TypedPtr ExprChecker::as_pointer(TypedPtr value) {
    if (!value || !types_.is_string(value->type))
        return decay(std::move(value));
    TypeId pointer = types_.pointer_to(types_.char_type());
    return make(TypedOp::reinterpret, pointer, value->span, {value});
}

TypedPtr ExprChecker::check_node(const Expr& expression, const IntegerLiteral& literal) {
    TypeId type = types_.int_type();
    switch (literal.type) {
    case IntegerType::int_:
        type = types_.int_type();
        break;
    case IntegerType::unsigned_int:
        type = types_.unsigned_int_type();
        break;
    case IntegerType::long_:
        type = types_.long_type();
        break;
    case IntegerType::unsigned_long:
        type = types_.unsigned_long_type();
        break;
    case IntegerType::long_long:
        type = types_.find("long long");
        break;
    case IntegerType::unsigned_long_long:
        type = types_.find("unsigned long long");
        break;
    }
    if (type == TypeId::none)
        type = types_.long_type();
    return make_constant(literal.value, type, expression.span);
}

TypedPtr ExprChecker::check_node(const Expr& expression, const FloatLiteral&) {
    return refuse(
        Tag::D_OP_INT, expression.span, messages::no_floating_point(),
        "D counts in integers: x * 3 / 2 for 1.5 * x, nanoseconds for fractions of a second");
}

TypedPtr ExprChecker::check_node(const Expr& expression, const StringLiteral& literal) {
    auto node = std::make_shared<TypedExpr>();
    node->op = TypedOp::string;
    node->type = types_.string_type();
    node->span = expression.span;
    node->text = literal.value.substr(0, literal.value.find('\0'));
    return node;
}

TypedPtr ExprChecker::check_node(const Expr& expression, const Cast& cast) {
    TypeId to = context_.declarer.type_of(*cast.type);
    if (to != TypeId::none)
        if (TypedPtr address = untyped_symbol(*cast.operand))
            return cast_symbol(expression, to, address);
    TypedPtr value = decay(check(*cast.operand));
    if (!value || to == TypeId::none)
        return nullptr;
    bool from_char_array = types_.is_string_like(value->type);
    if (types_.is_string(to)) {
        if (from_char_array || types_.is_pointer(value->type))
            return make(TypedOp::reinterpret, to, expression.span, {value});
    } else if (types_.is_scalar(to) && !types_.is_float(to)) {
        bool from_string = types_.is_string(value->type) && types_.is_pointer(to);
        if (from_string)
            return make(TypedOp::reinterpret, to, expression.span, {value});
        if (types_.is_scalar(value->type) && !types_.is_float(value->type)) {
            TypedPtr converted = convert(value, to);
            if (value->is_constant()) // already of that type: what is left is not a name, yet constant
                return converted;
            return converted == value ? make(TypedOp::reinterpret, to, expression.span, {value})
                                      : converted;
        }
    } else if (types_.is_void(to)) {
        return make(TypedOp::reinterpret, to, expression.span, {value});
    } else if (types_.is_struct_or_union(to) && types_.compatible(to, value->type)) {
        return make(TypedOp::reinterpret, to, expression.span, {value});
    }
    return refuse(Tag::D_CAST_INVAL, expression.span,
                  messages::invalid_cast(type_name(value), types_.name(to)));
}

TypedPtr ExprChecker::check_node(const Expr& expression, const SizeofType& node) {
    TypeId type = context_.declarer.type_of(*node.type);
    if (type == TypeId::none)
        return nullptr;
    auto bytes = types_.size_of(types_.complete(types_.resolve(type)));
    if (!bytes)
        return refuse_incomplete(Tag::D_SIZEOF_TYPE, expression.span, type,
                                 messages::sizeof_unknown(),
                                 "\"" + types_.name(type) + "\" has no size");
    return make_constant(*bytes, types_.unsigned_long_type(), expression.span);
}

TypedPtr ExprChecker::check_node(const Expr& expression, const SizeofExpr& node) {
    if (const auto* literal = node.operand->get_if<StringLiteral>())
        return make_constant(literal->value.size() + 1, types_.unsigned_long_type(),
                             expression.span);
    TypedPtr value = define_operand(*node.operand) ? check(*node.operand) : nullptr;
    if (!value)
        return nullptr;
    if (value->is_bitfield)
        return refuse(Tag::D_SIZEOF_BITFIELD, expression.span, messages::sizeof_bitfield());
    auto bytes = types_.size_of(types_.complete(types_.resolve(value->type)));
    if (!bytes)
        return refuse_incomplete(Tag::D_SIZEOF_TYPE, expression.span, value->type,
                                 messages::sizeof_unknown(),
                                 "\"" + type_name(value) + "\" has no size");
    return make_constant(*bytes, types_.unsigned_long_type(), expression.span);
}

TypedPtr ExprChecker::check_node(const Expr& expression, const Offsetof& node) {
    TypeId type = context_.declarer.type_of(*node.type);
    if (type == TypeId::none)
        return nullptr;
    type = types_.complete(types_.resolve(type));
    if (!types_.is_struct_or_union(type))
        return refuse_incomplete(Tag::D_OFFSETOF_TYPE, expression.span, type,
                                 messages::offsetof_not_struct(),
                                 "\"" + types_.name(type) + "\" is not one that is known");
    auto member = types_.find_member(type, node.member);
    if (!member)
        return refuse(Tag::D_UNKNOWN, node.member_span, messages::offsetof_no_member(node.member),
                      similar_member(type, node.member));
    if (member->bitfield_bits != 0)
        return refuse(Tag::D_OFFSETOF_BITFIELD, expression.span,
                      messages::offsetof_bitfield(node.member));
    return make_constant(member->offset_bits / 8, types_.unsigned_long_type(), expression.span);
}

TypedPtr ExprChecker::check_node(const Expr& expression, const Stringof& node) {
    if (TypedPtr address = untyped_symbol(*node.operand))
        return cast_symbol(expression, types_.string_type(), address);
    TypedPtr value = define_operand(*node.operand) ? check(*node.operand) : nullptr;
    if (!value)
        return nullptr;
    if (types_.is_string(value->type))
        return value;
    bool scalar = types_.is_scalar(value->type) && !types_.is_float(value->type);
    if (!scalar && !types_.is_string_like(value->type))
        return refuse(Tag::D_STRINGOF_TYPE, expression.span,
                      messages::stringof_type(type_name(value)));
    return make(TypedOp::reinterpret, types_.string_type(), expression.span, {value});
}

} // namespace daybreak::compiler
