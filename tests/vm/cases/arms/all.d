/* SPDX-License-Identifier: Apache-2.0 */
/* Every function, its call and its return. */
#pragma D option bufsize=64k

fbt:::entry, fbt:::return
{
	@ = count();
}
