/* SPDX-License-Identifier: Apache-2.0 */
kinst:vmlinux:__x64_sys_getppid:0
{
	trace(arg0);
}

profile:::tick-7s, cpc:::page_faults-user-7
/arg0 == 1/
{
	trace(arg0);
}
