/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * hash.h - where keys land in tables, with a secret
 *
 * Keys come from anyone who can make a probe fire: names of files, arguments.  Who
 * could choose keys that land in one place would make every firing walk over all
 * of them.  So the hash has a secret of the boot.  Each word is mixed by a
 * multiplication with an odd secret number whose upper half is folded onto its
 * lower one: that is cheap (some five instructions), not linear, and without the
 * numbers it cannot be known which keys meet.  The hash itself is never shown.
 */
#ifndef DBK_ENGINE_HASH_H
#define DBK_ENGINE_HASH_H

#include "engine/api/platform.h"

struct dbk_secret {
	uint64_t start, factor; /* factor is odd */
};

static __probe_ctx_inline uint64_t dbk_hash_word(const struct dbk_secret *secret, uint64_t hash,
						 uint64_t word)
{
	unsigned __int128 product = (unsigned __int128)(hash ^ word) * secret->factor;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/** dbk_hash() - of @word and of the words at @data, @bytes of them, a multiple of 8; all 64 bits are
 * good */
static __probe_ctx_inline uint64_t dbk_hash(const struct dbk_secret *secret, uint64_t word,
					    const uint8_t *data, uint32_t bytes)
{
	uint64_t hash = dbk_hash_word(secret, secret->start, word);
	uint32_t i;

	for (i = 0; i < bytes; i += 8) {
		__builtin_memcpy(&word, data + i, 8);
		hash = dbk_hash_word(secret, hash, word);
	}
	return hash;
}

#endif /* DBK_ENGINE_HASH_H */
