// SPDX-License-Identifier: Apache-2.0
//
// Source texts and positions in them.
//
// A SourceManager owns every text that is compiled (the script, the text of a -n option, library
// files).  A Span names a stretch of one of them.  Line and file are those the user knows: after a
// `# 12 "boot.d"` control line, as cpp writes them, spans say line 12 of boot.d, while `offset`
// still counts bytes of the text that was parsed.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace daybreak::compiler {

/// Index of a text in its SourceManager.
using SourceId = uint32_t;

/// The source of what is in no text at all: options of a command line.
constexpr SourceId kNoSource = UINT32_MAX;

struct Span {
    SourceId source = 0;
    uint32_t offset = 0; ///< bytes from the text's start
    uint32_t length = 0; ///< bytes
    uint32_t line = 0;   ///< from 1, as `# line` says; 0: no position at all
    uint32_t column = 0; ///< from 1, in bytes
    uint32_t file = 0;   ///< SourceManager::file_name() of it
    /// The line that reading had come to when this was understood; 0: `line`.  What dtrace(1) calls
    /// the line of an error: an operator is understood when the word after its right side is seen.
    uint32_t reached = 0;

    uint32_t line_reached() const { return reached ? reached : line; }
    /// Returns this span as reached where `other` was.
    Span reached_with(const Span& other) const {
        Span span = *this;
        span.reached = other.line_reached();
        return span;
    }

    bool valid() const { return line != 0; }
    uint32_t end() const { return offset + length; }
};

/// Returns the span from the start of `first` to the end of `last`, both of the same text.
Span join(const Span& first, const Span& last);

/// Where a text came from; decides how the classic one-line message begins.
enum class SourceKind : uint8_t {
    file,   ///< a script: "failed to compile script NAME: line N: ..."
    string, ///< the text of -n, -P, -m, -f, -i: "invalid probe specifier NAME: in action list: ..."
    library, ///< a file of the D library
};

class SourceManager {
public:
    /// Takes a text.  `name` is what messages call it; for SourceKind::string the text itself.
    SourceId add(std::string name, std::string text, SourceKind kind = SourceKind::file);

    std::string_view text(SourceId source) const { return sources_[source].text; }
    const std::string& name(SourceId source) const { return sources_[source].name; }
    SourceKind kind(SourceId source) const { return sources_[source].kind; }
    /// The file id that spans of this text have before any control line.
    uint32_t main_file(SourceId source) const { return sources_[source].file; }
    size_t size() const { return sources_.size(); }

    /// Returns the id of a file name, adding it when new.
    uint32_t intern_file(std::string_view name);
    const std::string& file_name(uint32_t file) const { return files_[file]; }

    /// Returns the characters of a span.
    std::string_view text(const Span& span) const;
    /// Returns the whole physical line in which a span starts, without its newline.
    std::string_view line_text(const Span& span) const;

private:
    struct Source {
        std::string name, text;
        SourceKind kind;
        uint32_t file;
    };
    std::deque<Source> sources_;
    std::deque<std::string> files_;
};

} // namespace daybreak::compiler
