// SPDX-License-Identifier: Apache-2.0
//
// printf(), printa() and the actions that format as printf() does.
//
// The stored format says the size and sign of each integer (%d of an unsigned long is stored as
// %llu), so that a printer needs no types.
#include "compiler/sema/planner.hpp"

#include "base/counted.hpp"
#include "compiler/diagnostics/messages/formats.hpp"
#include "compiler/diagnostics/messages/prototypes.hpp"
#include "compiler/syntax/print.hpp"
#include "formats/abi/dof.h"

namespace daybreak::compiler {

std::optional<Format> ClausePlanner::format_argument_of(const Expr& expression, const Call& call,
                                                        const char* name) {
    if (call.arguments.empty()) {
        refuse(Tag::D_PROTO_LEN, expression.span,
               messages::prototype_length({name}, 0, 1, messages::kAnyNumber));
        return std::nullopt;
    }
    const auto* literal = call.arguments[0]->get_if<StringLiteral>();
    if (!literal) {
        if (TypedPtr value = checker_.check(*call.arguments[0]))
            refuse(Tag::D_PRINTF_ARG_FMT, call.arguments[0]->span,
                   messages::format_not_constant(name, checker_.type_name(value)));
        return std::nullopt;
    }
    if (literal->value.empty()) {
        refuse(Tag::D_PRINTF_FMT_EMPTY, call.arguments[0]->span, messages::format_empty(name));
        return std::nullopt;
    }
    Format format = parse_format(literal->value);
    if (!format.error.empty()) {
        for (size_t i = 1; i < call.arguments.size(); i++)
            if (!call.arguments[i]->get_if<Aggregation>() && !checker_.check(*call.arguments[i]))
                return std::nullopt;
        refuse(Tag::D_SYNTAX, call.arguments[0]->span, format.error);
        return std::nullopt;
    }
    return format;
}

/// Reports unless a value of `type` suits the conversion; gives the conversion its size and sign.
bool ClausePlanner::check_conversion(FormatConversion& conversion, const ConversionPlace& place,
                                     TypeId type, bool is_stack, const std::string& shown) {
    bool fits = false;
    FormatArgument wanted = format_argument(conversion.kind);
    bool is_integer = !is_stack && types_.is_integer(type);
    switch (wanted) {
    case FormatArgument::integer:
        fits = is_integer;
        break;
    case FormatArgument::scalar:
        fits = is_integer || (!is_stack && types_.is_pointer(type));
        break;
    case FormatArgument::string:
        fits = !is_stack && (types_.is_string(type) || types_.is_char_array(type));
        break;
    case FormatArgument::stack:
        fits = is_stack;
        break;
    case FormatArgument::floating:
        fits = !is_stack && types_.is_float(type);
        break;
    default:
        break;
    }
    if (!fits) {
        bool pointer = !is_stack && types_.is_char_pointer(type);
        refuse(
            Tag::D_PRINTF_ARG_TYPE, place.span,
            messages::value_type(place.action, place.argument, {place.number, conversion.name()},
                                 shown),
            pointer && wanted == FormatArgument::string
                ? "an address in the kernel becomes a string with stringof(), one of the process "
                  "with copyinstr()"
                : "");
        return false;
    }
    conversion.size.clear();
    bool number_kind = std::string_view("dioxXu").find(conversion.kind) != std::string_view::npos;
    if (number_kind && types_.size_of(type).value_or(8) == 8)
        conversion.size = "ll";
    if ((conversion.kind == 'd' || conversion.kind == 'i') && !types_.is_signed(type))
        conversion.kind = 'u';
    return true;
}

bool ClausePlanner::printf_argument(const Call& call, size_t& next, FormatConversion& conversion,
                                    const char* name, size_t number,
                                    std::vector<PlannedAction>& planned) {
    const std::string text = conversion.name();
    for (std::string_view star : conversion.stars()) {
        if (next >= call.arguments.size()) {
            refuse(Tag::D_PRINTF_DYN_PROTO, call.arguments[0]->span,
                   messages::star_missing(name, {number, text}, star));
            return false;
        }
        const Expr& argument = *call.arguments[next++];
        TypedPtr value = checker_.check(argument);
        if (!value)
            return false;
        if (!types_.is_integer(value->type)) {
            refuse(
                Tag::D_PRINTF_DYN_TYPE, argument.span,
                messages::star_type(name, next, {number, text}, star, checker_.type_name(value)));
            return false;
        }
        bool is_whole = value->type == types_.int_type();
        planned.push_back(
            recorded(DTRACEACT_PRINTF, checker_.convert(value, types_.int_type()), argument));
        if (!is_whole) // it is not what the text says
            planned.back().capture.clear();
    }
    if (next >= call.arguments.size()) {
        refuse(Tag::D_PRINTF_ARG_PROTO, call.arguments[0]->span,
               messages::value_missing(name, {number, text}));
        return false;
    }
    const Expr& argument = *call.arguments[next++];
    TypedPtr value = checker_.check(argument);
    if (!value || !check_conversion(conversion, {name, number, next, argument.span}, value->type,
                                    false, checker_.type_name(value)))
        return false;
    if (conversion.kind == 'a')
        value = checker_.named_address(value, false);
    planned.push_back(recorded(DTRACEACT_PRINTF, value, argument));
    return true;
}

void ClausePlanner::printf(const Expr& expression, const Call& call, uint32_t kind,
                           const char* name) {
    bool closes = kind == DTRACEACT_FREOPEN && call.arguments.size() == 1 &&
                  call.arguments[0]->get_if<StringLiteral>() &&
                  call.arguments[0]->get_if<StringLiteral>()->value.empty();
    std::optional<Format> format = closes ? Format{} : format_argument_of(expression, call, name);
    if (!format)
        return;
    if (closes)
        format->after = "."; // a format cannot be empty; no file has this name
    else if (kind == DTRACEACT_FREOPEN && format->conversions.empty() && format->after == ".")
        return error(Tag::D_FREOPEN_INVALID, call.arguments[0]->span,
                     "%s( ) argument #1 cannot be \".\"", name);
    std::vector<PlannedAction> planned;
    size_t next = 1, number = 0;
    for (FormatConversion& conversion : format->conversions) {
        number++;
        if (conversion.aggregation)
            return refuse(Tag::D_PRINTF_AGG_CONV, call.arguments[0]->span,
                          messages::aggregation_conversion(name));
        if (!printf_argument(call, next, conversion, name, number, planned))
            return;
    }
    if (next < call.arguments.size())
        return refuse(Tag::D_PRINTF_ARG_EXTRA, call.arguments[next]->span,
                      messages::values_extra(name, next - 1));
    if (planned.empty()) {
        PlannedAction nothing; // there must be a value: it is the record's
        nothing.value = checker_.make_constant(0, types_.uint64_type(), expression.span);
        planned.push_back(std::move(nothing));
    }
    for (PlannedAction& one : planned) {
        one.kind = kind;
        one.has_text = true;
        one.text = format->text();
        add(std::move(one));
    }
}

/// Checks the conversions of printa() against an aggregation's keys and function.
bool ClausePlanner::printa_format(Format& format, const AggregationInfo& info, const Span& span) {
    size_t key = 0, number = 0;
    for (FormatConversion& conversion : format.conversions) {
        number++;
        const std::string text = conversion.name();
        for (std::string_view star : conversion.stars()) {
            if (key >= info.keys.size()) {
                refuse(Tag::D_PRINTF_DYN_PROTO, span,
                       messages::star_missing("printa", {number, text}, star));
                return false;
            }
            bool is_integer = !info.stack_keys[key] && types_.is_integer(info.keys[key]);
            if (!is_integer && !info.has_open_keys) {
                refuse(Tag::D_PRINTF_DYN_TYPE, span,
                       messages::star_type("printa", key + 2, {number, text}, star,
                                           key_type_name(info, key)));
                return false;
            }
            key++;
        }
        if (conversion.aggregation) {
            FormatArgument wanted = format_argument(conversion.kind);
            if (wanted != FormatArgument::integer && wanted != FormatArgument::scalar) {
                refuse(Tag::D_PRINTF_ARG_TYPE, span,
                       messages::value_type("printa", key + 2, {number, text}, "aggregation"));
                return false;
            }
            conversion.size = "ll";
            continue;
        }
        if (key >= info.keys.size()) {
            refuse(Tag::D_PRINTF_ARG_PROTO, span, messages::value_missing("printa", {number, text}),
                   "@" + info.name + " has " + base::counted(info.keys.size(), "key"));
            return false;
        }
        bool is_stack = info.stack_keys[key];
        if (!info.has_open_keys &&
            !check_conversion(conversion, {"printa", number, key + 2, span}, info.keys[key],
                              is_stack, key_type_name(info, key)))
            return false;
        key++;
    }
    return true;
}

/// The type of an aggregation's key, as messages show it.
std::string ClausePlanner::key_type_name(const AggregationInfo& info, size_t key) const {
    return info.stack_keys[key] ? "stack" : types_.name(info.keys[key]);
}

void ClausePlanner::printa(const Expr& expression, const Call& call) {
    if (!count_arguments(expression, call, 1, messages::kAnyNumber))
        return;
    size_t first = call.arguments[0]->get_if<Aggregation>() ? 0 : 1;
    std::optional<Format> format;
    if (first == 1) {
        bool literal = call.arguments[0]->get_if<StringLiteral>() != nullptr;
        if (!literal) {
            if (TypedPtr value = checker_.check(*call.arguments[0]))
                wrong_argument(call, 0, "aggregation", value, Tag::D_PRINTA_AGGARG);
            return;
        }
        format = format_argument_of(expression, call, "printa");
        if (!format)
            return;
        if (call.arguments.size() == 1)
            return refuse(Tag::D_PRINTA_PROTO, expression.span,
                          messages::action_length("printa", 1, "2"));
    } else if (call.arguments.size() > 1) {
        return refuse(Tag::D_PRINTA_PROTO, call.arguments[1]->span,
                      messages::action_length("printa", call.arguments.size(), "1"),
                      "several aggregations need a format before them");
    }
    const AggregationTags tags = {"printa", Tag::D_PRINTA_PROTO, Tag::D_PRINTA_AGGARG,
                                  Tag::D_PRINTA_AGGBAD};
    std::vector<PlannedAction> planned;
    const AggregationInfo* leader = nullptr;
    for (size_t i = first; i < call.arguments.size(); i++) {
        AggregationInfo* info = aggregation_argument(call, i, tags);
        if (!info)
            return;
        if (leader && leader->keys.size() != info->keys.size())
            return refuse(Tag::D_PRINTA_AGGKEY, call.arguments[i]->span,
                          messages::key_counts_differ(leader->name, leader->keys.size(), info->name,
                                                      info->keys.size()));
        bool are_known = leader && !leader->has_open_keys && !info->has_open_keys;
        for (size_t k = 0; are_known && k < info->keys.size(); k++) {
            bool same =
                leader->stack_keys[k] == info->stack_keys[k] &&
                (leader->stack_keys[k] || types_.compatible(leader->keys[k], info->keys[k]));
            if (!same)
                return refuse(Tag::D_PRINTA_AGGPROTO, call.arguments[i]->span,
                              messages::key_types_differ(leader->name, key_type_name(*leader, k),
                                                         info->name, key_type_name(*info, k),
                                                         k + 1));
        }
        leader = leader && !leader->has_open_keys ? leader : info;
        PlannedAction one = aggregation_id(*info, call.arguments[i]->span);
        one.kind = DTRACEACT_PRINTA;
        planned.push_back(std::move(one));
    }
    if (format && !printa_format(*format, *leader, call.arguments[0]->span))
        return;
    for (PlannedAction& one : planned) {
        one.has_text = format.has_value();
        one.text = format ? format->text() : "";
        add(std::move(one));
    }
}

} // namespace daybreak::compiler
