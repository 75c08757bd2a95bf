// SPDX-License-Identifier: Apache-2.0
//
// Types, their conversions, and where values are kept
#include "tests/prop/expressions/model.hpp"

#include <algorithm>
#include <cctype>

namespace daybreak::prop {

const Type kString{"string", 0, false, 0};
const Type kInt{"int", 4, true, 3};
const Type kUnsignedInt{"unsigned int", 4, false, 3};
const Type kLong{"long", 8, true, 4};
const Type kUnsignedLong{"unsigned long", 8, false, 4};

namespace {

const Type kChar{"char", 1, true, 1};
const Type kSignedChar{"signed char", 1, true, 1};
const Type kUnsignedChar{"unsigned char", 1, false, 1};
const Type kShort{"short", 2, true, 2};
const Type kUnsignedShort{"unsigned short", 2, false, 2};
const Type kLongLong{"long long", 8, true, 5};
const Type kUnsignedLongLong{"unsigned long long", 8, false, 5};
const Type kInt8{"int8_t", 1, true, 1};
const Type kUint8{"uint8_t", 1, false, 1};
const Type kInt16{"int16_t", 2, true, 2};
const Type kUint16{"uint16_t", 2, false, 2};
const Type kInt32{"int32_t", 4, true, 3};
const Type kUint32{"uint32_t", 4, false, 3};
// The D library has them as long long, as C's inttypes.h may.
const Type kInt64{"int64_t", 8, true, 5};
const Type kUint64{"uint64_t", 8, false, 5};
const Type kEnum{"enum prop", 4, true, 3};

} // namespace

const std::vector<const Type*> kIntegers = {
    &kChar,  &kSignedChar, &kUnsignedChar, &kShort,  &kUnsignedShort,    &kInt,
    &kInt,   &kInt,        &kUnsignedInt,  &kLong,   &kUnsignedLong,     &kLongLong,
    &kInt8,  &kUint8,      &kInt16,        &kUint16, &kUnsignedLongLong, &kInt32,
    &kInt64, &kUint64,     &kEnum,         &kUint32,
};

uint64_t cut(uint64_t value, const Type& type) {
    if (type.bytes == 0 || type.bytes >= 8)
        return value;
    unsigned shift = 64 - 8 * type.bytes;
    return type.is_signed ? static_cast<uint64_t>(static_cast<int64_t>(value << shift) >> shift)
                          : value << shift >> shift;
}

uint64_t convert(uint64_t value, const Type& from, const Type& to) {
    bool same = from.bytes == to.bytes && from.is_signed == to.is_signed;
    bool holds_all = to.bytes > from.bytes && (to.is_signed || !from.is_signed);
    return same || holds_all ? value : cut(value, to);
}

const Type* common(const Type* left, const Type* right) {
    if (left->is_signed == right->is_signed)
        return left->rank >= right->rank ? left : right;
    const Type* u = left->is_signed ? right : left;
    const Type* s = left->is_signed ? left : right;
    if (u->rank >= s->rank)
        return u;
    if (s->bytes > u->bytes)
        return s;
    return s->rank == 5 ? &kUnsignedLongLong : &kUnsignedLong;
}

const Type* promoted(const Expr& operand, const std::vector<Place>& places) {
    if (operand.chosen)
        return promoted(*operand.chosen, places);
    // Of a bit-field narrower than int all values fit into an int.
    bool is_place = operand.op == Op::variable || operand.op == Op::assign ||
                    operand.op == Op::assign_op ||
                    (operand.op >= Op::pre_increment && operand.op <= Op::post_decrement);
    const Place* place = is_place ? &places[operand.place] : nullptr;
    if (place && place->bits != 0 && place->bits < 32)
        return &kInt;
    if (operand.type->rank < kInt.rank || operand.type == &kEnum)
        return &kInt;
    return operand.type;
}

/// Whether the compiler knows the text: a constant, or the one that a constant condition chooses.
static bool is_known_text(const Expr& node) {
    if (node.op == Op::string)
        return true;
    if (node.op != Op::conditional || !node.operands[0]->is_constant)
        return false;
    bool chosen = evaluate_constant(node.operands[0], {}).number != 0;
    return is_known_text(*node.operands[chosen ? 1 : 2]);
}

/// Whether the parser knows the value: made of integer literals, not of enumerators.
static bool is_literal(const Expr& node) {
    if (node.op == Op::conditional)
        return node.chosen && is_literal(*node.chosen);
    if (node.op == Op::literal)
        return !std::isalpha(static_cast<unsigned char>(node.text[0]));
    if (node.op == Op::size_of)
        return node.operands.empty();
    bool is_operator = node.op >= Op::negate && node.op <= Op::logical_or;
    return is_operator && std::all_of(node.operands.begin(), node.operands.end(),
                                      [](const ExprPtr& one) { return is_literal(*one); });
}

ExprPtr make(Expr node) {
    node.chosen = nullptr;
    if (node.op == Op::conditional && is_literal(*node.operands[0])) {
        node.chosen = node.operands[evaluate_constant(node.operands[0], {}).number != 0 ? 1 : 2];
        node.type = node.chosen->type;
    }
    bool reads_place =
        node.op == Op::variable || (node.op >= Op::assign_op && node.op <= Op::post_decrement);
    bool writes_place = node.op >= Op::assign && node.op <= Op::post_decrement;
    node.reads = reads_place ? 1ull << node.place : 0;
    node.writes = writes_place ? 1ull << node.place : 0;
    node.is_constant = node.op != Op::variable && node.op != Op::string && node.op != Op::call &&
                       node.op != Op::comma && !writes_place;
    bool is_size = node.op == Op::size_of;
    for (const ExprPtr& operand : node.operands) {
        node.is_constant = node.is_constant && (is_size || operand->is_constant);
        node.reads |= is_size ? 0 : operand->reads;
        node.writes |= is_size ? 0 : operand->writes;
    }
    // Two string constants are compared by the compiler.
    if (node.op >= Op::less && node.op <= Op::not_equal && is_known_text(*node.operands[0]) &&
        is_known_text(*node.operands[1]))
        node.is_constant = true;
    if (node.op == Op::conditional && node.operands[0]->is_constant &&
        (node.operands[1]->is_constant || node.operands[2]->is_constant)) {
        bool chosen = evaluate_constant(node.operands[0], {}).number != 0;
        node.is_constant = node.operands[chosen ? 1 : 2]->is_constant;
    }
    return std::make_shared<Expr>(std::move(node));
}

Value World::load(unsigned place, const std::vector<Value>& keys) const {
    auto found = values[place].find(keys);
    return found == values[place].end() ? Value{} : found->second;
}

void World::store(unsigned place, const std::vector<Value>& keys, const Value& value) {
    const Place& at = places[place];
    Value stored = value;
    if (at.in_memory)
        stored.number = cut(value.number, *at.type);
    if (at.bits != 0) {
        unsigned shift = 64 - at.bits;
        stored.number =
            at.type->is_signed
                ? static_cast<uint64_t>(static_cast<int64_t>(value.number << shift) >> shift)
                : value.number << shift >> shift;
    }
    values[place][keys] = stored;
}

} // namespace daybreak::prop
