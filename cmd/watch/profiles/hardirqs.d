/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hardirqs.d - how long interrupt handlers take, ns, by name
 *
 * It counts for the whole machine: an interrupt is of no program.
 */
#pragma D option quiet

uint64_t began[int];

sdt:vmlinux::irq_handler_entry
{
	began[cpu] = timestamp;
}

sdt:vmlinux::irq_handler_exit
/began[cpu]/
{
	@[stringof(args[1]->name)] = quantize(timestamp - began[cpu]);
	began[cpu] = 0;
}
