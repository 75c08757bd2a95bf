// SPDX-License-Identifier: Apache-2.0
//
// Default printing: values without a format, as trace() and aggregation keys have them.
#pragma once

#include "analyze/aggregate/function.hpp"
#include "analyze/print/context.hpp"
#include "analyze/values/value.hpp"

#include <string>
#include <vector>

namespace daybreak::analyze {

/// Appends a value as trace() and the actions that record one print it.
void print_traced(std::string& out, const Value& value, const PrintContext& context);

/// Appends a member of an aggregation's key.
void print_key(std::string& out, const Value& value, const PrintContext& context);

/// Appends an aggregation's value; a distribution takes lines of its own.
void print_aggregated(std::string& out, const AggregationView& view);

/// Returns the text of a value that is an address: symbol, module, uaddress, usymbol, umodule.
std::string symbolic_text(const Value& value, const PrintContext& context);

/// How a stack's frames are laid out.
struct StackLayout {
    int indent = kStackIndentDefault;
    int width = 0; ///< of each frame's text
    bool left = false;
    int precision = 0; ///< 0: all
};

/// A stack's frames as they are printed, the innermost first, and what is to be said of how they
/// were found; "": nothing.
struct StackText {
    std::vector<std::string> frames;
    std::string note;
};
StackText stack_text(const Value& value, const PrintContext& context);

/// Appends a newline and one line per frame, up to a program counter of 0, and one for the note.
void print_stack(std::string& out, const Value& value, const PrintContext& context,
                 const StackLayout& layout);

/// Appends text in a field: cut to `precision` unless that is 0, padded to `width`.
void print_field(std::string& out, std::string_view text, int width, int precision, bool left);

} // namespace daybreak::analyze
