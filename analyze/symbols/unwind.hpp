// SPDX-License-Identifier: Apache-2.0
//
// Unwinding of a recorded piece of stack: each function's caller by the tables of the file it is
// in; in code without tables, which runtimes make, by the frame pointer
// (docs/design/0087-recorded-stacks.md).
#pragma once

#include "analyze/symbols/object_frames.hpp"
#include "analyze/symbols/user_names.hpp"

#include <functional>
#include <span>

namespace daybreak::analyze {

/// What an address of a process is in.
struct UnwindPlace {
    const ObjectFrames* frames = nullptr; ///< null: no such file is here, or it is in no file
    uint64_t address = 0;                 ///< in the object
    std::string object;                   ///< its name; "": code of no file
    bool is_named = false;                ///< of no file, but a runtime says that it is code
};
using PlaceOf = std::function<UnwindPlace(uint64_t address)>;

/// Returns the callers that `thread` leads to, with the first address itself.
UnwoundStack unwind(const RecordedThread& thread, const PlaceOf& place_of);

/// Which of two ways leads to the outermost function, or further.
enum class StackWay : uint8_t { alike, pointers, tables };

/// `pointers` are the frames by frame pointers.  Has `unwound`, if it has any, begin as they do,
/// with at most `depth` frames.
StackWay longer_way(std::span<const uint64_t> pointers, UnwoundStack& unwound, size_t depth);

} // namespace daybreak::analyze
