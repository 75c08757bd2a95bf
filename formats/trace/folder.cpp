// SPDX-License-Identifier: Apache-2.0
//
// Folders of trace files, and how boots are named there.
#include "base/file.hpp"
#include "formats/trace/file_reader.hpp"

#include <algorithm>
#include <dirent.h>

namespace daybreak::formats {

namespace {

constexpr const char* kSuffix = ".dbrk";

} // namespace

uint64_t boot_of(const std::array<uint8_t, 16>& uuid) {
    uint64_t boot_id = 0;
    for (unsigned i = 0; i < 8; i++)
        boot_id |= uint64_t{uuid[i]} << (8 * i);
    return boot_id;
}

Result<std::vector<std::string>> list_trace_files(const std::string& folder) {
    std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(folder.c_str()), ::closedir);
    if (!stream)
        return base::errno_errorf("cannot read the folder %s", folder.c_str());
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(stream.get())) {
        std::string name = entry->d_name;
        if (!name.starts_with('.') && name.ends_with(kSuffix))
            names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
}

} // namespace daybreak::formats
