/* SPDX-License-Identifier: Apache-2.0 */
/* Providers on few tracepoints, and the clock. */
#pragma D option bufsize=128k
#pragma D option bufpolicy=ring

syscall:::, proc:::, sched:::, io:::
{
	trace(timestamp);
	@[probename] = count();
}

profile-997, tick-5ms
{
	trace(arg0);
}
