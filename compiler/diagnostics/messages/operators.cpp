// SPDX-License-Identifier: Apache-2.0
//
// The wording of operators' errors.
#include "compiler/diagnostics/messages/operators.hpp"

namespace daybreak::compiler::messages {

namespace {

std::string of_operator(std::string_view op, std::string_view rest) {
    return "operator " + std::string(op) + " " + std::string(rest);
}

std::string quoted(std::string_view type) {
    return "\"" + std::string(type) + "\"";
}

} // namespace

std::string requires_integral(std::string_view op) {
    return of_operator(op, "requires operands of integral type");
}
std::string requires_integral_operand(std::string_view op) {
    return of_operator(op, "requires an operand of integral type");
}
std::string requires_arithmetic(std::string_view op) {
    return of_operator(op, "requires operands of arithmetic type");
}
std::string requires_arithmetic_operand(std::string_view op) {
    return of_operator(op, "requires an operand of arithmetic type");
}
std::string requires_scalar(std::string_view op) {
    return of_operator(op, "requires operands of scalar type");
}
std::string requires_scalar_operand(std::string_view op) {
    return of_operator(op, "requires an operand of scalar type");
}
std::string step_requires_scalar(std::string_view op) {
    return of_operator(op, "requires operand of scalar type");
}
std::string step_requires_size(std::string_view op) {
    return of_operator(op, "requires operand of known size");
}
std::string assignment_requires_size(std::string_view op) {
    return of_operator(op, "requires left-hand scalar operand of known size");
}

std::string condition_requires_scalar() {
    return of_operator("?:", "expression must be of scalar type");
}
std::string condition_incompatible() {
    return of_operator("?:", "operands must have compatible types");
}
std::string action_in_condition() {
    return "action cannot be used in a conditional context";
}

std::string incompatible(std::string_view left, std::string_view op, std::string_view right) {
    return "operands have incompatible types: " + quoted(left) + " " + std::string(op) + " " +
           quoted(right);
}
std::string requires_lvalue(std::string_view op) {
    return of_operator(op, "requires modifiable lvalue as an operand");
}
std::string requires_writable(std::string_view op) {
    return of_operator(op, "can only be applied to a writable variable");
}
std::string not_applicable(std::string_view op, std::string_view type) {
    return of_operator(op, "may not be applied to operand of type ") + quoted(type);
}
std::string dynamic_operand(std::string_view op) {
    return of_operator(op, "cannot be applied to an operand of dynamic type");
}
std::string division_by_zero() {
    return "expression contains division by zero";
}
std::string no_floating_point() {
    return "floating-point constants are not permitted";
}

std::string arrow_requires_pointer() {
    return of_operator("->", "must be applied to a pointer");
}
std::string dot_requires_struct(std::string_view type) {
    return of_operator(".", "cannot be applied to type ") + quoted(type) +
           "; must be applied to a struct or union";
}
std::string arrow_requires_struct(std::string_view type) {
    return of_operator("->", "cannot be applied to pointer to type ") + quoted(type) +
           "; must be applied to a struct or union pointer";
}
std::string forward_declared(std::string_view op, std::string_view type) {
    return of_operator(op, "cannot be applied to a forward declaration: no ") + std::string(type) +
           " definition is available";
}
std::string no_member(std::string_view member, std::string_view type) {
    return std::string(member) + " is not a member of " + std::string(type);
}

std::string dereference_non_pointer() {
    return "cannot dereference non-pointer type";
}
std::string dereference_void() {
    return "cannot dereference pointer to void";
}
std::string dereference_function() {
    return "cannot dereference pointer to function";
}
std::string address_of_bitfield() {
    return "cannot take address of bit-field";
}
std::string address_of_variable() {
    return "cannot take address of dynamic variable";
}
std::string address_of_value() {
    return "unacceptable operand for unary & operator";
}

std::string array_index_not_integral(std::string_view type) {
    return "array subscript must be of integral type, not " + quoted(type);
}
std::string array_bounds(long long index, unsigned long long count) {
    return "index outside array bounds: " + std::to_string(index) + ", max is " +
           std::to_string(count);
}
std::string not_associative(std::string_view node) {
    return "cannot access " + std::string(node) + " as an associative array";
}

std::string sizeof_unknown() {
    return "cannot apply sizeof to an operand of unknown size";
}
std::string sizeof_bitfield() {
    return "cannot apply sizeof to a bit-field";
}
std::string offsetof_not_struct() {
    return "offsetof operand must be a struct or union type";
}
std::string offsetof_bitfield(std::string_view member) {
    return "cannot take offset of a bit-field: " + std::string(member);
}
std::string offsetof_no_member(std::string_view member) {
    return "failed to determine offset of " + std::string(member) + ": Member name not found";
}
std::string stringof_type(std::string_view type) {
    return "cannot apply stringof to a value of type " + std::string(type);
}
std::string invalid_cast(std::string_view from, std::string_view to) {
    return "invalid cast expression: " + quoted(from) + " to " + quoted(to);
}

} // namespace daybreak::compiler::messages
