// SPDX-License-Identifier: Apache-2.0
//
// Translators: their declarations, xlate, and what becomes of translated data.
//
// xlate makes no object.  Its value remembers the translator and the input; a member of it is the
// translator's expression with the input in place of the translator's name, like an inline.  Only
// where the whole is kept, in a variable or as a member, is a struct built in scratch memory.
// Decisions: docs/design/0011-translators-and-libraries.md.
#include "compiler/sema/checker.hpp"

#include "base/nearest_name.hpp"
#include "formats/abi/dif.h"

#include <algorithm>

namespace daybreak::compiler {

using base::strprintf;

namespace {

/// Whether computing it twice could differ from computing it once, or would cost a call.
bool computed_once(const TypedExpr& value) {
    switch (value.op) {
    case TypedOp::assign:
    case TypedOp::store:
    case TypedOp::call:
    case TypedOp::with_old:
    case TypedOp::fault_in:
    case TypedOp::scratch:
    case TypedOp::let:
        return true;
    default:
        return std::any_of(value.operands.begin(), value.operands.end(),
                           [](const TypedPtr& operand) { return computed_once(*operand); });
    }
}

} // namespace

// --- Values computed once -----------------------------------------------------------------------

TypedPtr ExprChecker::bind(TypeId type, const Span& span) {
    auto node = std::make_shared<TypedExpr>();
    node->op = TypedOp::bound;
    node->type = type;
    node->span = span;
    node->value = ++bindings_;
    return node;
}

TypedPtr ExprChecker::let(TypedPtr value, TypedPtr bound, TypedPtr body) const {
    auto node = std::make_shared<TypedExpr>();
    node->op = TypedOp::let;
    node->type = body->type;
    node->span = body->span;
    node->value = bound->value;
    node->operands = {std::move(value), std::move(body)};
    return node;
}

TypedPtr ExprChecker::expand_once(const Expr& value, InlineFrame frame, const Span& span) {
    std::vector<std::pair<TypedPtr, TypedPtr>> kept; // what was given, the name it got
    for (TypedPtr& argument : frame.arguments)
        if (argument->op != TypedOp::translated && computed_once(*argument)) {
            TypedPtr bound = bind(argument->type, argument->span);
            kept.emplace_back(argument, bound);
            argument = bound;
        }
    TypedPtr expanded = expand(value, std::move(frame), span);
    for (size_t i = kept.size(); expanded && i-- > 0;) {
        bool is_data = expanded->op == TypedOp::translated;
        // Of translated data it is the input that is computed once.
        TypedPtr inner = is_data ? expanded->operands[0] : expanded;
        inner = let(kept[i].first, kept[i].second, inner);
        expanded =
            is_data ? translated(*expanded->translator, inner,
                                 expanded->type == types_.translated_pointer_type(), expanded->span)
                    : inner;
    }
    return expanded;
}

// --- xlate --------------------------------------------------------------------------------------

TypedPtr ExprChecker::translated(const TranslatorInfo& translator, TypedPtr input, bool pointer,
                                 const Span& span) const {
    auto node = std::make_shared<TypedExpr>();
    node->op = TypedOp::translated;
    node->type = pointer ? types_.translated_pointer_type() : types_.translated_type();
    node->span = span;
    node->translator = &translator;
    node->operands = {std::move(input)};
    return node;
}

bool ExprChecker::is_translated_to(const TypedPtr& value, TypeId type) const {
    if (value->op != TypedOp::translated)
        return false;
    bool pointer = value->type == types_.translated_pointer_type();
    if (pointer != types_.is_pointer(type))
        return false;
    return types_.compatible(pointer ? types_.element_of(type) : type, value->translator->output);
}

/// Returns the translator whose input is of the value's type; failing that, the first whose input
/// the value can be given to.
const TranslatorInfo* ExprChecker::find_translator(TypeId output, const TypedPtr& input) const {
    const TranslatorInfo* fuzzy = nullptr;
    for (const auto& translator : symbols_.translators()) {
        if (!types_.compatible(translator->output, output))
            continue;
        TypeId wanted = translator->input[0].type;
        if (types_.compatible(wanted, input->type))
            return translator.get();
        bool fits =
            types_.assignable(wanted, input->type) || (is_zero(input) && types_.is_pointer(wanted));
        if (fits && !fuzzy)
            fuzzy = translator.get();
    }
    return fuzzy;
}

TypedPtr ExprChecker::check_node(const Expr& expression, const Xlate& node) {
    TypeId type = context_.declarer.type_of(*node.type);
    if (type == TypeId::none)
        return nullptr;
    bool pointer = types_.is_pointer(type);
    TypeId output = types_.complete(types_.resolve(pointer ? types_.element_of(type) : type));
    if (types_.kind(output) == TypeKind::forward)
        return error(Tag::D_XLATE_SOU, expression.span, "incomplete struct/union/enum %s",
                     types_.name(output).c_str());
    if (!types_.is_struct_or_union(output))
        return error(Tag::D_XLATE_SOU, expression.span,
                     "translator output type must be a struct or union");
    TypedPtr input = decay(check(*node.operand));
    if (!input)
        return nullptr;
    if (input->type == types_.translated_type() && !(input = materialize(input)))
        return nullptr;
    const TranslatorInfo* translator = find_translator(output, input);
    if (!translator)
        return error(Tag::D_XLATE_NONE, expression.span, "cannot translate from \"%s\" to \"%s\"",
                     type_name(input).c_str(), types_.name(type).c_str());
    return translated(*translator, convert(input, translator->input[0].type), pointer,
                      expression.span);
}

// --- Members ------------------------------------------------------------------------------------

/// Reports what is wrong with a translator as a whole, which is known at its end.
TypedPtr ExprChecker::translator_error(Tag tag, const Span& span, uint32_t end_line,
                                       std::string text) {
    Diagnostic diagnostic;
    diagnostic.tag = tag;
    diagnostic.span = library_use_.value_or(span);
    diagnostic.text = std::move(text);
    if (!library_use_)
        diagnostic.span.reached = end_line;
    context_.sink.report(std::move(diagnostic));
    return nullptr;
}

/// Whether a member of the type can be what the expression gives.
bool ExprChecker::suits_member(TypeId member, const TypedPtr& value) const {
    if (types_.is_array(member)) {
        if (types_.is_char_array(member) && types_.is_string_like(value->type))
            return true;
        return types_.is_array(value->type) &&
               types_.compatible(types_.element_of(member), types_.element_of(value->type));
    }
    return types_.assignable(member, value->type) || is_translated_to(value, member) ||
           (is_zero(value) && types_.is_pointer(member)) ||
           (types_.is_pointer(member) && types_.is_array(value->type) &&
            types_.pointers_compatible(member, value->type)) ||
           (types_.is_char_pointer(member) && types_.is_string(value->type));
}

/// Returns what a translator says a member is, of the member's type.
TypedPtr ExprChecker::member_value(const TranslatorInfo& translator,
                                   const TranslatorInfo::Member& member, const TypedPtr& input,
                                   const Span& span) {
    auto location = types_.find_member(translator.output, member.name);
    if (!location)
        return translator_error(Tag::D_XLATE_MEMB, member.span, translator.end_line,
                                "translator member " + member.name + " is not a member of " +
                                    types_.name(translator.output_name));
    TypedPtr value =
        expand_once(*member.value, {&translator.input, {input}, translator.is_library}, span);
    if (!value)
        return nullptr;
    if (!suits_member(location->type, value))
        return translator_error(
            Tag::D_XLATE_INCOMPAT, member.span, translator.end_line,
            strprintf("translator member %s definition uses incompatible types: \"%s\" = \"%s\"",
                      member.name.c_str(), types_.name(location->type).c_str(),
                      type_name(value).c_str()));
    if (value->op == TypedOp::translated || types_.is_array(location->type))
        return value;
    return convert(decay(value), location->type);
}

TypedPtr ExprChecker::translated_member(const Expr& expression, const Member& member,
                                        const TypedPtr& base) {
    const TranslatorInfo& translator = *base->translator;
    auto location = types_.find_member(translator.output, member.member);
    if (!location) {
        std::string similar =
            base::nearest_name(member.member, types_.member_names(translator.output));
        return error_with_hint(Tag::D_TYPE_MEMBER, member.member_span,
                               strprintf("%s is not a member of %s", member.member.c_str(),
                                         types_.name(translator.output_name).c_str()),
                               base::did_you_mean(similar));
    }
    for (const TranslatorInfo::Member& known : translator.members)
        if (known.name == member.member)
            return member_value(translator, known, base->operands[0], expression.span);
    return error(Tag::D_XLATE_NOCONV, member.member_span,
                 "translator does not define conversion for member: %s", member.member.c_str());
}

// --- Whole objects ------------------------------------------------------------------------------

/// Stores a value as a member of the object at an address.
TypedPtr ExprChecker::member_store(const MemberLocation& member, const TypedPtr& object,
                                   TypedPtr value, const Span& span) {
    if (value->op == TypedOp::translated && !(value = materialize(value)))
        return nullptr;
    if (member.bitfield_bits != 0)
        return store_bits(load_bits(member, object, span), value, span);
    TypedPtr address = add_offset(object, member.offset_bits / 8);
    if (!types_.is_array(member.type))
        return store(member.type, address, value, span);
    uint64_t bytes = types_.size_of(member.type).value_or(0);
    bool whole = types_.is_array(value->type) && types_.size_of(value->type).value_or(0) >= bytes;
    if (whole || !types_.is_char_array(member.type))
        return store(whole ? member.type : value->type, address, value, span);
    // A string, as much of it as the array holds with its end.
    auto cut = std::make_shared<TypedExpr>();
    cut->op = TypedOp::call;
    cut->type = types_.string_type();
    cut->span = span;
    cut->value = DIF_SUBR_SUBSTR;
    cut->text = "substr";
    cut->operands = {make(TypedOp::reinterpret, types_.string_type(), span, {value}),
                     make_constant(0, types_.int_type(), span),
                     make_constant(bytes == 0 ? 0 : bytes - 1, types_.int_type(), span)};
    return store(types_.string_type(), address, cut, span);
}

/// Builds the struct that xlate <T> stands for: members without an expression are 0.
TypedPtr ExprChecker::materialize(const TypedPtr& translated) {
    const TranslatorInfo& translator = *translated->translator;
    const Span& span = translated->span;
    TypedPtr object = bind(translator.output, span);
    TypedPtr input = translated->operands[0];
    bool simple = input->op == TypedOp::constant || input->op == TypedOp::variable ||
                  input->op == TypedOp::bound;
    TypedPtr bound = simple ? input : bind(input->type, span);
    TypedPtr result = object;
    for (size_t i = translator.members.size(); i-- > 0;) {
        const TranslatorInfo::Member& member = translator.members[i];
        auto location = types_.find_member(translator.output, member.name);
        TypedPtr value = member_value(translator, member, bound, span);
        TypedPtr stored = value ? member_store(*location, object, value, span) : nullptr;
        if (!stored)
            return nullptr;
        result = make(TypedOp::sequence, translator.output, span, {stored, result});
    }
    result = let(make(TypedOp::scratch, translator.output, span, {}), object, result);
    return simple ? result : let(input, bound, result);
}

// --- Declarations -------------------------------------------------------------------------------

bool ExprChecker::check_translator_member(const TranslatorInfo& translator,
                                          const TranslatorInfo::Member& member) {
    TypedPtr input = bind(translator.input[0].type, member.span);
    return member_value(translator, member, input, member.span) != nullptr;
}

void ExprChecker::declare_translator(const Translator& syntax) {
    TranslatorInfo info;
    info.output_name = context_.declarer.type_of(syntax.output);
    if (info.output_name == TypeId::none)
        return;
    info.output = types_.complete(types_.resolve(info.output_name));
    if (types_.kind(info.output) == TypeKind::forward) {
        translator_error(Tag::D_XLATE_SOU, syntax.output.span, syntax.end_line,
                         "incomplete struct/union/enum " + types_.name(info.output_name));
        return;
    }
    if (!types_.is_struct_or_union(info.output)) {
        translator_error(Tag::D_XLATE_SOU, syntax.output.span, syntax.end_line,
                         "translator output type must be a struct or union");
        return;
    }
    TypeParameter input = context_.declarer.parameter(syntax.input);
    if (input.type == TypeId::none)
        return;
    for (const auto& known : symbols_.translators())
        if (types_.compatible(known->output, info.output) &&
            types_.compatible(known->input[0].type, input.type)) {
            translator_error(Tag::D_XLATE_REDECL, syntax.span, syntax.end_line,
                             "translator from " + types_.name(input.type) + " to " +
                                 types_.name(info.output_name) + " has already been declared");
            return;
        }
    info.input.push_back(std::move(input));
    info.end_line = syntax.end_line;
    info.is_library = context_.in_library;
    for (const TranslatorMember& member : syntax.members)
        info.members.push_back({member.name, member.span, member.value.get()});
    TranslatorInfo& added = symbols_.add_translator(std::move(info));
    if (context_.in_library)
        return; // checked by its tests; a program that does not use it pays nothing
    for (const TranslatorInfo::Member& member : added.members)
        if (!check_translator_member(added, member))
            return;
}

} // namespace daybreak::compiler
