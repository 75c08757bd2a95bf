// SPDX-License-Identifier: Apache-2.0
//
// What is said when an operator does not suit its operands.
//
// The words are dtrace(1)'s, which scripts and test suites compare byte for byte.  `op` is the
// operator as written, "+=" and "sizeof" included; types are shown as C text.
#pragma once

#include <string>
#include <string_view>

namespace daybreak::compiler::messages {

/// "operator & requires operands of integral type"; one operand: "an operand of".
std::string requires_integral(std::string_view op);
std::string requires_integral_operand(std::string_view op);
std::string requires_arithmetic(std::string_view op);
std::string requires_arithmetic_operand(std::string_view op);
std::string requires_scalar(std::string_view op);
std::string requires_scalar_operand(std::string_view op);
/// For ++ and --: "operator ++ requires operand of scalar type".
std::string step_requires_scalar(std::string_view op);
/// For ++ and -- of a pointer to void or to a function.
std::string step_requires_size(std::string_view op);
/// For += and -= with such a pointer.
std::string assignment_requires_size(std::string_view op);

std::string condition_requires_scalar();
std::string condition_incompatible();
std::string action_in_condition();

/// operands have incompatible types: "int" += "string"
std::string incompatible(std::string_view left, std::string_view op, std::string_view right);
std::string requires_lvalue(std::string_view op);
std::string requires_writable(std::string_view op);
/// operator = may not be applied to operand of type "int [3]"
std::string not_applicable(std::string_view op, std::string_view type);
std::string dynamic_operand(std::string_view op);
std::string division_by_zero();
std::string no_floating_point();

/// -> on what is not a pointer, then . and -> on what is not a struct or union.
std::string arrow_requires_pointer();
std::string dot_requires_struct(std::string_view type);
std::string arrow_requires_struct(std::string_view type);
std::string forward_declared(std::string_view op, std::string_view type);
std::string no_member(std::string_view member, std::string_view type);

std::string dereference_non_pointer();
std::string dereference_void();
std::string dereference_function();
std::string address_of_bitfield();
std::string address_of_variable();
std::string address_of_value();

std::string array_index_not_integral(std::string_view type);
std::string array_bounds(long long index, unsigned long long count);
/// cannot access scalar x as an associative array
std::string not_associative(std::string_view node);

std::string sizeof_unknown();
std::string sizeof_bitfield();
std::string offsetof_not_struct();
std::string offsetof_bitfield(std::string_view member);
std::string offsetof_no_member(std::string_view member);
std::string stringof_type(std::string_view type);
std::string invalid_cast(std::string_view from, std::string_view to);

} // namespace daybreak::compiler::messages
