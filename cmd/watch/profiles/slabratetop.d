/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slabratetop.d - kernel memory that is allocated, by cache or by size
 *
 * What is chosen by its size (kmalloc) is counted by that size.
 */
#pragma D option quiet

sdt:vmlinux::kmem_cache_alloc
/watched/
{
	@number[stringof(args[2]->name)] = count();
	@bytes[stringof(args[2]->name)] = sum(args[2]->object_size);
}

sdt:vmlinux::kmalloc
/watched/
{
	this->cache = strjoin("kmalloc-", lltostr(args[3]));
	@number[this->cache] = count();
	@bytes[this->cache] = sum(args[3]);
}

dtrace:::END
{
	printa("%-24s %@10d objects %@12d bytes\n", @number, @bytes);
}
