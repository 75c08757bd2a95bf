// SPDX-License-Identifier: Apache-2.0
//
// The layout of a kdump-compressed dump (makedumpfile, QEMU -z), for 64-bit little-endian machines.
//
//     block 0               header: signature, version, uname, block size, sizes of what follows
//     block 1 ..            sub-header: split ranges, where VMCOREINFO lies
//     then bitmap_blocks    two bitmaps of page frames: which are memory, which are in the dump
//     then                  one descriptor for each page of the second bitmap, in its order
//     then                  the pages, each packed by itself
//
// Not ours, so it is not part of formats/abi; written down from what the programs write.
#pragma once

#include <cstddef>
#include <cstdint>

namespace daybreak::formats {

struct KdumpHeader {
    char signature[8]; ///< "KDUMP   "
    uint32_t header_version;
    char utsname[6][65]; ///< sysname, nodename, release, version, machine, domainname
    char padding[6];
    uint64_t time_s, time_us;
    uint32_t status;
    uint32_t block_bytes; ///< the machine's page size as well
    uint32_t sub_header_blocks;
    uint32_t bitmap_blocks; ///< both bitmaps together
    uint32_t max_pfn;       ///< one more than the last; see KdumpSubHeader
    uint32_t total_ram_blocks, device_blocks, written_blocks, current_cpu, cpu_count;
};
static_assert(sizeof(KdumpHeader) == 464 && offsetof(KdumpHeader, status) == 424);

constexpr uint32_t kKdumpIncomplete = 0x8; ///< KdumpHeader::status: the disk was full
constexpr size_t kUtsNode = 1, kUtsRelease = 2;

struct KdumpSubHeader {
    uint64_t phys_base;
    uint32_t dump_level; ///< since header version 1
    uint32_t split;      ///< 2: this file is one of several
    uint64_t start_pfn, end_pfn;
    uint64_t vmcoreinfo_offset, vmcoreinfo_bytes;  ///< 3
    uint64_t note_offset, note_bytes;              ///< 4
    uint64_t erase_offset, erase_bytes;            ///< 5
    uint64_t start_pfn_64, end_pfn_64, max_pfn_64; ///< 6
};
static_assert(sizeof(KdumpSubHeader) == 104);

struct KdumpPage {
    uint64_t offset;
    uint32_t bytes;
    uint32_t flags; ///< PagePacking
    uint64_t page_flags;
};
static_assert(sizeof(KdumpPage) == 24);

} // namespace daybreak::formats
