// SPDX-License-Identifier: Apache-2.0
//
// Expressions and programs as D text
#include "tests/prop/expressions/model.hpp"
#include "tests/prop/programs.hpp"

#include <algorithm>
#include <cinttypes>

namespace daybreak::prop {

namespace {

struct Operator {
    const char* text;
    int level; ///< higher binds tighter; C's table, with ^^ between || and &&
};

Operator operator_of(Op op) {
    switch (op) {
    case Op::multiply:
        return {"*", 13};
    case Op::divide:
        return {"/", 13};
    case Op::remainder:
        return {"%", 13};
    case Op::add:
        return {"+", 12};
    case Op::subtract:
        return {"-", 12};
    case Op::shift_left:
        return {"<<", 11};
    case Op::shift_right:
        return {">>", 11};
    case Op::less:
        return {"<", 10};
    case Op::less_equal:
        return {"<=", 10};
    case Op::greater:
        return {">", 10};
    case Op::greater_equal:
        return {">=", 10};
    case Op::equal:
        return {"==", 9};
    case Op::not_equal:
        return {"!=", 9};
    case Op::bit_and:
        return {"&", 8};
    case Op::bit_xor:
        return {"^", 7};
    case Op::bit_or:
        return {"|", 6};
    case Op::logical_and:
        return {"&&", 5};
    case Op::logical_xor:
        return {"^^", 4};
    case Op::logical_or:
        return {"||", 3};
    case Op::conditional:
        return {"?", 2};
    case Op::assign:
    case Op::assign_op:
        return {"=", 1};
    case Op::comma:
        return {",", 0};
    case Op::negate:
        return {"-", 14};
    case Op::complement:
        return {"~", 14};
    case Op::logical_not:
        return {"!", 14};
    case Op::plus:
        return {"+", 14};
    case Op::pre_increment:
    case Op::post_increment:
        return {"++", 14};
    case Op::pre_decrement:
    case Op::post_decrement:
        return {"--", 14};
    case Op::cast:
        return {"", 14};
    default:
        return {"", 16};
    }
}

class Printer {
public:
    explicit Printer(const std::vector<Place>& places) : places_(places) {}

    /// In parentheses when it binds less tightly than `level`.
    std::string text(const Expr& node, int level) const {
        std::string made = bare(node);
        bool wants = node.parenthesized || operator_of(node.op).level < level;
        return wants ? "(" + made + ")" : made;
    }

private:
    std::string place(const Expr& node) const {
        const Place& place = places_[node.place];
        std::string made = place.name;
        size_t count = place.elements != 0 ? 1 : place.keys.size();
        for (size_t i = 0; i < count; i++)
            made += (i == 0 ? "[" : ", ") + text(*node.operands[i], 1);
        return count == 0 ? made : made + "]";
    }

    std::string list(const Expr& node) const {
        std::string made;
        for (const ExprPtr& operand : node.operands)
            made += (made.empty() ? "" : ", ") + text(*operand, 1);
        return made;
    }

    std::string bare(const Expr& node) const {
        auto [sign, level] = operator_of(node.op);
        switch (node.op) {
        case Op::literal:
            return node.text;
        case Op::string:
            return quoted(node.text);
        case Op::variable:
            return place(node);
        case Op::negate:
        case Op::complement:
        case Op::logical_not:
        case Op::plus:
            return std::string(sign) + " " + text(*node.operands[0], 14);
        case Op::cast:
            return "(" + std::string(node.type->name) + ")" + text(*node.operands[0], 14);
        case Op::conditional:
            return text(*node.operands[0], 3) + " ? " + text(*node.operands[1], 1) + " : " +
                   text(*node.operands[2], 2);
        case Op::assign:
            return place(node) + " = " + text(*node.operands.back(), 1);
        case Op::assign_op:
            return place(node) + " " + operator_of(node.inner).text + "= " +
                   text(*node.operands.back(), 1);
        case Op::pre_increment:
        case Op::pre_decrement:
            return sign + place(node);
        case Op::post_increment:
        case Op::post_decrement:
            return place(node) + sign;
        case Op::size_of:
            return "sizeof (" + (node.text.empty() ? list(node) : node.text) + ")";
        case Op::call:
            return node.text + "(" + list(node) + ")";
        default:
            return text(*node.operands[0], level) + " " + sign + " " +
                   text(*node.operands[1], level + 1);
        }
    }

    const std::vector<Place>& places_;
};

std::string with_key(const Place& place, unsigned key) {
    return place.elements == 0 ? place.name : place.name + "[" + std::to_string(key) + "]";
}

std::string declarations(const World& world) {
    std::string text = "#pragma D option quiet\n#pragma D option dynvarsize=4m\n"
                       "enum prop { PROP_A = 3, PROP_B = -5, PROP_C = 0x7fffffff };\n"
                       "struct memory { unsigned char c; unsigned int b3 : 3; int b7 : 7; "
                       "int b1 : 1; unsigned int b31 : 31; unsigned int b32 : 32; short s; long l; "
                       "int i[4]; };\nstruct memory gm; this struct memory tm; "
                       "this struct memory *p;\n";
    for (const Place& place : world.places) {
        if (place.in_memory)
            continue;
        size_t arrow = place.name.find("->");
        std::string keys;
        for (const Type* key : place.keys)
            keys += (keys.empty() ? "[" : ", ") + std::string(key->name);
        text += arrow == std::string::npos ? "" : place.name.substr(0, arrow) + " ";
        text += std::string(place.type->name) + " " +
                (arrow == std::string::npos ? place.name : place.name.substr(arrow + 2)) + keys +
                (keys.empty() ? "" : "]") + "; ";
    }
    return text + "\n";
}

std::string key_list(const std::vector<Value>& keys, const Place& place) {
    std::string text;
    for (size_t i = 0; i < keys.size(); i++)
        text +=
            (i == 0 ? "[" : ", ") + print_value(keys[i], place.elements ? kInt : *place.keys[i]);
    return keys.empty() ? text : text + "]";
}

} // namespace

std::string print_value(const Value& value, const Type& type) {
    if (type.is_string())
        return quoted(value.text);
    char text[48];
    if (type.is_signed && static_cast<int64_t>(value.number) < 0)
        // One less than the most that a decimal constant can be.
        std::snprintf(text, sizeof(text), "(-%" PRIu64 " - 1)", ~value.number);
    else
        std::snprintf(text, sizeof(text), "%" PRIu64 "%s", value.number, type.is_signed ? "" : "u");
    return "(" + std::string(type.name) + ")" + text;
}

std::string print(const Expr& expression, const std::vector<Place>& places) {
    return Printer(places).text(expression, 1);
}

std::string print_program(const World& world, const std::vector<Clause>& clauses,
                          unsigned* first_line_ret) {
    std::string text = declarations(world);
    for (unsigned i = 0; i < world.places.size(); i++) {
        std::string line;
        for (const auto& [keys, value] : world.values[i])
            if (!world.places[i].is_scratch)
                line += world.places[i].name + key_list(keys, world.places[i]) + " = " +
                        print_value(value, *world.places[i].type) + "; ";
        if (!line.empty())
            text += "BEGIN { " + line + "}\n";
    }
    *first_line_ret = 1 + static_cast<unsigned>(std::count(text.begin(), text.end(), '\n'));
    for (size_t i = 0; i < clauses.size(); i++) {
        std::string expression = print(*clauses[i].expression, world.places);
        std::string number = std::to_string(i);
        if (clauses[i].is_predicate) {
            text += "BEGIN / (" + expression + ") / { trace(" + number + "); trace(1); }\n";
            continue;
        }
        text += "BEGIN { ";
        size_t next = 0;
        if (!clauses[i].scratch.empty()) {
            text += "this->p = (struct memory *)alloca(sizeof (struct memory)); ";
            for (const Place& place : world.places)
                for (unsigned k = 0; place.is_scratch && k < std::max(1u, place.elements); k++)
                    text += with_key(place, k) + " = " +
                            print_value(clauses[i].scratch[next++], *place.type) + "; ";
        }
        text += "trace(" + number + "); trace(" + expression + "); }\n";
    }
    return text;
}

} // namespace daybreak::prop
