/* SPDX-License-Identifier: Apache-2.0 */
/* Between two getppid() of the target. */
#pragma D option quiet

int between;

syscall::getppid:entry /pid == $target/ { between = !between; }

sched:::off-cpu /between && pid == $target/ { @off = count(); }
sched:::on-cpu /between && pid == $target/ { @on = count(); }
sched:::sleep /between && pid == $target/ { @sleep = count(); }
sched:::preempt /between && pid == $target/ { @preempt = count(); }
sched:::wakeup /between && args[1]->pr_pid == $target/ { @wakeup = count(); }
sched:::enqueue /between && args[1]->pr_pid == $target/ { @enqueue = count(); @enqueued[args[2]->cpu_id, args[3]] = count(); }
sched:::dequeue /between && args[1]->pr_pid == $target/ { @dequeue = count(); @dequeued[args[2]->cpu_id] = count(); }
sched:::change-pri /between && args[1]->pr_pid == $target/ { printf("PRIORITY %d %d\n", args[0]->pr_pri, args[2]); }
sched:::tick /between && args[1]->pr_pid == $target/ { @tick[args[0]->pr_lwpid == tid] = count(); }
sched:::surrender /args[1]->pr_pid == $target/ { @surrender = count(); }

sysinfo:::pswitch /between && pid == $target/ { @pswitch = sum(args[0]); }
sysinfo:::inv_swtch /between && pid == $target/ { @involuntary = sum(args[0]); }
sysinfo:::cpu_ticks_user, sysinfo:::cpu_ticks_kernel /between && pid == $target/ { @cpu = sum(args[0]); }

callout_execute::hrtimer:callout-start /between/ { @timers[func(args[1])] = count(); }
callout_execute:::callout-start, callout_execute:::callout-end /between/ { @callouts[probefunc, probename] = count(); }
sdt:::timer_expire_entry, sdt:::timer_expire_exit, sdt:::hrtimer_expire_entry, sdt:::hrtimer_expire_exit,
sdt:::workqueue_execute_start, sdt:::workqueue_execute_end
/between/
{
	@places[probename] = count();
}

cpc:::context_switches-all-1 /between && pid == $target/ { @counted = count(); }

END
{
	printa("PSWITCH %@d\nINVOLUNTARY %@d\nCPU %@d\n", @pswitch, @involuntary, @cpu);
	printa("OFF %@d\nON %@d\nSLEEP %@d\nPREEMPT %@d\n", @off, @on, @sleep, @preempt);
	printa("WAKEUP %@d\nENQUEUE %@d\nDEQUEUE %@d\nSURRENDER %@d\n", @wakeup, @enqueue, @dequeue, @surrender);
	printa("ENQUEUED %d %d %@d\n", @enqueued);
	printa("DEQUEUED %d %@d\n", @dequeued);
	printa("TICK %d %@d\n", @tick);
	printa("COUNTED %@d\n", @counted);
	printa("TIMER %a %@d\n", @timers);
	printa("CALLOUT %s %s %@d\n", @callouts);
	printa("PLACE %s %@d\n", @places);
}
