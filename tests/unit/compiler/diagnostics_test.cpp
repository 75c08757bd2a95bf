// SPDX-License-Identifier: Apache-2.0
#include "compiler/diagnostics/diagnostic.hpp"

#include <catch2/catch.hpp>

using namespace daybreak::compiler;

namespace {

/// A text and a diagnostic about the `length` bytes at the first `mark` in it.
struct Case {
    SourceManager sources;
    Diagnostic diagnostic;

    Case(const std::string& text, const std::string& mark, SourceKind kind = SourceKind::file) {
        SourceId source = sources.add(kind == SourceKind::string ? text : "boot.d", text, kind);
        Span span;
        span.source = source;
        span.offset = static_cast<uint32_t>(text.find(mark));
        span.length = static_cast<uint32_t>(mark.size());
        span.line = 1;
        span.column = span.offset + 1;
        for (uint32_t i = 0; i < span.offset; i++)
            if (text[i] == '\n') {
                span.line++;
                span.column = span.offset - i;
            }
        diagnostic = diagnosticf(Tag::D_IDENT_UNDEF, span, "unknown name %s", mark.c_str());
        diagnostic.region = Region::action_list;
    }
    std::string classic(ClassicStyle style = {}) const {
        return render_classic(diagnostic, sources, style);
    }
    std::string rich(RichStyle style = {}) const { return render_rich(diagnostic, sources, style); }
};

} // namespace

TEST_CASE("the classic form is dtrace(1)'s line", "[compiler][diagnostics]") {
    Case file("BEGIN\n{ trace(foo); }\n", "foo");
    CHECK(file.classic() == "daybreak: failed to compile script boot.d: line 2: unknown name foo");
    ClassicStyle style;
    style.program = "dtrace";
    style.error_tags = true;
    CHECK(file.classic(style) ==
          "dtrace: failed to compile script boot.d: [D_IDENT_UNDEF] line 2: unknown name foo");
    // A file that cpp included is named.
    file.diagnostic.span.file = file.sources.intern_file("other.d");
    CHECK(file.classic(style) == "dtrace: failed to compile script boot.d: [D_IDENT_UNDEF] "
                                 "\"other.d\", line 2: unknown name foo");
    Case string("BEGIN\n{ trace(foo); }", "foo", SourceKind::string);
    CHECK(string.classic() == "daybreak: invalid probe specifier BEGIN { trace(foo); }: in action "
                              "list: unknown name foo");
    string.diagnostic.region = Region::none;
    CHECK(string.classic() ==
          "daybreak: invalid probe specifier BEGIN { trace(foo); }: unknown name foo");
    file.diagnostic.span = Span();
    CHECK(file.classic() == "daybreak: failed to compile script boot.d: unknown name foo");
}

TEST_CASE("the rich form shows the line and points", "[compiler][diagnostics]") {
    Case file("BEGIN\n{\ttrace(foo + 1); }\n", "foo + 1");
    file.diagnostic.hints = {"declare it"};
    CHECK(file.rich() == "boot.d:2:9: error: unknown name foo + 1 [D_IDENT_UNDEF]\n"
                         "    2 | {       trace(foo + 1); }\n"
                         "      |               ^~~~~~~\n"
                         "      = hint: declare it\n");
    file.diagnostic.severity = Severity::warning;
    CHECK(file.rich().find("warning: ") != std::string::npos);
    RichStyle colour;
    colour.colour = true;
    CHECK(file.rich(colour).find("\033[1;32m^~~~~~~") != std::string::npos);
    CHECK(file.rich().find('\033') == std::string::npos);
    Case string("BEGIN { foo }", "foo", SourceKind::string);
    CHECK(string.rich().starts_with("<command line>:1:9: error"));
}

TEST_CASE("odd lines are shown in columns", "[compiler][diagnostics]") {
    // An umlaut is two bytes and one column; a control byte is shown as one '?'.
    Case odd("x\xc3\xa4\x01 foo", "foo");
    CHECK(odd.rich().find("x\xc3\xa4? foo\n      |     ^~~\n") != std::string::npos);
    std::string wide(500, 'a');
    Case narrow(wide + "foo" + wide, "foo");
    RichStyle style;
    style.width = 40;
    std::string shown = narrow.rich(style);
    size_t caret = shown.find('^') - shown.rfind('\n', shown.find('^'));
    CHECK(caret < 60);
    size_t line = shown.find(" | ");
    CHECK(shown.substr(line + 3, 40).find("foo") == caret - 9);
    Case at_end("abc", "abc");
    at_end.diagnostic.span.offset = 3;
    at_end.diagnostic.span.length = 0;
    CHECK(at_end.rich().find("      |    ^\n") != std::string::npos);
    at_end.diagnostic.span.offset = 30;
    CHECK_FALSE(at_end.rich().empty());
}

TEST_CASE("a sink counts all errors and keeps the first", "[compiler][diagnostics]") {
    DiagnosticSink sink;
    {
        RegionScope region(sink, Region::predicate);
        Diagnostic warning = diagnosticf(Tag::D_UNKNOWN, {}, "careful");
        warning.severity = Severity::warning;
        sink.report(warning);
        for (int i = 0; i < 100; i++)
            sink.report(diagnosticf(Tag::D_SYNTAX, {}, "error %d", i));
    }
    CHECK(sink.error_count() == 100);
    CHECK(sink.diagnostics().size() == DiagnosticSink::kErrorsMax + 1);
    CHECK(sink.first_error()->text == "error 0");
    CHECK(sink.first_error()->region == Region::predicate);
    CHECK(sink.region() == Region::none);
    CHECK(sink.has(Tag::D_SYNTAX));
    CHECK_FALSE(sink.has(Tag::D_EMPTY));
}

TEST_CASE("the first error is the classic line, and what is known beyond it",
          "[compiler][diagnostics]") {
    Case file("BEGIN { foo }", "foo");
    file.diagnostic.hints = {"declare it"};
    DiagnosticSink sink;
    sink.report(file.diagnostic);
    std::string first = file.classic() + "\nboot.d:1:9: [D_IDENT_UNDEF]\n"
                                         "    1 | BEGIN { foo }\n"
                                         "      |         ^~~\n"
                                         "      = hint: declare it\n";
    CHECK(render_all(sink, file.sources, {}, {}) == first);
    sink.report(file.diagnostic);
    CHECK(render_all(sink, file.sources, {}, {}) == first + file.rich() + "2 errors\n");
    CHECK(render_all(DiagnosticSink(), file.sources, {}, {}).empty());
    // What is in no text has no place.
    DiagnosticSink placeless;
    placeless.report(
        diagnosticf(Tag::D_PRAGMA_OPTSET, Span{.source = kNoSource}, "failed to set -x y"));
    CHECK(render_all(placeless, file.sources, {}, {}) == "daybreak: failed to set -x y\n");
}

TEST_CASE("every tag has a name and a meaning", "[compiler][diagnostics]") {
    unsigned count = 0;
#define CHECK_TAG(tag, text)                                                                       \
    CHECK(tag_name(Tag::tag) == #tag);                                                             \
    CHECK_FALSE(tag_meaning(Tag::tag).empty());                                                    \
    count++;
    DBK_ERROR_TAGS(CHECK_TAG)
    CHECK(count == 192);
}
