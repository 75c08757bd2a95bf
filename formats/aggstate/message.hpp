// SPDX-License-Identifier: Apache-2.0
//
// The messages of a file of partial states, as bytes and back.
//
// The only place that knows Cap'n Proto, beside the schema; its exceptions end here.
#pragma once

#include "formats/aggstate/state.hpp"

#include <variant>

namespace daybreak::formats {

using StateMessage = std::variant<StatePart, StateSymbols, StateBlock>;

Bytes encode_part(const StatePart& part);
Bytes encode_symbols(const StateSymbols& symbols);
Bytes encode_states(const StateBlock& block);

/// Takes a message apart.  What it returns holds: lists fit together, keys can be split, runs
/// ascend. Errors: corrupt; unsupported: a kind of key that a later version made.
Result<StateMessage> decode_state_message(ByteView untrusted);

} // namespace daybreak::formats
