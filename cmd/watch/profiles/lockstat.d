/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lockstat.d - lockstat(1)'s report: locks of the kernel waited for, where
 *
 * Times are ns on average.
 */
#pragma D option quiet
#pragma D option aggsortrev

dtrace:::BEGIN { began = timestamp; }

lockstat:::adaptive-spin
/watched/
{
	spun = 1;
	@spins = count();
	@spin[sym(arg0), func(caller)] = count();
	@spin_ns[sym(arg0), func(caller)] = avg(args[1]);
}

lockstat:::adaptive-block
/watched/
{
	slept = 1;
	@sleeps = count();
	@sleep[sym(arg0), func(caller)] = count();
	@sleep_ns[sym(arg0), func(caller)] = avg(args[1]);
}

lockstat:::spin-spin
/watched/
{
	contended = 1;
	@contentions = count();
	@contention[sym(arg0), stack(3)] = count();
	@contention_ns[sym(arg0), stack(3)] = avg(args[1]);
}

lockstat:::rw-spin
/watched/
{
	rw_spun = 1;
	@rw_spins = count();
	@rw_spin[sym(arg0), stack(3)] = count();
	@rw_spin_ns[sym(arg0), stack(3)] = avg(args[1]);
}

lockstat:::rw-block
/watched && args[2] == RW_WRITER/
{
	writers = 1;
	@writes = count();
	@write[sym(arg0), func(caller)] = count();
	@write_ns[sym(arg0), func(caller)] = avg(args[1]);
}

lockstat:::rw-block
/watched && args[2] == RW_READER/
{
	readers = 1;
	@reads = count();
	@read[sym(arg0), func(caller)] = count();
	@read_ns[sym(arg0), func(caller)] = avg(args[1]);
}

dtrace:::END
/spun/
{
	printa("\nAdaptive mutex spin: %@d events in ", @spins);
	printf("%d.%03d seconds\n\n%8s %12s  %-32s %s\n", (timestamp - began) / 1000000000,
	    (timestamp - began) / 1000000 % 1000, "Count", "nsec", "Lock", "Caller");
	printa("%@8d %@12d  %-32a %a\n", @spin, @spin_ns);
}

dtrace:::END
/slept/
{
	printa("\nAdaptive mutex block: %@d events in ", @sleeps);
	printf("%d.%03d seconds\n\n%8s %12s  %-32s %s\n", (timestamp - began) / 1000000000,
	    (timestamp - began) / 1000000 % 1000, "Count", "nsec", "Lock", "Caller");
	printa("%@8d %@12d  %-32a %a\n", @sleep, @sleep_ns);
}

dtrace:::END
/contended/
{
	printa("\nSpin lock spin: %@d events in ", @contentions);
	printf("%d.%03d seconds\n\n%8s %12s  %-32s %s\n", (timestamp - began) / 1000000000,
	    (timestamp - began) / 1000000 % 1000, "Count", "nsec", "Lock", "Caller");
	printa("%@8d %@12d  %-32a%k\n", @contention, @contention_ns);
}

dtrace:::END
/rw_spun/
{
	printa("\nR/W lock spin: %@d events in ", @rw_spins);
	printf("%d.%03d seconds\n\n%8s %12s  %-32s %s\n", (timestamp - began) / 1000000000,
	    (timestamp - began) / 1000000 % 1000, "Count", "nsec", "Lock", "Caller");
	printa("%@8d %@12d  %-32a%k\n", @rw_spin, @rw_spin_ns);
}

dtrace:::END
/writers/
{
	printa("\nR/W semaphore blocked a writer: %@d events in ", @writes);
	printf("%d.%03d seconds\n\n%8s %12s  %-32s %s\n", (timestamp - began) / 1000000000,
	    (timestamp - began) / 1000000 % 1000, "Count", "nsec", "Lock", "Caller");
	printa("%@8d %@12d  %-32a %a\n", @write, @write_ns);
}

dtrace:::END
/readers/
{
	printa("\nR/W semaphore blocked a reader: %@d events in ", @reads);
	printf("%d.%03d seconds\n\n%8s %12s  %-32s %s\n", (timestamp - began) / 1000000000,
	    (timestamp - began) / 1000000 % 1000, "Count", "nsec", "Lock", "Caller");
	printa("%@8d %@12d  %-32a %a\n", @read, @read_ns);
}
