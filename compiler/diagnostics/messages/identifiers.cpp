// SPDX-License-Identifier: Apache-2.0
//
// The wording of errors about names.
#include "compiler/diagnostics/messages/identifiers.hpp"

namespace daybreak::compiler::messages {

namespace {

std::string join(std::string_view first, std::string_view second, std::string_view third = "") {
    return std::string(first) + std::string(second) + std::string(third);
}

} // namespace

std::string_view identifier_kind(IdentifierKind kind) {
    switch (kind) {
    case IdentifierKind::scalar:
        return "scalar";
    case IdentifierKind::array:
        return "associative array";
    case IdentifierKind::function:
        return "function";
    case IdentifierKind::action:
        return "tracing function";
    case IdentifierKind::aggregating:
        return "aggregating function";
    case IdentifierKind::aggregation:
        return "aggregation";
    case IdentifierKind::enumerator:
        return "enumerator";
    case IdentifierKind::symbol:
        return "external symbol reference";
    case IdentifierKind::translated:
        return "translated data";
    case IdentifierKind::translated_pointer:
        return "pointer to translated data";
    }
    return "";
}

std::string unknown_variable(std::string_view name) {
    return join("failed to resolve ", name, ": Unknown variable name");
}
std::string unknown_symbol(std::string_view name, std::string_view why) {
    return join("failed to resolve ", name, ": ") + std::string(why);
}
std::string unassigned_variable(std::string_view name) {
    return join(name, " has not yet been declared or assigned");
}
std::string unknown_function(std::string_view name) {
    return join("undefined function name: ", name);
}
std::string not_a_function_name() {
    return "function designator is not of function type";
}
std::string wrong_kind(std::string_view kind, std::string_view name, std::string_view as) {
    return join(kind, " '", name) + join("' may not be referenced as ", as);
}
std::string undefined_aggregation(std::string_view name) {
    return join("undefined aggregation: @", name);
}
std::string needs_action_context(std::string_view kind, std::string_view name) {
    return join(kind, " ", name) +
           "( ) may not be called from a D expression (D program context required)";
}

std::string below_minimum(std::string_view node, std::string_view attributes) {
    return join("attributes for ", node) +
           join(" (", attributes, ") are less than predefined minimum");
}

std::string redefined_inline(std::string_view name, std::string_view previous_kind,
                             bool previous_is_inline) {
    return join("identifier redefined: ", name, "\n\t current: inline definition") +
           join("\n\tprevious: ", previous_kind, previous_is_inline ? " inline" : " ");
}
std::string redeclared(std::string_view name, std::string_view current, std::string_view previous) {
    return join("identifier redeclared: ", name) + join("\n\t current: ", current) +
           join("\n\tprevious: ", previous);
}
std::string redeclared_builtin(std::string_view name) {
    return join("built-in identifier redefined: ", name);
}
std::string inline_incompatible(std::string_view name, std::string_view type,
                                std::string_view value) {
    return join("inline ", name, " definition uses incompatible types: \"") +
           join(type, "\" = \"", value) + "\"";
}
std::string local_array(std::string_view name) {
    return join("local variables may not be used as associative arrays: ", name);
}
std::string void_variable(std::string_view type) {
    return join("variable may not be assigned a value of type ", type);
}
std::string too_many_identifiers(std::string_view name) {
    return join("cannot create ", name, ": limit on number of identifiers exceeded");
}
std::string lookup_failed(std::string_view type, std::string_view why) {
    return join("cannot look up ", type, ": ") + std::string(why);
}

} // namespace daybreak::compiler::messages
