// SPDX-License-Identifier: Apache-2.0
//
//   record_calls SEED HOST IMAGES PROGRAM.dof OUT.dbrk
//
// Records the system calls of a simulated machine's processes, with maps: the addresses of their
// stacks lie in some file, at some offset, and after each exec at another; IMAGES is 1 or 2.
#include "base/file.hpp"
#include "engine/sim/machine.hpp"
#include "engine/sim/sim_host.hpp"
#include "engine/sim/sim_kernel.hpp"
#include "formats/trace/writer.hpp"
#include "tests/support/maps_block.hpp"
#include "tests/support/segment_builder.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <set>
#include <utility>

using namespace daybreak;

namespace {

constexpr uint32_t kPids[] = {1, 611, 1033}; // of engine/sim/machine.cpp
constexpr uint64_t kPage = 4096;
constexpr uint32_t kFiles = 3, kPlaces = 2;
constexpr int kCalls = 2000;

base::Bytes maps_block(uint64_t boot_id, const std::vector<uint64_t>& execs,
                       std::mt19937_64& random) {
    test::MapsBlock maps;
    uint32_t files[kFiles];
    for (uint8_t i = 0; i < kFiles; i++)
        files[i] = maps.file("/lib/lib" + std::string(1, static_cast<char>('a' + i)) + ".so",
                             static_cast<char>(kFiles - i));
    std::set<std::pair<uint32_t, uint64_t>> unmapped; // in each image of the process
    for (uint32_t pid : kPids)
        for (uint64_t address : sim::user_stack())
            if (random() % 8 == 0)
                unmapped.emplace(pid, address / kPage * kPage);
    for (uint64_t when : execs)
        for (uint32_t pid : kPids) {
            maps.image(pid, when);
            for (uint64_t address : sim::user_stack())
                if (uint64_t begin = address / kPage * kPage; !unmapped.contains({pid, begin})) {
                    const uint64_t offset = random() % kPlaces * kPage; // before the file's number
                    maps.mapping(pid, when + 1, begin, begin + kPage, offset,
                                 files[random() % kFiles]);
                }
        }
    test::RingBuilderOptions options;
    options.boot_id = boot_id;
    base::Bytes block;
    test::RingBuilder(options).machine_block(block, DBK_META_MAPS, maps.bytes());
    return block;
}

base::Result<formats::Recording> record(sim::SimHost& host, base::ByteView dof, uint64_t seed) {
    DBK_TRY(auto machine, sim::SimMachine::create(host, seed));
    sim::SimulationOptions options;
    options.name = "calls";
    DBK_TRY(auto simulation, sim::Simulation::load(host, dof, options));
    DBK_TRY_VOID(simulation->start());
    for (int i = 0; i < kCalls; i++)
        host.clock().advance(machine->step(*simulation));
    simulation->finish();
    return simulation->recording();
}

base::Result<void> write(const char* path, const formats::TraceHeader& header,
                         const formats::Recording& recording, uint64_t moved, base::ByteView maps) {
    std::ofstream file(path, std::ios::binary);
    DBK_TRY(auto writer, formats::TraceWriter::create(
                             [&file](base::ByteView bytes) {
                                 file.write(reinterpret_cast<const char*>(bytes.data()),
                                            static_cast<std::streamsize>(bytes.size()));
                                 return base::Result<void>();
                             },
                             header));
    formats::SymbolTable symbols;
    const formats::SymbolTable known = sim::kernel_symbols();
    for (const formats::Symbol& symbol : known.symbols())
        symbols.add(symbol.address + moved, symbol.type, symbol.name, "vmlinux");
    symbols.finish();
    DBK_TRY_VOID(writer.add_symbols(symbols));
    DBK_TRY_VOID(writer.add_piece(maps));
    for (base::ByteView block : recording.metadata)
        DBK_TRY_VOID(writer.add_piece(block));
    for (const formats::CpuInfo& cpu : recording.rings[0].cpus)
        for (const formats::SegmentInfo& segment : cpu.segments) {
            DBK_TRY(auto bytes, segment.bytes.load());
            DBK_TRY_VOID(writer.add_piece(bytes.bytes));
        }
    DBK_TRY_VOID(writer.finish({}));
    return {};
}

base::Result<void> run(char** arguments) {
    std::mt19937_64 random(std::strtoull(arguments[1], nullptr, 0));
    DBK_TRY(base::Bytes dof, base::read_file(arguments[4], 1u << 20));
    sim::BareHostConfig config;
    std::ranges::generate(config.boot_uuid, [&] { return static_cast<uint8_t>(random()); });
    DBK_TRY(auto host, sim::SimHost::create(config, {}));
    const uint64_t begin_ns = host->clock().now_mono_ns();
    DBK_TRY(formats::Recording recording, record(*host, dof, random()));
    const uint64_t middle_ns = (begin_ns + host->clock().now_mono_ns()) / 2;
    formats::TraceHeader header;
    header.boot_uuid = host->boot_uuid();
    header.origin = formats::TraceOrigin::simulator;
    header.hostname = arguments[2];
    // Without a build id the kernel's functions are known by their names, wherever they lie.
    std::mt19937_64 kernel(std::strtoull(arguments[1], nullptr, 0) + 1);
    const bool has_build_id = kernel() % 2 == 0;
    if (has_build_id)
        header.modules = {{"vmlinux", 0, 0, sim::kernel_build_id()}};
    const uint64_t moved = has_build_id ? 0 : kernel() % 3 * kPage;
    std::vector<uint64_t> execs{1, middle_ns};
    execs.resize(std::strtoull(arguments[3], nullptr, 0));
    return write(arguments[5], header, recording, moved,
                 maps_block(recording.boot_id, execs, random));
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 6)
        return 2;
    auto done = run(argv);
    if (!done.ok())
        std::fprintf(stderr, "record_calls: %s\n", done.error().message().c_str());
    return done.ok() ? 0 : 1;
}
