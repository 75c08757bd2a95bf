/* SPDX-License-Identifier: Apache-2.0 */
#pragma D option bufsize=64k

sdt:::
{
	@[probename] = count();
}
