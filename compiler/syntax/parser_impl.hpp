// SPDX-License-Identifier: Apache-2.0
//
// The parser's inside: recursive descent over the lexer's tokens.
//
// Functions that parse something return it, or null (an empty optional) after reporting why not; a
// caller that gets null returns null itself, up to the item, which is then skipped.  So there is
// one report per broken item, and none that follows from another.
//
// A Parser is used for one text and then thrown away.
#pragma once

#include "compiler/syntax/lexer.hpp"

#include <deque>
#include <set>

namespace daybreak::compiler {

/// Whether a token is const, volatile or restrict.
inline bool is_qualifier(const Token& token) {
    return token.is(TokenKind::kw_const) || token.is(TokenKind::kw_volatile) ||
           token.is(TokenKind::kw_restrict);
}

class Parser {
public:
    /// Parentheses, brackets, unary operators and declarators may nest this deep.
    static constexpr unsigned kNestingMax = 200;
    /// So many `if` may lie in each other; an `else if` lies in the `else` before it.
    static constexpr size_t kIfDepthMax = 200;
    /// Of a text: a clause with branches has a predicate of all conditions that lead to a part, and
    /// its probe descriptions, for each part.  One takes about 700 bytes until the program is DOF.
    static constexpr size_t kIfPartsCostMax = 100'000;

    Parser(SourceId source, const ParseOptions& options, SourceManager& sources,
           DiagnosticSink& sink)
        : source_(source), options_(options), sources_(sources), sink_(sink),
          lexer_(source, options, sources, sink), errors_before_(sink.error_count()) {}

    Program program();
    ExprPtr whole_expression();

private:
    /// Counts nesting for a scope.
    class Nesting {
    public:
        explicit Nesting(Parser& parser) : parser_(parser) { parser_.nesting_++; }
        ~Nesting() { parser_.nesting_--; }
        Nesting(const Nesting&) = delete;
        Nesting& operator=(const Nesting&) = delete;
        /// False, and reported, when it is too deep here.
        bool ok();

    private:
        Parser& parser_;
    };

    /// Whether this text has errors; others may have had some before.
    bool failed() const { return sink_.error_count() != errors_before_; }

    // tokens
    const Token& peek(size_t index = 0);
    Token take();
    bool accept(TokenKind kind);
    bool expect(TokenKind kind, const char* hint);
    bool expect_identifier(Token& token, const char* hint);
    std::nullptr_t syntax_error(const Token& token, const std::string& hint = {});
    std::string near_text(const Token& token) const;
    uint32_t line_ahead() { return peek().span.line_reached(); }
    void forget_ahead();
    void recover();

    // items, see parser.cpp
    void item(std::vector<Item>& items);
    void append(std::vector<Item>& items, Item item);
    bool at_declaration();
    std::string foreign_probe_after(const Token& word);
    std::optional<Item> declaration_item();
    std::optional<Clause> clause(std::vector<Clause>& parts);
    bool probe_list(Clause& clause);
    bool probe_description(Clause& clause);
    bool probe_id(const Token& word, ProbeDescription& description);
    bool predicate(Clause& clause);

    // what a clause does, see parse_statements.cpp
    struct Branches;
    bool body(Clause& clause, std::vector<Clause>& parts);
    bool block(Branches& branches);
    bool statement(Branches& branches);
    bool branch(Branches& branches, size_t condition, uint64_t value);
    bool if_statement(Branches& branches);
    bool split(Clause& clause, Branches& branches, std::vector<Clause>& parts);
    bool parts_are_few(const Clause& clause, const Branches& branches);
    ExprPtr condition_test(size_t number, uint64_t value, ExprPtr& condition);

    // declarations, see parse_declarations.cpp, parse_types.cpp and parse_declarators.cpp
    std::optional<Declaration> declaration();
    std::optional<Inline> inline_definition();
    std::optional<Translator> translator();
    std::optional<Provider> provider();
    std::optional<ProviderProbe> provider_probe();
    std::optional<Specifiers> specifiers();
    bool at_attribute();
    bool attributes();
    bool skip_parentheses();
    bool named_specifier(Specifiers& specifiers);
    bool implicit_int_ahead(const Specifiers& specifiers);
    bool unknown_type_ahead(const Specifiers& specifiers);
    void reach_ahead(Declarator& declarator);
    bool typedef_specifier(Specifiers& specifiers);
    bool struct_body(NamedType& named);
    bool enum_body(NamedType& named);
    std::optional<Declarator> declarator();
    bool direct_declarator(Declarator& declarator, std::vector<Derivation>& suffixes);
    bool nested_declarator_ahead();
    bool array_suffix(std::vector<Derivation>& suffixes);
    bool function_suffix(std::vector<Derivation>& suffixes);
    bool parameters(TokenKind close, std::vector<ParameterSyntax>& parameters, bool& variadic);
    std::optional<ParameterSyntax> parameter();
    std::optional<TypeName> type_name();
    TypeNamePtr type_name_pointer();

    // what is a type?
    bool starts_type_keyword(const Token& token) const;
    bool is_known_type(const Token& token);
    bool type_in_parentheses(bool for_sizeof);
    bool type_in_brackets();
    bool type_before_close(TokenKind follower, const Token& name);

    // expressions, see parse_expressions.cpp and parse_operands.cpp
    ExprPtr expression();
    ExprPtr assignment();
    ExprPtr conditional();
    ExprPtr conditional_rest(ExprPtr condition);
    ExprPtr unfolded_assignment();
    ExprPtr binary(unsigned min_precedence);
    ExprPtr binary_rest(ExprPtr left, unsigned min_precedence);
    ExprPtr cast();
    ExprPtr unary();
    TypeNamePtr parenthesized_type();
    ExprPtr prefix(UnaryOp op, bool operand_is_unary);
    ExprPtr sizeof_expression();
    ExprPtr postfix();
    ExprPtr postfix_rest(ExprPtr base);
    ExprPtr member(ExprPtr base);
    ExprPtr primary();
    ExprPtr literal();
    ExprPtr scoped_variable();
    ExprPtr aggregation();
    ExprPtr offsetof_expression();
    ExprPtr xlate_expression();
    bool arguments(TokenKind close, std::vector<ExprPtr>& arguments);
    ExprPtr make(const Span& span, ExprNode node);
    /// The same for what no text says: looks at no word, which could be of another clause.
    ExprPtr make_unread(const Span& span, ExprNode node);

    SourceId source_;
    const ParseOptions& options_;
    SourceManager& sources_;
    DiagnosticSink& sink_;
    Lexer lexer_;
    size_t errors_before_;
    std::deque<Token> ahead_;
    TokenKind last_taken_ = TokenKind::end;
    Span last_span_;
    int brace_depth_ = 0;
    bool folding_ = true;
    bool word_mode_ = false; ///< an attribute of this declaration says that it is a long
    unsigned nesting_ = 0, open_parens_ = 0, open_brackets_ = 0;
    NodeId next_id_ = 0;
    size_t condition_count_ = 0; ///< of `if` and of predicates that have to be known later
    size_t if_parts_cost_ = 0;
    std::set<std::string, std::less<>> typedefs_;
    std::string foreign_;      ///< what D has for a probe that another tracer's program begins with
    std::string unknown_type_; ///< a name that was no type where one could be
};

} // namespace daybreak::compiler
