// SPDX-License-Identifier: Apache-2.0
//
// ByteSource: ranges of bytes that lie in a regular file or in memory, read when they are wanted.
#pragma once

#include "base/byte_reader.hpp"
#include "base/result.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace daybreak::base {

class ByteSource {
public:
    virtual ~ByteSource() = default;
    ByteSource(const ByteSource&) = delete;
    ByteSource& operator=(const ByteSource&) = delete;

    /// Returns how many bytes there are.  A file is as long as it was when it was opened, or ends
    /// where a read failed or met its end.
    uint64_t size() const { return size_; }
    /// Reads at `offset` what there is of out.size() bytes.  Returns how many were read; fewer than
    /// asked for means that the source ends there, from then on.
    size_t read(uint64_t offset, std::span<std::byte> out);
    /// Reads all of `out`, or returns false: what is not there, or cannot be read, is so for this
    /// call only.
    bool try_read(uint64_t offset, std::span<std::byte> out);
    /// Returns why a read failed; empty when none did.
    const std::optional<Error>& failure() const { return failure_; }

protected:
    explicit ByteSource(uint64_t size) : size_(size) {}
    static Result<size_t> read_some_of(ByteSource& other, uint64_t offset,
                                       std::span<std::byte> out) {
        return other.read_some(offset, out);
    }

private:
    /// Reads some of out.size() bytes, which lie before size(); 0: the end is here.
    virtual Result<size_t> read_some(uint64_t offset, std::span<std::byte> out) = 0;

    uint64_t size_;
    std::optional<Error> failure_;
};

/// Opens a regular file, which stays open.  Never waits: a FIFO is not opened for its writer. Where
/// too many files are open, the process's limit is raised as far as it may be.
/// Errors: not_found; invalid: a folder, a FIFO, a socket or a device; io.
Result<std::shared_ptr<ByteSource>> open_source(const std::string& path);

/// Returns bytes in memory as a source.
std::shared_ptr<ByteSource> memory_source(Bytes bytes);
/// The same of bytes that must outlive the source.
std::shared_ptr<ByteSource> view_source(ByteView bytes);

/// Returns the same source, which says how many bytes were read each time, in the thread that did.
std::shared_ptr<ByteSource> watched_source(std::shared_ptr<ByteSource> source,
                                           std::function<void(size_t bytes)> has_read);

/// Returns up to `bytes_max` from the beginning.
Bytes read_beginning(ByteSource& source, size_t bytes_max);

} // namespace daybreak::base
