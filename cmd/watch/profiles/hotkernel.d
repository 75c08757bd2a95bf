/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotkernel.d - kernel functions that have the CPUs, in 97 samples a second
 */
#pragma D option quiet

profile-97
/arg0 && watched && pid != 0/
{
	@[func(arg0)] = count();
}
