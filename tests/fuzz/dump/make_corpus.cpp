// SPDX-License-Identifier: Apache-2.0
//
// Writes the seeds of the dump fuzzer: a small machine with a ring, in each format.
#include "tests/support/dump_writer.hpp"

#include <fstream>
#include <string>

using namespace daybreak::test;

namespace {

Machine make_machine() {
    RingBuilder ring({.segment_bytes = 8192, .segments_per_cpu = 2});
    uint32_t probe = ring.add_probe("syscall", "vmlinux", "read", "entry");
    uint32_t epid = ring.add_ecb(probe, {RingBuilder::integer_field(8, 8)}, 16);
    for (uint64_t i = 0; i < 700; i++)
        ring.record(0, epid, 1000 + i, RingBuilder::words({i}));
    Machine machine(80 << 10);
    machine.place(0x1000, ring.segment_memory(0));
    machine.place(0x6000, ring.metadata_memory());
    machine.exclude(0x2000);
    return machine;
}

void write(const std::string& path, const Bytes& bytes) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2)
        return 2;
    std::string folder = argv[1];
    Machine machine = make_machine();
    Bytes packed = kdump_dump(machine, 1, zlib_packed);
    write(folder + "/elf.dump", elf_dump(machine));
    write(folder + "/kdump-zlib.dump", packed);
    write(folder + "/kdump-zstd.dump", kdump_dump(machine, 0x20, zstd_packed));
    write(folder + "/flattened.dump", flattened(packed));
    write(folder + "/raw.dump", machine.memory());
    return 0;
}
