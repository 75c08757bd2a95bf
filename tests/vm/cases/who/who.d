/* SPDX-License-Identifier: Apache-2.0 */
#pragma D option quiet

proc:::exec-success
{
	trace(pid);
}

/* A typing mistake, and a function of a module that is loaded later. */
fbt::no_such_function:entry, fbt:brd:brd_submit_bio:entry
{
	@calls = count();
}
