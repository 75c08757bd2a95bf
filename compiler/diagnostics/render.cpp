// SPDX-License-Identifier: Apache-2.0
//
// Diagnostics as text: dtrace(1)'s single line, and the rich form with source line and caret.
#include "base/result.hpp"
#include "base/visible.hpp"
#include "compiler/diagnostics/diagnostic.hpp"

#include <algorithm>
#include <set>

namespace daybreak::compiler {

namespace {

using base::strprintf;

/// Texts of -n may hold newlines; a message is one line.
std::string on_one_line(std::string_view text) {
    std::string line(text);
    std::replace_if(
        line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
    return line;
}

/// One source line as shown: tabs expanded, what is not a printable character replaced, and where each
/// byte is.
struct ShownLine {
    std::string text;
    std::vector<size_t> columns; ///< of byte i, counted in characters shown; one more at the end

    explicit ShownLine(std::string_view source) {
        size_t column = 0;
        while (!source.empty()) {
            size_t bytes = base::visible_bytes(source);
            size_t width = source[0] == '\t' ? 8 - column % 8 : 1;
            columns.insert(columns.end(), std::max<size_t>(bytes, 1), column);
            if (source[0] == '\t')
                text.append(width, ' ');
            else
                text += bytes == 0 ? "?" : source.substr(0, bytes);
            column += width;
            source.remove_prefix(std::max<size_t>(bytes, 1));
        }
        columns.push_back(column);
    }
};

struct Paint {
    bool on;
    const char* red() const { return on ? "\033[1;31m" : ""; }
    const char* magenta() const { return on ? "\033[1;35m" : ""; }
    const char* blue() const { return on ? "\033[1;34m" : ""; }
    const char* green() const { return on ? "\033[1;32m" : ""; }
    const char* bold() const { return on ? "\033[1m" : ""; }
    const char* off() const { return on ? "\033[0m" : ""; }
};

/// Cuts a long line to `width` bytes around the caret; returns how many were taken off its start.
size_t cut_around(std::string& text, size_t column, size_t width) {
    if (text.size() <= width)
        return 0;
    size_t begin = column > width / 2 ? column - width / 2 : 0;
    begin = std::min(begin, text.size() - width);
    text = text.substr(begin, width);
    return begin;
}

std::string source_excerpt(const Diagnostic& diagnostic, const SourceManager& sources,
                           const RichStyle& style) {
    const Span& span = diagnostic.span;
    Paint paint{style.colour};
    std::string_view source_line = sources.line_text(span);
    std::string_view whole = sources.text(span.source);
    size_t line_begin = static_cast<size_t>(source_line.data() - whole.data());
    size_t first = std::min<size_t>(span.offset - line_begin, source_line.size());
    size_t last = std::min<size_t>(first + std::max<uint32_t>(span.length, 1), source_line.size());

    ShownLine line(source_line);
    size_t column = line.columns[first];
    size_t marks = std::max<size_t>(1, line.columns[last] - column);
    column -= cut_around(line.text, column, style.width);
    marks =
        std::min(marks, std::max<size_t>(1, style.width - std::min<size_t>(column, style.width)));
    std::string underline = "^" + std::string(marks - 1, '~');
    return strprintf("%s%5u |%s %s\n%s      |%s %s%s%s%s\n", paint.blue(), span.line, paint.off(),
                     line.text.c_str(), paint.blue(), paint.off(), std::string(column, ' ').c_str(),
                     paint.green(), underline.c_str(), paint.off());
}

bool is_located(const Diagnostic& diagnostic, const SourceManager& sources) {
    return diagnostic.span.valid() && diagnostic.span.source < sources.size();
}

std::string place(const Span& span, const SourceManager& sources) {
    bool is_string = sources.kind(span.source) == SourceKind::string &&
                     span.file == sources.main_file(span.source);
    return strprintf("%s:%u:%u",
                     is_string ? "<command line>"
                               : base::visible(sources.file_name(span.file)).c_str(),
                     span.line, span.column);
}

std::string hints(const Diagnostic& diagnostic, const RichStyle& style) {
    Paint paint{style.colour};
    std::string text;
    for (const std::string& hint : diagnostic.hints)
        text += strprintf("%s      =%s hint: %s\n", paint.blue(), paint.off(),
                          base::visible(hint).c_str());
    return text;
}

/// What the rich form adds to the classic line.
std::string place_and_hints(const Diagnostic& diagnostic, const SourceManager& sources,
                            const RichStyle& style) {
    std::string text;
    if (is_located(diagnostic, sources))
        text = strprintf("%s: [%s]\n", place(diagnostic.span, sources).c_str(),
                         std::string(tag_name(diagnostic.tag)).c_str()) +
               source_excerpt(diagnostic, sources, style);
    return text + hints(diagnostic, style);
}

/// Returns what comes before the message proper in the classic form: who and what failed.
std::string classic_subject(const Diagnostic& diagnostic, const SourceManager& sources) {
    if (diagnostic.span.source >= sources.size())
        return "failed to compile program";
    const std::string name = on_one_line(sources.name(diagnostic.span.source));
    if (sources.kind(diagnostic.span.source) == SourceKind::string)
        return "invalid probe specifier " + name;
    return "failed to compile script " + name;
}

} // namespace

std::string render_classic(const Diagnostic& diagnostic, const SourceManager& sources,
                           const ClassicStyle& style) {
    const Span& span = diagnostic.span;
    std::string line = style.program + ": ";
    if (span.source != kNoSource)
        line += classic_subject(diagnostic, sources) + ": ";
    if (diagnostic.classic_bare)
        return base::visible(line + diagnostic.text);
    if (style.error_tags)
        line += "[" + std::string(tag_name(diagnostic.tag)) + "] ";
    bool is_string =
        span.source < sources.size() && sources.kind(span.source) == SourceKind::string;
    if (span.valid() && is_string && !region_name(diagnostic.region).empty())
        line += "in " + std::string(region_name(diagnostic.region)) + ": ";
    else if (span.valid() && span.file != sources.main_file(span.source))
        line += strprintf("\"%s\", line %u: ", sources.file_name(span.file).c_str(),
                          span.line_reached());
    else if (span.valid() && !is_string) // a text of the command line has no lines
        line += strprintf("line %u: ", span.line_reached());
    return base::visible(line + diagnostic.text);
}

std::string render_rich(const Diagnostic& diagnostic, const SourceManager& sources,
                        const RichStyle& style) {
    const Span& span = diagnostic.span;
    Paint paint{style.colour};
    bool located = is_located(diagnostic, sources);
    std::string text = paint.bold();
    if (located)
        text += place(span, sources) + ": ";
    else if (span.source < sources.size() && sources.kind(span.source) != SourceKind::string)
        text += base::visible(sources.name(span.source)) + ": ";
    bool is_error = diagnostic.severity == Severity::error;
    // A mismatch says more on lines of its own; the tag goes after the first.
    std::string words = base::visible(diagnostic.text);
    size_t first_line = std::min(words.find('\n'), words.size());
    text +=
        strprintf("%s%s:%s %s%s%s [%s]%s\n", is_error ? paint.red() : paint.magenta(),
                  is_error ? "error" : "warning", paint.off(), paint.bold(),
                  words.substr(0, first_line).c_str(), paint.off(),
                  std::string(tag_name(diagnostic.tag)).c_str(), words.substr(first_line).c_str());
    if (located)
        text += source_excerpt(diagnostic, sources, style);
    return text + hints(diagnostic, style);
}

std::string render_all(const DiagnosticSink& sink, const SourceManager& sources,
                       const ClassicStyle& classic, const RichStyle& style) {
    std::string text;
    std::set<std::string> said; // of several probes that are not there, one reason once
    auto with_new_hints = [&said](Diagnostic diagnostic) {
        if (diagnostic.tag == Tag::D_PDESC_ZERO)
            std::erase_if(diagnostic.hints,
                          [&said](const std::string& hint) { return !said.insert(hint).second; });
        return diagnostic;
    };
    const Diagnostic* first = sink.first_error();
    if (first)
        text = render_classic(*first, sources, classic) + "\n" +
               place_and_hints(with_new_hints(*first), sources, style);
    for (const Diagnostic& diagnostic : sink.diagnostics())
        if (&diagnostic != first)
            text += render_rich(with_new_hints(diagnostic), sources, style);
    if (size_t count = sink.error_count(); count > 1)
        text += strprintf("%zu errors\n", count);
    return text;
}

} // namespace daybreak::compiler
