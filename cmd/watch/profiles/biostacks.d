/* SPDX-License-Identifier: Apache-2.0 */
/*
 * biostacks.d - from where in the kernel disks are asked
 */
#pragma D option quiet

io:::start
/watched/
{
	@[execname, stack()] = count();
}
