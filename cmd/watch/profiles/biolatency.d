/* SPDX-License-Identifier: Apache-2.0 */
/*
 * biolatency.d - how long requests to disks take, us, by disk
 */
#pragma D option quiet

uint64_t began[uintptr_t];

io:::start
/watched/
{
	began[args[0]->b_addr] = timestamp;
}

io:::done
/began[args[0]->b_addr]/
{
	@[args[1]->dev_statname] = quantize((timestamp - began[args[0]->b_addr]) / 1000);
	began[args[0]->b_addr] = 0;
}
