// SPDX-License-Identifier: Apache-2.0
//
// The tracepoint of fired.c.  LTTng's headers include this file several times, which is why its guard has a second half.
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER daybreak_perf
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./fired.h"

#if !defined(DBK_PERF_FIRED_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define DBK_PERF_FIRED_H
#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(daybreak_perf, fired, LTTNG_UST_TP_ARGS(long, number),
			   LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(long, number, number)))
#endif

#include <lttng/tracepoint-event.h>
