// SPDX-License-Identifier: Apache-2.0
//
// symbol_cost PROGRAM FRAMES: names so many different addresses of a process that ran PROGRAM, as a
// report names the frames of its stacks, and prints how many have a function and the CPU time of
// each of 500 parts of them in ns.
//
// The first, which loads the file's symbols, is not timed.
#include "analyze/symbols/address_names.hpp"
#include "analyze/symbols/recorded_names.hpp"
#include "tests/support/maps_block.hpp"

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <elf.h>
#include <fcntl.h>
#include <vector>

using namespace daybreak;

namespace {

constexpr uint32_t kPid = 4711;
constexpr uint64_t kBegin = 0x500000000000;
constexpr uint64_t kParts = 500;
constexpr uint64_t kMappedNs = 100, kMomentNs = 1000;

double cpu_ns() {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3)
        return 2;
    const std::string path = argv[1];
    const uint64_t frames = std::strtoull(argv[2], nullptr, 10);
    base::ScopedFd file(::open(path.c_str(), O_RDONLY));
    auto symbols = analyze::ObjectSymbols::read(file.get());
    const analyze::ObjectSymbols::Segment* code = nullptr;
    for (const auto& segment : symbols.segments())
        if (code == nullptr || segment.file_bytes > code->file_bytes)
            code = &segment;
    if (code == nullptr || frames < kParts || code->file_bytes / frames == 0)
        return 3;

    test::MapsBlock block;
    uint32_t number = block.file(path, symbols.build_id());
    block.image(kPid, kMappedNs);
    block.mapping(kPid, kMappedNs, kBegin, kBegin + code->file_bytes, code->file_offset, number);
    formats::ProcessMaps maps;
    if (maps.add(block.bytes()) != "")
        return 4;
    maps.finish();
    analyze::RecordedNames users(maps, {});
    analyze::AddressNames names(nullptr, &users);
    formats::ClockModel clock;
    analyze::AddressNames::Moment then(names, &clock, kMomentNs);

    const uint64_t step = code->file_bytes / frames;
    uint64_t named = 0;
    names.user_location(kPid, kBegin, true);
    std::vector<double> parts_ns;
    for (uint64_t part = 0, i = 0; part < kParts; part++) {
        const double from = cpu_ns();
        for (; i < frames * (part + 1) / kParts; i++)
            named +=
                names.user_location(kPid, kBegin + i * step, true).find('`') != std::string::npos;
        parts_ns.push_back(cpu_ns() - from);
    }
    std::printf("%llu", static_cast<unsigned long long>(named));
    for (double part_ns : parts_ns)
        std::printf(" %.0f", part_ns);
    std::printf("\n");
    return 0;
}
