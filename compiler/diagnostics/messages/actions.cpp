// SPDX-License-Identifier: Apache-2.0
//
// The wording of errors about actions and aggregating functions.
#include "compiler/diagnostics/messages/actions.hpp"

#include "base/result.hpp"

namespace daybreak::compiler::messages {

using base::strprintf;

namespace {

/// "lquantize( ) base (argument #1)"
std::string shown(const QuantizeParameter& parameter) {
    return strprintf("%s( ) %s (argument #%zu)", std::string(parameter.function).c_str(),
                     std::string(parameter.what).c_str(), parameter.number);
}

/// "lquantize( ) argument #1"
std::string counted(const QuantizeParameter& parameter) {
    return strprintf("%s( ) argument #%zu", std::string(parameter.function).c_str(),
                     parameter.number);
}

} // namespace

std::string may_not_follow(std::string_view what, std::string_view action) {
    return std::string(what) + " may not follow " + std::string(action) + "( )";
}

std::string trace_void(std::string_view action) {
    return std::string(action) + "( ) may not be applied to a void expression";
}
std::string trace_dynamic(std::string_view action) {
    return std::string(action) + "( ) may not be applied to a dynamic expression";
}
std::string stack_size() {
    return "stack( ) size must be a non-zero positive integral constant expression";
}
std::string tracemem_size() {
    return "tracemem( ) argument #2 must be a non-zero positive integral constant expression";
}
std::string ustack_frames() {
    return "ustack( ) argument #1 must be a non-zero positive integer constant";
}
std::string ustack_string_size() {
    return "ustack( ) argument #2 must be a positive integer constant";
}
std::string capture_of(std::string_view what) {
    return "capture( ) may not be applied to " + std::string(what);
}
std::string snapshot_name(std::string_view name) {
    return "snapshot( ) argument #1 is not a name of 1 to 47 letters, digits, '-', '_' and '.': \"" +
           std::string(name) + '"';
}

std::string predicate_not_scalar() {
    return "predicate result must be of scalar type";
}
std::string null_effect(std::string_view aggregation) {
    return "expression has null effect: @" + std::string(aggregation);
}

std::string not_aggregating(std::string_view aggregation) {
    return "@" + std::string(aggregation) +
           " must be assigned the result of an aggregating function";
}
std::string multidimensional(std::string_view aggregation) {
    return "@" + std::string(aggregation) + " may not be used as a multi-dimensional array";
}
std::string aggregation_redefined(std::string_view name, std::string_view current,
                                  std::string_view previous, unsigned line) {
    std::string of(name);
    return strprintf("aggregation redefined: @%s\n\t current: @%s = %s( )\n"
                     "\tprevious: @%s = %s( ) : line %u",
                     of.c_str(), of.c_str(), std::string(current).c_str(), of.c_str(),
                     std::string(previous).c_str(), line);
}
std::string invalid_key(std::string_view type) {
    return "cannot use a value of type " + std::string(type) + " as an associative array key";
}
std::string increment_not_scalar(std::string_view function, size_t argument) {
    return strprintf("%s( ) increment value (argument #%zu) must be of scalar type",
                     std::string(function).c_str(), argument);
}

std::string parameter_not_constant(const QuantizeParameter& parameter) {
    return counted(parameter) + " must be an integer constant";
}
std::string parameter_not_positive(const QuantizeParameter& parameter) {
    return counted(parameter) + " must be a non-zero positive integer constant";
}
std::string parameter_bits(const QuantizeParameter& parameter, std::string_view bits) {
    return counted(parameter) + " must be " + std::string(bits) + " quantity";
}
std::string parameter_differs(const QuantizeParameter& parameter, int64_t expected, int64_t found) {
    return strprintf("%s doesn't match previous declaration: expected %lld, found %lld",
                     shown(parameter).c_str(), static_cast<long long>(expected),
                     static_cast<long long>(found));
}
std::string base_above_limit() {
    return "lquantize( ) base (argument #1) must be less than limit (argument #2)";
}
std::string step_too_large() {
    return "lquantize( ) step (argument #3) too large: must have at least one quantization level";
}
std::string step_too_small() {
    return "lquantize( ) step (argument #3) too small: number of quantization levels must be a "
           "16-bit quantity";
}
std::string parameter_must(const QuantizeParameter& parameter, std::string_view rule) {
    return shown(parameter) + " must " + std::string(rule);
}

} // namespace daybreak::compiler::messages
