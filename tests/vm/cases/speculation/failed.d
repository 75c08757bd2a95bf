/* SPDX-License-Identifier: Apache-2.0 */
/* What a program opens is speculated; only what failed is committed. */
#pragma D option bufsize=8m
#pragma D option nspec=16
#pragma D option specsize=4k
#pragma D option cleanrate=200hz
#pragma D option quiet

syscall::openat:entry
/execname == "workload"/
{
	self->spec = speculation();
	self->path = arg1;
	@["asked"] = count();
}

syscall::openat:entry
/self->spec/
{
	speculate(self->spec);
	printf("TRY %d %d\n", tid, timestamp);
}

syscall::openat:return
/self->spec/
{
	speculate(self->spec);
	printf("PATH %d %s %d\n", tid, copyinstr(self->path), errno);
}

syscall::openat:return
/self->spec/
{
	@[errno != 0 ? "committed" : "discarded"] = count();
}

syscall::openat:return
/self->spec && errno != 0/
{
	commit(self->spec);
}

syscall::openat:return
/self->spec && errno == 0/
{
	discard(self->spec);
}

syscall::openat:return
/execname == "workload"/
{
	self->spec = 0;
	self->path = 0;
}

dtrace:::END
{
	printa("COUNT %s %@d\n", @);
}
