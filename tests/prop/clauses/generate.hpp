// SPDX-License-Identifier: Apache-2.0
//
// Random D programs whose clauses record, aggregate, store and speculate texts
#pragma once

#include <cstdint>
#include <string>

namespace daybreak::prop {

/// One program, the same for the same seed.  Its probes are test:::g0 to g7, whose arguments 4 and
/// 5 are addresses of strings.
std::string random_program(uint64_t seed);

} // namespace daybreak::prop
