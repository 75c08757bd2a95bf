// SPDX-License-Identifier: Apache-2.0
//
// Code generation: a typed expression into a DIF object.
//
// Registers %r1 .. %r7 are taken lowest first and given back as soon as a value is used; there is
// no spilling, so an expression too deep for seven is an error (D_NOREG).  Of two operands without
// side effects the one that needs more registers goes first.  Conditions become branches, never
// values, unless the value is asked for.
//
// The tuple stack is one for the whole object: what itself uses the stack (a call, an element of an
// associative array) is computed before anything is pushed.
#pragma once

#include "compiler/codegen/difo_builder.hpp"
#include "compiler/diagnostics/diagnostic.hpp"

#include <optional>
#include <unordered_map>

namespace daybreak::compiler {

/// What the object's value is for.
enum class ValueUse : uint8_t {
    recorded, ///< stored with as many bytes as its type has: what lies above them does not matter
    whole,    ///< used as 64 bits: predicates, aggregated values, counts
};

/// Returns the DIF object that computes `expression`, or nothing after reporting D_NOREG or that it
/// is too large.
std::optional<GeneratedDifo> generate_difo(const TypeTable& types, const TypedExpr& expression,
                                           const dif_type& result, ValueUse use,
                                           DiagnosticSink& sink);

} // namespace daybreak::compiler
