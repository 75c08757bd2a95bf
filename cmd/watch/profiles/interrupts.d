/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interrupts.d - how often devices interrupt, by line, handler and CPU
 *
 * It counts for the whole machine: an interrupt is of no program.
 */
#pragma D option quiet

sdt:vmlinux::irq_handler_entry
{
	@[args[0], stringof(args[1]->name), cpu] = count();
}

dtrace:::END
{
	printa("%5d %-24s cpu %-4d %@10d\n", @);
}
