/* SPDX-License-Identifier: Apache-2.0 */
/* Every function, which takes long to patch. */
#pragma D option bufsize=64k

fbt:::entry
{
	@ = count();
}
