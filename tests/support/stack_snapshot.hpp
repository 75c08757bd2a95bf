// SPDX-License-Identifier: Apache-2.0
//
// StackSnapshot: what a probe would record of the thread that asks, and backtrace(3) as its
// witness.
#pragma once

#include "analyze/symbols/object_frames.hpp"
#include "analyze/symbols/user_names.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <execinfo.h>
#include <span>
#include <vector>

extern "C" void* __libc_stack_end;

namespace daybreak::test {

struct StackSnapshot {
    std::array<uint64_t, analyze::FrameState::kCount> registers{};
    std::vector<uint64_t> stack;
    std::vector<uint64_t> callers; ///< as backtrace(3) sees them
    analyze::RecordedThread thread(size_t bytes = SIZE_MAX, uint32_t depth = 200) const {
        auto all = std::as_bytes(std::span(stack));
        return {std::as_bytes(std::span(registers)), all.first(std::min(bytes, all.size())), depth};
    }
};

/// What a probe here would record; the address sanitizer would have no one look at others' frames.
__attribute__((noinline, no_sanitize_address)) inline int take_stack(StackSnapshot& to) {
    void* callers[200];
    int count = ::backtrace(callers, 200);
    for (int i = 0; i < count; i++)
        to.callers.push_back(reinterpret_cast<uint64_t>(callers[i]));
    uint64_t* r = to.registers.data();
    asm volatile("mov %%rbx, 24(%0)\n\tmov %%rbp, 48(%0)\n\tmov %%rsp, 56(%0)\n\t"
                 "mov %%r12, 96(%0)\n\tmov %%r13, 104(%0)\n\tmov %%r14, 112(%0)\n\t"
                 "mov %%r15, 120(%0)\n\tlea (%%rip), %%rcx\n\tmov %%rcx, 128(%0)"
                 :
                 : "a"(r)
                 : "rcx", "memory");
    const auto* end = static_cast<const volatile uint64_t*>(__libc_stack_end);
    for (const auto* at = reinterpret_cast<const volatile uint64_t*>(r[analyze::FrameState::kSp]);
         at < end; at++)
        to.stack.push_back(uint64_t{*at});
    return count;
}

} // namespace daybreak::test
