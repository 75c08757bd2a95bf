// SPDX-License-Identifier: Apache-2.0
//
// CpuSampler: what each CPU of this machine is doing, so many times a second.
//
// perf_event_open(2)'s clock per CPU.  It makes profile-N real where there is no module: the
// process, the address and the stacks are those that the CPU was found with.
#pragma once

#include "base/file.hpp"
#include "base/result.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace daybreak::live {

/// One look at one CPU.
struct CpuSample {
    uint32_t cpu = 0, pid = 0, tid = 0;
    uint64_t mono_ns = 0;
    uint64_t kernel_pc = 0, user_pc = 0;            ///< one of them is 0
    std::vector<uint64_t> kernel_stack, user_stack; ///< innermost first
};

class CpuSampler {
public:
    /// Begins to sample every CPU.  Error: io, when the machine or its settings do not allow it.
    static base::Result<CpuSampler> start(uint64_t interval_ns, uint32_t cpu_count);

    CpuSampler(CpuSampler&&) noexcept = default;
    CpuSampler& operator=(CpuSampler&&) = delete;
    ~CpuSampler();

    /// Hands over the samples since the last call that are no later than `until_ns`, CPU by CPU.
    void take(uint64_t until_ns, const std::function<void(const CpuSample&)>& sampled);

private:
    struct Cpu {
        uint32_t number = 0;
        base::ScopedFd fd;
        void* pages = nullptr; ///< mapped
    };

    CpuSampler() = default;
    static void take_from(Cpu& cpu, uint64_t until_ns,
                          const std::function<void(const CpuSample&)>& sampled);

    std::vector<Cpu> cpus_;
};

} // namespace daybreak::live
