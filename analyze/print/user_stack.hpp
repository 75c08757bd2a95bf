// SPDX-License-Identifier: Apache-2.0
//
// User stacks: by frame pointers, or by the bytes of the stack that were recorded.
//
//     record   process, frames by frame pointers | registers, bytes of the stack
//     key      process, frames of the way that leads further
//
// Two stacks never have the same bytes: a key is what they lead to.
#pragma once

#include "analyze/print/context.hpp"
#include "analyze/values/value.hpp"
#include "formats/segment/record.hpp"

#include <map>
#include <string>
#include <vector>

namespace daybreak::analyze {

/// Addresses to print, and what is to be said of how they were found.
struct FoundStack {
    std::vector<uint64_t> frames;      ///< innermost first
    std::string note;                  ///< "": nothing
    std::vector<uint64_t> interrupted; ///< as in UnwoundStack

    bool is_return(size_t at) const;
};

/// Keys that were made of recorded bytes.  A key has no room for more than its frames: what else
/// was found with them, and is printed, is here; of several stacks with one key the first's.
class UnwoundKeys {
public:
    /// Returns the key of a value that has registers, valid until the next call.
    base::ByteView key_of(const Value& value, const AddressNames& names);
    /// Adds what was found with a key's frames.
    void add_to(FoundStack& stack, base::ByteView key) const;
    /// Whether keys were made here at all.
    bool is_used() const { return !found_.empty(); }

private:
    struct Found {
        std::string note;
        std::vector<uint64_t> interrupted;
    };
    static constexpr size_t kFoundMax = 1u << 22; ///< further keys have nothing beside
    static uint64_t hash_of(base::ByteView key);

    std::map<uint64_t, Found> found_; ///< by the hash of the key
    std::vector<uint64_t> words_;     ///< of the last key
};

/// Returns a stack's words from `first` on, up to a 0.
std::vector<uint64_t> frames_of(formats::StackView recorded, size_t first);

/// Returns the frames of a recorded value, or of a key.
FoundStack user_stack_of(const Value& value, const PrintContext& context);

} // namespace daybreak::analyze
