/* SPDX-License-Identifier: Apache-2.0 */
/* Command lines in a recording. */
#pragma D option quiet

proc:::exec-success
/execname == "cat"/
{
	printf("EXEC %s|\n", curpsinfo->pr_psargs);
}

/* A typing mistake, and a function of a module that is loaded later. */
fbt::no_such_function:entry, fbt:brd:brd_submit_bio:entry
{
	@calls = count();
}
