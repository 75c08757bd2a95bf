// SPDX-License-Identifier: GPL-2.0-only
/*
 * device_mmap.c - reading regions where they lie
 *
 * A mapping holds a reference of every page it shows, taken when it is made:
 * when the ring goes, its pages stay until the last mapping has gone, and then
 * go by themselves.  A mapping can be read, and never be made writable.
 */
#include <linux/fs.h>
#include <linux/mm.h>

#include "kmod/core/device.h"
#include "kmod/core/ring.h"

static void vma_forbid_writing(struct vm_area_struct *vma)
{
#ifdef DBK_HAVE_VM_FLAGS_CLEAR
	vm_flags_clear(vma, VM_MAYWRITE | VM_MAYEXEC);
#else
	vma->vm_flags &= ~(VM_MAYWRITE | VM_MAYEXEC);
#endif
}

int dbk_device_mmap(struct file *file, struct vm_area_struct *vma)
{
	unsigned long bytes = vma->vm_end - vma->vm_start;
	unsigned long count = bytes >> PAGE_SHIFT;
	struct dbk_pages pages;
	struct page *page;
	int err = 0;

	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EACCES;
	vma_forbid_writing(vma);

	/* Under [S] the ring cannot go while its pages' references are taken. */
	mutex_lock(&dbk.mutex);
	if (!dbk_rings_region_pages((u64)vma->vm_pgoff << PAGE_SHIFT, &pages) ||
	    bytes > pages.bytes)
		err = -EINVAL;
	for (page = pages.host_data; !err && count != 0; count--, page++)
		err = vm_insert_page(vma, vma->vm_end - (count << PAGE_SHIFT), page);
	mutex_unlock(&dbk.mutex);
	return err;
}
