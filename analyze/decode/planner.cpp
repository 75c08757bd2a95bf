// SPDX-License-Identifier: Apache-2.0
//
// Planner: one ECB's actions and fields into statements.
#include "analyze/decode/planner.hpp"

#include <algorithm>

namespace daybreak::analyze {

namespace {

// Oracle's dialect of tracemem(): the action's argument says what it holds.
constexpr uint64_t kTracememSized = 2;      ///< bytes whose count the next action holds
constexpr uint64_t kTracememSizeFirst = 3;  ///< that count, unsigned
constexpr uint64_t kTracememSizeSecond = 4; ///< that count, signed

// freopen(""): a format cannot be empty, and no file that can be written has this name.
constexpr std::string_view kFreopenRestore = ".";

constexpr uint8_t kAggregationFlags = DBK_FIELD_F_KEY | DBK_FIELD_F_VALUE | DBK_FIELD_F_INCREMENT;

ValueKind kind_of_action(const formats::DofAction& action) {
    switch (action.kind) {
    case DTRACEACT_STACK:
    case DBK_ACT_CAPTURE_STACK:
        return ValueKind::stack;
    case DTRACEACT_USTACK:
    case DBK_ACT_CAPTURE_USTACK:
    case DTRACEACT_JSTACK:
        return ValueKind::ustack;
    case DTRACEACT_SYM:
        return ValueKind::symbol;
    case DTRACEACT_MOD:
        return ValueKind::module;
    case DTRACEACT_USYM:
        return ValueKind::usymbol;
    case DTRACEACT_UMOD:
        return ValueKind::umodule;
    case DTRACEACT_UADDR:
        return ValueKind::uaddress;
    case DTRACEACT_TRACEMEM:
        return ValueKind::memory;
    default:
        return ValueKind::integer;
    }
}

bool has_integer_size(uint32_t bytes) {
    return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

bool prints_nothing(uint32_t kind) {
    switch (kind) {
    case DTRACEACT_NONE:
    case DTRACEACT_STOP:
    case DTRACEACT_RAISE:
    case DTRACEACT_BREAKPOINT:
    case DTRACEACT_PANIC:
    case DTRACEACT_CHILL:
    case DTRACEACT_SPECULATE:
    case DTRACEACT_COMMIT:
    case DTRACEACT_DISCARD:
        return true;
    default:
        return DBK_ACT_IS_CAPTURE(kind);
    }
}

/// capture() of the program; what option context adds belongs to no statement.
bool is_capturing(const formats::DofAction& action) {
    return DBK_ACT_IS_CAPTURE(action.kind) && action.uarg != 0;
}

} // namespace

Planner::Planner(EcbPlan& plan, const formats::DofProgram& program,
                 const std::vector<Action>& actions, uint32_t strsize_bytes)
    : plan_(plan), program_(program), actions_(actions), strsize_bytes_(strsize_bytes),
      plain_(actions.size()), aggregated_(actions.size()), in_tuple_(actions.size()) {}

void Planner::collect_fields() {
    for (const formats::FieldInfo& field : plan_.ecb->fields) {
        if (field.action >= actions_.size()) {
            plan_.problem = "a field belongs to an action that the clause does not have";
            return;
        }
        if (field.flags & kAggregationFlags)
            aggregated_[field.action].push_back(&field);
        else if (!plain_[field.action])
            plain_[field.action] = &field;
    }
    for (size_t at = 0; at < actions_.size(); at++) {
        if (!DTRACEACT_IS_AGG(actions_[at].kind))
            continue;
        size_t count = std::min<size_t>(actions_[at].tuple_count, at);
        for (size_t member = at - count; member < at; member++)
            in_tuple_[member] = true;
    }
}

FieldPlan Planner::field_plan(const formats::FieldInfo& info, const Action& action) const {
    FieldPlan field{info, {kind_of_action(action), info.bytes, action.kind}};
    bool is_string_type = action.difo && program_.difos[*action.difo].type.kind == DIF_TYPE_STRING;
    field.type.is_signed =
        action.difo && (program_.difos[*action.difo].type.ckind & DIF_CK_SIGNED) != 0;
    if (info.shape == DBK_FIELD_STACK && !field.type.is_stack())
        field.type.kind = ValueKind::stack;
    if (field.type.kind == ValueKind::integer) {
        if (info.shape == DBK_FIELD_STRING || is_string_type)
            field.type.kind = ValueKind::string;
        else if (!has_integer_size(info.bytes))
            field.type.kind = ValueKind::bytes;
    }
    if (field.type.kind == ValueKind::string && field.type.bytes == 0)
        field.type.bytes = strsize_bytes_;
    return field;
}

std::optional<FieldPlan> Planner::field_of(size_t at) const {
    if (at >= actions_.size() || !plain_[at])
        return std::nullopt;
    return field_plan(*plain_[at], actions_[at]);
}

std::optional<uint64_t> Planner::constant_at(size_t at) const {
    if (at >= actions_.size() || !actions_[at].difo)
        return std::nullopt;
    return constant_of(program_.difos[*actions_[at].difo]);
}

NumberPlan Planner::number_of(size_t at) const {
    return {field_of(at), constant_at(at).value_or(0)};
}

Statement& Planner::add(StatementKind kind, size_t action) {
    Statement& statement = plan_.statements.emplace_back();
    statement.kind = kind;
    statement.action = static_cast<uint32_t>(action);
    return statement;
}

size_t Planner::statement_end(size_t at) const {
    size_t end = at + 1;
    while (end < actions_.size() && actions_[end].kind == actions_[at].kind &&
           actions_[end].uarg == actions_[at].uarg)
        end++;
    return end;
}

void Planner::plan_aggregation(size_t at, uint32_t& next_source) {
    const Action& action = actions_[at];
    size_t first = at - std::min<size_t>(action.tuple_count, at);
    Statement& statement = add(StatementKind::aggregate, at);
    statement.source = next_source++;
    statement.fixed_bytes = plan_.ecb->fixed_bytes;
    statement.layout.function.kind = action.kind;
    if (action.kind == DTRACEAGG_LQUANTIZE || action.kind == DTRACEAGG_LLQUANTIZE)
        statement.layout.function.argument = action.arg;
    auto variable = first < at ? constant_at(first) : std::nullopt;
    if (!variable || *variable > UINT32_MAX)
        statement.problem = "the aggregation's variable is not known";
    else
        statement.layout.variable = static_cast<uint32_t>(*variable);
    for (size_t member = first; member <= at; member++) {
        for (const formats::FieldInfo* info : aggregated_[member]) {
            FieldPlan field = field_plan(*info, actions_[member]);
            if (info->flags & DBK_FIELD_F_VALUE)
                statement.value = field;
            else if (info->flags & DBK_FIELD_F_INCREMENT)
                statement.increment = field;
            else if (member != first || !constant_at(first) || first == at) {
                statement.fields.push_back(field);
                statement.layout.keys.push_back(field.type);
            }
        }
    }
    if (!statement.layout.function.cell_count())
        statement.problem = "the aggregating function's argument is none that D can make";
}

void Planner::plan_formatted(size_t at, size_t& end, StatementKind kind) {
    end = statement_end(at);
    Statement& statement = add(kind, end - 1);
    if (actions_[at].text) {
        auto format = parse_format(*actions_[at].text);
        if (format.ok())
            statement.format = std::move(format).value();
        else
            statement.problem = format.error().message();
        statement.is_restoring =
            kind == StatementKind::freopen && *actions_[at].text == kFreopenRestore;
    } else if (kind != StatementKind::printa) {
        statement.problem = "the format string is not there";
    }
    // Without a conversion there is one action, whose value is none that the program asked for.
    bool has_values = !statement.format ||
                      (!statement.format->empty() && statement.format->front().conversion != '\0');
    for (size_t i = at; i < end; i++) {
        if (kind == StatementKind::printa)
            statement.numbers.push_back(number_of(i));
        else if (auto field = has_values ? field_of(i) : std::nullopt)
            statement.fields.push_back(*field);
    }
}

void Planner::plan_library(size_t at, size_t& end) {
    auto first = [&](StatementKind kind, size_t numbers) {
        end = at + numbers;
        Statement& statement = add(kind, at + numbers - 1);
        for (size_t i = 0; i < numbers; i++)
            statement.numbers.push_back(number_of(at + i));
    };
    uint64_t which = actions_[at].arg - DT_ACT_BASE;
    switch (which) {
    case DT_ACT_CLEAR:
        first(StatementKind::clear, 1);
        break;
    case DT_ACT_DENORMALIZE:
        first(StatementKind::denormalize, 1);
        break;
    case DT_ACT_NORMALIZE:
        first(StatementKind::normalize, 2);
        break;
    case DT_ACT_TRUNC:
        first(StatementKind::trunc, 2);
        break;
    case DT_ACT_FTRUNCATE:
        first(StatementKind::ftruncate, 1);
        break;
    case DT_ACT_SETOPT: {
        end = at + 2;
        Statement& statement = add(StatementKind::setopt, at + 1);
        for (size_t i = at; i < end; i++)
            if (auto field = field_of(i))
                statement.fields.push_back(*field);
        if (statement.fields.empty())
            statement.problem = "setopt() without a name";
        break;
    }
    default:
        break;
    }
}

void Planner::plan_memory(size_t at, size_t& end) {
    auto field = field_of(at);
    if (!field)
        return;
    Statement& statement = add(StatementKind::trace, at);
    statement.fields.push_back(*field);
    bool is_sized =
        actions_[at].arg == kTracememSized && at + 1 < actions_.size() &&
        actions_[at + 1].kind == DTRACEACT_TRACEMEM &&
        (actions_[at + 1].arg == kTracememSizeFirst || actions_[at + 1].arg == kTracememSizeSecond);
    if (is_sized) {
        statement.numbers.push_back(number_of(at + 1));
        end = at + 2;
    }
}

void Planner::plan_trace(size_t at) {
    if (auto field = field_of(at))
        add(StatementKind::trace, at).fields.push_back(*field);
}

void Planner::plan_print(size_t at) {
    auto field = field_of(at);
    if (!field)
        return;
    Statement& statement = add(StatementKind::print, at);
    statement.fields.push_back(*field);
    auto type = parse_type_description(actions_[at].text.value_or(""));
    if (!type.ok()) {
        statement.problem = type.error().message();
        return;
    }
    statement.type = std::move(type).value();
    // A structure is not a number, however small.
    ValueKind& kind = statement.fields[0].type.kind;
    const std::vector<TypeNode>& nodes = statement.type->nodes;
    if (kind == ValueKind::integer && !nodes.empty() &&
        std::string_view("SUaxf").find(nodes[0].kind) != std::string_view::npos)
        kind = ValueKind::bytes;
}

void Planner::plan_action(size_t at, size_t& end, uint32_t& next_source) {
    const Action& action = actions_[at];
    if (in_tuple_[at] || prints_nothing(action.kind))
        return;
    if (DTRACEACT_IS_AGG(action.kind)) {
        plan_aggregation(at, next_source);
        return;
    }
    switch (action.kind) {
    case DTRACEACT_PRINTF:
        plan_formatted(at, end, StatementKind::printf);
        break;
    case DTRACEACT_PRINTA:
        plan_formatted(at, end, StatementKind::printa);
        break;
    case DTRACEACT_SYSTEM:
        plan_formatted(at, end, StatementKind::system);
        break;
    case DTRACEACT_FREOPEN:
        plan_formatted(at, end, StatementKind::freopen);
        break;
    case DTRACEACT_PRINT:
        plan_print(at);
        break;
    case DTRACEACT_LIBACT:
        plan_library(at, end);
        break;
    case DTRACEACT_TRACEMEM:
        plan_memory(at, end);
        break;
    case DBK_ACT_SNAPSHOT: {
        Statement& statement = add(StatementKind::snapshot, at);
        statement.numbers.push_back(number_of(at));
        statement.name = action.text.value_or("");
        break;
    }
    case DTRACEACT_EXIT:
        add(StatementKind::exit, at).numbers.push_back(number_of(at));
        break;
    default:
        plan_trace(at);
        break;
    }
}

void Planner::plan(uint32_t& next_source) {
    collect_fields();
    if (!plan_.problem.empty())
        return;
    for (size_t at = 0, end = 0; at < actions_.size(); at = std::max(at + 1, end)) {
        end = at + 1;
        plan_.has_aggregation |= DTRACEACT_IS_AGG(actions_[at].kind);
        plan_action(at, end, next_source);
    }
    bool any_printed = false;
    for (size_t at = 0; at < actions_.size(); at++)
        any_printed |= plain_[at] && !DBK_ACT_IS_CAPTURE(actions_[at].kind);
    bool is_silent =
        plan_.has_aggregation || std::any_of(actions_.begin(), actions_.end(), is_capturing);
    plan_.is_line = any_printed || !is_silent;
}

} // namespace daybreak::analyze
