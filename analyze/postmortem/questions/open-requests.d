/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open-requests.d - which requests to disks had not ended, and for how long, us
 *
 * $1 is the time of the end, CLOCK_MONOTONIC.  Asks for args[0]->b_addr, args[0]->b_blkno and
 * args[1]->dev_statname at io:::start and io:::done.
 */
#pragma D option quiet

io:::start
{
	began[args[0]->b_addr] = timestamp;
	block[args[0]->b_addr] = args[0]->b_blkno;
	@us[args[1]->dev_statname, args[0]->b_blkno] = sum(($1 - timestamp) / 1000);
}

io:::done
/began[args[0]->b_addr]/
{
	@us[args[1]->dev_statname, block[args[0]->b_addr]] = sum(-(($1 - began[args[0]->b_addr]) / 1000));
	began[args[0]->b_addr] = 0;
}
