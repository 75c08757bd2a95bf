/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.d - one query of a PostgreSQL, through the server, the kernel and its file system, to the disk
 *
 *     dtrace -s request.d
 *
 * What the query's process does is printed from its text on until it is done.  A disk's answer
 * comes in whatever process runs at that time.
 */
#pragma D option flowindent
#pragma D option switchrate=10hz

postgresql*:/usr/lib/postgresql/15/bin/postgres::query-start
{
	self->query = 1;
	trace(copyinstr(arg0));
}

pid*:/usr/lib/postgresql/15/bin/postgres:standard_ExecutorRun:entry,
pid*:/usr/lib/postgresql/15/bin/postgres:standard_ExecutorRun:return,
pid*:/usr/lib/postgresql/15/bin/postgres:mdread:entry,
pid*:/usr/lib/postgresql/15/bin/postgres:mdread:return
/self->query/
{
}

syscall::pread64:entry
/self->query/
{
	printf("%s, %d bytes at %d", fds[arg0].fi_pathname, arg2, arg3);
}

syscall::pread64:return
/self->query/
{
	trace((int)arg1);
}

fbt::vfs_read:entry,
fbt::vfs_read:return,
fbt::filemap_read:entry,
fbt::filemap_read:return
/self->query/
{
}

io:::start
/self->query/
{
	began[args[0]->b_addr] = timestamp;
	printf("%s block %d, %d bytes", args[1]->dev_statname, args[0]->b_blkno, args[0]->b_bcount);
}

io:::done
/began[args[0]->b_addr]/
{
	printf("%d us", (timestamp - began[args[0]->b_addr]) / 1000);
	began[args[0]->b_addr] = 0;
}

postgresql*:/usr/lib/postgresql/15/bin/postgres::query-done
/self->query/
{
	self->query = 0;
	trace("done");
}
