// SPDX-License-Identifier: Apache-2.0
//
// Actions that record a value: trace(), exit(), tracemem(), stacks and symbols; setopt().
#include "compiler/sema/planner.hpp"

#include "compiler/diagnostics/messages/actions.hpp"
#include "compiler/diagnostics/messages/prototypes.hpp"
#include "compiler/syntax/print.hpp"
#include "formats/abi/dof.h"
#include "formats/abi/limits.h"

namespace daybreak::compiler {

/// A name of D that Daybreak does not offer: its arguments are checked, and then it is refused.
void ClausePlanner::pcap(const Expr& expression, const Call& call) {
    ActionArity arity = action_arity(ActionName::pcap);
    if (!count_arguments(expression, call, arity.least, arity.most))
        return;
    for (const ExprPtr& argument : call.arguments)
        if (!checker_.check(*argument))
            return;
    refuse(Tag::D_UNKNOWN, expression.span, "pcap() is not offered: no probe here has a packet",
           "tracemem() shows the bytes at an address");
}

void ClausePlanner::trace(const Expr& expression, const Call& call) {
    if (!count_arguments(expression, call, 1, 1))
        return;
    const Expr& argument = *call.arguments[0];
    if (const auto* aggregation = argument.get_if<Aggregation>();
        aggregation && symbols_.find_aggregation(aggregation->name))
        return refuse(Tag::D_TRACE_DYN, argument.span, messages::trace_dynamic("trace"),
                      "an aggregation is printed with printa(), not trace()");
    TypedPtr value = checker_.check(argument);
    if (!value)
        return;
    if (types_.is_void(value->type))
        return refuse(Tag::D_TRACE_VOID, argument.span, messages::trace_void("trace"));
    if (types_.is_dynamic(value->type) || !types_.is_complete(value->type) ||
        types_.size_of(value->type) == 0)
        return refuse(Tag::D_TRACE_DYN, argument.span, messages::trace_dynamic("trace"),
                      "the value is \"" + checker_.type_name(value) + "\"");
    add(recorded(DTRACEACT_DIFEXPR, value, argument));
}

void ClausePlanner::exit(const Expr& expression, const Call& call) {
    if (!count_arguments(expression, call, 1, 1))
        return;
    TypedPtr value = checker_.check(*call.arguments[0]);
    if (!value)
        return;
    if (!types_.is_integer(value->type))
        return wrong_argument(call, 0, "int", value);
    bool is_whole = value->type == types_.int_type();
    PlannedAction planned =
        recorded(DTRACEACT_EXIT, checker_.convert(value, types_.int_type()), *call.arguments[0]);
    if (!is_whole) // it is not what the text says
        planned.capture.clear();
    add(std::move(planned));
}

/// Returns the value of a constant from `least` to `most`, or nothing after reporting `text`.
std::optional<uint64_t> ClausePlanner::positive_constant(const Expr& argument, Tag tag,
                                                         std::string text, uint64_t least,
                                                         uint64_t most) {
    TypedPtr value = checker_.check(argument);
    if (!value)
        return std::nullopt;
    if (value->is_constant() && types_.is_integer(value->type) &&
        static_cast<int64_t>(value->value) >= static_cast<int64_t>(least) && value->value <= most)
        return value->value;
    refuse(tag, argument.span, std::move(text),
           base::strprintf("an integer constant from %llu to %llu",
                           static_cast<unsigned long long>(least),
                           static_cast<unsigned long long>(most)));
    return std::nullopt;
}

bool ClausePlanner::stack_argument(const Expr& expression, const Call& call, ActionName action,
                                   PlannedAction& planned) {
    bool user = action != ActionName::stack;
    planned.kind = action == ActionName::stack    ? DTRACEACT_STACK
                   : action == ActionName::ustack ? DTRACEACT_USTACK
                                                  : DTRACEACT_JSTACK;
    if (call.arguments.size() > (user ? 2 : 1)) {
        refuse(user ? Tag::D_USTACK_PROTO : Tag::D_STACK_PROTO, expression.span,
               messages::too_many_arguments(user ? "ustack" : "stack"));
        return false;
    }
    if (!call.arguments.empty()) {
        auto frames = positive_constant(
            *call.arguments[0], user ? Tag::D_USTACK_FRAMES : Tag::D_STACK_SIZE,
            user ? messages::ustack_frames() : messages::stack_size(), 1, DBK_STACKFRAMES_MAX);
        if (!frames)
            return false;
        planned.arg = *frames;
    }
    if (call.arguments.size() == 2) {
        auto bytes = positive_constant(*call.arguments[1], Tag::D_USTACK_STRSIZE,
                                       messages::ustack_string_size(), 0, DBK_STRSIZE_MAX);
        if (!bytes)
            return false;
        planned.arg |= *bytes << 32;
    }
    planned.capture = expression_text(expression);
    if (planned.capture.starts_with("imm")) // immstack() is stack(): a replay may ask by either name
        planned.capture.erase(0, 3);
    planned.capture_type = "stack";
    if (context_.recorded && !checker_.needs_recorded(planned.capture)) {
        checker_.not_recorded(expression.span, planned.capture);
        return false;
    }
    return true;
}

void ClausePlanner::tracemem(const Expr& expression, const Call& call) {
    constexpr uint64_t kBytesMax = 16384; // one segment
    if (!count_arguments(expression, call, 2, 3))
        return;
    TypedPtr address = checker_.decay(checker_.check(*call.arguments[0]));
    if (!address)
        return;
    if (!types_.is_pointer(address->type) && !types_.is_integer(address->type))
        return wrong_argument(call, 0, "pointer or integer", address, Tag::D_TRACEMEM_ADDR);
    TypedPtr size_value = checker_.check(*call.arguments[1]);
    if (!size_value)
        return;
    if (!types_.is_integer(size_value->type))
        return wrong_argument(call, 1, "size_t", size_value);
    auto bytes = positive_constant(*call.arguments[1], Tag::D_TRACEMEM_SIZE,
                                   messages::tracemem_size(), 1, kBytesMax);
    if (!bytes)
        return;
    bool dynamic = call.arguments.size() == 3;
    PlannedAction data = recorded(DTRACEACT_TRACEMEM, address, *call.arguments[0]);
    data.form = ResultForm::bytes;
    data.result_bytes = *bytes;
    data.arg = dynamic ? 2 : 1;
    PlannedAction size;
    if (dynamic) {
        TypedPtr value = checker_.check(*call.arguments[2]);
        if (!value)
            return;
        if (!types_.is_integer(value->type))
            return wrong_argument(call, 2, "size_t", value);
        size = recorded(DTRACEACT_TRACEMEM, value, *call.arguments[2]);
        size.arg = types_.is_signed(value->type) ? 4 : 3;
    }
    add(std::move(data));
    if (dynamic)
        add(std::move(size));
}

bool ClausePlanner::symbol_argument(const Expr& expression, const Call& call, ActionName action,
                                    PlannedAction& planned) {
    if (!count_arguments(expression, call, 1, 1))
        return false;
    TypedPtr address = checker_.recorded_value(expression); // the address, of the recorded program
    if (!address)
        address = checker_.decay(checker_.check(*call.arguments[0]));
    if (!address)
        return false;
    if (!types_.is_scalar(address->type)) {
        wrong_argument(call, 0,
                       action == ActionName::sym || action == ActionName::mod
                           ? "uintptr_t"
                           : "pointer or integer",
                       address);
        return false;
    }
    switch (action) {
    case ActionName::sym:
        planned.kind = DTRACEACT_SYM;
        break;
    case ActionName::mod:
        planned.kind = DTRACEACT_MOD;
        break;
    case ActionName::usym:
        planned.kind = DTRACEACT_USYM;
        break;
    case ActionName::umod:
        planned.kind = DTRACEACT_UMOD;
        break;
    default:
        planned.kind = DTRACEACT_UADDR;
        break;
    }
    bool is_of_process = action != ActionName::sym && action != ActionName::mod;
    if (!(address = checker_.named_address(address, is_of_process)))
        return false;
    planned.value = checker_.convert(address, types_.uint64_type());
    planned.capture = expression_text(expression);
    planned.capture_type = "uint64_t";
    return true;
}

void ClausePlanner::setopt(const Expr& expression, const Call& call) {
    if (!count_arguments(expression, call, 1, 2))
        return;
    PlannedAction parts[2];
    for (size_t i = 0; i < call.arguments.size(); i++) {
        TypedPtr value = checker_.check(*call.arguments[i]);
        if (!value)
            return;
        if (!types_.is_string_like(value->type))
            return wrong_argument(call, i, "const char *", value);
        parts[i].value = checker_.convert(value, types_.string_type());
    }
    if (!parts[1].value)
        parts[1].value = checker_.make_constant(0, types_.uint64_type(), expression.span);
    for (PlannedAction& part : parts) {
        part.kind = DTRACEACT_LIBACT;
        part.arg = DT_ACT_BASE + DT_ACT_SETOPT;
        add(std::move(part));
    }
}

} // namespace daybreak::compiler
