// SPDX-License-Identifier: Apache-2.0
//
// Which arguments our entry adds.
#include "bootloader-hooks/install/kernel_arguments.hpp"

#include <algorithm>
#include <iterator>

namespace daybreak::install {

namespace {

/// As systemd and the scripts of initramfs-tools and GRUB have them.
constexpr const char* kRecoveryWords[] = {"single",   "s",      "S",        "1",
                                          "recovery", "rescue", "emergency"};

} // namespace

bool is_for_recovery(const std::string& argument) {
    return argument.starts_with("systemd.unit=rescue") ||
           argument.starts_with("systemd.unit=emergency") ||
           std::find(std::begin(kRecoveryWords), std::end(kRecoveryWords), argument) !=
               std::end(kRecoveryWords);
}

std::string own_arguments(const std::string& bank) {
    std::string arguments = kEarlyInitArgument;
    if (size_t at = bank.find('@'); at != std::string::npos)
        arguments +=
            " memmap=" + bank.substr(0, at) + "$" + bank.substr(at + 1) + " daybreak.bank=" + bank;
    return arguments;
}

const char* doubled_argument(const std::string& own,
                             const std::function<bool(const char*)>& has_argument) {
    for (const char* name : {"rdinit", "daybreak.bank"})
        if (own.find(std::string(name) + "=") != std::string::npos && has_argument(name))
            return name;
    return nullptr;
}

std::string entry_arguments(const std::string& own,
                            const std::function<bool(const char*)>& has_argument) {
    std::string arguments = own;
    // An entry that hangs for ever after a panic would keep a machine that no person looks at.
    if (!has_argument("panic"))
        arguments += " panic=30";
    // Of two such arguments the kernel takes the last: who uses ftrace in a boot keeps it.
    if (!has_argument("trace_event") && !has_argument("trace_clock") && !has_argument("ftrace"))
        arguments += std::string(" ") + kKernelStartArguments;
    return arguments;
}

} // namespace daybreak::install
