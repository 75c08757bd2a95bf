/* SPDX-License-Identifier: Apache-2.0 */
/* Between two getppid() of the target; faults of its children. */
#pragma D option quiet

int between;

syscall::getppid:entry /pid == $target/ { between = !between; }

vfs::vop_mkdir:entry, vfs::vop_link:entry, vfs::vop_symlink:entry, vfs::vop_rename:entry,
vfs::vop_readlink:entry, vfs::vop_remove:entry, vfs::vop_rmdir:entry
/between && pid == $target/
{
	printf("NAME %s %s\n", probefunc, args[2]);
	@module[probemod, stringof(args[1]->d_name.name) == args[2]] = count();
}

vfs:namei:lookup:entry /between && pid == $target/ { @paths[args[2]] = count(); }
vfs:namecache:lookup:hit /between && pid == $target/ { @hits[args[1]] = count(); }
vfs:namecache:lookup:hit-negative, vfs:namecache:lookup:miss /between && pid == $target/ { @n = count(); }
vfs:vop:vop_read:entry /between && pid == $target/ { @asked = sum(args[3]); }
vfs:vop:vop_read:return /between && pid == $target/ { @got = sum(args[0]); }

sysinfo:::sysread, sysinfo:::syswrite, sysinfo:::msg, sysinfo:::sema, sysinfo:::nthreads, sysinfo:::sysfork,
sysinfo:::readch, sysinfo:::writech
/between && pid == $target/
{
	@by[probename] = sum(args[0]);
}

sysinfo:::namei, vfs:namei:lookup:entry /between && pid == $target/
{
	@walked[probeprov == "vfs" ? "lookup" : "namei"] = count();
}

/* Of 6.1's fstat() the path is empty. */
vfs:namei:lookup:entry /between && pid == $target && args[2] != ""/ { @walked["named"] = count(); }

syscall::openat:entry /between && pid == $target/ { @walked[probefunc] = count(); }

vminfo::: /between && pid == $target/ { @memory[probename] = sum(arg0); }

proc:::fault /between && ppid == $target/ { printf("FAULT %d %d\n", args[1]->si_signo, args[0]); }

fsinfo:::create, fsinfo:::link, fsinfo:::symlink, fsinfo:::rename, fsinfo:::readlink, fsinfo:::remove, fsinfo:::mkdir, fsinfo:::rmdir
/between && pid == $target/
{
	printf("FS %s %s\n", probename, args[0]->fi_name);
}

fsinfo:::read, fsinfo:::write /between && pid == $target/ { @moved[probename, args[0]->fi_pathname] = sum(args[1]); }
fsinfo:::open /between && pid == $target/ { @opened[args[0]->fi_name] = count(); }

syscall::openat:entry /between && pid == $target/ { self->opening = 1; }
syscall::openat:return { self->opening = 0; }
dtmalloc::kmem_cache:malloc, dtmalloc::kmem_cache:free /self->opening/ { @caches[probename, args[0]->ks_shortdesc] = count(); }
dtmalloc::kmalloc: /between && pid == $target/ { @kmallocs[probename] = count(); }
dtmalloc:::malloc, dtmalloc:::free /between && pid == $target && (uint64_t)arg2 <= 16/ { printf("NOTHING %s %s\n", probefunc, probename); }
dtmalloc::kmem_cache:malloc /self->opening/ { @sizes[args[0]->ks_shortdesc] = max(args[3]); }

mac_framework:::mac-check-ok /between && pid == $target/ { @allowed[probefunc] = count(); }
mac_framework:::mac-check-err /between && ppid == $target/ { printf("REFUSED %s %d\n", probefunc, args[0]); }
fpuinfo::: /between && (pid == $target || ppid == $target)/ { @registers[probename] = count(); }

cpc:::page_faults-user-1 /between && pid == $target/ { @faults = count(); }
cpc:::page_faults-all-1 /between && pid == $target/ { @all_faults = count(); }

END
{
	printa("MODULE %s %d %@d\n", @module);
	printa("PATH %s %@d\n", @paths);
	printa("HIT %s %@d\n", @hits);
	printa("UNKNOWN %@d\n", @n);
	printa("READ %@d %@d\n", @asked, @got);
	printa("BY %s %@d\n", @by);
	printa("WALKED %s %@d\n", @walked);
	printa("MEMORY %s %@d\n", @memory);
	printa("FAULTS %@d %@d\n", @faults, @all_faults);
	printa("MOVED %s %s %@d\n", @moved);
	printa("OPENED %s %@d\n", @opened);
	printa("CACHE %s %s %@d\n", @caches);
	printa("SIZE %s %@d\n", @sizes);
	printa("KMALLOC %s %@d\n", @kmallocs);
	printa("ALLOWED %s %@d\n", @allowed);
	printa("REGISTERS %s %@d\n", @registers);
}
