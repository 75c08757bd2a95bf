/* SPDX-License-Identifier: Apache-2.0 */
/*
 * boot.d - what `daybreak install` traces when no program is named
 *
 * A line for each program that was executed, each that ended and each module that was loaded, with
 * the second since the first record; at the end, who waited for disks and locks, what was asked of
 * disks, and who had page faults.  What is counted often is counted in the kernel.
 *
 * capture() stores what is printed nowhere: daybreak boot-report, diff and replay ask for it.
 */
#pragma D option quiet
#pragma D option aggregate=engine
#pragma D option aggsortrev	/* the most first */

uint64_t left[uintptr_t];	/* when a thread left its CPU to wait */
uint64_t began[uintptr_t];	/* when a request was submitted, by its bio */

dtrace:::BEGIN
{
	start = timestamp;
	printf("%9s %-7s %7s  %-28s %s\n", "SECONDS", "", "PID", "UNIT", "COMMAND");
}

proc:::exec-success
{
	this->ms = (timestamp - start) / 1000000;
	printf("%5d.%03d %-7s %7d  %-28s %s\n", this->ms / 1000, this->ms % 1000, "exec", pid, unit,
	    curpsinfo->pr_psargs);
	capture(ppid, execname);
}

proc:::exit
{
	this->ms = (timestamp - start) / 1000000;
	printf("%5d.%03d %-7s %7d  %-28s %s\n", this->ms / 1000, this->ms % 1000,
	    arg0 == 1 ? "exit" : "killed", pid, unit, execname);
	capture(curthread->se.sum_exec_runtime + curthread->signal->sum_sched_runtime);
}

boot:::module-load-done
{
	this->ms = (timestamp - start) / 1000000;
	printf("%5d.%03d %-7s %7d  %-28s %s, %d us in init\n", this->ms / 1000, this->ms % 1000, "module",
	    pid, unit, args[0], args[1] / 1000);
}

/* 2: it waits and takes no signals, as for a disk; with 0x400 it is a thread of the kernel at rest. */
sched:::off-cpu
/(curthread->__state & 0x402) == 2/
{
	left[(uintptr_t)curthread] = timestamp;
	capture((uintptr_t)curthread, execname);
}

sched:::off-cpu
/left[arg0]/
{
	@waited[args[1]->pr_fname] = sum((timestamp - left[arg0]) / 1000);
	capture(arg0);
	left[arg0] = 0;
}

io:::start
{
	began[args[0]->b_addr] = timestamp;
	@bytes[args[1]->dev_statname, execname, args[0]->b_flags & B_READ ? "read" : "write"] =
	    sum(args[0]->b_bcount);
}

io:::done
/began[args[0]->b_addr]/
{
	@us[args[1]->dev_statname] = quantize((timestamp - began[args[0]->b_addr]) / 1000);
	began[args[0]->b_addr] = 0;
}

sdt:vmlinux::page_fault_user
{
	@faults[execname] = count();
}

dtrace:::END
{
	printf("\nwaited for disks and locks, us, the ten longest\n");
	trunc(@waited, 10);
	printa("  %-18s %@12d\n", @waited);
	printf("\nasked of disks, bytes, the ten most\n");
	trunc(@bytes, 10);
	printa("  %-8s %-16s %-6s %@12d\n", @bytes);
	printa("\n  requests of %s, us%@d\n", @us);
	printf("page faults, the ten most\n");
	trunc(@faults, 10);
	printa("  %-18s %@12d\n", @faults);
}
