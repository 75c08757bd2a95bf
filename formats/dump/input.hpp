// SPDX-License-Identifier: Apache-2.0
//
// DumpInput: the bytes of a dump, from a file, a pipe or memory.
//
// A dump may be larger than any memory, so nothing here holds more than a window of it.  A pipe
// gives its bytes once: reading goes forward only, but for the first kHeadBytes, which are kept so
// that the format can be known by them.
#pragma once

#include "base/byte_reader.hpp"
#include "base/file.hpp"

#include <memory>
#include <optional>
#include <string>

namespace daybreak::formats {

using base::Bytes;
using base::ByteView;
using base::Error;
using base::ErrorCode;
using base::Result;

class DumpInput {
public:
    virtual ~DumpInput() = default;

    /// Fills `to` with the bytes at `offset`; returns how many there were, fewer only at the end.
    /// Errors: io; unsupported, when they passed by already (a pipe).
    virtual Result<size_t> read_at(uint64_t offset, std::span<std::byte> to) = 0;
    /// Whether any offset may be read at any time.
    virtual bool is_seekable() const = 0;
    /// Returns the size, empty when only the end will tell.
    virtual std::optional<uint64_t> size_bytes() const = 0;

    /// Returns exactly `bytes` at `offset`.  Error: truncated when there are fewer.
    Result<Bytes> exactly(uint64_t offset, size_t bytes, const char* what);
};

/// Opens a file, a device or a pipe; "-" is standard input.
/// Errors: not_found, io; invalid for a folder.
Result<std::unique_ptr<DumpInput>> open_dump_input(const std::string& path);

/// Reads a descriptor that gives its bytes once.  It must outlive the input.
std::unique_ptr<DumpInput> pipe_input(int fd, std::string name);

/// Reads memory, which must outlive the input: for tests, and for dumps inside of something.
std::unique_ptr<DumpInput> memory_input(ByteView bytes);

/// How many bytes at the start of a pipe can be read again.
constexpr size_t kHeadBytes = 64u << 10;

} // namespace daybreak::formats
