// SPDX-License-Identifier: Apache-2.0
//
// What is said when arguments, keys or indexes do not suit what takes them.
//
// Everything that has parameters is checked against a Prototype: subroutines, actions and
// aggregating functions `name( )`, associative arrays and aggregations `name[ ]`, inlines with
// parameters.  The words are dtrace(1)'s.
//
//     auto bad = messages::prototype_length({"copyout"}, 2, 3, 3)
//         -> copyout( ) prototype mismatch: 2 args passed, 3 expected
//     messages::prototype_argument({"x", true}, 2, "string", "int")
//         -> x[ ] key #2 is incompatible with prototype:
//                prototype: string
//                      key: int
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace daybreak::compiler::messages {

/// What is called or indexed: "chill( )", "x[ ]", "@a[ ]".
struct Callee {
    std::string_view name;
    bool is_array = false; ///< takes keys, not args
};

/// No limit to the number of arguments.
constexpr size_t kAnyNumber = static_cast<size_t>(-1);

/// Whether that many arguments are wrong: below `least` or above `most`.
constexpr bool wrong_length(size_t given, size_t least, size_t most) {
    return given < least || given > most;
}
/// "... prototype mismatch: 1 arg passed, at least 2 expected".
std::string prototype_length(Callee callee, size_t given, size_t least, size_t most);

/// "... argument #1 is incompatible with prototype:" and both types; `number` counts from 1.
std::string prototype_argument(Callee callee, size_t number, std::string_view prototype,
                               std::string_view argument);

/// "... prototype mismatch: 1 args passed, 2 expected": what checks its own arguments counts in
/// words of its own, without a singular.  `expected` may be words: "at least 1".
std::string action_length(std::string_view action, size_t given, std::string_view expected);
/// "stack( ) prototype mismatch: too many arguments".
std::string too_many_arguments(std::string_view action);
/// "trunc( ) argument #2 must be of scalar type".
std::string argument_not_scalar(std::string_view action, size_t number);

} // namespace daybreak::compiler::messages
