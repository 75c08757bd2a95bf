// SPDX-License-Identifier: Apache-2.0
//
// Reading a file of partial states.  Unlike a recording it is whole or it is refused: a sum of
// which a piece is missing is a wrong number.
#pragma once

#include "base/byte_source.hpp"
#include "formats/aggstate/message.hpp"

#include <functional>
#include <memory>

namespace daybreak::formats {

/// What a reader hands over, in the order of the file; an error ends the reading.
struct StateVisitor {
    /// Returns whether the symbols and states of the part are wanted.
    std::function<Result<bool>(StatePart part)> part;
    std::function<Result<void>(const StateSymbols& symbols)> symbols;
    std::function<Result<void>(const StateBlock& block)> states;
    /// All of the part was read; of what was not wanted, too.  The digest is of its states.
    std::function<Result<void>(const Digest& states)> part_end;
};

/// Reads a file from its beginning to its end.  Memory: two messages, whatever the file says.
/// Errors: invalid: another sort of file; corrupt, truncated; unsupported: of a later version;
///         limit: it unpacks to too much; those of the visitor.
Result<void> read_states(const std::shared_ptr<base::ByteSource>& untrusted_file,
                         const std::string& name, const StateVisitor& visitor);

} // namespace daybreak::formats
