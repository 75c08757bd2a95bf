// SPDX-License-Identifier: Apache-2.0
//
// Dumps for tests: a machine's memory, written as each of the formats.
//
//     Machine machine(8 << 20);                      // 8 MiB of memory, noise in it
//     machine.place(0x100000, ring.segment_memory(0));
//     machine.exclude(0x101000);                     // a page that the dump shall not have
//     Bytes dump = elf_dump(machine);
//
// Nothing here is shared with the readers but the layouts of kdump_format.hpp.
#pragma once

#include "formats/abi/meta.h"
#include "formats/abi/segment.h"
#include "formats/dump/kdump_format.hpp"
#include "tests/support/segment_builder.hpp"

#include <algorithm>
#include <elf.h>
#include <endian.h>
#include <functional>
#include <set>
#include <zlib.h>
#include <zstd.h>

namespace daybreak::test {

constexpr size_t kPage = 4096;

/// Returns how many bytes the piece at the start of `memory` takes, 0 when there is none.
inline size_t piece_room(ByteView memory) {
    uint32_t head[3];
    if (memory.size() < sizeof(head))
        return 0;
    std::memcpy(head, memory.data(), sizeof(head));
    bool piece =
        head[0] == DBK_SEGMENT_MAGIC || head[0] == DBK_META_MAGIC || head[0] == DBK_AGGBUF_MAGIC;
    return piece ? head[2] : 0; // segment_bytes and block_bytes lie at the same place
}

class Machine {
public:
    /// Memory of so many bytes, most of it neither empty nor a piece.
    explicit Machine(size_t bytes) : memory_(bytes) {
        for (size_t page = 0; page < bytes / kPage; page++)
            if (page % 3 != 0) // every third is zeros
                for (size_t i = 0; i < kPage; i += 8)
                    memory_[page * kPage + i] = std::byte(page + i / 64);
    }

    /// Puts bytes there.
    void write(size_t phys_addr, ByteView bytes) {
        std::copy(bytes.begin(), bytes.end(),
                  memory_.begin() + static_cast<ptrdiff_t>(phys_addr));
    }
    /// Puts pieces there, each telling that it lies where it lies.
    void place(size_t phys_addr, Bytes pieces) {
        for (size_t at = 0; at < pieces.size();) {
            size_t room = piece_room(ByteView(pieces).subspan(at));
            uint32_t magic = 0;
            std::memcpy(&magic, pieces.data() + at, sizeof(magic));
            uint64_t address = phys_addr + at;
            size_t field = magic == DBK_META_MAGIC ? offsetof(dbk_meta_header, phys_addr)
                                                   : offsetof(dbk_segment_header, phys_addr);
            if (room != 0)
                std::memcpy(pieces.data() + at + field, &address, sizeof(address));
            at += std::max(room, kPage);
        }
        put(phys_addr, pieces);
    }
    /// Puts bytes there as they are: stale copies.
    void put(size_t phys_addr, ByteView bytes) {
        std::copy(bytes.begin(), bytes.end(), memory_.begin() + static_cast<ptrdiff_t>(phys_addr));
    }
    void exclude(size_t phys_addr) { excluded_.insert(phys_addr / kPage); }

    Bytes& memory() { return memory_; }
    size_t page_count() const { return memory_.size() / kPage; }
    ByteView page(size_t pfn) const { return ByteView(memory_).subspan(pfn * kPage, kPage); }
    bool has(size_t pfn) const { return !excluded_.contains(pfn); }

private:
    Bytes memory_;
    std::set<size_t> excluded_;
};

template <typename T>
void append_struct(Bytes& to, const T& value) {
    RingBuilder::append(to, &value, sizeof(value));
}

/// Runs of pages that the dump has: first, one past the last.
inline std::vector<std::pair<size_t, size_t>> runs_of(const Machine& machine) {
    std::vector<std::pair<size_t, size_t>> runs;
    for (size_t pfn = 0; pfn < machine.page_count(); pfn++) {
        if (!machine.has(pfn))
            continue;
        if (runs.empty() || runs.back().second != pfn)
            runs.push_back({pfn, pfn});
        runs.back().second = pfn + 1;
    }
    return runs;
}

constexpr const char* kVmcoreinfo = "OSRELEASE=6.1.0-test\nPAGESIZE=4096\nCRASHTIME=1700000000\n";

/// ELF, a PT_NOTE with VMCOREINFO, a PT_LOAD for each run of pages; a hole after a run is
/// memory that the header counts and the file has not.  `more` follows in VMCOREINFO.
inline Bytes elf_dump(const Machine& machine, const std::string& more = "") {
    auto runs = runs_of(machine);
    Bytes note;
    std::string text = kVmcoreinfo + more;
    append_struct(note, Elf64_Nhdr{11, static_cast<uint32_t>(text.size()), 0});
    RingBuilder::append(note, "VMCOREINFO\0\0", 12);
    RingBuilder::append(note, text.data(), text.size());
    note.resize((note.size() + 3) & ~size_t{3});
    Elf64_Ehdr header = {};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = ET_CORE;
    header.e_machine = EM_X86_64;
    header.e_phoff = sizeof(header);
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = static_cast<uint16_t>(runs.size() + 1);
    Bytes dump;
    append_struct(dump, header);
    size_t offset = sizeof(header) + header.e_phnum * sizeof(Elf64_Phdr);
    append_struct(dump, Elf64_Phdr{PT_NOTE, 0, offset, 0, 0, note.size(), note.size(), 4});
    offset += note.size();
    for (size_t i = 0; i < runs.size(); i++) {
        auto [first, end] = runs[i];
        size_t next = i + 1 < runs.size() ? runs[i + 1].first : machine.page_count();
        size_t bytes = (end - first) * kPage;
        append_struct(dump, Elf64_Phdr{PT_LOAD, 7, offset, 0, first * kPage, bytes,
                                       (next - first) * kPage, kPage});
        offset += bytes;
    }
    dump.insert(dump.end(), note.begin(), note.end());
    for (auto [first, end] : runs)
        for (size_t pfn = first; pfn < end; pfn++)
            RingBuilder::append(dump, machine.page(pfn).data(), kPage);
    return dump;
}

inline Bytes zlib_packed(ByteView page) {
    uLongf bytes = compressBound(page.size());
    Bytes packed(bytes);
    compress2(reinterpret_cast<Bytef*>(packed.data()), &bytes,
              reinterpret_cast<const Bytef*>(page.data()), page.size(), 1);
    packed.resize(bytes);
    return packed;
}

inline Bytes zstd_packed(ByteView page) {
    Bytes packed(ZSTD_compressBound(page.size()));
    packed.resize(ZSTD_compress(packed.data(), packed.size(), page.data(), page.size(), 1));
    return packed;
}

using PagePacker = std::function<Bytes(ByteView)>;

/// kdump-compressed; pages that do not get smaller are stored, pages of zeros share one.
inline Bytes kdump_dump(const Machine& machine, uint32_t flag, const PagePacker& pack) {
    size_t pages = machine.page_count(), map_bytes = (pages / 8 + kPage) / kPage * kPage;
    formats::KdumpHeader header = {};
    std::memcpy(header.signature, "KDUMP   ", 8);
    header.header_version = 6;
    std::strcpy(header.utsname[1], "deadhost");
    std::strcpy(header.utsname[2], "6.1.0-uts");
    header.block_bytes = kPage;
    header.sub_header_blocks = 1;
    header.bitmap_blocks = static_cast<uint32_t>(2 * map_bytes / kPage);
    header.max_pfn = static_cast<uint32_t>(pages);
    formats::KdumpSubHeader sub = {};
    sub.max_pfn_64 = pages;
    sub.vmcoreinfo_offset = kPage + sizeof(sub);
    sub.vmcoreinfo_bytes = std::strlen(kVmcoreinfo);
    Bytes dump;
    append_struct(dump, header);
    dump.resize(kPage);
    append_struct(dump, sub);
    RingBuilder::append(dump, kVmcoreinfo, sub.vmcoreinfo_bytes);
    dump.resize(2 * kPage + 2 * map_bytes);
    std::vector<size_t> dumped;
    for (size_t pfn = 0; pfn < pages; pfn++) {
        dump[2 * kPage + pfn / 8] |= std::byte(1u << pfn % 8);
        if (machine.has(pfn))
            dump[2 * kPage + map_bytes + pfn / 8] |= std::byte(1u << pfn % 8);
        if (machine.has(pfn))
            dumped.push_back(pfn);
    }
    Bytes data;
    size_t data_offset = dump.size() + dumped.size() * sizeof(formats::KdumpPage);
    formats::KdumpPage zeros = {};
    for (size_t pfn : dumped) {
        ByteView page = machine.page(pfn);
        bool empty =
            std::all_of(page.begin(), page.end(), [](std::byte b) { return b == std::byte{0}; });
        if (empty && zeros.bytes != 0) {
            append_struct(dump, zeros);
            continue;
        }
        Bytes packed = pack ? pack(page) : Bytes();
        bool smaller = pack && packed.size() < kPage;
        if (!smaller)
            packed.assign(page.begin(), page.end());
        formats::KdumpPage one{data_offset + data.size(), static_cast<uint32_t>(packed.size()),
                               smaller ? flag : 0, 0};
        if (empty)
            zeros = one;
        append_struct(dump, one);
        data.insert(data.end(), packed.begin(), packed.end());
    }
    dump.insert(dump.end(), data.begin(), data.end());
    return dump;
}

/// The flattened form of a file: pieces out of order, the header a second time at the end.
inline Bytes flattened(const Bytes& plain, size_t piece_bytes = 10000) {
    Bytes out;
    RingBuilder::append(out, "makedumpfile\0\0\0\0", 16);
    append_struct(out, htobe64(1));
    append_struct(out, htobe64(1));
    out.resize(kPage);
    auto piece = [&](size_t at, size_t bytes) {
        append_struct(out, htobe64(at));
        append_struct(out, htobe64(bytes));
        RingBuilder::append(out, plain.data() + at, bytes);
    };
    std::vector<size_t> starts;
    for (size_t at = 0; at < plain.size(); at += piece_bytes)
        starts.push_back(at);
    Bytes wrong(64, std::byte{0xee}); // overwritten by what follows
    append_struct(out, htobe64(uint64_t{100}));
    append_struct(out, htobe64(uint64_t{wrong.size()}));
    out.insert(out.end(), wrong.begin(), wrong.end());
    for (size_t i = 1; i < starts.size(); i += 2)
        piece(starts[i], std::min(piece_bytes, plain.size() - starts[i]));
    for (size_t i = 0; i < starts.size(); i += 2)
        piece(starts[i], std::min(piece_bytes, plain.size() - starts[i]));
    append_struct(out, ~uint64_t{0});
    append_struct(out, ~uint64_t{0});
    return out;
}

} // namespace daybreak::test
