/* SPDX-License-Identifier: Apache-2.0 */
#pragma D option bufsize=1g
#pragma D option dynvarsize=1g
#pragma D option nspec=16
#pragma D option specsize=4m
syscall::getppid:entry
{
	x[arg0, arg1] = 1;
	self->spec = speculation();
}

syscall::getppid:return
/self->spec/
{
	speculate(self->spec);
	trace(arg0);
}

syscall::getppid:return
/self->spec/
{
	commit(self->spec);
	self->spec = 0;
}
