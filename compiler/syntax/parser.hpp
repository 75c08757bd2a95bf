// SPDX-License-Identifier: Apache-2.0
//
// Parsing D: a source text in, a Program and diagnostics out.
//
// The parser knows no types.  Where C's grammar needs to know whether a name is a type, it decides
// by syntax alone when it can, by the typedefs it has seen in this text, and only for what then
// remains ambiguous, like `(x) - 1`, asks ParseOptions::is_type_name: a program that does not need
// kernel types never makes anybody open them.
#pragma once

#include "compiler/diagnostics/diagnostic.hpp"
#include "compiler/syntax/ast_types.hpp"

#include <functional>
#include <map>

namespace daybreak::compiler {

/// How a probe description with less than three colons is read: its last part is the ... name for
/// scripts and -n, provider for -P, module for -m, function for -f.
enum class ProbeSpec : uint8_t { name, provider, module, function };

struct ParseOptions {
    std::string script_name;            ///< $0
    std::vector<std::string> arguments; ///< $1, $2, ...
    /// Values of $pid $ppid $uid $euid $gid $egid $pgid $sid $target, those that are known.
    std::map<std::string, int64_t, std::less<>> macros;
    std::string target_hint;              ///< why $target is not; "": it comes with -c and -p
    bool target_is_variable = false;      ///< $target is a variable of a replay, of that name
    bool default_arguments = false;       ///< -x defaultargs: a missing $n is 0, a missing $$n ""
    bool unused_arguments_allowed = true; ///< false: an argument never used is D_MACRO_UNUSED
    bool empty_allowed = false;           ///< -x empty, libraries: no item at all is not D_EMPTY
    ProbeSpec probe_spec = ProbeSpec::name;
    bool names_machines = false; ///< a probe description may have a machine before its provider
    bool is_replay = false;      ///< -E makes it so
    /// Returns whether a name is a type; asked only when syntax cannot tell.  May be empty.
    std::function<bool(std::string_view)> is_type_name;
    /// Returns whether a tag has a body already, from an earlier text or item.  May be empty.
    std::function<bool(NamedKind, const std::string&)> is_defined_tag;
    /// Called with every item as soon as it is parsed, as long as this text has no errors: what a
    /// declaration says holds for the text that follows.  The item moves afterwards, but not what
    /// its pointers point to.  May be empty.
    std::function<void(const Item&)> on_item;
    /// Returns whether a name is built in or declared before this text; may be empty.
    std::function<bool(std::string_view)> is_identifier;
    /// Returns the value of an expression of integer constants and inlines, which are known from
    /// earlier items; nothing for any other.  Of `constant ? a : b` the tree then has a or b only.
    /// May be empty: nothing is folded.
    std::function<std::optional<int64_t>(const Expr&)> literal_value;
};

/// Parses a text.  Always returns what could be understood; it is to be used further only when the
/// sink has no errors.
Program parse(SourceId source, const ParseOptions& options, SourceManager& sources,
              DiagnosticSink& sink);

/// Parses a text that is one expression, as `daybreak replay` and tests need; null on error.
/// The ids of its nodes count from 0.
ExprPtr parse_expression(SourceId source, const ParseOptions& options, SourceManager& sources,
                         DiagnosticSink& sink);

/// Splits "provider:module:function:name" as a probe description is: parts fill from the right,
/// more than three colons are an error (D_PDESC_INVAL, false is returned).  Where machines are
/// named a fifth part is the first, "machine:provider:module:function:name".
bool split_probe_description(std::string_view text, ProbeSpec spec, ProbeDescription& description,
                             bool names_machines = false);

} // namespace daybreak::compiler
