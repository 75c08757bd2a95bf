/* SPDX-License-Identifier: Apache-2.0 */
/* Many tracepoints: each patches text by itself. */
#pragma D option bufsize=64k

sdt:::[a-h]*
{
	@ = count();
}
