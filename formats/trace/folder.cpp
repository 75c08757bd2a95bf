// SPDX-License-Identifier: Apache-2.0
//
// Folders of trace files, and how boots are named there.
#include "base/file.hpp"
#include "formats/trace/file_reader.hpp"

#include <algorithm>
#include <dirent.h>

namespace daybreak::formats {

namespace {

constexpr std::string_view kSymbolsSuffix = "-symbols.dbrk";
/// Of the boot, in names of files.
constexpr size_t kBootDigits = 8;

} // namespace

uint64_t boot_of(const std::array<uint8_t, 16>& uuid) {
    uint64_t boot_id = 0;
    for (unsigned i = 0; i < 8; i++)
        boot_id |= uint64_t{uuid[i]} << (8 * i);
    return boot_id;
}

std::string symbols_file_name(const std::string& boot) {
    return boot.substr(0, kBootDigits).append(kSymbolsSuffix);
}

std::string boot_of_symbols_file(const std::string& name) {
    bool is_one = name.find_first_not_of("0123456789abcdef") == kBootDigits &&
                  std::string_view(name).substr(kBootDigits) == kSymbolsSuffix;
    return is_one ? name.substr(0, kBootDigits) : std::string();
}

std::string symbols_path(const std::string& path, uint64_t boot_id) {
    size_t slash = path.rfind('/');
    std::string folder = slash == std::string::npos ? "./" : path.substr(0, slash + 1);
    return folder + symbols_file_name(boot_name(boot_id));
}

Result<std::vector<std::string>> list_trace_files(const std::string& folder) {
    std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(folder.c_str()), ::closedir);
    if (!stream)
        return base::errno_errorf("cannot read the folder %s", folder.c_str());
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(stream.get())) {
        std::string name = entry->d_name;
        if (!name.starts_with('.') && name.ends_with(kTraceSuffix))
            names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
}

} // namespace daybreak::formats
