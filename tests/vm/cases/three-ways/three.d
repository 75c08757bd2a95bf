/* SPDX-License-Identifier: Apache-2.0 */
/* What a program asks of the kernel, in every way there is to aggregate. */
#pragma D option quiet
#pragma D option bufsize=8m

syscall:::entry
/execname == "workload"/
{
	@calls[probefunc] = count();
	@arguments["arg2", probefunc] = quantize(arg2);
	@linear = lquantize(arg2, 0, 4096, 256);
	@log = llquantize(arg2, 10, 0, 4, 10);
	@sums[probefunc, cpu] = sum(arg2);
	@extremes["max"] = max(timestamp);
	@lowest["min"] = min(timestamp);
	@average = avg(arg2 % 4096);
	@deviation = stddev(arg2 % 4096);
	@threads[execname, pid, tid] = count();
	@stacks[stack(4)] = count();
	@functions[ufunc(uregs[R_RIP])] = count();
	self->begin = timestamp;
}

syscall:::return
/self->begin/
{
	@took[probefunc] = quantize(timestamp - self->begin);
	@returned[probefunc, arg1 < 0] = count();
	self->begin = 0;
}

/* Records that print, too. */
syscall::openat:entry
/execname == "workload"/
{
	printf("%d %s\n", arg2, probefunc);
}
