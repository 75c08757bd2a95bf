/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fsstat.d - what is asked of file systems, by type: calls and bytes
 */
#pragma D option quiet

fsinfo:::open,
fsinfo:::getattr,
fsinfo:::setattr,
fsinfo:::create,
fsinfo:::mkdir,
fsinfo:::rmdir,
fsinfo:::remove,
fsinfo:::symlink,
fsinfo:::link,
fsinfo:::rename
/watched/
{
	@calls[args[0]->fi_fs, probename] = count();
}

fsinfo:::close,
fsinfo:::read,
fsinfo:::write,
fsinfo:::readdir,
fsinfo:::fsync,
fsinfo:::map
/watched/
{
	@calls[args[0]->fi_fs, probename] = count();
}

fsinfo:::read,
fsinfo:::write
/watched/
{
	@bytes[args[0]->fi_fs, probename] = sum(args[1]);
}

dtrace:::END
{
	printa("%-16s %-8s %@10d calls\n", @calls);
	printa("%-16s %-8s %@10d bytes\n", @bytes);
}
