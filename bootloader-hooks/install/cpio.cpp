// SPDX-License-Identifier: Apache-2.0
//
// Writing newc archives (Documentation/driver-api/early-userspace/buffer-format.rst of Linux).
#include "bootloader-hooks/install/cpio.hpp"

#include "base/result.hpp"

#include <sys/stat.h>

namespace daybreak::install {

namespace {

constexpr size_t kAlignBytes = 4, kBlockBytes = 512;

void pad(std::string& archive, size_t to) {
    archive.append((to - archive.size() % to) % to, '\0');
}

void append(std::string& archive, const CpioFile& file, unsigned inode) {
    unsigned links = S_ISDIR(file.mode) ? 2 : 1;
    archive += base::strprintf("070701%08x%08x%08x%08x%08x%08x%08zx%08x%08x%08x%08x%08zx%08x",
                               inode, unsigned{file.mode}, 0u, 0u, links, 0u, file.content.size(),
                               0u, 0u, 0u, 0u, file.path.size() + 1, 0u);
    archive += file.path + '\0';
    pad(archive, kAlignBytes);
    archive += file.content;
    pad(archive, kAlignBytes);
}

} // namespace

std::string make_cpio(const std::vector<CpioFile>& files) {
    std::string archive;
    unsigned inode = 1;
    for (const CpioFile& file : files)
        append(archive, file, inode++);
    append(archive, {"TRAILER!!!", 0, ""}, 0);
    pad(archive, kBlockBytes);
    return archive;
}

std::string make_boot_cpio(const std::string& early_init, const std::string& module) {
    return make_cpio({{"daybreak", S_IFDIR | 0755, ""},
                      {"daybreak/early-init", S_IFREG | 0755, early_init},
                      {"daybreak/daybreak.ko", S_IFREG | 0644, module}});
}

} // namespace daybreak::install
