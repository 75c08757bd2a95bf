/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flight-recorder.d - the last moments, whenever they are
 *
 * A small ring per CPU that overwrites its oldest records: it can stay on for ever, and holds what
 * happened last.  `daybreak info` says how much was overwritten.
 */
#pragma D option bufsize=256k
#pragma D option bufpolicy=ring

syscall:::entry
{
	printf("%-16s %s", execname, probefunc);
}
