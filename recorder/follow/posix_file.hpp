// SPDX-License-Identifier: Apache-2.0
//
// PosixFile: a file that only grows, by POSIX calls.
#pragma once

#include "recorder/follow/folder.hpp"

namespace daybreak::recorder {

/// Returns errno as an Error whose code says what can be done about it.
Error disk_error(const std::string& what);

class PosixFile : public AppendFile {
public:
    PosixFile(base::ScopedFd fd, std::string path, uint64_t bytes)
        : fd_(std::move(fd)), path_(std::move(path)), bytes_(bytes) {}

    Result<void> append(ByteView bytes) override;
    Result<void> sync() override;
    bool is_usable() const override { return usable_; }
    bool is_gone() const override;

private:
    base::ScopedFd fd_;
    std::string path_;
    uint64_t bytes_;
    bool usable_ = true;
};

} // namespace daybreak::recorder
