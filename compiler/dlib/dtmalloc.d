/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Provider dtmalloc: what args[] of its probes are.  args[3] is as FreeBSD has it.
 */

typedef struct malloc_type {
	string ks_shortdesc;		/* of the cache; "kmalloc" stands for all those by size */
} malloc_type_t;

translator malloc_type_t < struct kmem_cache *C > {
	ks_shortdesc = C == NULL ? "kmalloc" : stringof(C->name);
};

provider dtmalloc {
	probe malloc(struct kmem_cache *C, uintptr_t caller, void *object, size_t bytes, size_t bucket) :
	    (malloc_type_t *C, uintptr_t caller, void *object, size_t bytes, size_t bucket);
	probe free(struct kmem_cache *C, uintptr_t caller, void *object) :
	    (malloc_type_t *C, uintptr_t caller, void *object);
};
