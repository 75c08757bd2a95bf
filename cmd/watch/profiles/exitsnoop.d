/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exitsnoop.d - processes that end: how, and how long they had lived
 */
#pragma D option quiet

proc:::exit
/watched/
{
	this->ms = (timestamp - curthread->group_leader->start_time) / 1000000;
	printf("%Y %d %s[%d]: %s after %d.%03d s\n", walltimestamp, uid, execname, pid,
	    arg0 == 1 ? "exited" : arg0 == 2 ? "was killed" : "dumped core",
	    this->ms / 1000, this->ms % 1000);
}
