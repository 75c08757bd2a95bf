/* SPDX-License-Identifier: Apache-2.0 */
/* Something of everything that an enabling can hold. */
#pragma D option bufsize=64k

dtrace:::BEGIN
{
	start = timestamp;
	name["begin", 1] = 7;
}

syscall::getppid:entry
/execname == "workload" && pid > 1/
{
	self->calls++;
	this->half = self->calls / 2;
	@[execname, probefunc] = count();
	@sizes = quantize(this->half + name["begin", 1]);
	@steps = lquantize(self->calls % 100, 0, 100, 10);
	printf("%s %d %x\n", strjoin(execname, "!"), strlen(probefunc), curthread->flags);
}

syscall::openat:entry
/execname == "workload"/
{
	trace(copyinstr(arg1));
	@where[stack(4)] = count();
}

profile:::profile-97
{
	@cpu[cpu, arg0 != 0 ? "kernel" : "user"] = count();
}
