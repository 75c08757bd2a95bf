// SPDX-License-Identifier: GPL-2.0-only
/*
 * mmap.c - reading regions where they lie
 *
 * A mapping holds a reference of every page it shows, taken when it is made:
 * when the ring goes, its pages stay until the last mapping has gone, and then
 * go by themselves.  Blocks in a bank do the same by counting mappings (bank.c).
 * A mapping can be read, and never be made writable or longer; it is in no core dump.
 */
#include <linux/fs.h>
#include <linux/mm.h>

#include "kmod/bank/bank.h"
#include "kmod/control/device.h"
#include "kmod/core/regions.h"

static void vma_restrict(struct vm_area_struct *vma)
{
#ifdef DBK_HAVE_VM_FLAGS_MOD
	vm_flags_mod(vma, VM_DONTEXPAND | VM_DONTDUMP, VM_MAYWRITE | VM_MAYEXEC);
#else
	vma->vm_flags &= ~(VM_MAYWRITE | VM_MAYEXEC);
	vma->vm_flags |= VM_DONTEXPAND | VM_DONTDUMP;
#endif
}

static int pages_insert(struct vm_area_struct *vma, const struct dbk_pages *pages)
{
	unsigned long count = vma_pages(vma);
	struct page *page = pages->host_data;
	int err = 0;

	for (; !err && count != 0; count--, page++)
		err = vm_insert_page(vma, vma->vm_end - (count << PAGE_SHIFT), page);
	return err;
}

int dbk_device_mmap(struct file *file, struct vm_area_struct *vma)
{
	unsigned long bytes = vma->vm_end - vma->vm_start;
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	struct dbk_pages pages;
	int err;

	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EACCES;
	vma_restrict(vma);

	/* Under [L] the ring cannot go while its pages' references are taken. */
	mutex_lock(&dbk.look_mutex);
	err = dbk_bank_region_mmap(vma, offset);
	if (err == -ENOENT) {
		if (!dbk_rings_region_pages(offset, &pages) || bytes > pages.bytes)
			err = -EINVAL;
		else if (dbk_bank_has(pages.address))
			err = dbk_bank_mmap(vma, &pages);
		else
			err = pages_insert(vma, &pages);
	}
	mutex_unlock(&dbk.look_mutex);
	return err;
}
