// SPDX-License-Identifier: Apache-2.0
//
// Source texts and positions in them.
#include "compiler/diagnostics/source.hpp"

#include "base/result.hpp"

#include <algorithm>

namespace daybreak::compiler {

Span join(const Span& first, const Span& last) {
    if (!first.valid())
        return last;
    if (!last.valid() || first.source != last.source || last.end() < first.offset)
        return first;
    Span span = first;
    span.length = std::max(first.end(), last.end()) - first.offset;
    span.reached = last.line_reached();
    return span;
}

SourceId SourceManager::add(std::string name, std::string text, SourceKind kind) {
    // Offsets are 32 bits wide; the caller's file limit is far below.
    DBK_ASSERT(text.size() < UINT32_MAX);
    uint32_t file = intern_file(name);
    sources_.push_back({std::move(name), std::move(text), kind, file});
    return static_cast<SourceId>(sources_.size() - 1);
}

uint32_t SourceManager::intern_file(std::string_view name) {
    auto found = std::find(files_.begin(), files_.end(), name);
    if (found == files_.end())
        found = files_.insert(files_.end(), std::string(name));
    return static_cast<uint32_t>(found - files_.begin());
}

std::string_view SourceManager::text(const Span& span) const {
    if (span.source >= sources_.size())
        return {};
    std::string_view whole = sources_[span.source].text;
    return span.offset <= whole.size() ? whole.substr(span.offset, span.length)
                                       : std::string_view();
}

std::string_view SourceManager::line_text(const Span& span) const {
    if (!span.valid() || span.source >= sources_.size())
        return {};
    std::string_view whole = sources_[span.source].text;
    size_t at = std::min<size_t>(span.offset, whole.size());
    size_t before = at == 0 ? std::string_view::npos : whole.rfind('\n', at - 1);
    size_t begin = before == std::string_view::npos ? 0 : before + 1;
    size_t end = whole.find('\n', at);
    return whole.substr(begin, end == std::string_view::npos ? end : end - begin);
}

} // namespace daybreak::compiler
