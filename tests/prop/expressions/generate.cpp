// SPDX-License-Identifier: Apache-2.0
//
// Random worlds and well-typed random expressions
//
// What makes an expression's value depend on what D leaves open is not made: two unsequenced parts
// of which one writes what the other touches; side effects together with a possible fault;
// a division by a constant 0, which does not compile.
#include "tests/prop/expressions/model.hpp"

#include <algorithm>
#include <functional>

namespace daybreak::prop {

namespace {

constexpr int kDepthMax = 5;

template <typename T>
const T& pick(Random& random, const std::vector<T>& from) {
    return from[random() % from.size()];
}

uint64_t random_number(Random& random, const Type& type) {
    static const std::vector<uint64_t> corners = {
        0,     1,      2,          3,          7,          8,          10,
        31,    32,     33,         63,         64,         100,        127,
        128,   255,    256,        32767,      32768,      65535,      65536,
        ~0ull, ~1ull,  0x7fffffff, 0x80000000, 0xffffffff, 1ull << 32, 1ull << 62,
        ~7ull, ~99ull, 1ull << 63, ~0ull >> 1, ~127ull,    ~32767ull,  ~0x7fffffffull,
    };
    switch (random() % 4) {
    case 0:
        return cut(random(), type);
    case 1:
        return cut(random() % 2001 - 1000, type);
    default:
        return cut(pick(random, corners), type);
    }
}

std::string random_text(Random& random) {
    static const std::string letters = "aabAB/. 1\x7f\x80\xff";
    std::string text;
    for (size_t i = random() % 9; i > 0; i--)
        text += letters[random() % letters.size()];
    return text;
}

Value random_value(Random& random, const Type& type) {
    return type.is_string() ? Value{0, random_text(random)}
                            : Value{random_number(random, type), ""};
}

class Generator {
public:
    Generator(Random& random, const World& world, bool with_scratch)
        : random_(random), places_(world.places), with_scratch_(with_scratch) {
        may_write_ = chance(50);
    }

    ExprPtr integer(int depth);
    ExprPtr string(int depth);

private:
    bool chance(unsigned percent) { return random_() % 100 < percent; }
    ExprPtr any(const Type& type, int depth) {
        return type.is_string() ? string(depth) : integer(depth);
    }
    ExprPtr finish(Expr node) {
        node.parenthesized = chance(15);
        return make(std::move(node));
    }
    ExprPtr literal();
    ExprPtr string_literal();
    ExprPtr leaf() { return chance(60) ? variable(false, 0) : literal(); }
    ExprPtr variable(bool is_string, int depth);
    std::vector<ExprPtr> keys(unsigned place, int depth);
    ExprPtr key(const Type& type, int depth);
    ExprPtr unary(int depth);
    ExprPtr cast(int depth);
    ExprPtr binary(int depth);
    ExprPtr division(Expr node, ExprPtr left, int depth);
    ExprPtr conditional(bool is_string, int depth);
    ExprPtr comma(bool is_string, int depth);
    ExprPtr assign(bool is_string, int depth);
    ExprPtr step(int depth);
    ExprPtr size_of(int depth);
    ExprPtr integer_call(int depth);
    ExprPtr string_call(int depth);
    /// A place of that sort that this clause may use; -1 when there is none.
    int place(bool is_string);
    /// Makes `with` until it can stand beside `beside` unsequenced; `plain` when it never can.
    ExprPtr beside(const std::vector<ExprPtr>& others, const std::function<ExprPtr()>& with,
                   const std::function<ExprPtr()>& plain);

    Random& random_;
    const std::vector<Place>& places_;
    bool with_scratch_;
    bool may_write_; ///< else it may fault
};

bool conflict(const Expr& a, const Expr& b) {
    return (a.writes & (b.reads | b.writes)) != 0 || (b.writes & a.reads) != 0;
}

ExprPtr Generator::beside(const std::vector<ExprPtr>& others, const std::function<ExprPtr()>& with,
                          const std::function<ExprPtr()>& plain) {
    for (int attempt = 0; attempt < 4; attempt++) {
        ExprPtr made = with();
        if (std::none_of(others.begin(), others.end(),
                         [&](const ExprPtr& other) { return conflict(*made, *other); }))
            return made;
    }
    return plain();
}

int Generator::place(bool is_string) {
    for (int attempt = 0; attempt < 20; attempt++) {
        size_t at = random_() % places_.size();
        if (places_[at].type->is_string() == is_string &&
            (with_scratch_ || !places_[at].is_scratch))
            return static_cast<int>(at);
    }
    return -1;
}

/// Constants as D's lexer reads them: what type they are follows from base, size and suffix.
ExprPtr Generator::literal() {
    Expr node{Op::literal, &kInt};
    unsigned sort = random_() % 8;
    if (sort == 0) {
        static const std::vector<std::pair<const char*, uint64_t>> named = {
            {"PROP_A", 3}, {"PROP_B", ~4ull}, {"PROP_C", 0x7fffffff},
            {"'a'", 97},   {"'\\n'", 10},     {"'\\0'", 0},
        };
        auto [text, number] = pick(random_, named);
        node.text = text;
        node.number = number;
        return make(std::move(node));
    }
    uint64_t number = random_number(random_, kUnsignedLong);
    if (sort < 5)
        number %= 100;
    bool hex = chance(30);
    static const std::vector<std::string> suffixes = {"", "", "", "u", "U", "l", "L", "ul", "UL"};
    std::string suffix = pick(random_, suffixes);
    bool is_unsigned = !suffix.empty() && (suffix[0] | 0x20) == 'u';
    bool is_long = suffix.size() == 2 || suffix == "l" || suffix == "L";
    if (!is_unsigned && !hex)
        number &= ~0ull >> 1;
    if (number > 0xffffffff || (!is_unsigned && !hex && number > 0x7fffffff))
        is_long = true;
    uint64_t signed_max = is_long ? ~0ull >> 1 : 0x7fffffff;
    if (number > signed_max)
        is_unsigned = true;
    node.type =
        is_long ? (is_unsigned ? &kUnsignedLong : &kLong) : (is_unsigned ? &kUnsignedInt : &kInt);
    node.number = number;
    char text[40];
    std::snprintf(text, sizeof(text),
                  hex          ? "0x%llx"
                  : chance(10) ? "0%llo"
                               : "%llu",
                  static_cast<unsigned long long>(number));
    // Octal constants choose their type as hexadecimal ones do: only where that says the same.
    if (text[0] == '0' && !hex && number > 0x7fffffff)
        std::snprintf(text, sizeof(text), "%llu", static_cast<unsigned long long>(number));
    node.text = text + suffix;
    return make(std::move(node));
}

ExprPtr Generator::string_literal() {
    Expr node{Op::string, &kString};
    node.text = random_text(random_);
    if (chance(5)) // differs from others of them where it is cut
        node.text.insert(0, kStringMax - random_() % 9, 'a');
    return make(std::move(node));
}

ExprPtr Generator::key(const Type& type, int depth) {
    ExprPtr inside = any(type, depth);
    if (type.is_string() || inside->type == &type)
        return inside;
    Expr node{Op::cast, &type};
    node.operands = {inside};
    return make(std::move(node));
}

std::vector<ExprPtr> Generator::keys(unsigned at, int depth) {
    const Place& place = places_[at];
    std::vector<ExprPtr> made;
    if (place.elements != 0) {
        Expr mask{Op::literal, &kInt};
        mask.number = place.elements - 1;
        mask.text = std::to_string(mask.number);
        Expr node{Op::bit_and, &kInt};
        Expr inside{Op::cast, &kInt};
        inside.operands = {integer(depth)};
        node.operands = {make(std::move(inside)), make(std::move(mask))};
        return {make(std::move(node))};
    }
    for (const Type* type : place.keys)
        made.push_back(beside(
            made, [&] { return key(*type, depth); }, [&] { return key(*type, -1); }));
    return made;
}

ExprPtr Generator::variable(bool is_string, int depth) {
    int at = place(is_string);
    if (at < 0 || depth < 0)
        return is_string ? string_literal() : literal();
    Expr node{Op::variable, places_[static_cast<size_t>(at)].type};
    node.place = static_cast<unsigned>(at);
    node.operands = keys(node.place, std::min(depth - 1, 2));
    return make(std::move(node));
}

ExprPtr Generator::unary(int depth) {
    static const std::vector<Op> ops = {Op::negate, Op::complement, Op::logical_not, Op::plus};
    Expr node{pick(random_, ops), &kInt};
    node.operands = {integer(depth - 1)};
    if (node.op != Op::logical_not)
        node.type = promoted(*node.operands[0], places_);
    return finish(std::move(node));
}

ExprPtr Generator::cast(int depth) {
    Expr node{Op::cast, pick(random_, kIntegers)};
    node.operands = {integer(depth - 1)};
    return finish(std::move(node));
}

/// Of a division: by what cannot be 0 when the expression has effects, and by no constant 0 ever.
ExprPtr Generator::division(Expr node, ExprPtr left, int depth) {
    const Type* left_type = promoted(*left, places_);
    auto divisor = [&]() -> ExprPtr {
        ExprPtr inside = integer(depth - 1);
        if (!may_write_)
            return inside;
        Expr odd{Op::bit_or, promoted(*inside, places_)};
        Expr one{Op::literal, &kInt};
        one.number = 1;
        one.text = "1";
        odd.operands = {inside, make(std::move(one))};
        return make(std::move(odd));
    };
    auto one = [&]() -> ExprPtr {
        Expr plain{Op::literal, &kInt};
        plain.number = 1 + random_() % 9;
        plain.text = std::to_string(plain.number);
        return make(std::move(plain));
    };
    ExprPtr right = beside({left}, divisor, one);
    node.type = common(left_type, promoted(*right, places_));
    if (right->is_constant) {
        Value number = evaluate_constant(right, places_);
        if (convert(number.number, *right->type, *node.type) == 0)
            right = one();
    }
    node.type = common(left_type, promoted(*right, places_));
    node.operands = {left, right};
    return finish(std::move(node));
}

ExprPtr Generator::binary(int depth) {
    Expr node{static_cast<Op>(static_cast<unsigned>(Op::multiply) +
                              random_() % (static_cast<unsigned>(Op::logical_or) -
                                           static_cast<unsigned>(Op::multiply) + 1)),
              &kInt};
    bool comparison = node.op >= Op::less && node.op <= Op::not_equal;
    bool sequenced = node.op == Op::logical_and || node.op == Op::logical_or;
    bool strings = comparison && chance(25);
    auto operand = [&] { return strings ? string(depth - 1) : integer(depth - 1); };
    ExprPtr left = operand();
    if (node.op == Op::divide || node.op == Op::remainder)
        return division(std::move(node), left, depth);
    ExprPtr right =
        sequenced ? operand()
                  : beside({left}, operand, [&] { return strings ? string_literal() : literal(); });
    node.operands = {left, right};
    if (node.op == Op::shift_left || node.op == Op::shift_right)
        node.type = promoted(*left, places_);
    else if (!comparison && node.op < Op::logical_and)
        node.type = common(promoted(*left, places_), promoted(*right, places_));
    return finish(std::move(node));
}

ExprPtr Generator::conditional(bool is_string, int depth) {
    Expr node{Op::conditional, &kString};
    const Type& sort = is_string ? kString : kInt;
    node.operands = {integer(depth - 1), any(sort, depth - 1), any(sort, depth - 1)};
    if (!is_string)
        node.type =
            common(promoted(*node.operands[1], places_), promoted(*node.operands[2], places_));
    return finish(std::move(node));
}

ExprPtr Generator::comma(bool is_string, int depth) {
    Expr node{Op::comma, &kString};
    node.operands = {integer(depth - 1), any(is_string ? kString : kInt, depth - 1)};
    node.type = node.operands[1]->type;
    node.parenthesized = true;
    return make(std::move(node));
}

ExprPtr Generator::assign(bool is_string, int depth) {
    int at = place(is_string);
    if (at < 0)
        return is_string ? string_literal() : literal();
    Expr node{Op::assign, places_[static_cast<size_t>(at)].type};
    node.place = static_cast<unsigned>(at);
    if (!is_string && chance(50)) {
        node.op = Op::assign_op;
        node.inner = static_cast<Op>(static_cast<unsigned>(Op::multiply) + random_() % 10);
        if (node.inner >= Op::less) // the bits' operators stand after the comparisons
            node.inner = static_cast<Op>(static_cast<unsigned>(Op::bit_and) + random_() % 3);
    }
    // What op= reads and writes again it must find at the same place.
    std::vector<ExprPtr> keys = this->keys(node.place, std::min(depth - 1, 2));
    for (const ExprPtr& key : keys)
        if (key->writes != 0)
            return is_string ? string_literal() : literal();
    bool divides = node.inner == Op::divide || node.inner == Op::remainder;
    auto plain = [&] { return is_string ? string_literal() : literal(); };
    ExprPtr right = beside(
        keys, [&] { return any(*node.type, depth - 1); }, plain);
    if (divides || right->writes >> node.place & 1) {
        Expr few{Op::literal, &kInt};
        few.number = 1 + random_() % 9;
        few.text = std::to_string(few.number);
        right = is_string ? string_literal() : make(std::move(few));
    }
    node.operands = keys;
    node.operands.push_back(right);
    node.parenthesized = true;
    return make(std::move(node));
}

ExprPtr Generator::step(int depth) {
    int at = place(false);
    if (at < 0)
        return literal();
    Expr node{static_cast<Op>(static_cast<unsigned>(Op::pre_increment) + random_() % 4),
              places_[static_cast<size_t>(at)].type};
    node.place = static_cast<unsigned>(at);
    node.operands = keys(node.place, std::min(depth - 1, 1));
    for (const ExprPtr& key : node.operands)
        if (key->writes != 0 || (key->reads >> node.place & 1))
            return literal();
    return finish(std::move(node));
}

ExprPtr Generator::size_of(int depth) {
    Expr node{Op::size_of, &kUnsignedLong};
    if (chance(50)) {
        const Type* type = pick(random_, kIntegers);
        node.text = type->name;
        node.number = type->bytes;
        return make(std::move(node));
    }
    ExprPtr inside = integer(std::min(depth - 1, 1));
    // A bit-field has no size; D does not evaluate the operand.
    const Expr* named = inside.get();
    while (named->chosen)
        named = named->chosen.get();
    bool is_field = named->op == Op::variable && places_[named->place].bits != 0;
    if (is_field || inside->writes != 0)
        inside = literal();
    node.number = inside->type->bytes;
    node.operands = {inside};
    return make(std::move(node));
}

ExprPtr Generator::integer_call(int depth) {
    static const std::vector<std::string> names = {"strlen", "index", "rindex",
                                                   "htons",  "htonl", "htonll"};
    static const Type uint16{"uint16_t", 2, false, 2}, uint32{"uint32_t", 4, false, 3},
        uint64{"uint64_t", 8, false, 5};
    Expr node{Op::call, &kInt};
    node.text = pick(random_, names);
    if (node.text[0] == 'h') {
        node.type = node.text == "htons" ? &uint16 : node.text == "htonl" ? &uint32 : &uint64;
        node.operands = {integer(depth - 1)};
        return make(std::move(node));
    }
    node.operands = {string(depth - 1)};
    if (node.text == "strlen")
        node.type = &kUnsignedLong;
    else
        node.operands.push_back(beside(
            node.operands, [&] { return string(depth - 1); }, [&] { return string_literal(); }));
    return make(std::move(node));
}

ExprPtr Generator::string_call(int depth) {
    static const std::vector<std::string> names = {"strjoin", "substr",   "substr",
                                                   "lltostr", "basename", "dirname"};
    Expr node{Op::call, &kString};
    node.text = pick(random_, names);
    if (node.text == "lltostr") {
        node.operands = {integer(depth - 1)};
        return make(std::move(node));
    }
    node.operands = {string(depth - 1)};
    if (node.text == "strjoin")
        node.operands.push_back(beside(
            node.operands, [&] { return string(depth - 1); }, [&] { return string_literal(); }));
    for (size_t i = node.text == "substr" ? 1 + random_() % 2 : 0; i > 0; i--) {
        Expr number{Op::literal, &kInt};
        number.number = random_() % 12;
        number.text = std::to_string(number.number);
        ExprPtr made = make(std::move(number));
        if (chance(30)) {
            Expr minus{Op::negate, &kInt};
            minus.operands = {made};
            made = make(std::move(minus));
        }
        node.operands.push_back(made);
    }
    return make(std::move(node));
}

ExprPtr Generator::integer(int depth) {
    if (depth <= 0 || chance(12))
        return depth < 0 ? literal() : leaf();
    unsigned sort = random_() % 100;
    if (sort < 12)
        return unary(depth);
    if (sort < 24)
        return cast(depth);
    if (sort < 68)
        return binary(depth);
    if (sort < 75)
        return conditional(false, depth);
    if (sort < 78)
        return comma(false, depth);
    if (sort < 82)
        return size_of(depth);
    if (sort < 87)
        return integer_call(depth);
    if (sort < 94)
        return may_write_ ? assign(false, depth) : variable(false, depth);
    return may_write_ ? step(depth) : variable(false, depth);
}

ExprPtr Generator::string(int depth) {
    if (depth <= 0 || chance(20))
        return depth < 0 || chance(50) ? string_literal() : variable(true, 0);
    unsigned sort = random_() % 10;
    if (sort < 5)
        return string_call(depth);
    if (sort < 7)
        return conditional(true, depth);
    if (sort < 8)
        return comma(true, depth);
    return sort < 9 && may_write_ ? assign(true, depth) : variable(true, depth);
}

} // namespace

World make_world(Random& random) {
    World world;
    auto add = [&](std::string name, const Type* type, std::vector<const Type*> keys = {}) {
        world.places.push_back({std::move(name), type, std::move(keys)});
        return &world.places.back();
    };
    auto any = [&] { return pick(random, kIntegers); };
    for (const char* scope : {"", "self->", "this->"}) {
        const char* letter = *scope == 0 ? "g" : *scope == 's' ? "s" : "t";
        for (int i = 0; i < 6; i++)
            add(std::string(scope) + letter + std::to_string(i), any());
        add(std::string(scope) + letter + "text", &kString);
    }
    add("ga0", any(), {any()});
    add("ga1", any(), {&kString, any()});
    // An element that was never assigned is NULL: arrays of strings are full from the start.
    add("ga2", &kString, {&kInt})->elements = 4;
    add("self->sa0", any(), {any()});
    add("self->sa1", &kString, {&kInt})->elements = 4;
    add("self->sa2", any(), {any(), &kString, any()});
    for (const char* owner : {"gm.", "this->tm.", "this->p->"}) {
        bool scratch = std::string(owner) == "this->p->";
        struct Member {
            const char* name;
            const Type* type;
            unsigned bits, elements;
        };
        static const Type kShort{"short", 2, true, 2}, kUnsignedChar{"unsigned char", 1, false, 1};
        const Member members[] = {{"c", &kUnsignedChar, 0, 0},
                                  {"b3", &kUnsignedInt, 3, 0},
                                  {"b7", &kInt, 7, 0},
                                  {"b1", &kInt, 1, 0},
                                  {"b31", &kUnsignedInt, 31, 0},
                                  {"b32", &kUnsignedInt, 32, 0},
                                  {"s", &kShort, 0, 0},
                                  {"l", &kLong, 0, 0},
                                  {"i", &kInt, 0, 4}};
        for (const Member& member : members) {
            Place* place = add(std::string(owner) + member.name, member.type);
            place->bits = member.bits;
            place->elements = member.elements;
            place->in_memory = true;
            place->is_scratch = scratch;
        }
    }
    world.values.resize(world.places.size());
    for (unsigned i = 0; i < world.places.size(); i++) {
        const Place& place = world.places[i];
        if (place.is_scratch || (place.elements == 0 && !place.keys.empty()))
            continue;
        for (unsigned k = 0; k < std::max(1u, place.elements); k++)
            world.store(i, place.elements ? std::vector<Value>{{k, ""}} : std::vector<Value>{},
                        random_value(random, *place.type));
    }
    return world;
}

Clause make_clause(Random& random, const World& world) {
    Clause clause;
    bool with_scratch = random() % 8 == 0;
    if (with_scratch)
        for (const Place& place : world.places)
            for (unsigned k = 0; place.is_scratch && k < std::max(1u, place.elements); k++)
                clause.scratch.push_back(random_value(random, *place.type));
    Generator generator(random, world, with_scratch);
    int depth = 1 + static_cast<int>(random() % kDepthMax);
    clause.expression = random() % 8 == 0 ? generator.string(depth) : generator.integer(depth);
    clause.is_predicate =
        !with_scratch && !clause.expression->type->is_string() && random() % 16 == 0;
    return clause;
}

} // namespace daybreak::prop
