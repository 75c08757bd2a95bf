// SPDX-License-Identifier: Apache-2.0
//
// Writes the seeds: a file of partial states, and two of its messages.
#include "compiler/compiler.hpp"
#include "formats/aggstate/cells.hpp"
#include "formats/aggstate/key.hpp"
#include "formats/aggstate/message.hpp"
#include "formats/aggstate/writer.hpp"

#include <cstdio>

using namespace daybreak;
using namespace daybreak::formats;

namespace {

/// What a merge runs: it prints what the states of sample_block() are of.
Bytes program() {
    daybreak::compiler::CompileOptions options;
    options.sources.push_back({"merged.d",
                               "merged:::none { @a[execname, stack(), ustack()] = stddev(1); } "
                               "BEGIN { } END { printa(@a); }"});
    return *daybreak::compiler::compile(options).dof;
}

StatePart sample_part() {
    StatePart part;
    part.dof = program();
    part.identity.host = "web-1";
    part.identity.boot_id = 7;
    part.identity.ring_id = 1;
    part.source = "BEGIN\n";
    part.images.push_back({"vmlinux", 0xffffffff81000000, 0x100000, Bytes(20, std::byte{9})});
    part.images.push_back({"libc.so.6", 0, 0x100000, Bytes(20, std::byte{8}), true});
    CoveredCpu cpu;
    cpu.newest = 9;
    cpu.committed = 95;
    cpu.runs = {{1, 4, 0, 40, 1000, 2000}, {7, 9, 70, 25, 3000, 4000}};
    part.cpus = {cpu, cpu};
    part.cpus[1].cpu = 1;
    return part;
}

StateBlock sample_block() {
    StateBlock block;
    block.aggregation = {"a",
                         DTRACEAGG_STDDEV,
                         0,
                         {{KeyTag::string, 256, DTRACEACT_DIFEXPR, false},
                          {KeyTag::stack, 0, DTRACEACT_STACK, false},
                          {KeyTag::ustack, 0, DTRACEACT_USTACK, false}}};
    CanonicalKey key;
    key.append(KeyTag::string, base::as_bytes("cat"));
    key.begin_frames(KeyTag::stack, 0);
    key.add_frame(Bytes(20, std::byte{9}), 0x123);
    key.add_address(0xffffffffc0000000);
    key.begin_frames(KeyTag::ustack, 711);
    key.add_frame(Bytes(20, std::byte{8}), 0x94d10, 0x7f3a10020d10);
    uint64_t cells[] = {3, 5, 0xffffffffffff, 2};
    append_state(block, key.bytes(), cells);
    cells[0] = 0;
    append_state(block, key.bytes(), cells);
    return block;
}

bool write(const std::string& path, ByteView bytes) {
    std::FILE* file = std::fopen(path.c_str(), "wb");
    bool done = file && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
    return file && std::fclose(file) == 0 && done;
}

Bytes sample_file() {
    Bytes file;
    StateWriter writer([&file](ByteView bytes) {
        file.insert(file.end(), bytes.begin(), bytes.end());
        return Result<void>();
    });
    StateBlock block = sample_block();
    StateCursor cursor(block);
    StateView state;
    DBK_ASSERT(cursor.next(state));
    uint64_t cells[] = {1, 2, 3, 4};
    DBK_ASSERT(writer.begin_part(sample_part()).ok());
    DBK_ASSERT(writer.add_symbols({{{{0, 0x100}, 'T', "start", "vmlinux"}}}).ok());
    DBK_ASSERT(writer.add(block.aggregation, state.key, cells).ok());
    DBK_ASSERT(writer.finish().ok());
    return file;
}

} // namespace

int main(int argc, char** argv) {
    std::string folder = argc > 1 ? argv[1] : ".";
    bool done = write(folder + "/sample.states", sample_file()) &&
                write(folder + "/part.message", encode_part(sample_part())) &&
                write(folder + "/states.message", encode_states(sample_block()));
    return done ? 0 : 1;
}
