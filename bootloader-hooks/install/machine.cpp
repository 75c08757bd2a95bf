// SPDX-License-Identifier: Apache-2.0
//
// Reading /boot, /lib/modules, /sys and /proc/iomem.
#include "bootloader-hooks/install/machine.hpp"

#include <algorithm>
#include <cinttypes>
#include <sstream>

namespace daybreak::install {

using base::ErrorCode;
using base::errorf;
using base::Result;

namespace {

constexpr std::string_view kImagePrefix = "vmlinuz-";
constexpr uint64_t kMiB = 1u << 20;
/// A bank takes at most this part of a piece of RAM: the rest is for the kernel, which is placed at
/// random, and for what boot loaders put at the ends.
constexpr uint64_t kPiecePart = 4;

/// A release becomes part of names of files, of GRUB's script and of the kernel's command line.
bool is_plain(const std::string& release) {
    return !release.empty() && std::all_of(release.begin(), release.end(), [](unsigned char c) {
        return std::isalnum(c) ||
               std::string_view(".+-_~").find(static_cast<char>(c)) != std::string_view::npos;
    });
}

} // namespace

std::string module_file(const Host& host, const std::string& release) {
    for (const char* folder : kModuleFolders)
        for (const char* suffix : {"", ".xz", ".zst", ".gz"}) {
            std::string path = "/lib/modules/" + release + "/" + folder + "/daybreak.ko" + suffix;
            if (host.exists(path))
                return path;
        }
    return "";
}

std::vector<InstalledKernel> installed_kernels(const Host& host) {
    std::vector<InstalledKernel> kernels;
    for (const std::string& name : host.list("/boot")) {
        if (!name.starts_with(kImagePrefix))
            continue;
        std::string release = name.substr(kImagePrefix.size());
        if (is_plain(release) && host.exists("/lib/modules/" + release))
            kernels.push_back({release, "/boot/" + name, module_file(host, release)});
    }
    return kernels;
}

std::string signature_demand(const Host& host) {
    auto enforce = host.read_through("/sys/module/module/parameters/sig_enforce");
    if (enforce.ok() && *enforce && (*enforce)->starts_with('Y'))
        return "module.sig_enforce is on (Secure Boot turns it on)";
    auto lockdown = host.read_through("/sys/kernel/security/lockdown");
    if (lockdown.ok() && *lockdown && (*lockdown)->find("[none]") == std::string::npos)
        return "the kernel is locked down (Secure Boot does that)";
    return "";
}

Result<uint64_t> bank_address(const std::string& untrusted_iomem, uint64_t bytes) {
    if (bytes == 0 || bytes % kMiB != 0)
        return errorf(ErrorCode::invalid, "--bank takes whole MiB, got %" PRIu64 " bytes", bytes);
    uint64_t start = 0, length = 0, highest = 0;
    std::istringstream lines(untrusted_iomem);
    for (std::string line; std::getline(lines, line);) {
        uint64_t from = 0, to = 0;
        if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64, &from, &to) != 2 || to < from)
            continue;
        highest = std::max(highest, to);
        if (line.starts_with(' ') || !line.ends_with(": System RAM") || to - from < length)
            continue;
        start = from;
        length = to - from + 1;
    }
    if (highest == 0)
        return errorf(
            ErrorCode::unsupported,
            "/proc/iomem shows no addresses: --bank needs root to choose a place; or reserve "
            "memory by hand, docs/crash.md says how");
    if (length / kPiecePart < bytes)
        return errorf(ErrorCode::unsupported,
                      "no place for a bank of %" PRIu64
                      " MiB: the largest piece of RAM has %" PRIu64
                      " MiB, and a bank takes at most a quarter of it",
                      bytes / kMiB, length / kMiB);
    return (start + (length - bytes) / 2) / kMiB * kMiB;
}

} // namespace daybreak::install
