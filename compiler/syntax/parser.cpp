// SPDX-License-Identifier: Apache-2.0
//
// Parsing programs: items, clauses, probe descriptions
// (docs/design/0005-d-syntax-and-kernel-types.md).
#include "compiler/syntax/parser_impl.hpp"

#include "base/result.hpp"
#include "compiler/diagnostics/other_tracers.hpp"

#include <algorithm>
#include <charconv>

namespace daybreak::compiler {

bool split_probe_description(std::string_view text, ProbeSpec spec, ProbeDescription& description,
                             bool names_machines) {
    std::string* parts[] = {&description.provider, &description.module, &description.function,
                            &description.name};
    // The last part is what the kind of specification says; the others lie before it.
    int index = spec == ProbeSpec::provider   ? 0
                : spec == ProbeSpec::module   ? 1
                : spec == ProbeSpec::function ? 2
                                              : 3;
    for (std::string* part : parts)
        part->clear();
    description.machine.clear();
    for (;;) {
        size_t colon = text.rfind(':');
        *parts[index] = text.substr(colon == std::string_view::npos ? 0 : colon + 1);
        if (colon == std::string_view::npos || colon == 0) // nothing before the first colon
            return true;
        text = text.substr(0, colon);
        if (index-- != 0)
            continue;
        description.machine = text;
        return names_machines && text.find(':') == std::string_view::npos;
    }
}

// --- Tokens -------------------------------------------------------------------------------------

const Token& Parser::peek(size_t index) {
    while (ahead_.size() <= index)
        ahead_.push_back(lexer_.next());
    return ahead_[index];
}

Token Parser::take() {
    peek();
    Token token = std::move(ahead_.front());
    ahead_.pop_front();
    if (token.is(TokenKind::brace_open))
        brace_depth_++;
    if (token.is(TokenKind::brace_close))
        brace_depth_--;
    last_taken_ = token.kind;
    last_span_ = token.span;
    return token;
}

bool Parser::accept(TokenKind kind) {
    if (!peek().is(kind))
        return false;
    take();
    return true;
}

bool Parser::expect(TokenKind kind, const char* hint) {
    if (accept(kind))
        return true;
    syntax_error(peek(), hint);
    return false;
}

bool Parser::expect_identifier(Token& token, const char* hint) {
    if (!peek().is(TokenKind::identifier)) {
        syntax_error(peek(), hint);
        return false;
    }
    token = take();
    return true;
}

std::nullptr_t Parser::syntax_error(const Token& token, const std::string& hint) {
    // The lexer has said already what is wrong with an invalid token.
    if (token.is(TokenKind::invalid))
        return nullptr;
    Diagnostic diagnostic;
    diagnostic.tag = Tag::D_SYNTAX;
    diagnostic.span = token.span;
    if (token.is(TokenKind::end))
        diagnostic.text = "syntax error near end of input";
    else if (token.is(TokenKind::predicate_end) && (open_parens_ || open_brackets_))
        diagnostic.text = base::strprintf("closing %c expected in predicate before /",
                                          open_brackets_ ? ']' : ')');
    else if (token.is(TokenKind::paren_close) && open_parens_ == 0)
        diagnostic.text = "extra ) in input stream";
    else if (token.is(TokenKind::bracket_close) && open_brackets_ == 0)
        diagnostic.text = "extra ] in input stream";
    else
        diagnostic.text = "syntax error near \"" + near_text(token) + "\"";
    if (token.is(TokenKind::identifier) && !unknown_type_.empty())
        diagnostic.hints.push_back("no type is called " + unknown_type_);
    else if (!foreign_.empty())
        diagnostic.hints.push_back(foreign_);
    else if (token.is(TokenKind::end) && brace_depth_ > 0)
        diagnostic.hints.push_back("missing }?");
    else if (!hint.empty())
        diagnostic.hints.push_back(hint);
    sink_.report(std::move(diagnostic));
    return nullptr;
}

/// What a syntax error says it is near.  After a word that could be a type's name, the reader has
/// looked at what follows it, and names the rest of the line as well when that touches the word.
std::string Parser::near_text(const Token& token) const {
    std::string text(sources_.text(token.span));
    bool may_be_type = token.is(TokenKind::identifier) && !token.has_module &&
                       options_.is_identifier && !options_.is_identifier(token.text);
    if (!may_be_type)
        return text;
    std::string_view rest = sources_.text(token.span.source).substr(token.span.end());
    rest = rest.substr(0, rest.find('\n'));
    return rest.empty() || rest[0] == ' ' || rest[0] == '\t' ? text : text + std::string(rest);
}

bool Parser::Nesting::ok() {
    if (parser_.nesting_ <= kNestingMax)
        return true;
    parser_.sink_.report(diagnosticf(Tag::D_SYNTAX, parser_.peek().span,
                                     "nested more than %u levels deep", kNestingMax));
    return false;
}

/// Makes the lexer stand where the parser stands, so that it can be asked for probe words.
void Parser::forget_ahead() {
    if (!ahead_.empty())
        lexer_.rewind(ahead_.front().span);
    ahead_.clear();
}

/// Skips the rest of an item that was not understood.
void Parser::recover() {
    while (!peek().is(TokenKind::end) &&
           !(brace_depth_ <= 0 &&
             (last_taken_ == TokenKind::brace_close || last_taken_ == TokenKind::semicolon)))
        take();
    forget_ahead();
}

// --- Items --------------------------------------------------------------------------------------

Program Parser::program() {
    Program program;
    program.source = source_;
    size_t errors_before = sink_.error_count();
    while (lexer_.skip_to_character() != '\0' ||
           lexer_.here().offset < sources_.text(source_).size())
        item(program.items);
    for (Pragma& pragma : lexer_.take_pragmas())
        append(program.items, std::move(pragma));
    program.node_count = next_id_;
    program.unused_arguments = lexer_.unused_arguments();
    bool empty = std::all_of(program.items.begin(), program.items.end(),
                             [](const Item& item) { return std::holds_alternative<Pragma>(item); });
    if (empty && !options_.empty_allowed && sink_.error_count() == errors_before) {
        Diagnostic diagnostic;
        diagnostic.tag = Tag::D_EMPTY;
        diagnostic.span = lexer_.here();
        diagnostic.text = "empty D program translation unit";
        diagnostic.hints.push_back("a program has at least one clause or declaration");
        sink_.report(std::move(diagnostic));
    }
    if (!options_.unused_arguments_allowed && sink_.error_count() == errors_before)
        lexer_.report_unused_arguments();
    return program;
}

void Parser::append(std::vector<Item>& items, Item item) {
    if (options_.on_item && !failed())
        options_.on_item(item);
    items.push_back(std::move(item));
}

void Parser::item(std::vector<Item>& items) {
    brace_depth_ = 0;
    nesting_ = open_parens_ = open_brackets_ = 0;
    last_taken_ = TokenKind::invalid;
    unknown_type_.clear();
    foreign_.clear();
    lexer_.set_in_predicate(false);
    for (Pragma& pragma : lexer_.take_pragmas())
        append(items, std::move(pragma));
    std::optional<Item> parsed;
    std::vector<Clause> parts;
    if (at_declaration())
        parsed = declaration_item();
    else if (std::optional<Clause> parsed_clause = clause(parts))
        parsed = std::move(*parsed_clause);
    lexer_.set_in_predicate(false);
    if (!parsed)
        recover();
    // A pragma inside an item is in force like one before it.
    for (Pragma& pragma : lexer_.take_pragmas())
        append(items, std::move(pragma));
    if (parsed)
        append(items, std::move(*parsed));
    for (Clause& part : parts)
        append(items, std::move(part));
}

/// Whether a declaration starts here, and not a probe description: a keyword does, and a name that
/// another name or a declarator follows.
bool Parser::at_declaration() {
    Lexer::WordAhead ahead = lexer_.probe_word_ahead();
    if (ahead.word.empty())
        return false;
    if (keyword_kind(ahead.word) != TokenKind::identifier)
        return true;
    bool plain = std::all_of(ahead.word.begin(), ahead.word.end(),
                             [](char c) { return is_identifier_letter(c) || c == '`'; });
    bool follows = is_identifier_start(ahead.follower) || ahead.follower == '*' ||
                   ahead.follower == '(' || ahead.follower == '`';
    if (!plain || !follows || (ahead.word[0] >= '0' && ahead.word[0] <= '9'))
        return false;
    size_t backquote = ahead.word.rfind('`');
    std::string_view name =
        backquote == std::string_view::npos ? ahead.word : ahead.word.substr(backquote + 1);
    return keyword_kind(name) != TokenKind::identifier || typedefs_.count(name) ||
           !options_.is_type_name || options_.is_type_name(name);
}

/// What D has for the point of SystemTap that follows a word.
std::string Parser::foreign_probe_after(const Token& word) {
    std::string_view rest = sources_.text(word.span.source).substr(word.span.end());
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
    return hint_for_foreign_probe(rest.substr(0, rest.find_first_of(" \t\n{,")));
}

std::optional<Item> Parser::declaration_item() {
    std::optional<Item> item;
    auto set = [&item](auto parsed) {
        if (parsed)
            item = std::move(*parsed);
    };
    switch (peek().kind) {
    case TokenKind::kw_inline:
        set(inline_definition());
        break;
    case TokenKind::kw_translator:
        set(translator());
        break;
    case TokenKind::kw_provider:
        set(provider());
        break;
    case TokenKind::kw_probe: // D has it within providers only; SystemTap's programs begin so
        foreign_ = foreign_probe_after(peek());
        [[fallthrough]];
    default:
        set(declaration());
        break;
    }
    return item;
}

// --- Clauses ------------------------------------------------------------------------------------

/// Parses a clause; what `if` makes of it beyond the first part goes to `parts`.
std::optional<Clause> Parser::clause(std::vector<Clause>& parts) {
    Clause clause;
    clause.span = lexer_.here();
    if (!probe_list(clause))
        return std::nullopt;
    if (lexer_.skip_to_character() == '/' && !predicate(clause))
        return std::nullopt;
    if (lexer_.skip_to_character() == '{') {
        if (!body(clause, parts))
            return std::nullopt;
        return clause;
    }
    // Without actions the default action is meant.  In a file, where the next line could be the
    // missing action list, a description alone is taken for a mistake.
    bool is_string = sources_.kind(source_) == SourceKind::string;
    char follower = lexer_.skip_to_character();
    if ((clause.predicate || is_string) && follower == ';') {
        take();
        return clause;
    }
    if (is_string || (follower == '\0' && clause.predicate))
        return clause;
    Diagnostic diagnostic =
        diagnosticf(Tag::D_SYNTAX, clause.probes.back().span,
                    "expected predicate and/or actions following probe description");
    diagnostic.hints.push_back("{ } enables a probe with the default action");
    if (std::string_view("=<>(").find(follower) != std::string_view::npos && follower != '\0')
        diagnostic.hints.push_back("statements stand inside of a clause: probe { statements }");
    sink_.report(std::move(diagnostic));
    return std::nullopt;
}

bool Parser::probe_list(Clause& clause) {
    do {
        if (!probe_description(clause))
            return false;
    } while (lexer_.skip_to_character() == ',' && take().is(TokenKind::comma));
    return true;
}

bool Parser::probe_id(const Token& word, ProbeDescription& description) {
    static constexpr const char* kSpecs[] = {"names", "providers", "modules", "functions"};
    const std::string& text = word.text;
    uint32_t id = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
    if (error != std::errc() || end != text.data() + text.size()) {
        sink_.report(diagnosticf(Tag::D_PDESC_INVAL, word.span,
                                 "probe identifier %s exceeds maximum probe id", text.c_str()));
        return false;
    }
    if (options_.probe_spec != ProbeSpec::name) {
        sink_.report(diagnosticf(Tag::D_PDESC_INVAL, word.span,
                                 "probe identifier %u not permitted when specifying %s", id,
                                 kSpecs[static_cast<size_t>(options_.probe_spec)]));
        return false;
    }
    description.id = id;
    return true;
}

bool Parser::probe_description(Clause& clause) {
    ProbeDescription description;
    size_t errors_before = sink_.error_count();
    Token word = lexer_.probe_word();
    if (word.is(TokenKind::end)) {
        syntax_error(peek(), "a probe description is provider:module:function:name");
        return false;
    }
    if (sink_.error_count() != errors_before)
        return false;
    description.span = word.span;
    description.text = word.text;
    foreign_ = hint_for_foreign_probe(word.text);
    clause.span = join(clause.span, word.span);
    const std::string& text = word.text;
    if (!text.empty() && text[0] >= '0' && text[0] <= '9') {
        if (!probe_id(word, description))
            return false;
    } else if (!split_probe_description(text, options_.probe_spec, description,
                                        options_.names_machines)) {
        Diagnostic diagnostic = diagnosticf(
            Tag::D_PDESC_INVAL, word.span,
            "invalid probe description \"%s\": Overspecified probe description", text.c_str());
        const char* form =
            options_.names_machines ? "machine:provider:module:function:name"
            : options_.is_replay
                ? "provider:module:function:name; -E takes a machine's name before it"
                : "provider:module:function:name";
        if (foreign_.empty())
            foreign_ = hint_for_cpp_function(text);
        diagnostic.hints.push_back(foreign_.empty() ? std::string("a probe description is ") + form
                                                    : foreign_);
        sink_.report(std::move(diagnostic));
        return false;
    }
    clause.probes.push_back(std::move(description));
    return true;
}

bool Parser::predicate(Clause& clause) {
    const Span word = clause.span;
    take(); // the opening '/', before the lexer looks for a closing one
    const bool is_in_word = last_span_.offset == word.offset + word.length;
    lexer_.set_in_predicate(true);
    clause.predicate = expression();
    if (!clause.predicate ||
        !expect(TokenKind::predicate_end,
                is_in_word
                    ? "a predicate ends with /, and a path in a probe description begins with "
                      "one: pid*:/PATH:FUNCTION:entry"
                    : "a predicate ends with /"))
        return false;
    lexer_.set_in_predicate(false);
    clause.span = join(clause.span, last_span_);
    return true;
}

ExprPtr Parser::whole_expression() {
    ExprPtr parsed = expression();
    if (parsed && !peek().is(TokenKind::end))
        return syntax_error(peek(), "one expression is expected");
    return parsed;
}

// --- Entry points -------------------------------------------------------------------------------

Program parse(SourceId source, const ParseOptions& options, SourceManager& sources,
              DiagnosticSink& sink) {
    return Parser(source, options, sources, sink).program();
}

ExprPtr parse_expression(SourceId source, const ParseOptions& options, SourceManager& sources,
                         DiagnosticSink& sink) {
    return Parser(source, options, sources, sink).whole_expression();
}

} // namespace daybreak::compiler
