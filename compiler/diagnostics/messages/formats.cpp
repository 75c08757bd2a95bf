// SPDX-License-Identifier: Apache-2.0
//
// The wording of errors about formats.
#include "compiler/diagnostics/messages/formats.hpp"

#include "base/counted.hpp"
#include "base/result.hpp"

namespace daybreak::compiler::messages {

using base::strprintf;

namespace {

/// The three lines after "argument #2 is incompatible with ".
std::string conversion_mismatch(std::string_view action, size_t argument, size_t number,
                                const std::string& conversion, std::string_view prototype,
                                std::string_view type) {
    return strprintf("%s( ) argument #%zu is incompatible with conversion #%zu prototype:\n"
                     "\tconversion: %s\n\t prototype: %s\n\t  argument: %s",
                     std::string(action).c_str(), argument, number, conversion.c_str(),
                     std::string(prototype).c_str(), std::string(type).c_str());
}

std::string counts(std::string_view name, size_t keys) {
    return "@" + std::string(name) + " has " + base::counted(keys, "key");
}

} // namespace

std::string_view conversion_prototype(char kind) {
    switch (kind) {
    case 'c':
    case 'C':
        return "char, short, or int";
    case 'e':
    case 'E':
    case 'f':
    case 'g':
    case 'G':
        return "float, double, or long double";
    case 'a':
    case 'p':
        return "pointer or integer";
    case 'A':
        return "pointer or integer (with -p/-c) or _usymaddr (without -p/-c)";
    case 's':
    case 'S':
        return "char [] or string (or use stringof)";
    case 'k':
        return "stack";
    case 'T':
    case 'Y':
        return "int64_t";
    default:
        return "char, short, int, long, or long long";
    }
}

std::string format_not_constant(std::string_view action, std::string_view argument) {
    return strprintf("%s( ) argument #1 is incompatible with prototype:\n"
                     "\tprototype: string constant\n\t argument: %s",
                     std::string(action).c_str(), std::string(argument).c_str());
}
std::string format_empty(std::string_view action) {
    return std::string(action) + "( ) format string is empty";
}

std::string positional_conversion(size_t number) {
    return strprintf("format conversion #%zu uses unsupported positional format (%%n$)", number);
}
std::string unfinished_conversion(size_t number) {
    return strprintf("format conversion #%zu name expected before end of format string", number);
}
std::string unknown_conversion(size_t number, std::string_view conversion) {
    return strprintf("format conversion #%zu is undefined: %%%s", number,
                     std::string(conversion).c_str());
}
std::string field_too_large(size_t number) {
    return strprintf("format conversion #%zu has a width or precision that is too large", number);
}
std::string aggregation_conversion(std::string_view action) {
    return "%@ conversion requires an aggregation and is not for use with " + std::string(action) +
           "( )";
}

std::string star_missing(std::string_view action, Conversion conversion, std::string_view star) {
    return strprintf("%s( ) prototype mismatch: conversion #%zu (%%%s) is missing a corresponding "
                     "\"%s\" argument",
                     std::string(action).c_str(), conversion.number,
                     std::string(conversion.text).c_str(), std::string(star).c_str());
}
std::string star_type(std::string_view action, size_t argument, Conversion conversion,
                      std::string_view star, std::string_view type) {
    return conversion_mismatch(action, argument, conversion.number,
                               "% " + std::string(star) + " " + std::string(conversion.text), "int",
                               type);
}
std::string value_missing(std::string_view action, Conversion conversion) {
    return strprintf("%s( ) prototype mismatch: conversion #%zu (%%%s) is missing a corresponding "
                     "value argument",
                     std::string(action).c_str(), conversion.number,
                     std::string(conversion.text).c_str());
}
std::string value_type(std::string_view action, size_t argument, Conversion conversion,
                       std::string_view type) {
    char kind = conversion.text.empty() ? '\0' : conversion.text.back();
    return conversion_mismatch(action, argument, conversion.number,
                               "%" + std::string(conversion.text), conversion_prototype(kind),
                               type);
}
std::string values_extra(std::string_view action, size_t required) {
    return strprintf("%s( ) prototype mismatch: only %zu arguments required by this format string",
                     std::string(action).c_str(), required);
}

std::string key_counts_differ(std::string_view first, size_t first_keys, std::string_view second,
                              size_t second_keys) {
    return strprintf("printa( ): @%s and @%s do not have matching key signatures: %s, %s",
                     std::string(first).c_str(), std::string(second).c_str(),
                     counts(first, first_keys).c_str(), counts(second, second_keys).c_str());
}
std::string key_types_differ(std::string_view first, std::string_view first_type,
                             std::string_view second, std::string_view second_type, size_t key) {
    return strprintf("printa( ): @%s[ ] key #%zu is incompatible with @%s:\n"
                     "%9s key #%zu: %s\n%9s key #%zu: %s",
                     std::string(second).c_str(), key, std::string(first).c_str(),
                     std::string(first).c_str(), key, std::string(first_type).c_str(),
                     std::string(second).c_str(), key, std::string(second_type).c_str());
}

} // namespace daybreak::compiler::messages
