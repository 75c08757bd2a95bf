/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * vminfo.h - provider vminfo: what the memory management does, a probe for each of its counters
 *
 * arg0 is by how much the counter goes up; those of swapping count pages.
 */
/* A fault that has to wait for its page is begun again. */
DBK_PLACE(vminfo, "vmlinux", "", "as_fault", "6.1+", RETURN, handle_mm_fault, (unsigned long result),
	  !(result & VM_FAULT_RETRY), PASS(1))
DBK_PLACE(vminfo, "vmlinux", "", "maj_fault", "6.1+", RETURN, handle_mm_fault, (unsigned long result),
	  !(result & VM_FAULT_ERROR) && (result & VM_FAULT_MAJOR), PASS(1))

/* A write to a page that others may have too: it is copied, or taken over when it is the last. */
DBK_PLACE(vminfo, "vmlinux", "", "cow_fault", "6.1+", ENTRY, do_wp_page, (), true, PASS(1))
DBK_PLACE(vminfo, "vmlinux", "", "prot_fault", "6.1+", ENTRY, bad_area_access_error, (), true, PASS(1))
DBK_PLACE(vminfo, "vmlinux", "", "zfod", "6.12+", ENTRY, do_anonymous_page, (), true, PASS(1))
DBK_PLACE(vminfo, "vmlinux", "", "pgrrun", "6.1+", ENTRY, balance_pgdat, (), true, PASS(1))
DBK_PLACE(vminfo, "vmlinux", "", "anonpgin", "6.1", ENTRY, swap_readpage, (), true, PASS(1))
DBK_PLACE(vminfo, "vmlinux", "", "anonpgin", "6.12+", ENTRY, swap_read_folio, (struct folio *folio),
	  true, PASS(folio_nr_pages(folio)))
DBK_PLACE(vminfo, "vmlinux", "", "pgswapin", "6.1", ENTRY, swap_readpage, (), true, PASS(1))
DBK_PLACE(vminfo, "vmlinux", "", "pgswapin", "6.12+", ENTRY, swap_read_folio, (struct folio *folio),
	  true, PASS(folio_nr_pages(folio)))
DBK_PLACE(vminfo, "vmlinux", "", "anonpgout", "6.1+", ENTRY, __swap_writepage, (struct folio *folio),
	  true, PASS(folio_nr_pages(folio)))
DBK_PLACE(vminfo, "vmlinux", "", "pgswapout", "6.1+", ENTRY, __swap_writepage, (struct folio *folio),
	  true, PASS(folio_nr_pages(folio)))

DBK_ABSENT(vminfo, "anonfree", "Linux does not count freed pages by what they held")
DBK_ABSENT(vminfo, "execfree", "Linux does not count freed pages by what they held")
DBK_ABSENT(vminfo, "fsfree", "Linux does not count freed pages by what they held")
DBK_ABSENT(vminfo, "dfree", "Linux does not count freed pages by what they held")
DBK_ABSENT(vminfo, "execpgin", "pages of programs are pages of files: io:::start")
DBK_ABSENT(vminfo, "execpgout", "pages of programs are pages of files: io:::start")
DBK_ABSENT(vminfo, "fspgin", "io:::start has what is read, in bytes")
DBK_ABSENT(vminfo, "fspgout", "io:::start has what is written, in bytes")
DBK_ABSENT(vminfo, "pgin", "io:::start has what is read, in bytes")
DBK_ABSENT(vminfo, "pgout", "io:::start has what is written, in bytes")
DBK_ABSENT(vminfo, "pgpgin", "io:::start has what is read, in bytes")
DBK_ABSENT(vminfo, "pgpgout", "io:::start has what is written, in bytes")
DBK_ABSENT(vminfo, "scan", "sdt:::mm_vmscan_lru_isolate has how many pages are looked at")
DBK_ABSENT(vminfo, "rev", "the list of pages has no clock hand")
DBK_ABSENT(vminfo, "pgfrec", "pages that are taken back from the free list are not counted")
DBK_ABSENT(vminfo, "pgrec", "pages that are taken back are not counted")
DBK_ABSENT(vminfo, "hat_fault", "page tables are not filled apart from address spaces")
DBK_ABSENT(vminfo, "kernel_asflt", "the kernel is not paged")
DBK_ABSENT(vminfo, "softlock", "pages are not locked for I/O by a fault")
DBK_ABSENT(vminfo, "swapin", "processes are not swapped as a whole")
DBK_ABSENT(vminfo, "swapout", "processes are not swapped as a whole")
