// SPDX-License-Identifier: Apache-2.0
//
// What is said about names: unknown, of another kind, defined twice.
//
// The words are dtrace(1)'s.  A `kind` is what a name stands for, as identifier_kind() words it.
#pragma once

#include <string>
#include <string_view>

namespace daybreak::compiler::messages {

/// What a name may stand for.
enum class IdentifierKind : unsigned char {
    scalar,
    array, ///< associative
    function,
    action,
    aggregating,
    aggregation,
    enumerator,
    symbol,
    translated,
    translated_pointer,
};

/// Returns "scalar", "associative array", "tracing function", ...
std::string_view identifier_kind(IdentifierKind kind);

/// failed to resolve x: Unknown variable name
std::string unknown_variable(std::string_view name);
/// failed to resolve vmlinux`x: Unknown symbol name; `why` replaces the reason.
std::string unknown_symbol(std::string_view name, std::string_view why = "Unknown symbol name");
/// self->x has not yet been declared or assigned
std::string unassigned_variable(std::string_view name);
std::string unknown_function(std::string_view name);
std::string not_a_function_name();
/// associative array 'x' may not be referenced as scalar
std::string wrong_kind(std::string_view kind, std::string_view name, std::string_view as);
std::string undefined_aggregation(std::string_view name);
std::string needs_action_context(std::string_view kind, std::string_view name);

/// attributes for clause (Unstable/Unstable/Common) are less than predefined minimum
std::string below_minimum(std::string_view node, std::string_view attributes);

/// identifier redefined: x, then what it would be and what it was: "scalar inline".
std::string redefined_inline(std::string_view name, std::string_view previous_kind,
                             bool previous_is_inline);
/// identifier redeclared: x, then both types.
std::string redeclared(std::string_view name, std::string_view current, std::string_view previous);
std::string redeclared_builtin(std::string_view name);
std::string inline_incompatible(std::string_view name, std::string_view type,
                                std::string_view value);
std::string local_array(std::string_view name);
std::string void_variable(std::string_view type);
std::string too_many_identifiers(std::string_view name);
/// A type that may be there, were its source not out of order.
std::string lookup_failed(std::string_view type, std::string_view why);

} // namespace daybreak::compiler::messages
