// SPDX-License-Identifier: Apache-2.0
//
// The independent evaluator: what an expression is, by the language's rules
#include "tests/prop/expressions/model.hpp"

#include <algorithm>
#include <cinttypes>

namespace daybreak::prop {

namespace {

int64_t as_signed(uint64_t value) {
    return static_cast<int64_t>(value);
}

class Evaluator {
public:
    explicit Evaluator(World& world) : world_(world) {}

    bool faulted() const { return faulted_; }
    Value value(const Expr& node);

private:
    Value unary(const Expr& node);
    Value binary(const Expr& node);
    uint64_t arithmetic(Op op, const Type& type, uint64_t a, uint64_t b);
    bool truth(const Expr& node) { return value(node).number != 0; }
    Value logical(const Expr& node);
    Value change(const Expr& node);
    Value call(const Expr& node);
    std::vector<Value> keys(const Expr& node, size_t count);
    uint64_t operand(const Expr& node, const Type& as) {
        return prop::convert(
            prop::convert(value(node).number, *node.type, *promoted(node, world_.places)),
            *promoted(node, world_.places), as);
    }
    Value converted(const Expr& node, const Type& to) {
        Value from = value(node);
        if (!to.is_string())
            from.number = prop::convert(from.number, *node.type, to);
        return from;
    }

    World& world_;
    bool faulted_ = false;
};

uint64_t divide(bool remainder, bool is_signed, uint64_t a, uint64_t b) {
    if (!is_signed)
        return remainder ? a % b : a / b;
    if (as_signed(b) == -1) // INT64_MIN / -1 wraps around
        return remainder ? 0 : 0 - a;
    return static_cast<uint64_t>(remainder ? as_signed(a) % as_signed(b)
                                           : as_signed(a) / as_signed(b));
}

/// Unsigned types wrap around; signed ones keep 64 bits.
uint64_t wrapped(uint64_t value, const Type& type) {
    return type.is_signed ? value : cut(value, type);
}

uint64_t Evaluator::arithmetic(Op op, const Type& type, uint64_t a, uint64_t b) {
    switch (op) {
    case Op::multiply:
        return wrapped(a * b, type);
    case Op::add:
        return wrapped(a + b, type);
    case Op::subtract:
        return wrapped(a - b, type);
    case Op::bit_and:
        return a & b;
    case Op::bit_or:
        return a | b;
    case Op::bit_xor:
        return a ^ b;
    case Op::shift_left:
        return wrapped(a << (b & 63), type);
    case Op::shift_right:
        return type.is_signed ? static_cast<uint64_t>(as_signed(a) >> (b & 63)) : a >> (b & 63);
    default: // divide, remainder
        if (b == 0)
            faulted_ = true;
        return b == 0 ? 0 : divide(op == Op::remainder, type.is_signed, a, b);
    }
}

bool compares(Op op, bool less, bool equal) {
    switch (op) {
    case Op::less:
        return less;
    case Op::less_equal:
        return less || equal;
    case Op::greater:
        return !less && !equal;
    case Op::greater_equal:
        return !less;
    case Op::equal:
        return equal;
    default:
        return !equal;
    }
}

Value Evaluator::binary(const Expr& node) {
    const Expr &left = *node.operands[0], &right = *node.operands[1];
    bool comparison = node.op >= Op::less && node.op <= Op::not_equal;
    if (comparison && left.type->is_string()) {
        std::string a = value(left).text, b = value(right).text;
        return {compares(node.op, a < b, a == b), ""};
    }
    const Type* a_type = promoted(left, world_.places);
    const Type* b_type = promoted(right, world_.places);
    if (node.op == Op::shift_left || node.op == Op::shift_right) {
        uint64_t a = operand(left, *a_type), b = operand(right, *b_type);
        return {arithmetic(node.op, *a_type, a, b), ""};
    }
    const Type& type = *common(a_type, b_type);
    uint64_t a = operand(left, type);
    uint64_t b = operand(right, type);
    if (!comparison)
        return {arithmetic(node.op, type, a, b), ""};
    bool less = type.is_signed ? as_signed(a) < as_signed(b) : a < b;
    return {compares(node.op, less, a == b), ""};
}

Value Evaluator::unary(const Expr& node) {
    const Expr& inside = *node.operands[0];
    if (node.op == Op::logical_not)
        return {!truth(inside), ""};
    if (node.op == Op::cast)
        return converted(inside, *node.type);
    const Type& type = *promoted(inside, world_.places);
    uint64_t number = operand(inside, type);
    if (node.op == Op::negate)
        number = 0 - number;
    else if (node.op == Op::complement)
        number = ~number;
    return {wrapped(number, type), ""};
}

Value Evaluator::logical(const Expr& node) {
    bool left = truth(*node.operands[0]);
    if (node.op == Op::logical_and)
        return {left && truth(*node.operands[1]), ""};
    if (node.op == Op::logical_or)
        return {left || truth(*node.operands[1]), ""};
    return {left != truth(*node.operands[1]), ""};
}

std::vector<Value> Evaluator::keys(const Expr& node, size_t count) {
    const Place& place = world_.places[node.place];
    std::vector<Value> keys;
    for (size_t i = 0; i < count; i++) {
        // A key is what the register holds: an int that was shifted beyond 32 bits is another key.
        if (place.elements == 0 && !place.keys[i]->is_string())
            keys.push_back(converted(*node.operands[i], *place.keys[i]));
        else
            keys.push_back(value(*node.operands[i]));
    }
    return keys;
}

/// Assignments, ++ and --.  What they are is what was assigned; of a bit-field, what it then holds.
Value Evaluator::change(const Expr& node) {
    const Place& place = world_.places[node.place];
    bool step = node.op >= Op::pre_increment;
    std::vector<Value> at = keys(node, node.operands.size() - (step ? 0 : 1));
    Value assigned;
    if (node.op == Op::assign) {
        assigned = converted(*node.operands.back(), *place.type);
    } else {
        // As the operator does it on the place's value.
        Expr now{Op::variable, place.type};
        now.place = node.place;
        const Type* left = promoted(now, world_.places);
        const Type* right = step ? &kInt : promoted(*node.operands.back(), world_.places);
        bool shift = node.inner == Op::shift_left || node.inner == Op::shift_right;
        const Type& type = shift ? *left : *common(left, right);
        uint64_t b = step ? 1 : operand(*node.operands.back(), shift ? *right : type);
        Value old = world_.load(node.place, at);
        bool down = node.op == Op::pre_decrement || node.op == Op::post_decrement;
        Op op = step ? (down ? Op::subtract : Op::add) : node.inner;
        uint64_t a = convert(convert(old.number, *place.type, *left), *left, type);
        assigned.number = convert(arithmetic(op, type, a, b), type, *place.type);
        if (node.op == Op::post_increment || node.op == Op::post_decrement) {
            world_.store(node.place, at, assigned);
            return old;
        }
    }
    if (!faulted_)
        world_.store(node.place, at, assigned);
    return place.bits != 0 ? world_.load(node.place, at) : assigned;
}

/// substr(): a negative start counts from the end, a negative length leaves that many out there.
std::string substring(const std::string& text, int64_t from, int64_t length) {
    int64_t size = static_cast<int64_t>(text.size());
    if (from < 0) {
        from += size;
        if (from < 0 && from + length > 0) {
            length += from;
            from = 0;
        }
    }
    if (from < 0 || from >= size)
        return "";
    int64_t rest = size - from;
    if (length < 0)
        length = std::max<int64_t>(0, rest + length);
    return text.substr(static_cast<size_t>(from), static_cast<size_t>(std::min(length, rest)));
}

std::string folder_of(std::string path) {
    while (path.size() > 1 && path.back() == '/')
        path.pop_back();
    size_t slash = path.rfind('/');
    if (slash == std::string::npos)
        return ".";
    while (slash > 0 && path[slash - 1] == '/')
        slash--;
    return slash == 0 ? "/" : path.substr(0, slash);
}

std::string name_of(std::string path) {
    if (path.empty())
        return ".";
    while (path.size() > 1 && path.back() == '/')
        path.pop_back();
    return path == "/" ? path : path.substr(path.rfind('/') + 1);
}

Value Evaluator::call(const Expr& node) {
    std::vector<Value> a;
    for (const ExprPtr& argument : node.operands)
        a.push_back(value(*argument));
    auto number = [&](size_t i) {
        return static_cast<int64_t>(static_cast<int32_t>(cut(a[i].number, kInt)));
    };
    auto place = [](size_t found) { return Value{found == std::string::npos ? ~0ull : found, ""}; };
    if (node.text == "strlen")
        return {a[0].text.size(), ""};
    if (node.text == "strjoin")
        return {0, (a[0].text + a[1].text).substr(0, kStringMax)};
    if (node.text == "substr")
        return {0, substring(a[0].text, number(1), a.size() > 2 ? number(2) : 1 << 20)};
    if (node.text == "index")
        return place(a[0].text.find(a[1].text));
    if (node.text == "rindex")
        return place(a[0].text.rfind(a[1].text));
    if (node.text == "basename")
        return {0, name_of(a[0].text)};
    if (node.text == "dirname")
        return {0, folder_of(a[0].text)};
    if (node.text == "lltostr")
        return {0, std::to_string(as_signed(a[0].number))};
    // htons and its kin: the integer's low bytes the other way round
    unsigned bytes = node.text == "htons" ? 2 : node.text == "htonl" ? 4 : 8;
    uint64_t swapped = 0;
    for (unsigned i = 0; i < bytes; i++)
        swapped = swapped << 8 | (a[0].number >> (8 * i) & 0xff);
    return {swapped, ""};
}

Value Evaluator::value(const Expr& node) {
    if (faulted_)
        return {};
    switch (node.op) {
    case Op::literal:
    case Op::size_of:
        return {node.number, ""};
    case Op::string:
        return {0, node.text.substr(0, kStringMax)};
    case Op::variable:
        return world_.load(node.place, keys(node, node.operands.size()));
    case Op::conditional: {
        const Expr& chosen =
            node.chosen ? *node.chosen : *node.operands[truth(*node.operands[0]) ? 1 : 2];
        if (node.type->is_string() || node.chosen)
            return value(chosen);
        return {operand(chosen, *node.type), ""};
    }
    case Op::comma:
        value(*node.operands[0]);
        return value(*node.operands[1]);
    case Op::call:
        return call(node);
    default:
        break;
    }
    if (node.op >= Op::assign && node.op <= Op::post_decrement)
        return change(node);
    if (node.op >= Op::logical_and && node.op <= Op::logical_or)
        return logical(node);
    return node.operands.size() == 1 ? unary(node) : binary(node);
}

} // namespace

Outcome evaluate(const Clause& clause, World& world) {
    size_t next = 0;
    for (unsigned i = 0; !clause.scratch.empty() && i < world.places.size(); i++)
        if (world.places[i].is_scratch) {
            world.values[i].clear();
            for (unsigned k = 0; k < std::max(1u, world.places[i].elements); k++)
                world.store(i,
                            world.places[i].elements ? std::vector<Value>{{k, ""}}
                                                     : std::vector<Value>{},
                            clause.scratch[next++]);
        }
    Evaluator evaluator(world);
    Outcome outcome;
    outcome.value = evaluator.value(*clause.expression);
    // A predicate that faults does not hold: nothing is recorded either way.
    outcome.faults = evaluator.faulted() && !clause.is_predicate;
    if (evaluator.faulted())
        outcome.value = {};
    else if (clause.is_predicate)
        outcome.value.number = outcome.value.number != 0;
    else
        outcome.value.number = cut(outcome.value.number, *clause.expression->type);
    return outcome;
}

Value evaluate_constant(const ExprPtr& expression, const std::vector<Place>& places) {
    World world;
    world.places = places;
    world.values.resize(places.size());
    return Evaluator(world).value(*expression);
}

} // namespace daybreak::prop
