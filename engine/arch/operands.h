/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * operands.h - where an argument of a mark is, as the processor's assembler writes it
 *
 * What it is made of is in one file for each processor, operands_PROCESSOR.c; the text is not
 * trusted.
 */
#ifndef DBK_ENGINE_OPERANDS_H
#define DBK_ENGINE_OPERANDS_H

#include "engine/api/engine.h"

struct dbk_operand_reader {
	const char *at;
};

static inline bool dbk_operand_accept(struct dbk_operand_reader *reader, char c)
{
	if (*reader->at != c)
		return false;
	reader->at++;
	return true;
}

static inline bool dbk_operand_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline int32_t dbk_operand_digit(char c, uint32_t base)
{
	int32_t digit = dbk_operand_is_digit(c)			 ? c - '0'
			: (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
								 : -1;

	return digit < (int32_t)base ? digit : -1;
}

/* A decimal or 0x number with a sign, or none; wraps beyond 64 bits, as the assembler's do not. */
static inline bool dbk_operand_number(struct dbk_operand_reader *reader, int64_t *value_ret)
{
	bool negative = dbk_operand_accept(reader, '-');
	uint32_t base = 10;
	uint64_t value = 0;

	if (reader->at[0] == '0' && (reader->at[1] | 0x20) == 'x') {
		base = 16;
		reader->at += 2;
	}
	if (dbk_operand_digit(*reader->at, base) < 0)
		return false;
	for (; dbk_operand_digit(*reader->at, base) >= 0; reader->at++)
		value = value * base + (uint64_t)dbk_operand_digit(*reader->at, base);
	*value_ret = (int64_t)(negative ? 0 - value : value);
	return true;
}

/* Registers have the numbers below. */
extern const uint32_t dbk_operand_registers;

/** dbk_operand_where() - kind, registers and value of @operand; false: it cannot be read */
bool dbk_operand_where(struct dbk_operand_reader *reader, struct dbk_operand *operand);

#endif /* DBK_ENGINE_OPERANDS_H */
