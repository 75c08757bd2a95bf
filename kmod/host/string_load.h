/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * string_load.h - a string out of memory that may fault, piece by piece
 *
 * No piece crosses a page, so that a string at the end of mapped memory is read
 * up to its NUL.  What a piece brought along after the NUL is not the string's:
 * it is zeroed, because the room may be a ring's, which user space maps.
 */
#ifndef DBK_KMOD_STRING_LOAD_H
#define DBK_KMOD_STRING_LOAD_H

#include "engine/api/words.h"

#define DBK_STRING_FIRST_BYTES 32u /* most strings end in it, and what is read after them costs, too */
#define DBK_STRING_PIECE_BYTES 64u
#define DBK_STRING_PAGE_BYTES  4096u /* or a multiple of it */

/** dbk_string_zero() - zeros from @from to @end */
static __probe_ctx_inline void dbk_string_zero(char *from, char *end)
{
	const uint64_t none = 0;

	for (; end - from >= 8; from += 8)
		__builtin_memcpy(from, &none, 8);
	if (((end - from) & 4) != 0) {
		__builtin_memcpy(from, &none, 4);
		from += 4;
	}
	for (; from != end; from++)
		*from = '\0';
}

/**
 * dbk_string_load() - copies a string
 * @to:    room for @bytes, at least 1
 * @load:  how to read one piece; false when it faults
 *
 * Context: Probe context.  Bounded by @bytes.
 * Return: the length, or -EFAULT; then @to has nothing of what was read.
 */
static __probe_ctx_inline int32_t dbk_string_load(char *to, uint64_t address, uint32_t bytes,
						  bool (*load)(void *, uint64_t, uint32_t))
{
	uint32_t done = 0, most = DBK_STRING_FIRST_BYTES, piece, page_left, length;

	while (done < bytes) {
		page_left = DBK_STRING_PAGE_BYTES -
			    (uint32_t)((address + done) & (DBK_STRING_PAGE_BYTES - 1));
		piece = bytes - done < page_left ? bytes - done : page_left;
		piece = piece < most ? piece : most;
		if (!load(to + done, address + done, piece)) {
			memset(to, 0, done + piece);
			return -EFAULT;
		}
		length = dbk_text_length(to + done, piece);
		if (length < piece) {
			dbk_string_zero(to + done + length, to + done + piece);
			return (int32_t)(done + length);
		}
		done += piece;
		most = DBK_STRING_PIECE_BYTES;
	}
	to[bytes - 1] = '\0';
	return (int32_t)(bytes - 1);
}

#endif /* DBK_KMOD_STRING_LOAD_H */
