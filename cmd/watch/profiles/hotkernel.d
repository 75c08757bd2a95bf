/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotkernel.d - which functions of the kernel have the CPUs, in samples at 97 a second
 */
#pragma D option quiet

profile-97
/arg0 && watched/
{
	@[func(arg0)] = count();
}
