// SPDX-License-Identifier: Apache-2.0
//
// What the tests of lexer, parser and types share.
#pragma once

#include "compiler/syntax/parser.hpp"
#include "compiler/syntax/print.hpp"

#include <stdexcept>
#include <string>

namespace daybreak::compiler::test {

/// A text parsed, with all that came out of it.
struct Parsed {
    SourceManager sources;
    DiagnosticSink sink;
    Program program;

    explicit Parsed(const std::string& text, const ParseOptions& options = {},
                    SourceKind kind = SourceKind::file) {
        std::string name = kind == SourceKind::string ? text : "test.d";
        program = parse(sources.add(name, text, kind), options, sources, sink);
    }

    /// Returns the first error as dtrace(1) would print it after its subject: "[D_X] line 1: ...",
    /// or "" when there is none.
    std::string error() const {
        const Diagnostic* first = sink.first_error();
        if (!first)
            return "";
        ClassicStyle style;
        style.error_tags = true;
        std::string line = render_classic(*first, sources, style);
        return line.substr(line.find('['));
    }

    std::string text() const { return program_text(program); }

    const Clause& clause(size_t index = 0) const {
        for (const Item& item : program.items)
            if (const auto* found = std::get_if<Clause>(&item))
                if (index-- == 0)
                    return *found;
        throw std::out_of_range("no such clause");
    }
    const Expr& expression(size_t statement = 0) const {
        return *clause().statements.at(statement).expression;
    }
};

/// Returns the canonical text of an expression, or the error's tag and text.
inline std::string canonical(const std::string& expression, const ParseOptions& options = {}) {
    SourceManager sources;
    DiagnosticSink sink;
    ExprPtr parsed = parse_expression(sources.add("test.d", expression), options, sources, sink);
    if (sink.has_errors())
        return std::string(tag_name(sink.first_error()->tag)) + ": " + sink.first_error()->text;
    return parsed ? expression_text(*parsed) : "nothing";
}

} // namespace daybreak::compiler::test
