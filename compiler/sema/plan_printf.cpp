// SPDX-License-Identifier: Apache-2.0
//
// printf(), printa() and the actions that format as printf() does.
//
// The stored format says the size and sign of each integer (%d of an unsigned long is stored as
// %llu), so that whoever prints needs no types.
#include "compiler/sema/planner.hpp"

#include "compiler/syntax/print.hpp"
#include "formats/abi/dof.h"

namespace daybreak::compiler {

std::optional<Format> ClausePlanner::format_argument_of(const Expr& expression, const Call& call,
                                                        const char* name) {
    if (call.arguments.empty()) {
        error(Tag::D_PROTO_LEN, expression.span, "%s() needs a format", name);
        return std::nullopt;
    }
    const auto* literal = call.arguments[0]->get_if<StringLiteral>();
    if (!literal) {
        error(Tag::D_PRINTF_ARG_FMT, call.arguments[0]->span,
              "%s(): the format must be a string constant", name);
        return std::nullopt;
    }
    if (literal->value.empty()) {
        error(Tag::D_PRINTF_FMT_EMPTY, call.arguments[0]->span, "%s(): the format is empty", name);
        return std::nullopt;
    }
    Format format = parse_format(literal->value);
    if (!format.error.empty()) {
        for (size_t i = 1; i < call.arguments.size(); i++)
            if (!call.arguments[i]->get_if<Aggregation>() && !checker_.check(*call.arguments[i]))
                return std::nullopt;
        error(Tag::D_SYNTAX, call.arguments[0]->span, "%s(): %s", name, format.error.c_str());
        return std::nullopt;
    }
    return format;
}

/// Reports unless a value of `type` suits the conversion; gives the conversion its size and sign.
bool ClausePlanner::check_conversion(FormatConversion& conversion, const char* name, size_t number,
                                     const Span& span, TypeId type, bool is_stack) {
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
        const char* expected = wanted == FormatArgument::integer    ? "an integer"
                               : wanted == FormatArgument::scalar   ? "an integer or a pointer"
                               : wanted == FormatArgument::string   ? "a string"
                               : wanted == FormatArgument::floating ? "a floating-point value"
                                                                    : "a stack";
        std::string given = is_stack ? "stack" : types_.name(type);
        bool pointer = !is_stack && types_.is_char_pointer(type);
        checker_.error_with_hint(
            Tag::D_PRINTF_ARG_TYPE, span,
            base::strprintf("%s(): conversion %zu (%%%c) is given \"%s\", needs %s", name, number,
                            conversion.kind, given.c_str(), expected),
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
    for (bool star : {conversion.width_argument, conversion.precision_argument}) {
        if (!star)
            continue;
        if (next >= call.arguments.size()) {
            error(Tag::D_PRINTF_DYN_PROTO, call.arguments[0]->span,
                  "%s(): the * of conversion %zu has no argument", name, number);
            return false;
        }
        const Expr& argument = *call.arguments[next++];
        TypedPtr value = checker_.check(argument);
        if (!value)
            return false;
        if (!types_.is_integer(value->type)) {
            error(Tag::D_PRINTF_DYN_TYPE, argument.span,
                  "%s(): the * of conversion %zu is given \"%s\", needs an integer", name, number,
                  types_.name(value->type).c_str());
            return false;
        }
        planned.push_back(
            recorded(DTRACEACT_PRINTF, checker_.convert(value, types_.int_type()), argument));
    }
    if (next >= call.arguments.size()) {
        error(Tag::D_PRINTF_ARG_PROTO, call.arguments[0]->span,
              "%s(): conversion %zu (%%%c) has no argument", name, number, conversion.kind);
        return false;
    }
    const Expr& argument = *call.arguments[next++];
    TypedPtr value = checker_.check(argument);
    if (!value || !check_conversion(conversion, name, number, argument.span, value->type, false))
        return false;
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
    std::vector<PlannedAction> planned;
    size_t next = 1, number = 0;
    for (FormatConversion& conversion : format->conversions) {
        number++;
        if (conversion.aggregation)
            return error(Tag::D_PRINTF_AGG_CONV, call.arguments[0]->span,
                         "%s(): %%@ is for printa() only", name);
        if (!printf_argument(call, next, conversion, name, number, planned))
            return;
    }
    if (next < call.arguments.size())
        return error(Tag::D_PRINTF_ARG_EXTRA, call.arguments[next]->span,
                     "%s(): more arguments than the format has conversions", name);
    if (planned.empty()) {
        PlannedAction nothing; // there must be a value: it is the record's
        nothing.value = checker_.make_constant(0, types_.int_type(), expression.span);
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
        for (bool star : {conversion.width_argument, conversion.precision_argument}) {
            if (!star)
                continue;
            bool missing = key >= info.keys.size();
            if (missing || info.stack_keys[key] || !types_.is_integer(info.keys[key])) {
                error(missing ? Tag::D_PRINTF_DYN_PROTO : Tag::D_PRINTF_DYN_TYPE, span,
                      "printa(): the * of conversion %zu needs an integer key", number);
                return false;
            }
            key++;
        }
        if (conversion.aggregation) {
            FormatArgument wanted = format_argument(conversion.kind);
            if (wanted != FormatArgument::integer && wanted != FormatArgument::scalar) {
                error(Tag::D_PRINTF_ARG_TYPE, span,
                      "printa(): conversion %zu (%%@%c) cannot show an aggregation's value", number,
                      conversion.kind);
                return false;
            }
            conversion.size = "ll";
            continue;
        }
        if (key >= info.keys.size()) {
            error(Tag::D_PRINTF_ARG_PROTO, span,
                  "printa(): conversion %zu (%%%c) has no key of @%s to show", number,
                  conversion.kind, info.name.c_str());
            return false;
        }
        bool is_stack = info.stack_keys[key];
        if (!check_conversion(conversion, "printa", number, span, info.keys[key], is_stack))
            return false;
        key++;
    }
    return true;
}

void ClausePlanner::printa(const Expr& expression, const Call& call) {
    if (call.arguments.empty())
        return error(Tag::D_PRINTA_PROTO, expression.span, "printa() needs an aggregation");
    size_t first = call.arguments[0]->get_if<Aggregation>() ? 0 : 1;
    std::optional<Format> format;
    if (first == 1) {
        bool literal = call.arguments[0]->get_if<StringLiteral>() != nullptr;
        if (!literal && call.arguments.size() == 1)
            return error(Tag::D_PRINTA_AGGARG, call.arguments[0]->span,
                         "printa(): the argument is no aggregation");
        format = format_argument_of(expression, call, "printa");
        if (!format)
            return;
        if (call.arguments.size() == 1)
            return error(Tag::D_PRINTA_PROTO, expression.span, "printa() needs an aggregation");
    } else if (call.arguments.size() > 1) {
        return error(Tag::D_PRINTA_PROTO, call.arguments[1]->span,
                     "printa() takes several aggregations only behind a format");
    }
    const AggregationTags tags = {"printa", Tag::D_PRINTA_PROTO, Tag::D_PRINTA_AGGARG,
                                  Tag::D_PRINTA_AGGBAD};
    std::vector<PlannedAction> planned;
    const AggregationInfo* leader = nullptr;
    for (size_t i = first; i < call.arguments.size(); i++) {
        AggregationInfo* info = aggregation_argument(*call.arguments[i], tags);
        if (!info)
            return;
        if (leader && leader->keys.size() != info->keys.size())
            return error(Tag::D_PRINTA_AGGKEY, call.arguments[i]->span,
                         "printa(): @%s and @%s have different numbers of keys",
                         leader->name.c_str(), info->name.c_str());
        bool same = true;
        for (size_t k = 0; same && leader && k < info->keys.size(); k++)
            same = leader->stack_keys[k] == info->stack_keys[k] &&
                   (leader->stack_keys[k] || types_.compatible(leader->keys[k], info->keys[k]));
        if (!same)
            return error(Tag::D_PRINTA_AGGPROTO, call.arguments[i]->span,
                         "printa(): @%s and @%s have keys of different types", leader->name.c_str(),
                         info->name.c_str());
        leader = leader ? leader : info;
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
