/* SPDX-License-Identifier: Apache-2.0 */
/* What starts and what ends, by disk and operation; whether the end is that of its start. */
#pragma D option quiet
#pragma D option bufsize=4m
#pragma D option dynvarsize=8m

uint64_t sector[uintptr_t], bytes[uintptr_t], began[uintptr_t];

io:::start
{
	this->operation = ((dbk_io_t *)arg1)->operation & 0xff;
	@starts[args[1]->dev_statname, this->operation] = count();
	@asked[args[1]->dev_statname, this->operation] = sum(args[0]->b_bcount);
	sector[args[0]->b_addr] = args[0]->b_blkno;
	bytes[args[0]->b_addr] = args[0]->b_bcount;
	began[args[0]->b_addr] = timestamp;
}

io:::done
{
	this->operation = ((dbk_io_t *)arg1)->operation & 0xff;
	@ends[args[1]->dev_statname, this->operation] = count();
	@moved[args[1]->dev_statname, this->operation] = sum(args[0]->b_bcount);
	@errors[args[1]->dev_statname, args[0]->b_error] = count();
	@left[args[1]->dev_statname, args[0]->b_error] = sum(args[0]->b_resid);
	@same[args[1]->dev_statname, args[0]->b_addr == arg0, began[args[0]->b_addr] != 0,
	    sector[args[0]->b_addr] == args[0]->b_blkno, bytes[args[0]->b_addr] == args[0]->b_bcount] = count();
	sector[args[0]->b_addr] = 0;
	bytes[args[0]->b_addr] = 0;
	began[args[0]->b_addr] = 0;
}

sdt:::block_split
{
	@splits[stringof(args[0]->bi_bdev->bd_disk->disk_name), args[0]->bi_opf & 0xff] = count();
}

dtrace:::END
{
	printa("STARTS %s %d %@d\n", @starts);
	printa("ENDS %s %d %@d\n", @ends);
	printa("ASKED %s %d %@d\n", @asked);
	printa("MOVED %s %d %@d\n", @moved);
	printa("ERRORS %s %d %@d\n", @errors);
	printa("LEFT %s %d %@d\n", @left);
	printa("SAME %s %d%d%d%d %@d\n", @same);
	printa("SPLITS %s %d %@d\n", @splits);
}
