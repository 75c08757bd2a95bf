// SPDX-License-Identifier: Apache-2.0
//
// The bounds checks of ByteReader.
#include "base/byte_reader.hpp"

#include <cinttypes>

namespace daybreak::base {

Result<void> ByteReader::seek(uint64_t offset) {
    if (offset > bytes_.size())
        return errorf(ErrorCode::truncated, "%.*s: offset %" PRIu64 " is past the end of its %zu bytes",
                      static_cast<int>(what_.size()), what_.data(), offset, bytes_.size());
    offset_ = static_cast<size_t>(offset);
    return {};
}

Result<void> ByteReader::skip(uint64_t bytes) {
    DBK_TRY(ByteView passed, this->bytes(bytes));
    (void)passed;
    return {};
}

Result<ByteView> ByteReader::bytes(uint64_t count) {
    DBK_TRY(ByteView view, bytes_at(offset_, count));
    offset_ += view.size();
    return view;
}

Result<ByteView> ByteReader::bytes_at(uint64_t offset, uint64_t count) const {
    if (offset > bytes_.size() || count > bytes_.size() - offset)
        return errorf(ErrorCode::truncated,
                      "%.*s: needs %" PRIu64 " bytes at offset %" PRIu64 ", has %zu in all",
                      static_cast<int>(what_.size()), what_.data(), count, offset, bytes_.size());
    return bytes_.subspan(static_cast<size_t>(offset), static_cast<size_t>(count));
}

Result<std::string_view> ByteReader::string_at(uint64_t offset) const {
    DBK_TRY(ByteView rest, bytes_at(offset, offset > bytes_.size() ? 0 : bytes_.size() - offset));
    const void* nul = rest.empty() ? nullptr : std::memchr(rest.data(), 0, rest.size());
    if (!nul)
        return errorf(ErrorCode::corrupt, "%.*s: string at offset %" PRIu64 " has no end",
                      static_cast<int>(what_.size()), what_.data(), offset);
    const char* text = reinterpret_cast<const char*>(rest.data());
    return std::string_view(text, static_cast<size_t>(static_cast<const char*>(nul) - text));
}

} // namespace daybreak::base
