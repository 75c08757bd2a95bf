/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bitesize.d - how large requests to disks are, bytes, by program
 */
#pragma D option quiet

io:::start
/watched/
{
	@[execname] = quantize(args[0]->b_bcount);
}
