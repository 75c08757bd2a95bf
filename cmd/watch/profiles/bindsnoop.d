/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bindsnoop.d - sockets that are bound, by address family and port
 */
#pragma D option quiet

syscall::bind:entry
/watched/
{
	self->address = arg1;
}

syscall::bind:return
/self->address/
{
	this->address = (unsigned short *)copyin(self->address, 4);
	printf("%Y %d %s[%d]: bind family %d port %d, errno %d\n", walltimestamp, uid, execname, pid,
	    this->address[0],
	    this->address[0] == AF_INET || this->address[0] == AF_INET6 ? ntohs(this->address[1]) : 0, errno);
}

syscall::bind:return
/self->address/
{
	self->address = 0;
}
