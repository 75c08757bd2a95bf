/* SPDX-License-Identifier: Apache-2.0 */
/* The system calls of one program, aggregated when they are printed. */
#pragma D option aggregate=record
#pragma D option bufsize=16m

syscall:::entry
/execname == "workload"/
{
	@[execname, probefunc] = count();
	@arguments["arg2", probefunc] = quantize(arg2);
	@extremes["arg2"] = max(arg2);
	@average = avg(arg2 % 4096);
}
