// SPDX-License-Identifier: Apache-2.0
//
// Types that were unpacked from a kernel image before, and their ids.
//
// An image has its types packed, and its build id with them: it is known by its place, size and
// times, as a build tool knows a source.  What the running kernel shows in /sys has no times: it is known by its build id,
// which spares the hash of all types that is its id in a program.  A cache that cannot be read or written is as an empty one.
#pragma once

#include "base/file.hpp"
#include "compiler/types/kernel_types.hpp"

#include <optional>
#include <string>

namespace daybreak::compiler {

class BtfCache {
public:
    struct Entry {
        BtfId id;
        base::Bytes btf;
    };
    /// So many kernels are kept; then the one that was used last long ago goes.
    static constexpr size_t kKernelsMax = 8;

    /// Returns the folder below $XDG_CACHE_HOME (`caches`), or else below $HOME; "" when that is not set,
    /// is /, or is another user's, as with sudo -E.
    static std::string folder_below(const char* caches, const char* home);

    /// `folder`, an absolute path without links, is made when something is kept; "": nothing ever is.
    /// Nothing is kept or found in it when it, or one above it, is a link or another user's than root.
    explicit BtfCache(std::string folder) : folder_(std::move(folder)) {}

    /// Returns the name of the file for the image as it is now; "" when it is not to be kept.
    std::string file_for(const std::string& image) const;
    /// Returns what is in a file of file_for(), if it is whole and no other user could have written it.
    std::optional<Entry> find(const std::string& file) const;
    void keep(const std::string& file, const BtfId& id, base::ByteView btf) const;

private:
    /// Returns the folder; empty when another user could write to it, or could have put it there.
    base::ScopedFd open_folder(bool is_made) const;

    std::string folder_;
};

} // namespace daybreak::compiler
