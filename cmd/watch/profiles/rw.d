/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rw.d - reads and writes: bytes, by program and kind
 */
#pragma D option quiet

syscall::read:return,
syscall::pread64:return,
syscall::readv:return,
syscall::preadv*:return,
syscall::recvfrom:return,
syscall::recvmsg:return
/watched && errno == 0/
{
	@["read", execname] = sum(arg1);
}

syscall::write:return,
syscall::pwrite64:return,
syscall::writev:return,
syscall::pwritev*:return,
syscall::sendto:return,
syscall::sendmsg:return
/watched && errno == 0/
{
	@["write", execname] = sum(arg1);
}

/* From one file to another. */
syscall::sendfile*:return,
syscall::splice:return,
syscall::copy_file_range:return
/watched && errno == 0/
{
	@["read", execname] = sum(arg1);
	@["write", execname] = sum(arg1);
}

dtrace:::END
{
	printa("%-6s %-16s %@14d\n", @);
}
