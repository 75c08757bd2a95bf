/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stacks.d - where the time in the kernel went, samples of a 97th of a second
 *
 * A sample in user space has no stack.  Asks for: stack(6) at profile:::profile-97.
 */
#pragma D option quiet
#pragma D option aggsortrev

profile:::profile-97
{
	@samples[stack(6)] = count();
}

dtrace:::END
{
	trunc(@samples, 2);
	printa(@samples);
}
