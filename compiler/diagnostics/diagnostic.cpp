// SPDX-License-Identifier: Apache-2.0
//
// Collecting diagnostics (docs/design/0012-diagnostics.md).
#include "compiler/diagnostics/diagnostic.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <iterator>

namespace daybreak::compiler {

std::string_view region_name(Region region) {
    switch (region) {
    case Region::none:
        return "";
    case Region::predicate:
        return "predicate";
    case Region::action_list:
        return "action list";
    }
    return "";
}

Diagnostic diagnosticf(Tag tag, const Span& span, const char* format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = std::vsnprintf(nullptr, 0, format, arguments);
    va_end(arguments);
    std::string text(static_cast<size_t>(std::max(length, 0)), '\0');
    std::vsnprintf(text.data(), text.size() + 1, format, again);
    va_end(again);
    Diagnostic diagnostic;
    diagnostic.tag = tag;
    diagnostic.span = span;
    diagnostic.text = std::move(text);
    return diagnostic;
}

void DiagnosticSink::report(Diagnostic diagnostic) {
    if (option_) {
        diagnostic.tag = Tag::D_PRAGMA_OPTSET;
        diagnostic.span = option_->span;
        diagnostic.text = option_->failure + ": " + diagnostic.text;
    } else if (diagnostic.region == Region::none) {
        diagnostic.region = region_;
    }
    if (diagnostic.severity == Severity::error && error_count_++ >= kErrorsMax)
        return;
    diagnostics_.push_back(std::move(diagnostic));
}

const Diagnostic* DiagnosticSink::first_error() const {
    for (const Diagnostic& diagnostic : diagnostics_)
        if (diagnostic.severity == Severity::error)
            return &diagnostic;
    return nullptr;
}

void DiagnosticSink::put_first(size_t first, size_t middle) {
    auto begin = diagnostics_.begin();
    std::rotate(begin + static_cast<std::ptrdiff_t>(first),
                begin + static_cast<std::ptrdiff_t>(middle), diagnostics_.end());
}

std::vector<Diagnostic> DiagnosticSink::take_back(size_t first) {
    auto begin = diagnostics_.begin() + static_cast<std::ptrdiff_t>(first);
    std::vector<Diagnostic> taken(std::make_move_iterator(begin),
                                  std::make_move_iterator(diagnostics_.end()));
    diagnostics_.erase(begin, diagnostics_.end());
    error_count_ -=
        static_cast<size_t>(std::ranges::count(taken, Severity::error, &Diagnostic::severity));
    return taken;
}

bool DiagnosticSink::has(Tag tag) const {
    return std::any_of(diagnostics_.begin(), diagnostics_.end(),
                       [tag](const Diagnostic& diagnostic) { return diagnostic.tag == tag; });
}

} // namespace daybreak::compiler
