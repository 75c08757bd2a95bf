/* SPDX-License-Identifier: Apache-2.0 */
/* Every tracepoint: each patches text by itself. */
#pragma D option bufsize=64k

sdt:::
{
	@ = count();
}
