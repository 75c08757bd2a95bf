/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * cells.c - what count() to llquantize() do to their cells
 *
 * Probe context, and the analyzer.  No division of 128 bits: what would need
 * one is found by trying.
 */
#include "engine/shared/cells.h"

#define LLQUANTIZE_POWER_MAX ((unsigned __int128)1 << 100) /* beyond every 64-bit value */

__probe_ctx static uint64_t magnitude(int64_t value)
{
	return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

__probe_ctx void dbk_cells_init(uint64_t *cells, uint32_t count, uint32_t kind, uint64_t arg)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		cells[i] = 0;
	if (kind == DTRACEAGG_MIN)
		cells[0] = (uint64_t)INT64_MAX;
	else if (kind == DTRACEAGG_MAX)
		cells[0] = (uint64_t)INT64_MIN;
	else if (kind == DTRACEAGG_LQUANTIZE || kind == DTRACEAGG_LLQUANTIZE)
		cells[0] = arg;
}

/* Bucket i > 63 begins at 2^(i - 64), i < 63 ends at -2^(62 - i). */
__probe_ctx static uint32_t quantize_bucket(int64_t value)
{
	uint32_t log2;

	if (value == 0)
		return DTRACE_QUANTIZE_ZERO;
	log2 = 63u - (uint32_t)__builtin_clzll(magnitude(value));
	if (value > 0)
		return DTRACE_QUANTIZE_ZERO + 1 + log2;
	/* INT64_MIN has no bucket of its own. */
	return log2 < DTRACE_QUANTIZE_ZERO - 1 ? DTRACE_QUANTIZE_ZERO - 1 - log2 : 0;
}

__probe_ctx uint32_t dbk_lquantize_bucket(uint64_t arg, int32_t value)
{
	int64_t base = DTRACE_LQUANTIZE_BASE(arg);
	uint32_t levels = DTRACE_LQUANTIZE_LEVELS(arg), level;

	if (value < base)
		return 0;
	level = (uint32_t)(value - base) / DTRACE_LQUANTIZE_STEP(arg);
	return (level < levels ? level : levels) + 1;
}

/* floor(size * steps / ceiling), which is below steps: bit by bit. */
__probe_ctx static uint32_t divide_steps(uint64_t size, uint32_t steps, unsigned __int128 ceiling)
{
	unsigned __int128 product = (unsigned __int128)size * steps;
	uint32_t quotient = 0, bit;

	for (bit = 1u << 15; bit != 0; bit >>= 1)
		if ((quotient | bit) * ceiling <= product)
			quotient |= bit;
	return quotient;
}

__probe_ctx static uint32_t llquantize_bucket(uint64_t arg, int64_t value)
{
	uint32_t factor = (uint16_t)arg, low = (uint16_t)(arg >> 16);
	uint32_t high = (uint16_t)(arg >> 32), steps = (uint16_t)(arg >> 48);
	uint32_t bins = steps - steps / factor, side = (high - low + 1) * bins;
	uint32_t range, i, step, distance = side + 1;
	unsigned __int128 floor = 1, ceiling;
	uint64_t size = magnitude(value);

	for (i = 0; i < low && floor < LLQUANTIZE_POWER_MAX; i++)
		floor *= factor;
	if (size < floor)
		return side + 1;
	/* size is below 2^64, so ceiling passes it after at most 64 rounds. */
	ceiling = floor * factor;
	for (range = low; range < high && size >= ceiling; range++)
		ceiling *= factor;
	if (size < ceiling) {
		step = divide_steps(size, steps, ceiling);
		distance = 1 + (range - low) * bins +
			   (step > steps / factor ? step - steps / factor : 0);
	}
	return value < 0 ? side + 1 - distance : side + 1 + distance;
}

__probe_ctx __attribute__((__noinline__)) static void add_square(uint64_t *cells, int64_t value)
{
	unsigned __int128 sum = (unsigned __int128)cells[3] << 64 | cells[2];

	sum += (unsigned __int128)magnitude(value) * magnitude(value);
	cells[2] = (uint64_t)sum;
	cells[3] = (uint64_t)(sum >> 64);
}

__probe_ctx __attribute__((__noinline__)) static void add_llquantize(uint64_t *cells, uint64_t arg,
								     int64_t value,
								     int64_t increment)
{
	cells[1 + llquantize_bucket(arg, value)] += (uint64_t)increment;
}

/* Its calls are its last: it saves no registers. */
__probe_ctx void dbk_cells_add(uint64_t *cells, uint32_t kind, uint64_t arg, int64_t value,
			       int64_t increment)
{
	if (kind == DTRACEAGG_COUNT) {
		cells[0]++;
	} else if (kind == DTRACEAGG_QUANTIZE) {
		cells[quantize_bucket(value)] += (uint64_t)increment;
	} else if (kind == DTRACEAGG_SUM) {
		cells[0] += (uint64_t)value;
	} else if (kind == DTRACEAGG_MIN) {
		if (value < (int64_t)cells[0])
			cells[0] = (uint64_t)value;
	} else if (kind == DTRACEAGG_MAX) {
		if (value > (int64_t)cells[0])
			cells[0] = (uint64_t)value;
	} else if (kind == DTRACEAGG_LQUANTIZE) {
		cells[1 + dbk_lquantize_bucket(arg, (int32_t)value)] += (uint64_t)increment;
	} else if (kind == DTRACEAGG_LLQUANTIZE) {
		add_llquantize(cells, arg, value, increment);
	} else {
		cells[0]++;
		cells[1] += (uint64_t)value;
		if (kind == DTRACEAGG_STDDEV)
			add_square(cells, value);
	}
}
