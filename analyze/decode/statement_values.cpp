// SPDX-License-Identifier: Apache-2.0
//
// Statement values: what one record holds for a statement, by the types of its plan.
#include "analyze/decode/statement_values.hpp"

#include <algorithm>

namespace daybreak::analyze {

std::optional<Value> value_of(const FieldPlan& field, base::ByteView record) {
    auto data = formats::field_bytes(record, field.info);
    if (!data)
        return std::nullopt;
    Value value{field.type, *data};
    if (field.type.kind == ValueKind::string) {
        auto end = std::find(data->begin(), data->end(), std::byte{0});
        value.data = data->first(static_cast<size_t>(end - data->begin()));
    }
    if (field.info.flags & DBK_FIELD_F_MEMORY) {
        formats::UserStackParts parts = formats::split_user_stack(*data);
        value.data = parts.frames;
        value.registers = parts.registers;
        value.stack = parts.stack;
        value.depth = parts.depth;
    }
    return value;
}

std::vector<Value> values_of(const Statement& statement, base::ByteView record) {
    std::vector<Value> values;
    values.reserve(statement.fields.size());
    for (const FieldPlan& field : statement.fields)
        if (auto value = value_of(field, record))
            values.push_back(*value);
    // tracemem() of a size that was computed
    if (statement.kind == StatementKind::trace && !statement.numbers.empty() && !values.empty()) {
        auto size = static_cast<int64_t>(number_of(statement.numbers[0], record));
        auto limit = static_cast<int64_t>(values[0].data.size());
        values[0].data =
            values[0].data.first(static_cast<size_t>(std::clamp<int64_t>(size, 0, limit)));
    }
    return values;
}

uint64_t number_of(const NumberPlan& number, base::ByteView record) {
    if (number.field)
        if (auto value = value_of(*number.field, record))
            return static_cast<uint64_t>(value->signed_integer());
    return number.constant;
}

uint32_t variable_of(const NumberPlan& number, base::ByteView record) {
    return static_cast<uint32_t>(std::min<uint64_t>(number_of(number, record), UINT32_MAX));
}

} // namespace daybreak::analyze
