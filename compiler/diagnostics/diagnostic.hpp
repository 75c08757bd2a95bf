// SPDX-License-Identifier: Apache-2.0
//
// Diagnostics: what is wrong with a D program, where, and what to do about it.
//
// The compiler's parts report into a DiagnosticSink and go on; the caller
// looks at error_count() and renders.  Two forms exist: the classic single line of dtrace(1), and
// the rich one with the source line, a caret and hints, which follows the classic line of the
// first error.  Nothing here prints: cmd/ does.
#pragma once

#include "compiler/diagnostics/source.hpp"
#include "compiler/diagnostics/tags.hpp"

#include <string>
#include <vector>

namespace daybreak::compiler {

enum class Severity : uint8_t { error, warning };

/// Which part of a clause a diagnostic is about.  The classic form says it for texts without lines,
/// when the clause was read and does not make sense; what cannot be read is in no region yet.
enum class Region : uint8_t {
    none,
    predicate,   ///< "predicate"
    action_list, ///< "action list"
};

/// Returns the words the classic form uses, "" for Region::none.
std::string_view region_name(Region region);

struct Diagnostic {
    Tag tag = Tag::D_UNKNOWN;
    Span span;        ///< where; invalid() when about the program as a whole
    std::string text; ///< lower case, no full stop; lines after the first compare two things
    std::vector<std::string> hints; ///< what to do, one line each
    Severity severity = Severity::error;
    Region region = Region::none;
    bool classic_bare = false; ///< the classic form has neither tag nor line
    /// About what a recording does not have: the clause is right, for another one.
    bool is_unrecorded = false;
};

/// Returns a diagnostic whose text is formatted as printf does.
[[gnu::format(printf, 3, 4)]] Diagnostic diagnosticf(Tag tag, const Span& span, const char* format,
                                                     ...);

/// An option whose value is D text.
struct OptionPlace {
    Span span;
    std::string failure; ///< "failed to set option 'context' to 'pid,none'"
};

/// Collects diagnostics in the order of reporting.
class DiagnosticSink {
public:
    /// Errors beyond this many are counted but not kept: the first ones matter.
    static constexpr size_t kErrorsMax = 64;

    void report(Diagnostic diagnostic);

    const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
    size_t error_count() const { return error_count_; }
    bool has_errors() const { return error_count_ != 0; }
    /// Returns the first error, which is the one the classic form shows; null when there is none.
    const Diagnostic* first_error() const;
    bool has(Tag tag) const;
    /// Moves what was reported since `middle` before what was reported since `first`; both are
    /// earlier sizes of diagnostics().
    void put_first(size_t first, size_t middle);

    /// Takes back what was reported since `first`, an earlier size of diagnostics(): returns it.
    std::vector<Diagnostic> take_back(size_t first);

    /// What is reported from here on was found in the value of an option: it is located there, as
    /// D_PRAGMA_OPTSET.  Null: no longer.
    void set_option(const OptionPlace* option) { option_ = option; }

    /// The region that reports from here on belong to, when they name none themselves.
    void set_region(Region region) { region_ = region; }
    Region region() const { return region_; }

private:
    std::vector<Diagnostic> diagnostics_;
    size_t error_count_ = 0;
    Region region_ = Region::none;
    const OptionPlace* option_ = nullptr;
};

/// Sets the sink's option for a scope.
class OptionScope {
public:
    OptionScope(DiagnosticSink& sink, const OptionPlace& option) : sink_(sink) {
        sink.set_option(&option);
    }
    ~OptionScope() { sink_.set_option(nullptr); }
    OptionScope(const OptionScope&) = delete;
    OptionScope& operator=(const OptionScope&) = delete;

private:
    DiagnosticSink& sink_;
};

/// Sets the sink's region for a scope.
class RegionScope {
public:
    RegionScope(DiagnosticSink& sink, Region region) : sink_(sink), outer_(sink.region()) {
        sink.set_region(region);
    }
    ~RegionScope() { sink_.set_region(outer_); }
    RegionScope(const RegionScope&) = delete;
    RegionScope& operator=(const RegionScope&) = delete;

private:
    DiagnosticSink& sink_;
    Region outer_;
};

struct ClassicStyle {
    std::string program = "daybreak"; ///< "dtrace" when started under that name
    bool error_tags = false;          ///< -x errtags: print "[D_SYNTAX] "
};

/// Returns the one-line form, without a newline:
///   daybreak: failed to compile script boot.d: [D_SYNTAX] line 3: syntax error near "}"
///   daybreak: invalid probe specifier BEGIN{x}: in action list: ...
std::string render_classic(const Diagnostic& diagnostic, const SourceManager& sources,
                           const ClassicStyle& style);

struct RichStyle {
    bool colour = false;
    unsigned width = 100; ///< columns of source shown; longer lines are cut around the caret
};

/// Returns the many-line form, ending in a newline:
///   boot.d:3:9: error: unknown identifier "foo" [D_IDENT_UNDEF]
///       3 | trace(foo);
///         |       ^~~
///         = hint: ...
std::string render_rich(const Diagnostic& diagnostic, const SourceManager& sources,
                        const RichStyle& style);

/// Returns all of a sink's diagnostics: the first error as the classic line and, below it, where it
/// is and what to do; the others in the rich form; then how many errors, when they are several.
std::string render_all(const DiagnosticSink& sink, const SourceManager& sources,
                       const ClassicStyle& classic, const RichStyle& style);

} // namespace daybreak::compiler
