// SPDX-License-Identifier: GPL-2.0-only
/* What is unmapped comes as the state of a search, not as a tree. */
#include <linux/mm.h>

void probe(struct mmu_gather *tlb, struct ma_state *state, struct vm_area_struct *vma,
	   unsigned long begin, unsigned long end, unsigned long last)
{
	unmap_vmas(tlb, state, vma, begin, end, last, true);
}
