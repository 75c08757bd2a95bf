/* SPDX-License-Identifier: Apache-2.0 */
/*
 * everything.d - what a machine does, always on, to be asked later
 *
 * Nothing is printed: capture() stores values in records, and what they are called in D is stored
 * beside them, so that `daybreak replay` runs another program over them, with questions that came
 * up later.  A program that is replayed may use these probes and expressions, and no others.
 * Which process and thread it was is the same question everywhere: option context adds that to
 * each clause.
 *
 *     daybreak record --follow /var/log/daybreak -s everything.d
 */
#pragma D option quiet
#pragma D option bufpolicy=ring
#pragma D option bufsize=4m
#pragma D option context=pid,tid,execname

dtrace:::BEGIN
{
	start = timestamp;
}

/* Files and their locks, and programs that are executed: the arguments as the call has them. */
syscall::open:entry, syscall::openat:entry, syscall::close:entry,
syscall::read:entry, syscall::pread64:entry, syscall::readv:entry,
syscall::write:entry, syscall::pwrite64:entry, syscall::writev:entry,
syscall::fsync:entry, syscall::fdatasync:entry,
syscall::flock:entry, syscall::fcntl:entry,
syscall::execve:entry, syscall::execveat:entry
{
	capture(arg0, arg1, arg2, arg3);
}

syscall::open:return, syscall::openat:return, syscall::close:return,
syscall::read:return, syscall::pread64:return, syscall::readv:return,
syscall::write:return, syscall::pwrite64:return, syscall::writev:return,
syscall::fsync:return, syscall::fdatasync:return,
syscall::flock:return, syscall::fcntl:return,
syscall::execve:return, syscall::execveat:return
{
	capture(arg1, errno);
}

/* Who leaves a CPU to whom, and who wakes whom. */
sched:::off-cpu, sched:::wakeup
{
	capture(arg0, args[1]->pr_pid, stringof(args[1]->pr_fname));
}

proc:::create
{
	capture(ppid, args[0]->pr_pid);
}

proc:::exec-success
{
	capture(ppid, uid, curpsinfo->pr_psargs);
}

proc:::exit
{
	capture(ppid, uid, args[0]);
}

/* b_addr is the same where a request is submitted and where it ends. */
io:::start, io:::done
{
	capture(args[0]->b_addr, args[0]->b_bcount, args[0]->b_flags, args[0]->b_error,
	    args[0]->b_blkno, args[1]->dev_statname);
}

dtrace:::END
{
	printf("captured for %d s, to be replayed\n", (timestamp - start) / 1000000000);
}
