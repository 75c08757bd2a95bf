// SPDX-License-Identifier: Apache-2.0
//
// Clauses through the compiler and the engine, and the smallest that still comes out wrong
#pragma once

#include "engine/translate/library.hpp"
#include "tests/prop/expressions/model.hpp"

#include <optional>

namespace daybreak::prop {

struct Trial {
    std::vector<Outcome> outcomes; ///< by clause
    unsigned too_large = 0;        ///< clauses that had no registers left, and became `0`
    std::string error;             ///< what went wrong with the whole program
};

/// Compiles and runs; with `native` translates to C, has that compiled so and runs it as well: what the two record
/// must be the same to the byte.  A clause whose expression needs more registers than there are is made `0`.
Trial run_trial(const World& world, std::vector<Clause>& clauses, std::optional<translate::Speed> native);

/// Finds which clause made clause `at` differ, shrinks that one, and says what is left of it, the
/// values it used, and how it comes out.  `world` is the one that the program began with.
std::string describe(const World& world, const std::vector<Clause>& clauses, size_t at,
                     const Outcome& expected, const Outcome& found);

} // namespace daybreak::prop
