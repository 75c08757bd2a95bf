/* SPDX-License-Identifier: Apache-2.0 */
/* plugin: two functions, each at the begin of a page of code. */
__attribute__((aligned(4096))) int plugin_first(int number)
{
	return number + 1;
}

__attribute__((aligned(4096))) int plugin_second(int number)
{
	return number + 2;
}
