/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * io.h - arg1 of the probes of provider io
 *
 * In kernel memory while the probe fires; compiler/dlib/io.d declares the same structure for its
 * translators, which tests/vm/cases/io compares with the devices' own counters.
 */
#ifndef DBK_ABI_IO_H
#define DBK_ABI_IO_H

#include "formats/abi/abi.h"

struct dbk_io {
	uint64_t bio;	     /* its address; if is_buffer that of a struct buffer_head */
	uint64_t sector;     /* where it begins on its device, in units of 512 bytes */
	uint64_t bytes;	     /* asked for */
	uint64_t left_bytes; /* done: of these, what was not transferred */
	uint64_t disk_name;  /* address of the whole disk's name */
	uint32_t device;     /* dev_t, 20 bits of minor number */
	uint32_t operation;  /* bi_opf of the bio */
	uint32_t error;	     /* done: blk_status_t, 0 when all is well */
	uint32_t is_buffer;
	uint64_t mapping;     /* address_space of the file whose page is its first; 0: of none */
	uint64_t device_name; /* address of the name of the device, a partition or the whole disk */
	uint64_t file_offset; /* with mapping: where in the file it begins, bytes */
};

DBK_ABI_SIZE(struct dbk_io, 80);
DBK_ABI_AT(struct dbk_io, bio, 0);
DBK_ABI_AT(struct dbk_io, sector, 8);
DBK_ABI_AT(struct dbk_io, bytes, 16);
DBK_ABI_AT(struct dbk_io, left_bytes, 24);
DBK_ABI_AT(struct dbk_io, disk_name, 32);
DBK_ABI_AT(struct dbk_io, device, 40);
DBK_ABI_AT(struct dbk_io, operation, 44);
DBK_ABI_AT(struct dbk_io, error, 48);
DBK_ABI_AT(struct dbk_io, is_buffer, 52);
DBK_ABI_AT(struct dbk_io, mapping, 56);
DBK_ABI_AT(struct dbk_io, device_name, 64);
DBK_ABI_AT(struct dbk_io, file_offset, 72);

#endif /* DBK_ABI_IO_H */
