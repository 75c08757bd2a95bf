/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * crc32c.h - CRC-32C by the processor's own instruction, for engine/shared/crc32c.c
 *
 * SSE4.2's takes eight bytes a step and works on general registers, so it may be used in the kernel.
 *
 * It takes three cycles, and a new one may begin in each of them: long pieces are read in three lanes.
 * Over GF(2) the state after bytes is a sum, so lanes are put together:
 *
 *	state(A B, s) = zeros(state(A, s)) ^ state(B, 0)    zeros(): the state after as many zeros
 *							    as B has bytes; linear, so bit by bit
 */
#ifndef DBK_ENGINE_ARCH_CRC32C_H
#define DBK_ENGINE_ARCH_CRC32C_H

#include "engine/api/platform.h"

#if defined(__x86_64__)

/* 1: the CPU has it, 2: it has not, 0: not asked yet.  Who asks twice gets the same answer. */
static uint32_t instruction;

__probe_ctx static bool dbk_crc32c_has_instruction(void)
{
	uint32_t known = dbk_load_relaxed(&instruction);
	uint32_t eax = 1, ebx, ecx = 0, edx;

	if (known == 0) {
		__asm__("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
		known = (ecx >> 20 & 1) != 0 ? 1 : 2; /* leaf 1, ECX bit 20: SSE4.2 */
		dbk_store_relaxed(&instruction, known);
	}
	return known == 1;
}

#define LANE_BYTES 4096u

/* What LANE_BYTES zeros make of each bit of a state: the test has them by shifting. */
static const uint32_t lane_zeros[32] = {
	0xc2a5b65e, 0x80a71a4d, 0x04a2426b, 0x094484d6, 0x128909ac, 0x25121358, 0x4a2426b0,
	0x94484d60, 0x2d7cec31, 0x5af9d862, 0xb5f3b0c4, 0x6e0b1779, 0xdc162ef2, 0xbdc02b15,
	0x7e6c20db, 0xfcd841b6, 0xfc5cf59d, 0xfd559dcb, 0xff474d67, 0xfb62ec3f, 0xf329ae8f,
	0xe3bf2bef, 0xc292212f, 0x80c834af, 0x047c1faf, 0x08f83f5e, 0x11f07ebc, 0x23e0fd78,
	0x47c1faf0, 0x8f83f5e0, 0x1aeb9d31, 0x35d73a62,
};

__probe_ctx static uint64_t after_lane_of_zeros(uint64_t state)
{
	uint32_t after = 0, bit;

	for (bit = 0; bit < 32; bit++)
		after ^= lane_zeros[bit] & (0u - (uint32_t)(state >> bit & 1));
	return after;
}

/* A word of each lane, which is LANE_BYTES after the one before. */
#define STEP(offset)                                                                               \
	"crc32q " offset "(%3), %0\n\t"                                                            \
	"crc32q 4096+" offset "(%3), %1\n\t"                                                       \
	"crc32q 8192+" offset "(%3), %2\n\t"

typedef uint8_t dbk_lanes[3 * LANE_BYTES], dbk_four_words[32];

/* The words of @rest, whose last bytes are left. */
static __probe_ctx_inline uint32_t dbk_crc32c_by_instruction(uint32_t crc, const uint8_t **rest,
							     uint64_t *rest_count)
{
	uint64_t state = crc, second, third, word, count = *rest_count;
	const uint8_t *bytes = *rest;
	uint32_t i;

	for (; count >= 3 * LANE_BYTES; count -= 3 * LANE_BYTES, bytes += 3 * LANE_BYTES) {
		for (i = 0, second = 0, third = 0; i < LANE_BYTES; i += 32)
			__asm__(STEP("0") STEP("8") STEP("16") STEP("24")
				: "+&r"(state), "+&r"(second), "+&r"(third)
				: "r"(bytes + i), "m"(*(const dbk_lanes *)bytes));
		state = after_lane_of_zeros(after_lane_of_zeros(state) ^ second) ^ third;
	}
	for (; count >= 32; count -= 32, bytes += 32)
		__asm__("crc32q (%1), %0\n\tcrc32q 8(%1), %0\n\t"
			"crc32q 16(%1), %0\n\tcrc32q 24(%1), %0"
			: "+&r"(state)
			: "r"(bytes), "m"(*(const dbk_four_words *)bytes));
	for (; count >= 8; count -= 8, bytes += 8) {
		__builtin_memcpy(&word, bytes, 8);
		__asm__("crc32q %1, %0" : "+r"(state) : "rm"(word));
	}
	*rest = bytes;
	*rest_count = count;
	return (uint32_t)state;
}

#undef LANE_BYTES
#undef STEP

#else

__probe_ctx static bool dbk_crc32c_has_instruction(void)
{
	return false;
}

static __probe_ctx_inline uint32_t dbk_crc32c_by_instruction(uint32_t crc, const uint8_t **rest,
							     uint64_t *rest_count)
{
	(void)rest;
	(void)rest_count;
	return crc;
}

#endif

#endif /* DBK_ENGINE_ARCH_CRC32C_H */
