/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* words.h - strings eight characters at a time.  All hosts are little-endian (abi.h) */
#ifndef DBK_ENGINE_WORDS_H
#define DBK_ENGINE_WORDS_H

#include "engine/api/platform.h"

/** dbk_nul_bit() - the high bit of the first NUL in @word, 0: there is none.  A borrow can add wrong
 * bits only above the first, which are taken off */
static __probe_ctx_inline uint64_t dbk_nul_bit(uint64_t word)
{
	const uint64_t low_bits = 0x0101010101010101ull;
	uint64_t nuls = (word - low_bits) & ~word & (low_bits << 7);

	return nuls & (0 - nuls);
}

/** dbk_nul_at() - the NUL's place in the word, of the bit that dbk_nul_bit() gave */
static __probe_ctx_inline uint32_t dbk_nul_at(uint64_t bit)
{
	return (uint32_t)__builtin_ctzll(bit) / 8;
}

/** dbk_text_length() - characters before the first NUL of @text, at most @room */
static __probe_ctx_inline uint32_t dbk_text_length(const char *text, uint64_t room)
{
	uint32_t length = 0;
	uint64_t word, bit;

	for (; length + 8ull <= room; length += 8) {
		__builtin_memcpy(&word, text + length, 8);
		bit = dbk_nul_bit(word);
		if (bit != 0)
			return length + dbk_nul_at(bit);
	}
	while (length < room && text[length] != '\0')
		length++;
	return length;
}

/** dbk_text_copy() - copies @length characters by words; no more is written, and @to is not within
 * what is still to be read */
static __probe_ctx_inline void dbk_text_copy(char *to, const char *from, uint32_t length)
{
	const char *end = from + (length & ~7u);
	uint64_t word;

	for (; from != end; from += 8, to += 8) {
		__builtin_memcpy(&word, from, 8);
		__builtin_memcpy(to, &word, 8);
	}
	if ((length & 4) != 0) {
		__builtin_memcpy(&word, from, 4);
		__builtin_memcpy(to, &word, 4);
		from += 4;
		to += 4;
	}
	if ((length & 2) != 0) {
		__builtin_memcpy(&word, from, 2);
		__builtin_memcpy(to, &word, 2);
		from += 2;
		to += 2;
	}
	if ((length & 1) != 0)
		*to = *from;
}

/** dbk_text_take() - copies characters before the first NUL of @text, at most @room of them; of @to the
 * word of the last one is written as far as @room.  Returns how many */
static __probe_ctx_inline uint32_t dbk_text_take(char *to, const char *text, uint64_t room)
{
	uint32_t length = 0;
	uint64_t word, bit;

	for (; length + 8ull <= room; length += 8) {
		__builtin_memcpy(&word, text + length, 8);
		__builtin_memcpy(to + length, &word, 8);
		bit = dbk_nul_bit(word);
		if (bit != 0)
			return length + dbk_nul_at(bit);
	}
	for (; length < room && text[length] != '\0'; length++)
		to[length] = text[length];
	return length;
}

/** dbk_text_tail() - the last @length characters, 1 to 7, of the text that ends at @end and has
 * @whole of them, as a word with zeros above */
static __probe_ctx_inline uint64_t dbk_text_tail(const char *end, uint32_t whole, uint32_t length)
{
	const char *from = end - length;
	uint32_t low, high;
	uint64_t word;

	if (whole >= 8) {
		__builtin_memcpy(&word, end - 8, 8);
		return word >> (8 - length) * 8;
	}
	/* Two pieces that may overlap; of fewer than four the first, the middle and the last. */
	if (length >= 4) {
		__builtin_memcpy(&low, from, 4);
		__builtin_memcpy(&high, end - 4, 4);
		return low | (uint64_t)high << (length - 4) * 8;
	}
	word = (uint8_t)from[0] | (uint64_t)(uint8_t)from[length / 2] << length / 2 * 8;
	return word | (uint64_t)(uint8_t)end[-1] << (length - 1) * 8;
}

/** dbk_text_copy_padded() - copies @length characters, with zeros to the end of the last word.  A
 * word is one store: its reader would wait for several.  Returns @length */
static __probe_ctx_inline uint32_t dbk_text_copy_padded(uint64_t *to, const char *from,
							uint32_t length)
{
	uint32_t rest = length & 7, i;

	for (i = 0; i < length / 8; i++)
		__builtin_memcpy(&to[i], from + i * 8, 8);
	if (rest != 0)
		to[i] = dbk_text_tail(from + length, length, rest);
	return length;
}

/** dbk_text_take_padded() - the same of the characters before the first NUL of @text, at most @room
 * of them. Returns how many */
static __probe_ctx_inline uint32_t dbk_text_take_padded(uint64_t *to, const char *text,
							uint64_t room)
{
	uint32_t length = 0, rest;
	uint64_t word, bit;

	for (; length + 8ull <= room; length += 8) {
		__builtin_memcpy(&word, text + length, 8);
		bit = dbk_nul_bit(word);
		if (bit != 0) {
			word &= (bit >> 7) - 1;
			if (word != 0)
				to[length / 8] = word;
			return length + dbk_nul_at(bit);
		}
		to[length / 8] = word;
	}
	rest = dbk_text_length(text + length, room - length);
	if (rest != 0)
		to[length / 8] = dbk_text_tail(text + length + rest, length + rest, rest);
	return length + rest;
}

#endif /* DBK_ENGINE_WORDS_H */

