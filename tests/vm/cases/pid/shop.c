/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shop: has probes of its own, and prints what it fired: how often, the sum of arg0, how often it was traced
 *
 * It is compiled twice, in C with main() and in C++ with more().
 */
#include "shop.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" long more(int number);

template <class Number> static long sell(Number number)
{
	const char name[] = "C++"; /* on the stack: a probe reads what is in memory */

	SHOP_SOLD((int)number, name, 201);
	return number;
}

long more(int number)
{
	return sell(number) + sell((long)number);
}
#else
long more(int number);

int main(void)
{
	const char name[] = "C";
	long fired = 0, sum = 0, traced = 0;

	for (int i = -50; i < 100; i++) {
		SHOP_SOLD(i, name, 200);
		sum += i + more(i);
		fired += 3;
		if (SHOP_LOOKED_AT_ENABLED()) {
			SHOP_LOOKED_AT(i * 10000000000L);
			traced++;
		}
	}
	printf("%ld %ld %ld\n", fired, sum, traced);
	return 0;
}
#endif
