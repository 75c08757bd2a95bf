// SPDX-License-Identifier: Apache-2.0
//
// The wording of prototype mismatches.
#include "compiler/diagnostics/messages/prototypes.hpp"

#include "base/result.hpp"

namespace daybreak::compiler::messages {

using base::strprintf;

namespace {

std::string shown(Callee callee) {
    return std::string(callee.name) + (callee.is_array ? "[ ]" : "( )");
}

} // namespace

std::string prototype_length(Callee callee, size_t given, size_t least, size_t most) {
    const char* what = callee.is_array ? "key" : "arg";
    const char* bound = least == most ? "" : given < least ? "at least " : "at most ";
    return strprintf("%s prototype mismatch: %zu %s%s passed, %s%zu expected",
                     shown(callee).c_str(), given, what, given == 1 ? "" : "s", bound,
                     given < least ? least : most);
}

std::string prototype_argument(Callee callee, size_t number, std::string_view prototype,
                               std::string_view argument) {
    const char* what = callee.is_array ? "key" : "argument";
    return strprintf("%s %s #%zu is incompatible with prototype:\n\tprototype: %s\n\t%9s: %s",
                     shown(callee).c_str(), what, number, std::string(prototype).c_str(), what,
                     std::string(argument).c_str());
}

std::string action_length(std::string_view action, size_t given, std::string_view expected) {
    return strprintf("%s( ) prototype mismatch: %zu args passed, %s expected",
                     std::string(action).c_str(), given, std::string(expected).c_str());
}

std::string too_many_arguments(std::string_view action) {
    return std::string(action) + "( ) prototype mismatch: too many arguments";
}

std::string argument_not_scalar(std::string_view action, size_t number) {
    return strprintf("%s( ) argument #%zu must be of scalar type", std::string(action).c_str(),
                     number);
}

} // namespace daybreak::compiler::messages
