/* SPDX-License-Identifier: Apache-2.0 */
/* The clauses of a firing see one timestamp: with its CPU it is the witness of what belongs together. */
#pragma D option quiet
#pragma D option bufsize=8m
#pragma D option aggregate=record
#pragma D option nspec=16
#pragma D option specsize=4k
#pragma D option cleanrate=200hz

syscall::getppid:entry
/execname == "workload"/
{
	printf("PLAIN %d %d 1\n", cpu, timestamp);
}

syscall::getppid:entry
/execname == "workload"/
{
	printf("PLAIN %d %d 2\n", cpu, timestamp);
}

syscall::getppid:entry
/execname == "workload" && timestamp % 2 == 0/
{
	printf("PLAIN %d %d 3\n", cpu, timestamp);
}

syscall::getppid:return
/execname == "workload"/
{
	@returns = count();
	printa("SEEN 1 %@d\n", @returns);
}

syscall::getppid:return
/execname == "workload"/
{
	@returns = count();
	printa("SEEN 2 %@d\n", @returns);
}

syscall::openat:entry
/execname == "workload"/
{
	self->spec = speculation();
}

syscall::openat:entry
/self->spec/
{
	speculate(self->spec);
	printf("HELD %d %d 1\n", cpu, timestamp);
}

syscall::openat:entry
/self->spec/
{
	speculate(self->spec);
	printf("HELD %d %d 2\n", cpu, timestamp);
}

syscall::openat:return
/self->spec/
{
	speculate(self->spec);
	printf("HELD %d %d 1\n", cpu, timestamp);
}

syscall::openat:return
/self->spec/
{
	printf("PLAIN %d %d 1\n", cpu, timestamp);
}

syscall::openat:return
/self->spec/
{
	commit(self->spec);
	self->spec = 0;
}

fbt:vmlinux:nmi_cpu_backtrace_handler:entry
{
	printf("NMI %d %d 1\n", cpu, timestamp);
}

fbt:vmlinux:nmi_cpu_backtrace_handler:entry
{
	printf("NMI %d %d 2\n", cpu, timestamp);
}
