// SPDX-License-Identifier: Apache-2.0
//
// The unit of the guest's TSC, so that a measurement can check it.
#pragma once

#include <x86intrin.h>

// Returns the ticks of 1000 instructions: of a loop of a known length, shorter than a timer tick.  The best of some
// had no interrupt in it.
static unsigned long long ticks_per_1000(void)
{
	unsigned long long best = ~0ull;

	for (int round = 0; round < 20; round++) {
		unsigned long count = 50000;
		unsigned long long start = __rdtsc(), spent;

		__asm__ volatile("1: dec %0; jnz 1b" : "+r"(count));
		spent = __rdtsc() - start;
		if (spent < best)
			best = spent;
	}
	return best / 100;
}
