/* SPDX-License-Identifier: Apache-2.0 */
/* Probes of modules that come and go. */
#pragma D option bufsize=64k

fbt:jbd2::, sdt:jbd2::, fbt:brd::, fbt:loop::, sdt:loop::
{
	@[probefunc] = count();
}
