/* SPDX-License-Identifier: Apache-2.0 */
/*
 * before.d - what `daybreak backfill` prints when no program is named
 *
 * A line for firmware and boot loader, for each initcall of more than a millisecond and each warning of the kernel, with the second
 * since the kernel's clock began, up to the moment when the module came; then the longest initcalls.
 */
#pragma D option quiet
#pragma D option aggsortrev	/* the longest first */
#pragma D option context=bootphase	/* for questions that are asked later */

dtrace:::BEGIN
{
	printf("%9s %-8s %12s  %s\n", "SECONDS", "", "US", "WHAT");
}

boot:::loader-done
{
	printf("%5d.%03d %-8s %12d  %s\n", 0, 0, "loader", args[0] / 1000, "firmware, boot loader, the kernel's first steps");
}

boot:::initcall-done
{
	@us[args[0]] = sum(args[1] / 1000);
}

boot:::initcall-done
/args[1] >= 1000000/
{
	printf("%5d.%03d %-8s %12d  %s%s\n", timestamp / 1000000000, timestamp / 1000000 % 1000, "initcall",
	    args[1] / 1000, args[0], args[2] ? " failed" : "");
}

/* 4: a warning. */
boot:::kernel-message
/args[1] <= 4/
{
	/* Its first line.  The blank: strtok() of nothing is NULL. */
	printf("%5d.%03d %-8s %12s  %s\n", timestamp / 1000000000, timestamp / 1000000 % 1000, "message", "",
	    strtok(strjoin(args[0], " "), "\n"));
}

boot:::module-loaded
{
	printf("%5d.%03d %-8s %12s  %s\n", timestamp / 1000000000, timestamp / 1000000 % 1000, "daybreak", "",
	    "the programs of this boot begin");
}

dtrace:::END
{
	printf("\ninitcalls, us, the twenty longest\n");
	trunc(@us, 20);
	printa("  %-40s %@12d\n", @us);
}
