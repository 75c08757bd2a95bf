// SPDX-License-Identifier: Apache-2.0
//
// Canonical text of expressions, clauses and programs.
#include "compiler/syntax/print.hpp"

#include "base/result.hpp"
#include "compiler/syntax/print_types.hpp"

namespace daybreak::compiler {

namespace {

// How tight an expression binds; an operand that binds looser than its place asks for gets
// parentheses.
enum Precedence : unsigned {
    kComma,
    kAssign,
    kConditional,
    kLogicalOr,
    kLogicalXor,
    kLogicalAnd,
    kBitOr,
    kBitXor,
    kBitAnd,
    kEquality,
    kRelational,
    kShift,
    kAdditive,
    kMultiplicative,
    kUnary,
    kPostfix,
};

struct OperatorRow {
    std::string_view text;
    Precedence precedence;
};

// By BinaryOp.
constexpr OperatorRow kOperators[] = {
    {"*", kMultiplicative}, {"/", kMultiplicative}, {"%", kMultiplicative}, {"+", kAdditive},
    {"-", kAdditive},       {"<<", kShift},         {">>", kShift},         {"<", kRelational},
    {"<=", kRelational},    {">", kRelational},     {">=", kRelational},    {"==", kEquality},
    {"!=", kEquality},      {"&", kBitAnd},         {"^", kBitXor},         {"|", kBitOr},
    {"&&", kLogicalAnd},    {"^^", kLogicalXor},    {"||", kLogicalOr},     {",", kComma},
};

const OperatorRow& row_of(BinaryOp op) {
    return kOperators[static_cast<size_t>(op)];
}

std::string text_at(const Expr& expression, Precedence place);

std::string list_text(const std::vector<ExprPtr>& expressions) {
    std::string text;
    for (const ExprPtr& expression : expressions)
        text += (text.empty() ? "" : ", ") + text_at(*expression, kAssign);
    return text;
}

struct Precedences {
    // `5.x` would read as a floating constant.
    Precedence operator()(const IntegerLiteral&) const { return kUnary; }
    Precedence operator()(const FloatLiteral&) const { return kUnary; }
    Precedence operator()(const Unary& node) const {
        return node.op == UnaryOp::post_increment || node.op == UnaryOp::post_decrement ? kPostfix
                                                                                        : kUnary;
    }
    Precedence operator()(const Binary& node) const { return row_of(node.op).precedence; }
    Precedence operator()(const Assign&) const { return kAssign; }
    Precedence operator()(const Conditional&) const { return kConditional; }
    Precedence operator()(const Cast&) const { return kUnary; }
    Precedence operator()(const SizeofType&) const { return kUnary; }
    Precedence operator()(const SizeofExpr&) const { return kUnary; }
    Precedence operator()(const Stringof&) const { return kUnary; }
    template <typename T>
    Precedence operator()(const T&) const {
        return kPostfix;
    }
};

struct Printer {
    std::string operator()(const IntegerLiteral& node) const { return node.spelling; }
    std::string operator()(const FloatLiteral& node) const { return node.spelling; }
    std::string operator()(const StringLiteral& node) const { return quoted_text(node.value); }

    std::string operator()(const Identifier& node) const {
        static constexpr const char* kScopes[] = {"", "self", "this", ""};
        std::string scope = kScopes[static_cast<size_t>(node.scope)];
        if (node.scope == VariableScope::kernel)
            return node.module + "`" + node.name;
        if (scope.empty() || node.name.empty())
            return scope + node.name;
        return scope + "->" + node.name;
    }

    std::string operator()(const Aggregation& node) const {
        return "@" + node.name + (node.has_keys ? "[" + list_text(node.keys) + "]" : "");
    }

    std::string operator()(const Index& node) const {
        return text_at(*node.base, kPostfix) + "[" + list_text(node.arguments) + "]";
    }

    std::string operator()(const Call& node) const {
        return text_at(*node.function, kPostfix) + "(" + list_text(node.arguments) + ")";
    }

    std::string operator()(const Member& node) const {
        return text_at(*node.base, kPostfix) + (node.arrow ? "->" : ".") + node.member;
    }

    std::string operator()(const Unary& node) const {
        static constexpr const char* kTexts[] = {"+", "-",  "~",  "!",  "*",
                                                 "&", "++", "--", "++", "--"};
        std::string op = kTexts[static_cast<size_t>(node.op)];
        if (Precedences()(node) == kPostfix)
            return text_at(*node.operand, kPostfix) + op;
        // A cast is an operand of - and !, but not of ++ and --.
        bool is_step = node.op == UnaryOp::pre_increment || node.op == UnaryOp::pre_decrement;
        bool is_cast = std::holds_alternative<Cast>(node.operand->node);
        std::string operand = text_at(*node.operand, is_step && is_cast ? kPostfix : kUnary);
        // `- -x` must not become `--x`.
        return op + (operand[0] == op[0] ? " " : "") + operand;
    }

    std::string operator()(const Binary& node) const {
        const OperatorRow& row = row_of(node.op);
        auto right_place = static_cast<Precedence>(row.precedence + 1);
        std::string left = text_at(*node.left, row.precedence);
        if (node.op == BinaryOp::comma)
            return left + ", " + text_at(*node.right, right_place);
        return left + " " + std::string(row.text) + " " + text_at(*node.right, right_place);
    }

    std::string operator()(const Assign& node) const {
        std::string op = node.op ? std::string(row_of(*node.op).text) : "";
        return text_at(*node.left, kUnary) + " " + op + "= " + text_at(*node.right, kAssign);
    }

    std::string operator()(const Conditional& node) const {
        return text_at(*node.condition, kLogicalOr) + " ? " + text_at(*node.if_true, kComma) +
               " : " + text_at(*node.if_false, kConditional);
    }

    std::string operator()(const Cast& node) const {
        return "(" + type_name_text(*node.type) + ")" + text_at(*node.operand, kUnary);
    }

    std::string operator()(const SizeofType& node) const {
        return "sizeof(" + type_name_text(*node.type) + ")";
    }

    std::string operator()(const SizeofExpr& node) const {
        // A name in parentheses could be taken for a type.
        if (std::get_if<Identifier>(&node.operand->node))
            return "sizeof " + text_at(*node.operand, kUnary);
        return "sizeof(" + text_at(*node.operand, kComma) + ")";
    }

    std::string operator()(const Offsetof& node) const {
        return "offsetof(" + type_name_text(*node.type) + ", " + node.member + ")";
    }

    std::string operator()(const Stringof& node) const {
        return "stringof(" + text_at(*node.operand, kComma) + ")";
    }

    std::string operator()(const Xlate& node) const {
        return "xlate <" + type_name_text(*node.type) + ">(" + text_at(*node.operand, kComma) + ")";
    }
};

std::string text_at(const Expr& expression, Precedence place) {
    std::string text = std::visit(Printer(), expression.node);
    return std::visit(Precedences(), expression.node) < place ? "(" + text + ")" : text;
}

std::string parameters_text(const std::vector<ParameterSyntax>& parameters) {
    std::string text;
    for (const ParameterSyntax& parameter : parameters)
        text +=
            (text.empty() ? "" : ", ") + declared_text(parameter.specifiers, parameter.declarator);
    return text;
}

struct ItemPrinter {
    std::string operator()(const Clause& item) const { return clause_text(item); }
    std::string operator()(const Declaration& item) const { return declaration_text(item); }

    std::string operator()(const Inline& item) const {
        return "inline " + declared_text(item.specifiers, item.declarator) + " = " +
               text_at(*item.value, kAssign) + ";\n";
    }

    std::string operator()(const Translator& item) const {
        std::string text = "translator " + type_name_text(item.output) + " < " +
                           declared_text(item.input.specifiers, item.input.declarator) + " > {\n";
        for (const TranslatorMember& member : item.members)
            text += "\t" + member.name + " = " + text_at(*member.value, kAssign) + ";\n";
        return text + "};\n";
    }

    std::string operator()(const Provider& item) const {
        std::string text = "provider " + item.name + " {\n";
        for (const ProviderProbe& probe : item.probes) {
            text += "\tprobe " + probe.name + "(" + parameters_text(probe.arguments) + ")";
            if (probe.has_translated)
                text += " : (" + parameters_text(probe.translated) + ")";
            text += ";\n";
        }
        return text + "};\n";
    }

    std::string operator()(const Pragma& item) const {
        static constexpr const char* kNames[] = {"option", "attributes", "binding", "depends_on"};
        std::string text = std::string("#pragma D ") + kNames[static_cast<size_t>(item.kind)];
        for (const std::string& argument : item.arguments) {
            bool plain = !argument.empty() && argument.find_first_of(" \t\n\"\\") == argument.npos;
            text += " " + (plain ? argument : quoted_text(argument));
        }
        return text + "\n";
    }
};

} // namespace

std::string_view operator_text(BinaryOp op) {
    return row_of(op).text;
}

std::string quoted_text(std::string_view text) {
    static constexpr std::string_view kBytes = "\"\\\n\t\r\a\b\f\v", kLetters = "\"\\ntrabfv";
    std::string result = "\"";
    for (char c : text) {
        size_t found = kBytes.find(c);
        auto byte = static_cast<unsigned char>(c);
        if (found != std::string_view::npos)
            result += std::string("\\") + kLetters[found];
        else if (byte < 0x20 || byte == 0x7f)
            result += base::strprintf("\\%03o", byte);
        else
            result += c;
    }
    return result + "\"";
}

std::string expression_text(const Expr& expression) {
    return text_at(expression, kComma);
}

std::string clause_text(const Clause& clause) {
    std::string text;
    for (const ProbeDescription& probe : clause.probes)
        text += (text.empty() ? "" : ",\n") + probe.text;
    text += "\n";
    if (clause.predicate) {
        std::string predicate = text_at(*clause.predicate, kComma);
        // A slash and a star would begin a comment.
        text += (predicate[0] == '*' ? "/ " : "/") + predicate + "/\n";
    }
    if (!clause.has_body)
        return clause.predicate ? text + ";\n" : text;
    text += "{\n";
    for (const Statement& statement : clause.statements)
        text += "\t" + text_at(*statement.expression, kComma) + ";\n";
    return text + "}\n";
}

std::string program_text(const Program& program) {
    std::string text;
    for (const Item& item : program.items)
        text += std::visit(ItemPrinter(), item);
    return text;
}

} // namespace daybreak::compiler
