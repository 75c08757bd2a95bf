/* SPDX-License-Identifier: Apache-2.0 */
/* The same after a predicate that never holds: what is not wanted must cost little. */
syscall::getppid:entry
/arg0 == 1/
{
	trace(arg0);
}
