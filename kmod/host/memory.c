// SPDX-License-Identifier: GPL-2.0-only
/*
 * memory.c - the engine's host: memory, and memory that is not ours
 *
 * Rings are whole blocks of the page allocator: direct-mapped, so that a record
 * stored in NMI meets no page fault and no TLB miss of vmalloc's, and physically
 * contiguous, so that a dump holds a segment in one piece.
 */
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include <linux/uaccess.h>

#include "engine/api/host.h"
#include "formats/abi/meta.h"
#include "formats/abi/segment.h"
#include "arch/memory.h"
#include "kmod/bank/bank.h"
#include "kmod/host/string_load.h"

/* A ring's description, its DOF, probes and ECBs, and the latter once more when they grow. */
#define DBK_BANK_METADATA_BYTES (384u << 10)

/* May fail, and then does: what a program asks for is not worth another process. */
void *dbk_host_alloc(size_t bytes)
{
	return kvzalloc(bytes, GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
}

void dbk_host_free(void *memory)
{
	kvfree(memory);
}

/* __GFP_COMP: a mapping takes a reference of its own, which outlives the ring (control/mmap.c). */
bool dbk_host_pages_alloc(uint32_t bytes, enum dbk_pages_from from, uint32_t cpu,
			  struct dbk_pages *pages_ret)
{
	int node = cpu == DBK_CPU_NONE ? NUMA_NO_NODE : cpu_to_mem(cpu);
	struct page *page;

	if (bytes == 0 || bytes > DBK_PAGES_BYTES_MAX || bytes % PAGE_SIZE != 0)
		return false;
	if (dbk_bank_alloc(bytes, pages_ret))
		return true;
	if (from == DBK_PAGES_BANK)
		return false;
	/* Another node's, if that one has none: it may not be there at all. */
	page = alloc_pages_node(node, GFP_KERNEL | __GFP_ZERO | __GFP_COMP | __GFP_NOWARN | __GFP_NORETRY,
				get_order(bytes));
	if (!page)
		return false;
	*pages_ret = (struct dbk_pages){
		.address = page_address(page),
		.phys_addr = page_to_phys(page),
		.bytes = bytes,
		.host_data = page,
	};
	return true;
}

/* What the machine can give without swapping: who took it all would have others killed later. */
static uint64_t available_bytes(void)
{
	long pages = si_mem_available();

	return pages > 0 ? (uint64_t)pages << PAGE_SHIFT : 0;
}

/* An eighth of what the machine has left, each time: vmalloc takes all there is before it fails. */
uint64_t dbk_host_alloc_max(void)
{
	return available_bytes() / 8;
}

/* Half of what the machine has left: the rest must go on.  In the bank: all but what metadata needs. */
uint64_t dbk_host_pages_max(enum dbk_pages_from from)
{
	if (from == DBK_PAGES_BANK) {
		u64 left = dbk_bank_free_bytes();
		u64 metadata = DBK_BANK_METADATA_BYTES + left / 16;

		return left > metadata ? left - metadata : 0;
	}
	return available_bytes() / 2;
}

/*
 * What was a ring's must not be taken for one in a dump: after the module was loaded again, ring 1
 * of the same boot would be there twice.  Pages that a process still maps are left to that reader.
 */
static void forget_pieces(const struct dbk_pages *pages)
{
	uint32_t offset;

	if (page_count(pages->host_data) != 1)
		return;
	for (offset = 0; offset < pages->bytes; offset += PAGE_SIZE) {
		uint32_t *magic = pages->address + offset;

		if (*magic == DBK_SEGMENT_MAGIC || *magic == DBK_META_MAGIC ||
		    *magic == DBK_AGGBUF_MAGIC)
			*magic = 0;
	}
}

void dbk_host_pages_free(struct dbk_pages *pages)
{
	if (!pages->address)
		return;
	if (dbk_bank_has(pages->address)) {
		dbk_bank_free(pages);
	} else {
		forget_pieces(pages);
		__free_pages(pages->host_data, get_order(pages->bytes));
	}
	pages->address = NULL;
}

/* An integer is peeked at: copy_from_kernel_nofault() asks more of the address, counts as without page
 * faults, and loops. */
__probe_ctx bool dbk_host_load(void *to, uint64_t address, uint32_t bytes)
{
	const void *from = (const void *)(unsigned long)address;
	const bool is_integer = bytes == 8 || bytes == 4 || bytes == 2 || bytes == 1;
	uint64_t value __dbk_unset;

	if (unlikely(!is_integer || !dbk_memory_is_kernels(address)))
		return copy_from_kernel_nofault(to, from, bytes) == 0;
	if (!dbk_host_peek(&value, address, bytes))
		return false;
	dbk_text_copy(to, (const char *)&value, bytes);
	return true;
}

/* Not in the kernel's half: copy_from_user_nofault() checks the range itself. */
__probe_ctx bool dbk_host_load_user(void *to, uint64_t address, uint32_t bytes)
{
	return copy_from_user_nofault(to, (const void __user *)(unsigned long)address, bytes) == 0;
}

__probe_ctx int32_t dbk_host_load_string(char *to, uint64_t address, uint32_t bytes)
{
	return dbk_string_load(to, address, bytes, dbk_host_load);
}

/*
 * A string of the process by whole words.  copy_from_user_nofault() looks for each piece at what it is copied
 * to, which for most strings is more work than the string.
 * @done_ret: bytes that are there, none of them a NUL, when nothing else is known
 *
 * Return: the length; -EFAULT; or -EAGAIN: what is left is not a whole word, or in the next page.
 */
static __probe_ctx_inline int32_t load_words(char *to, unsigned long address, uint32_t bytes,
					     uint32_t *done_ret)
{
	const char __user *from = (const char __user *)address;
	int32_t result = -EAGAIN;
	/* No word crosses a page: what lies in the next one is not the string's. */
	uint32_t page_left = (uint32_t)(PAGE_SIZE - offset_in_page(from)), done;
	uint32_t most = bytes - 1 < page_left ? bytes - 1 : page_left;
	uint64_t word __dbk_unset, first;

	*done_ret = 0;
	if (!current->mm || !dbk_memory_is_loaded(current->mm) || !user_access_begin(from, bytes))
		return result;
	for (done = 0; done + 8 <= most; done += 8) {
		unsafe_get_user(word, (const uint64_t __user *)(from + done), fault);
		first = dbk_nul_bit(word);
		if (first != 0) {
			word &= (first >> 7) - 1;
			__builtin_memcpy(to + done, &word, 8);
			result = (int32_t)(done + dbk_nul_at(first));
			break;
		}
		__builtin_memcpy(to + done, &word, 8);
	}
	goto out;

fault:
	result = -EFAULT;
out:
	user_access_end();
	*done_ret = done;
	return result;
}

__probe_ctx int32_t dbk_host_load_user_string(char *to, uint64_t address, uint32_t bytes)
{
	uint32_t done;
	int32_t length;

	pagefault_disable();
	length = load_words(to, address, bytes, &done);
	pagefault_enable();
	if (likely(length >= 0))
		return length;
	if (length == -EAGAIN) {
		length = dbk_string_load(to + done, address + done, bytes - done,
					 dbk_host_load_user);
		if (length >= 0)
			return (int32_t)done + length;
	}
	memset(to, 0, done);
	return -EFAULT;
}
