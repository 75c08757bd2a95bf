// SPDX-License-Identifier: Apache-2.0
//
// What adapters to Cap'n Proto have in common: a message to bytes, and untrusted bytes to a message.
//
// Included by the adapters only (formats/trace/message.cpp, formats/aggstate/message.cpp): exceptions
// do not leave them.
#pragma once

#include "base/byte_reader.hpp"
#include "base/result.hpp"

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <cstring>

namespace daybreak::formats {

inline std::string wire_text(capnp::Text::Reader reader) {
    return std::string(reader.begin(), reader.size());
}

inline capnp::Text::Reader wire_text(const std::string& string) {
    return capnp::Text::Reader(string.c_str(), string.size());
}

inline capnp::Data::Reader wire_data(base::ByteView bytes) {
    return capnp::Data::Reader(reinterpret_cast<const kj::byte*>(bytes.data()), bytes.size());
}

/// Builds a message with fill(root) and returns its bytes.
template <typename Message, typename Fill>
base::Bytes encode_message(Fill fill) {
    capnp::MallocMessageBuilder builder;
    fill(builder.initRoot<Message>());
    kj::Array<capnp::word> words = capnp::messageToFlatArray(builder);
    base::ByteView bytes = std::as_bytes(std::span(words.begin(), words.size()));
    return base::Bytes(bytes.begin(), bytes.end());
}

/// Returns what read(message) returns, or the exception it met as an Error.
template <typename Message, typename T, typename Read>
base::Result<T> decode_message(base::ByteView untrusted, const char* what, Read read) {
    size_t words = untrusted.size() / sizeof(capnp::word);
    kj::Array<capnp::word> aligned = kj::heapArray<capnp::word>(words);
    if (words > 0)
        std::memcpy(aligned.begin(), untrusted.data(), words * sizeof(capnp::word));
    capnp::ReaderOptions options;
    // Each list is read once or twice; a message that points to the same bytes again and again
    // runs into this limit.
    options.traversalLimitInWords = words * 4 + 1024;
    options.nestingLimit = 16;
    try {
        capnp::FlatArrayMessageReader reader(aligned, options);
        return read(reader.getRoot<Message>());
    } catch (const kj::Exception& exception) {
        return base::errorf(base::ErrorCode::corrupt, "%s message: %s", what,
                            exception.getDescription().cStr());
    }
}

/// Refuses a list whose elements are smaller than the first version's: elements of no bytes would
/// fill the memory.
inline base::Result<void> check_list(size_t count, size_t element_bytes, base::ByteView message,
                                     const char* what) {
    if (count > message.size() / element_bytes)
        return base::errorf(base::ErrorCode::corrupt, "%zu %s do not fit into %zu bytes", count,
                            what, message.size());
    return {};
}

} // namespace daybreak::formats
