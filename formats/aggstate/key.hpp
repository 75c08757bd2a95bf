// SPDX-License-Identifier: Apache-2.0
//
// Canonical keys: one byte string for one key, whatever machine it is from.
//
//     key     = member*
//     member  = tag (1) length (4) bytes
//     frames  = [process id (8)] frame*            of stacks, and of addresses that get names
//     frame   = 0 address (8)  |  n build id (n) offset (8) [address (8)]     the last of a
//     process's
//
// So a kernel function has the same key in each boot, wherever it lay, as far as its image's build
// id is known; names come in when it is printed.  Of a process the address is there as well: of one
// boot each address is a key, of several each place in a file.
#pragma once

#include "base/elf_notes.hpp"
#include "formats/aggstate/state.hpp"

namespace daybreak::formats {

using base::kBuildIdBytesMax;

/// Whether a member of this tag is frames, and whether a process id comes before them.
constexpr bool has_frames(KeyTag tag) {
    return tag >= KeyTag::stack;
}
constexpr bool has_process(KeyTag tag) {
    return tag == KeyTag::ustack || tag >= KeyTag::uaddress;
}

/// Builds a key member by member.
class CanonicalKey {
public:
    void clear() { bytes_.clear(); }
    void append(KeyTag tag, ByteView data);
    /// Of a tag with frames: begins the member, whose frames are then added.
    void begin_frames(KeyTag tag, uint64_t process_id);
    void add_frame(ByteView build_id, uint64_t offset);
    /// Of a process: where it had the place in the file.
    void add_frame(ByteView build_id, uint64_t offset, uint64_t address);
    void add_address(uint64_t address);
    ByteView bytes() const { return bytes_; }

private:
    template <typename T>
    void put(T value);
    void set_length();

    Bytes bytes_;
    size_t member_ = 0; // where the length of the last one is
};

struct KeyMember {
    KeyTag tag = KeyTag::integer;
    ByteView bytes;
};

/// Takes a key apart; views into it.
/// Error: corrupt, when it is not one.
Result<std::vector<KeyMember>> split_key(ByteView untrusted_key);

/// A frame of a key.
struct KeyFrame {
    ByteView build_id; ///< empty: an address
    uint64_t offset = 0;
    uint64_t address = 0; ///< of a process's place in a file
};

struct KeyFrames {
    uint64_t process_id = 0;
    std::vector<KeyFrame> frames;
};

/// Returns the frames of a member whose tag has them.
/// Error: corrupt.
Result<KeyFrames> frames_of(const KeyMember& member);

} // namespace daybreak::formats
