// SPDX-License-Identifier: Apache-2.0
//
// The folder of a recorder's files, as an interface: tests put faults into it.
//
// Errors are distinguished by code: full (the disk, a quota, a limit on sizes), not_found (the folder
// or the file has gone), busy (another process records here, the name is taken), io for all else.
#pragma once

#include "base/file.hpp"

#include <memory>
#include <string>
#include <vector>

namespace daybreak::recorder {

using base::Bytes;
using base::ByteView;
using base::Error;
using base::ErrorCode;
using base::Result;

/// A file that is only appended to.
class AppendFile {
public:
    virtual ~AppendFile() = default;
    /// Appends all of it or nothing.  After an error of which nothing could be taken back, every
    /// further call is an error too: is_usable() is false.
    virtual Result<void> append(ByteView bytes) = 0;
    /// Returns when all that was appended is on the disk.
    virtual Result<void> sync() = 0;
    virtual bool is_usable() const = 0;
    /// Whether it was removed or replaced: what is appended could not be found any more.
    virtual bool is_gone() const = 0;
};

struct FolderEntry {
    std::string name;
    uint64_t bytes = 0;   ///< as the disk counts them
    uint64_t wall_ns = 0; ///< last written to
};

class FolderApi {
public:
    virtual ~FolderApi() = default;
    virtual Result<std::vector<FolderEntry>> list() = 0;
    virtual Result<Bytes> read(const std::string& name) = 0;
    /// Returns up to `bytes_max` from the beginning of a file.
    virtual Result<Bytes> read_beginning(const std::string& name, size_t bytes_max) = 0;
    /// Makes a new file.  Error busy: something of that name is there.
    virtual Result<std::unique_ptr<AppendFile>> create(const std::string& name) = 0;
    /// Leaves the first `keep_bytes` of a file.
    virtual Result<void> cut(const std::string& name, uint64_t keep_bytes) = 0;
    /// Returns when the content of a file is on the disk.
    virtual Result<void> sync_file(const std::string& name) = 0;
    virtual Result<void> rename(const std::string& from, const std::string& to) = 0;
    virtual Result<void> remove(const std::string& name) = 0;
    /// Puts a whole file in place of whatever had that name.
    virtual Result<void> replace(const std::string& name, ByteView content) = 0;
    /// Makes names that were made, changed or removed last.
    virtual Result<void> sync() = 0;
    virtual const std::string& path() const = 0;
};

/// Opens the folder, makes it when only it is missing, and takes it for this process alone until
/// the object goes, by a lock on the folder itself: there is no file that could be deleted.  File
/// systems that lock no folders (NFS) do without.
/// Errors: not_found, io; busy, when another process records there.
Result<std::unique_ptr<FolderApi>> open_folder(const std::string& path);

} // namespace daybreak::recorder
