/* SPDX-License-Identifier: Apache-2.0 */
/*
 * biosnoop.d - requests to disks: who, where, how much, and how long
 *
 * A filter is of who asked: a disk answers to whatever runs then.
 */
#pragma D option quiet

uint64_t began[uintptr_t];
string who[uintptr_t];
int whose[uintptr_t];

io:::start
/watched/
{
	began[args[0]->b_addr] = timestamp;
	who[args[0]->b_addr] = execname;
	whose[args[0]->b_addr] = pid;
}

io:::done
/began[args[0]->b_addr]/
{
	printf("%Y %s[%d]: %s %s %d bytes at sector %d, %d us\n", walltimestamp, who[args[0]->b_addr],
	    whose[args[0]->b_addr], args[1]->dev_statname, args[0]->b_flags & B_READ ? "read" : "write",
	    args[0]->b_bcount, args[0]->b_blkno, (timestamp - began[args[0]->b_addr]) / 1000);
	began[args[0]->b_addr] = 0;
	who[args[0]->b_addr] = 0;
	whose[args[0]->b_addr] = 0;
}
