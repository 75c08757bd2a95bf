/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disk-latency.d - how long disks take, and how much was asked of them by whom
 *
 * io:::start fires where a request is submitted, in the process that waits for it; io:::done fires
 * wherever it ends.  b_addr is the same in both.
 */
#pragma D option quiet

uint64_t began[uintptr_t];

io:::start
{
	began[args[0]->b_addr] = timestamp;
	@bytes[args[1]->dev_statname, execname, args[0]->b_flags & B_READ ? "read" : "write"] = sum(args[0]->b_bcount);
}

io:::done
/began[args[0]->b_addr]/
{
	@us[args[1]->dev_statname] = quantize((timestamp - began[args[0]->b_addr]) / 1000);
	began[args[0]->b_addr] = 0;
}

dtrace:::END
{
	printf("%-8s %-16s %-6s %10s\n", "DISK", "PROGRAM", "", "BYTES");
	printa("%-8s %-16s %-6s %@10d\n", @bytes);
	printa("\n%s, us%@d\n", @us);
}
