// SPDX-License-Identifier: Apache-2.0
//
// Parsing what a clause does: statements, and if ... else (docs/design/0046-if-and-else.md).
//
// The machine that runs D knows a predicate for each clause, and no jumps.  A clause with branches
// becomes several with the same probes, one for each run of statements under the same conditions:
//
//     p { a; if (x) b; else c; d; }     p { a; }
//                                       p /(v = 0, v = x ? 1 : 2) == 1/ { b; }
//                                       p /v == 2/ { c; }
//                                       p { d; }
//
// v is a clause-local variable that D text cannot name.  The first part under a condition works it
// out, once, after all that stands before it; it is 0 when that fails, and neither branch is taken.
// A predicate is a condition as well: the first of all.
#include "compiler/syntax/parser_impl.hpp"

namespace daybreak::compiler {

/// A clause being taken apart.
struct Parser::Branches {
    /// Of a condition, by its number: which way it went.
    struct Test {
        size_t condition;
        uint64_t value; ///< 1: it held, 2: it did not
        bool operator==(const Test&) const = default;
    };
    struct Part {
        std::vector<Test> path; ///< conditions that lead here, the outermost first
        std::vector<Statement> statements;
    };
    std::vector<ExprPtr> conditions; ///< null once a part works it out
    std::vector<Part> parts;
    std::vector<Test> path; ///< of what is being parsed
    size_t first_number = 0;

    void add(Statement statement) {
        if (parts.empty() || parts.back().path != path)
            parts.push_back({path, {}});
        parts.back().statements.push_back(std::move(statement));
    }
};

bool Parser::body(Clause& clause, std::vector<Clause>& parts) {
    Span open = take().span;
    clause.has_body = true;
    Branches branches;
    branches.first_number = condition_count_;
    branches.conditions.push_back(nullptr); // the predicate
    branches.path.push_back({0, 1});
    if (!block(branches))
        return false;
    clause.body_span = join(open, last_span_);
    unknown_type_.clear();
    clause.span = join(clause.span, last_span_);
    if (branches.conditions.size() == 1) {
        if (!branches.parts.empty())
            clause.statements = std::move(branches.parts[0].statements);
        return true;
    }
    condition_count_ += branches.conditions.size();
    return parts_are_few(clause, branches) && split(clause, branches, parts);
}

/// Parses statements up to the closing brace, which is taken.
bool Parser::block(Branches& branches) {
    while (!peek().is(TokenKind::brace_close))
        if (!statement(branches))
            return false;
    take();
    return true;
}

bool Parser::statement(Branches& branches) {
    if (accept(TokenKind::semicolon))
        return true;
    if (peek().is(TokenKind::kw_if))
        return if_statement(branches);
    Statement statement;
    statement.expression = expression();
    if (!statement.expression)
        return false;
    statement.span = statement.expression->span;
    if (!peek().is(TokenKind::brace_close) && !expect(TokenKind::semicolon, "missing ;?"))
        return false;
    branches.add(std::move(statement));
    return true;
}

/// Parses a branch: one statement, or a block.
bool Parser::branch(Branches& branches, size_t condition, uint64_t value) {
    branches.path.push_back({condition, value});
    bool parsed = accept(TokenKind::brace_open) ? block(branches) : statement(branches);
    branches.path.pop_back();
    return parsed;
}

bool Parser::if_statement(Branches& branches) {
    if (branches.path.size() > kIfDepthMax) { // the predicate is the first
        sink_.report(diagnosticf(Tag::D_SYNTAX, peek().span,
                                 "more than %zu `if` in each other; an `else if` lies in the `else` "
                                 "before it",
                                 kIfDepthMax));
        return false;
    }
    take();
    if (!expect(TokenKind::paren_open, "if (condition) ..."))
        return false;
    open_parens_++;
    ExprPtr expression = this->expression();
    if (!expression || !expect(TokenKind::paren_close, "missing )"))
        return false;
    open_parens_--;
    size_t condition = branches.conditions.size(), before = branches.parts.size();
    branches.conditions.push_back(std::move(expression));
    if (!branch(branches, condition, 1))
        return false;
    if (accept(TokenKind::kw_else) && !branch(branches, condition, 2))
        return false;
    if (branches.parts.size() != before)
        return true;
    // Both branches are empty: what is left is what the condition does.
    Statement alone;
    alone.expression = std::move(branches.conditions[condition]);
    alone.span = alone.expression->span;
    branches.add(std::move(alone));
    return true;
}

/// Whether the clauses of the text that are divided stay within kIfPartsCostMax; reports it, once.
bool Parser::parts_are_few(const Clause& clause, const Branches& branches) {
    bool were_few = if_parts_cost_ <= kIfPartsCostMax;
    for (const Branches::Part& part : branches.parts)
        if_parts_cost_ += part.path.size() + clause.probes.size();
    if (if_parts_cost_ <= kIfPartsCostMax)
        return true;
    if (were_few)
        sink_.report(diagnosticf(Tag::D_SYNTAX, clause.body_span,
                                 "`if` divides the program too far: more than %zu conditions and "
                                 "probe descriptions in all parts",
                                 kIfPartsCostMax));
    return false;
}

/// Makes the clauses; the first stays in `clause`, the others go to `parts`.
bool Parser::split(Clause& clause, Branches& branches, std::vector<Clause>& parts) {
    bool always = !clause.predicate;
    branches.conditions[0] = std::move(clause.predicate);
    for (Branches::Part& part : branches.parts) {
        Clause one;
        one.span = clause.span;
        one.probes = clause.probes;
        one.has_body = true;
        one.body_span = clause.body_span;
        one.statements = std::move(part.statements);
        one.is_continued = !parts.empty();
        for (size_t i = always ? 1 : 0; i < part.path.size(); i++) {
            const Branches::Test& test = part.path[i];
            ExprPtr tested = condition_test(branches.first_number + test.condition, test.value,
                                            branches.conditions[test.condition]);
            one.predicate = one.predicate && tested
                                ? make_unread(always ? clause.body_span : clause.span,
                                              Binary{BinaryOp::logical_and,
                                                     std::move(one.predicate), std::move(tested)})
                                : std::move(tested);
            if (!one.predicate)
                return false;
        }
        parts.push_back(std::move(one));
    }
    clause = std::move(parts.front());
    parts.erase(parts.begin());
    return true;
}

/// (v = 0, v = condition ? 1 : 2) == value, or v == value where that is known already.
ExprPtr Parser::condition_test(size_t number, uint64_t value, ExprPtr& condition) {
    Span span = condition ? condition->span : last_span_;
    auto variable = [&] {
        Identifier name;
        name.scope = VariableScope::clause;
        name.name = std::string(1, kConditionPrefix) + std::to_string(source_) + "." +
                    std::to_string(number);
        return make_unread(span, std::move(name));
    };
    auto constant = [&](uint64_t of) {
        return make_unread(span, IntegerLiteral{of, IntegerType::int_, false, std::to_string(of)});
    };
    ExprPtr known = variable();
    if (condition) {
        ExprPtr chosen =
            make_unread(span, Conditional{std::move(condition), constant(1), constant(2)});
        if (!chosen)
            return nullptr;
        ExprPtr cleared = make_unread(span, Assign{std::nullopt, variable(), constant(0)});
        ExprPtr set = make_unread(span, Assign{std::nullopt, std::move(known), std::move(chosen)});
        known = make_unread(span, Binary{BinaryOp::comma, std::move(cleared), std::move(set)});
    }
    return make_unread(span, Binary{BinaryOp::equal, std::move(known), constant(value)});
}

} // namespace daybreak::compiler
