// SPDX-License-Identifier: Apache-2.0
//
// Canonical keys: putting together and taking apart.
#include "formats/aggstate/key.hpp"

namespace daybreak::formats {

using base::errorf;

template <typename T>
void CanonicalKey::put(T value) {
    auto bytes = std::as_bytes(std::span(&value, 1));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

void CanonicalKey::set_length() {
    auto length = static_cast<uint32_t>(bytes_.size() - member_ - sizeof(uint32_t));
    std::memcpy(&bytes_[member_], &length, sizeof(length));
}

void CanonicalKey::append(KeyTag tag, ByteView data) {
    put(static_cast<uint8_t>(tag));
    member_ = bytes_.size();
    put(static_cast<uint32_t>(data.size()));
    bytes_.insert(bytes_.end(), data.begin(), data.end());
}

void CanonicalKey::begin_frames(KeyTag tag, uint64_t process_id) {
    append(tag, {});
    if (has_process(tag))
        put(process_id);
    set_length();
}

void CanonicalKey::add_frame(ByteView build_id, uint64_t offset) {
    DBK_ASSERT(build_id.size() <= kBuildIdBytesMax);
    put(static_cast<uint8_t>(build_id.size()));
    bytes_.insert(bytes_.end(), build_id.begin(), build_id.end());
    put(offset);
    set_length();
}

void CanonicalKey::add_frame(ByteView build_id, uint64_t offset, uint64_t address) {
    add_frame(build_id, offset);
    put(address);
    set_length();
}

void CanonicalKey::add_address(uint64_t address) {
    add_frame({}, address);
}

Result<std::vector<KeyMember>> split_key(ByteView untrusted_key) {
    std::vector<KeyMember> members;
    base::ByteReader reader(untrusted_key, "key");
    while (reader.remaining() > 0) {
        if (members.size() == kKeyMembersMax)
            return errorf(ErrorCode::corrupt, "a key has more than %zu members", kKeyMembersMax);
        DBK_TRY(auto tag, reader.read<uint8_t>());
        DBK_TRY(auto length, reader.read<uint32_t>());
        DBK_TRY(ByteView bytes, reader.bytes(length));
        if (tag == 0 || tag > kKeyTagMax)
            return errorf(ErrorCode::unsupported,
                          "a key has a member of kind %u, which this version "
                          "does not know",
                          unsigned{tag});
        members.push_back({static_cast<KeyTag>(tag), bytes});
    }
    return members;
}

Result<KeyFrames> frames_of(const KeyMember& member) {
    DBK_ASSERT(has_frames(member.tag));
    KeyFrames result;
    base::ByteReader reader(member.bytes, "frames of a key");
    if (has_process(member.tag)) {
        DBK_TRY(result.process_id, reader.read<uint64_t>());
    }
    while (reader.remaining() > 0) {
        DBK_TRY(auto length, reader.read<uint8_t>());
        if (length > kBuildIdBytesMax)
            return errorf(ErrorCode::corrupt, "a build id of %u bytes, %zu are the most",
                          unsigned{length}, kBuildIdBytesMax);
        DBK_TRY(ByteView build_id, reader.bytes(length));
        KeyFrame& frame = result.frames.emplace_back(KeyFrame{build_id});
        DBK_TRY(frame.offset, reader.read<uint64_t>());
        if (has_process(member.tag) && !build_id.empty()) {
            DBK_TRY(frame.address, reader.read<uint64_t>());
        }
    }
    return result;
}

} // namespace daybreak::formats
