// SPDX-License-Identifier: Apache-2.0
//
// CpuSampler: what each CPU of this machine is doing.
#include "live/process/cpu_sampler.hpp"

#include "base/page.hpp"

#include <cstring>
#include <ctime>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace daybreak::live {

using base::kPageBytes;

namespace {

/// A header page and a power of two: room for thousands of samples between two looks.
constexpr size_t kDataPages = 256;
constexpr size_t kDataBytes = kDataPages * kPageBytes;
/// kernel.perf_event_max_stack is 127 by default; more is cut.
constexpr uint64_t kSampledFramesMax = 256;

int open_clock(uint64_t interval_ns, uint32_t cpu) {
    perf_event_attr attributes{};
    attributes.size = sizeof(attributes);
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = PERF_COUNT_SW_CPU_CLOCK;
    attributes.sample_period = interval_ns;
    attributes.sample_type =
        PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN;
    attributes.use_clockid = 1;
    attributes.clockid = CLOCK_MONOTONIC;
    return static_cast<int>(::syscall(SYS_perf_event_open, &attributes, -1, static_cast<int>(cpu),
                                      -1, PERF_FLAG_FD_CLOEXEC));
}

/// Reads words of a sample, in the order of perf_event_open(2).
class SampleReader {
public:
    explicit SampleReader(base::ByteView bytes) : bytes_(bytes) {}
    uint64_t word() {
        uint64_t value = 0;
        if (bytes_.size() >= sizeof(value)) {
            std::memcpy(&value, bytes_.data(), sizeof(value));
            bytes_ = bytes_.subspan(sizeof(value));
        }
        return value;
    }
    bool empty() const { return bytes_.size() < sizeof(uint64_t); }

private:
    base::ByteView bytes_;
};

CpuSample parse_sample(uint32_t cpu, bool in_user, base::ByteView body) {
    SampleReader reader(body);
    CpuSample sample;
    sample.cpu = cpu;
    uint64_t pc = reader.word(), ids = reader.word();
    sample.mono_ns = reader.word();
    uint64_t frames = reader.word();
    (in_user ? sample.user_pc : sample.kernel_pc) = pc;
    sample.pid = static_cast<uint32_t>(ids);
    sample.tid = static_cast<uint32_t>(ids >> 32);
    std::vector<uint64_t>* stack = nullptr;
    for (uint64_t i = 0; i < frames && i < kSampledFramesMax && !reader.empty(); i++) {
        uint64_t frame = reader.word();
        if (frame == static_cast<uint64_t>(PERF_CONTEXT_KERNEL))
            stack = &sample.kernel_stack;
        else if (frame == static_cast<uint64_t>(PERF_CONTEXT_USER))
            stack = &sample.user_stack;
        else if (frame >= static_cast<uint64_t>(PERF_CONTEXT_MAX))
            stack = nullptr;
        else if (stack != nullptr)
            stack->push_back(frame);
    }
    return sample;
}

} // namespace

base::Result<CpuSampler> CpuSampler::start(uint64_t interval_ns, uint32_t cpu_count) {
    CpuSampler sampler;
    for (uint32_t number = 0; number < cpu_count; number++) {
        Cpu cpu;
        cpu.number = number;
        cpu.fd = base::ScopedFd(open_clock(interval_ns, number));
        if (!cpu.fd.valid())
            return base::errno_errorf("cannot sample CPU %u", number);
        cpu.pages = ::mmap(nullptr, kPageBytes + kDataBytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                           cpu.fd.get(), 0);
        if (cpu.pages == MAP_FAILED)
            return base::errno_errorf("cannot map the samples of CPU %u", number);
        sampler.cpus_.push_back(std::move(cpu));
    }
    return sampler;
}

CpuSampler::~CpuSampler() {
    for (Cpu& cpu : cpus_)
        ::munmap(cpu.pages, kPageBytes + kDataBytes);
}

void CpuSampler::take_from(Cpu& cpu, uint64_t until_ns,
                           const std::function<void(const CpuSample&)>& sampled) {
    auto* header = static_cast<perf_event_mmap_page*>(cpu.pages);
    const auto* data = static_cast<const std::byte*>(cpu.pages) + kPageBytes;
    uint64_t head = __atomic_load_n(&header->data_head, __ATOMIC_ACQUIRE);
    uint64_t tail = header->data_tail;
    base::Bytes record;
    while (tail + sizeof(perf_event_header) <= head) {
        perf_event_header event;
        for (size_t i = 0; i < sizeof(event); i++)
            reinterpret_cast<std::byte*>(&event)[i] = data[(tail + i) % kDataBytes];
        if (event.size < sizeof(event) || tail + event.size > head)
            break;
        record.resize(event.size);
        for (size_t i = 0; i < record.size(); i++)
            record[i] = data[(tail + i) % kDataBytes];
        uint16_t mode = event.misc & PERF_RECORD_MISC_CPUMODE_MASK;
        if (event.type == PERF_RECORD_SAMPLE) {
            CpuSample sample = parse_sample(cpu.number, mode == PERF_RECORD_MISC_USER,
                                            base::ByteView(record).subspan(sizeof(event)));
            if (sample.mono_ns > until_ns)
                break;
            sampled(sample);
        }
        tail += event.size;
    }
    __atomic_store_n(&header->data_tail, tail, __ATOMIC_RELEASE);
}

void CpuSampler::take(uint64_t until_ns, const std::function<void(const CpuSample&)>& sampled) {
    for (Cpu& cpu : cpus_)
        take_from(cpu, until_ns, sampled);
}

} // namespace daybreak::live
