// SPDX-License-Identifier: Apache-2.0
//
// fired COUNT: passes a tracepoint of LTTng's so many times.
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "fired.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 0;

	for (long number = 0; number < count; number++)
		lttng_ust_tracepoint(daybreak_perf, fired, number);
	return 0;
}
