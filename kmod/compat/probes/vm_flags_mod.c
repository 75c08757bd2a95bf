// SPDX-License-Identifier: GPL-2.0-only
/* vm_flags is constant and has accessors. */
#include <linux/mm.h>

void probe(struct vm_area_struct *vma)
{
	vm_flags_mod(vma, VM_DONTDUMP, VM_MAYWRITE);
}
