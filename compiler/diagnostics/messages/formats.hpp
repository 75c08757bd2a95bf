// SPDX-License-Identifier: Apache-2.0
//
// What is said when a format of printf() and its kin does not suit its arguments.
//
// The words are dtrace(1)'s.  Conversions and arguments count from 1; the format is argument 1.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace daybreak::compiler::messages {

/// A conversion in words: which one, and how it is written: "d", "lld".
struct Conversion {
    size_t number;
    std::string_view text;
};

/// "char, short, int, long, or long long": what a conversion's letter takes.
std::string_view conversion_prototype(char kind);

std::string format_not_constant(std::string_view action, std::string_view argument);
std::string format_empty(std::string_view action);

/// Of the format itself.
std::string positional_conversion(size_t number);
std::string unfinished_conversion(size_t number);
std::string unknown_conversion(size_t number, std::string_view text);
std::string field_too_large(size_t number);
std::string aggregation_conversion(std::string_view action);

/// Of the arguments.  `star` is "*" of a width or ".*" of a precision.
std::string star_missing(std::string_view action, Conversion conversion, std::string_view star);
std::string star_type(std::string_view action, size_t argument, Conversion conversion,
                      std::string_view star, std::string_view type);
std::string value_missing(std::string_view action, Conversion conversion);
std::string value_type(std::string_view action, size_t argument, Conversion conversion,
                       std::string_view type);
std::string values_extra(std::string_view action, size_t required);

/// Of printa()'s aggregations.
std::string key_counts_differ(std::string_view first, size_t first_keys, std::string_view second,
                              size_t second_keys);
std::string key_types_differ(std::string_view first, std::string_view first_type,
                             std::string_view second, std::string_view second_type, size_t key);

} // namespace daybreak::compiler::messages
