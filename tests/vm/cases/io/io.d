/* SPDX-License-Identifier: Apache-2.0 */
/* What starts and what ends, by disk and operation; whether the end is that of its start, and of who waits for it. */
#pragma D option quiet
#pragma D option bufsize=4m
#pragma D option dynvarsize=8m

inline string disk = stringof(((dbk_io_t *)arg1)->disk_name);

uint64_t sector[uintptr_t], bytes[uintptr_t], began[uintptr_t];
uint64_t ended[uint32_t, uint64_t], last[uint32_t, uint64_t];

io:::start
{
	this->operation = ((dbk_io_t *)arg1)->operation & 0xff;
	@starts[disk, this->operation] = count();
	@asked[disk, this->operation] = sum(args[0]->b_bcount);
	sector[args[0]->b_addr] = args[0]->b_blkno;
	bytes[args[0]->b_addr] = args[0]->b_bcount;
	began[args[0]->b_addr] = timestamp;
	@names[disk, args[1]->dev_name, args[1]->dev_statname, args[1]->dev_pathname, args[1]->dev_major, args[1]->dev_minor] = count();
	@files[args[2]->fi_name, args[2]->fi_offset, args[0]->b_blkno, args[0]->b_bcount, args[1]->dev_statname] = count();
	@flags[disk, args[0]->b_flags, args[0]->b_bcount == 65536, args[0]->b_iodone != 0] = count();
}

io:::done
{
	this->operation = ((dbk_io_t *)arg1)->operation & 0xff;
	@ends[disk, this->operation] = count();
	@moved[disk, this->operation] = sum(args[0]->b_bcount);
	@errors[disk, args[0]->b_error] = count();
	@left[disk, args[0]->b_error] = sum(args[0]->b_resid);
	@same[disk, args[0]->b_addr == arg0, began[args[0]->b_addr] != 0,
	    sector[args[0]->b_addr] == args[0]->b_blkno, bytes[args[0]->b_addr] == args[0]->b_bcount] = count();
	sector[args[0]->b_addr] = 0;
	bytes[args[0]->b_addr] = 0;
	began[args[0]->b_addr] = 0;
	ended[args[0]->b_edev, args[0]->b_blkno] = timestamp;
	last[args[0]->b_edev, args[0]->b_blkno] = args[0]->b_bcount;
}

io:::wait-start
{
	self->awaited = arg0;
	self->since = timestamp;
	self->sector = args[0]->b_blkno;
	self->bytes = args[0]->b_bcount;
	@waits[disk] = count();
}

/*
 * Of no bytes: a flush, which a disk that has no cache never sees.  A block was asked for before, and may be there when its
 * thread begins to wait.
 */
io:::wait-done
{
	this->ended = ended[args[0]->b_edev, self->sector];
	@waited[disk, args[0]->b_addr == self->awaited, args[0]->b_blkno == self->sector,
	    args[0]->b_bcount == self->bytes, self->bytes == 0 ||
	    (this->ended != 0 && last[args[0]->b_edev, self->sector] == self->bytes),
	    self->bytes == 0 || this->ended > self->since] = count();
	@lengths[disk, args[0]->b_bcount, args[0]->b_flags] = count();
	self->awaited = 0;
	self->since = 0;
	self->sector = 0;
	self->bytes = 0;
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
	printa("NAMES %s %s %s %s %d:%d %@d\n", @names);
	printa("FILES %s %d %d %d %s %@d\n", @files);
	printa("FLAGS %s %x %d%d %@d\n", @flags);
	printa("WAITS %s %@d\n", @waits);
	printa("WAITED %s %d%d%d%d%d %@d\n", @waited);
	printa("LENGTHS %s %d %x %@d\n", @lengths);
}
