// SPDX-License-Identifier: Apache-2.0
//
// The simulated kernel.
#include "engine/sim/sim_kernel.hpp"

#include "base/sha256.hpp"

#include <array>

namespace daybreak::sim {

namespace {

/// As many as a linker makes.
constexpr size_t kBuildIdBytes = 20;

// X(module, function, address).  The names are those that a person would meet on such a way.
#define DBK_SIM_FUNCTIONS(X)                                                                       \
    X("vmlinux", _stext, 0xffffffff81000000)                                                       \
    X("vmlinux", entry_SYSCALL_64_after_hwframe, 0xffffffff81000080)                               \
    X("vmlinux", asm_sysvec_apic_timer_interrupt, 0xffffffff81000180)                              \
    X("vmlinux", do_syscall_64, 0xffffffff81001000)                                                \
    X("vmlinux", sysvec_apic_timer_interrupt, 0xffffffff81001200)                                  \
    X("vmlinux", __x64_sys_ioctl, 0xffffffff81002000)                                              \
    X("vmlinux", __hrtimer_run_queues, 0xffffffff81003000)                                         \
    X("vmlinux", hrtimer_interrupt, 0xffffffff81003400)                                            \
    X("vmlinux", default_idle_call, 0xffffffff81004000)                                            \
    X("vmlinux", do_idle, 0xffffffff81004100)                                                      \
    X("vmlinux", cpu_startup_entry, 0xffffffff81004300)                                            \
    X("vmlinux", _etext, 0xffffffff81100000)                                                       \
    X("dtrace", dtrace_ioctl, 0xffffffffc0001000)                                                  \
    X("daybreak", dbk_profile_timer, 0xffffffffc0002000)

#define DBK_SIM_ENUM(module, name, address) k_##name = address,
enum FunctionAddress : uint64_t { DBK_SIM_FUNCTIONS(DBK_SIM_ENUM) };
#undef DBK_SIM_ENUM

constexpr std::array<uint64_t, 4> kSyscallStack = {
    k_dtrace_ioctl + 0x5c,
    k___x64_sys_ioctl + 0x91,
    k_do_syscall_64 + 0x59,
    k_entry_SYSCALL_64_after_hwframe + 0x72,
};
constexpr std::array<uint64_t, 8> kTimerStack = {
    k_dbk_profile_timer + 0x2e,
    k___hrtimer_run_queues + 0x12c,
    k_hrtimer_interrupt + 0xf7,
    k_sysvec_apic_timer_interrupt + 0x6d,
    k_asm_sysvec_apic_timer_interrupt + 0x1a,
    k_default_idle_call + 0x2b,
    k_do_idle + 0x1f1,
    k_cpu_startup_entry + 0x19,
};
constexpr std::array<uint64_t, 3> kUserStack = {0x7ffff7d0e237, 0x5555555561c4, 0x555555555139};

using namespace std::string_view_literals;

// The ends of the text and these are what a program may name by `symbol.
constexpr std::array<KernelVariable, 4> kVariables = {{
    {"jiffies", 0xffffffff82000000, "\xa0\x15\xff\xff\0\0\0\0"sv}, // -5 minutes, at 250 Hz
    {"max_pfn", 0xffffffff82000100, "\0\0\x04\0\0\0\0\0"sv},       // 1 GiB
    {"nr_cpu_ids", 0xffffffff82000200, "\x04\0\0\0"sv},
    {"linux_banner", 0xffffffff82000300, "Linux version 6.0.0-simulated\n\0"sv},
}};

} // namespace

const dbk_kernel_layout& kernel_layout() {
    static constexpr dbk_kernel_layout kLayout = {
        .has_locks = true,
        .has_paths = true,
        .mutex_owner = 0,
        .mutex_flags = 7,
        .rwlock_count = 0,
        .rwlock_writer = 0x1ff,
        .rwlock_held = 0xff,
        .rwlock_readers = 0xfffffe00,
        .path_mnt = 0,
        .path_dentry = 8,
        .mnt_root = 0,
        .mnt_parent = -16,
        .mnt_mountpoint = -8,
        .mnt_itself = 32,
        .dentry_parent = 24,
        .dentry_name = 40,
    };
    return kLayout;
}

std::span<const uint64_t> syscall_stack() {
    return kSyscallStack;
}
std::span<const uint64_t> timer_stack() {
    return kTimerStack;
}
std::span<const uint64_t> user_stack() {
    return kUserStack;
}

std::span<const KernelVariable> kernel_variables() {
    return kVariables;
}

uint64_t kernel_symbol(std::string_view name) {
    size_t backquote = name.find('`');
    std::string_view module = backquote == name.npos ? "" : name.substr(0, backquote);
    name.remove_prefix(backquote == name.npos ? 0 : backquote + 1);
    if (module == "kernel")
        module = "vmlinux";
    for (const KernelVariable& variable : kVariables)
        if (name == variable.name && (module.empty() || module == "vmlinux"))
            return variable.address;
#define DBK_SIM_FIND(in, function, address)                                                        \
    if (name == #function && (module.empty() || module == in))                                     \
        return address;
    DBK_SIM_FUNCTIONS(DBK_SIM_FIND)
#undef DBK_SIM_FIND
    return 0;
}

formats::SymbolTable kernel_symbols() {
    formats::SymbolTable table;
#define DBK_SIM_ADD(module, name, address) table.add(address, 'T', #name, module);
    DBK_SIM_FUNCTIONS(DBK_SIM_ADD)
#undef DBK_SIM_ADD
    for (const KernelVariable& variable : kVariables)
        table.add(variable.address, 'D', variable.name, "vmlinux");
    table.finish();
    return table;
}

formats::Bytes kernel_build_id() {
    std::string text;
#define DBK_SIM_TEXT(module, name, address) text += #name " " #address "\n";
    DBK_SIM_FUNCTIONS(DBK_SIM_TEXT)
#undef DBK_SIM_TEXT
    auto digest = base::sha256(base::as_bytes(text));
    base::ByteView id = std::as_bytes(std::span(digest)).first(kBuildIdBytes);
    return formats::Bytes(id.begin(), id.end());
}

} // namespace daybreak::sim
