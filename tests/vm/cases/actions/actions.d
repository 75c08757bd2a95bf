/* SPDX-License-Identifier: Apache-2.0 */
/* Each number that the program `actions` gives to getpgid() asks for one action upon it. */
#pragma D option destructive

syscall::getpgid:entry
/execname == "actions" && arg0 == 1/
{
	raise(10);
}

syscall::getpgid:entry
/execname == "actions" && arg0 == 2/
{
	stop();
}

syscall::getpgid:entry
/execname == "actions" && arg0 == 3/
{
	copyoutstr("written", arg1, 64);
	this->word = (int *)alloca(4);
	*this->word = 305419896;
	copyout(this->word, arg1 + 32, 4);
}

syscall::getpgid:entry
/execname == "actions" && arg0 == 4/
{
	chill(300000000);
}

syscall::getpgid:entry
/execname == "actions" && arg0 == 5/
{
	breakpoint();
}

syscall::getpgid:entry
/execname == "actions" && arg0 == 6/
{
	copyoutstr(d_path(&curthread->fs->pwd), arg1, 64);
}

syscall::getpgid:entry
/execname == "actions" && arg0 == 7/
{
	this->lock = &curthread->signal->cred_guard_mutex;
	copyoutstr(strjoin(lltostr(mutex_owned(this->lock)), lltostr(mutex_type_adaptive(this->lock))), arg1, 64);
}

/* A kernel address, and none: both fault, neither harms. */
syscall::getpgid:entry
/execname == "actions" && arg0 == 8/
{
	copyoutstr("never", (uintptr_t)curthread, 64);
}

ERROR
/arg4 == 1/
{
	breakpoint();
}

/* One more than can wait, of a signal that does nothing. */
syscall::getpgid:entry
/execname == "actions" && arg0 == 10/
{
	raise(23); raise(23); raise(23); raise(23); raise(23); raise(23); raise(23); raise(23);
	noted = 1;
	raise(23);
	noted = 2;
}

ERROR
/arg4 == 3 && noted/
{
	refused++;
}

syscall::getpgid:entry
/execname == "actions" && arg0 == 11/
{
	copyoutstr(strjoin(lltostr(noted), lltostr(refused)), arg1, 64);
}

syscall::getpgid:entry
/execname == "actions" && arg0 == 9/
{
	panic();
}
