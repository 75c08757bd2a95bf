/* SPDX-License-Identifier: Apache-2.0 */
/* Some 100 keys on each CPU, one of them a distribution. */
syscall:::entry
{
	@calls[probefunc, execname] = count();
	@times[cpu] = quantize(timestamp);
}
