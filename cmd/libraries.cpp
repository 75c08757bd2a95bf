// SPDX-License-Identifier: Apache-2.0
#include "cmd/libraries.hpp"

#include "base/file.hpp"

#include <algorithm>
#include <filesystem>

namespace daybreak::cmd {

namespace {

base::Result<void> read_folder(const std::string& folder, std::vector<compiler::Library>& into) {
    namespace fs = std::filesystem;
    std::error_code failed;
    std::vector<std::string> paths;
    for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end;
         entry.increment(failed))
        if (entry->path().extension() == ".d")
            paths.push_back(entry->path().string());
    if (failed)
        return base::errorf(base::ErrorCode::io, "libraries of %s: %s", folder.c_str(),
                            failed.message().c_str());
    std::sort(paths.begin(), paths.end());
    for (const std::string& path : paths) {
        DBK_TRY(base::Bytes bytes, base::read_file(path));
        into.push_back({fs::path(path).filename().string(), path,
                        std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())});
    }
    return {};
}

} // namespace

base::Result<void> add_libraries(const std::vector<std::string>& folders,
                                 compiler::CompileOptions& options) {
    std::vector<std::string> all = folders;
    for (const auto& [name, value] : options.options) {
        if (name != "libdir" && name != "syslibdir")
            continue;
        if (!value || value->empty())
            return base::errorf(base::ErrorCode::invalid, "-x %s needs a folder", name.c_str());
        if (name == "syslibdir")
            options.system_libraries = false;
        all.push_back(*value);
    }
    for (const std::string& folder : all)
        DBK_TRY_VOID(read_folder(folder, options.libraries));
    return {};
}

std::string library_notes(const compiler::CompileOutput& output) {
    std::string text;
    size_t all = output.libraries.size();
    for (size_t i = all; i-- > 0;)
        text += base::strprintf("libdaybreak DEBUG: library %s (%zu/%zu)\n",
                                output.libraries[i].c_str(), i + 1, all);
    return text;
}

} // namespace daybreak::cmd
