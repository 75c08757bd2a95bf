// SPDX-License-Identifier: Apache-2.0
//
// A folder for as long as it is needed.
#pragma once

#include "base/result.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

namespace daybreak::base {

/// Returns what mkstemp() and mkdtemp() take: below $TMPDIR, or /tmp, with `name` in it.
inline std::string temporary_path(const std::string& name) {
    const char* below = std::getenv("TMPDIR");
    return std::string(below && *below ? below : "/tmp") + "/" + name + "-XXXXXX";
}

class TemporaryFolder {
public:
    /// Makes one below $TMPDIR, or /tmp, with `name` in its name.  Errors: io and its kin.
    static Result<TemporaryFolder> create(const std::string& name) {
        std::string path = temporary_path(name);
        if (::mkdtemp(path.data()) == nullptr)
            return errno_errorf("cannot make a temporary folder %s ($TMPDIR says where)",
                                path.c_str());
        return TemporaryFolder(path);
    }
    TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, "")) {}
    TemporaryFolder& operator=(TemporaryFolder&&) = delete;
    ~TemporaryFolder() {
        std::error_code ignored;
        if (!path_.empty())
            std::filesystem::remove_all(path_, ignored);
    }

    std::string at(const std::string& name) const { return path_ + "/" + name; }

private:
    explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}

    std::string path_;
};

} // namespace daybreak::base
