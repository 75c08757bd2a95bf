/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disks.d - how long requests took, us by device
 *
 * Asks for: args[0]->b_addr and args[1]->dev_statname at io:::start and io:::done.
 */
#pragma D option quiet

io:::start
{
	began[args[0]->b_addr] = timestamp;
}

io:::done
/began[args[0]->b_addr]/
{
	@us[args[1]->dev_statname] = quantize((timestamp - began[args[0]->b_addr]) / 1000);
	began[args[0]->b_addr] = 0;
}
