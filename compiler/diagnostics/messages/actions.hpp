// SPDX-License-Identifier: Apache-2.0
//
// What is said about actions and aggregating functions: their own rules beyond a prototype.
//
// The words are dtrace(1)'s.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace daybreak::compiler::messages {

/// "destructive actions may not follow speculate( )"
std::string may_not_follow(std::string_view what, std::string_view action);

std::string trace_void(std::string_view action);
std::string trace_dynamic(std::string_view action);
/// A constant that must be above zero: stack()'s depth, tracemem()'s size.
std::string stack_size();
std::string tracemem_size();
std::string ustack_frames();
std::string ustack_string_size();
/// capture() of something that has no value of its own: "an aggregation", "a value of type ...".
std::string capture_of(std::string_view what);
/// snapshot() of something that is not a name.
std::string snapshot_name(std::string_view name);
std::string predicate_not_scalar();
/// An expression, or aggregation, whose value goes nowhere.
std::string null_effect(std::string_view aggregation);

std::string not_aggregating(std::string_view aggregation);
std::string multidimensional(std::string_view aggregation);
/// An aggregation with a second function; `line` is where it got its first.
std::string aggregation_redefined(std::string_view name, std::string_view current,
                                  std::string_view previous, unsigned line);
std::string invalid_key(std::string_view type);
std::string increment_not_scalar(std::string_view function, size_t argument);

/// A parameter of lquantize() or llquantize(), as messages name it: 1 is the one after the value.
struct QuantizeParameter {
    std::string_view function; ///< "lquantize"
    std::string_view what;     ///< "base"
    size_t number;
};
std::string parameter_not_constant(const QuantizeParameter& parameter);
std::string parameter_not_positive(const QuantizeParameter& parameter);
std::string parameter_bits(const QuantizeParameter& parameter, std::string_view bits);
std::string parameter_differs(const QuantizeParameter& parameter, int64_t expected, int64_t found);
std::string base_above_limit();
std::string step_too_large();
std::string step_too_small();
/// llquantize( ) factor (argument #1) must be ...
std::string parameter_must(const QuantizeParameter& parameter, std::string_view rule);

} // namespace daybreak::compiler::messages
