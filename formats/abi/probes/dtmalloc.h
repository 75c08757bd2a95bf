/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * dtmalloc.h - provider dtmalloc: allocations of the kernel, by FreeBSD's names
 *
 * arg0 is the struct kmem_cache, 0 of those that are chosen by size (kmalloc); arg1 from where, arg2 what was allocated, arg3 how
 * many bytes were asked for, arg4 how many it has.  What is freed by its address alone is function kmalloc's.  Each cache has probes of
 * its own, which have its name as their function (kmod/providers/dtmalloc.c).
 */
DBK_PLACE(dtmalloc, "vmlinux", "kmem_cache", "malloc", "6.1+", TRACEPOINT, kmem_cache_alloc,
	  (unsigned long caller, const void *object, struct kmem_cache *cache, gfp_t flags, int node),
	  !ZERO_OR_NULL_PTR(object), PASS(cache, caller, object, kmem_cache_size(cache), kmem_cache_size(cache)))
DBK_PLACE(dtmalloc, "vmlinux", "kmem_cache", "free", "6.1+", TRACEPOINT, kmem_cache_free,
	  (unsigned long caller, const void *object, const struct kmem_cache *cache),
	  !ZERO_OR_NULL_PTR(object), PASS(cache, caller, object))
DBK_PLACE(dtmalloc, "vmlinux", "kmalloc", "malloc", "6.1+", TRACEPOINT, kmalloc,
	  (unsigned long caller, const void *object, size_t asked, size_t bytes, gfp_t flags, int node),
	  !ZERO_OR_NULL_PTR(object), PASS(0, caller, object, asked, bytes))
DBK_PLACE(dtmalloc, "vmlinux", "kmalloc", "free", "6.1+", TRACEPOINT, kfree,
	  (unsigned long caller, const void *object), !ZERO_OR_NULL_PTR(object), PASS(0, caller, object))
