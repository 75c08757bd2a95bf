/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * operands.c - where the arguments of a mark are, as its note describes them
 *
 *     SIZE@WHERE SIZE@WHERE ...      SIZE: 1 2 4 8, negative when signed
 *     %rax  $5  -8(%rbp)  16(%rsp,%rcx,8)      x86-64, as its assembler writes them
 *     4096(%rip)                               a variable: from the mark's own address on, which who
 *                                              has read the file's symbols writes for name(%rip)
 *
 * The text is a compiler's, in a file that anyone may have made.  What is described in another way
 * (a floating-point register, a symbol) is an operand that cannot be read; it reads as 0.
 */
#include "engine/load/program.h"

struct reader {
	const char *at;
};

static bool accept(struct reader *reader, char c)
{
	if (*reader->at != c)
		return false;
	reader->at++;
	return true;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int32_t digit_of(char c, uint32_t base)
{
	int32_t digit = is_digit(c) ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;

	return digit < (int32_t)base ? digit : -1;
}

/* A decimal or 0x number with a sign, or none; wraps beyond 64 bits, as the assembler's do not. */
static bool read_number(struct reader *reader, int64_t *value_ret)
{
	bool negative = accept(reader, '-');
	uint32_t base = 10;
	uint64_t value = 0;

	if (reader->at[0] == '0' && (reader->at[1] | 0x20) == 'x') {
		base = 16;
		reader->at += 2;
	}
	if (digit_of(*reader->at, base) < 0)
		return false;
	for (; digit_of(*reader->at, base) >= 0; reader->at++)
		value = value * base + (uint64_t)digit_of(*reader->at, base);
	*value_ret = (int64_t)(negative ? 0 - value : value);
	return true;
}

/* Names of each of the sixteen by their use in 64, 32, 16 and 8 bits; DBK_OPERAND_ numbers. */
static const char register_names[8][4][4] = {
	{ "rax", "eax", "ax", "al" }, { "rbx", "ebx", "bx", "bl" },
	{ "rcx", "ecx", "cx", "cl" }, { "rdx", "edx", "dx", "dl" },
	{ "rsi", "esi", "si", "sil" }, { "rdi", "edi", "di", "dil" },
	{ "rbp", "ebp", "bp", "bpl" }, { "rsp", "esp", "sp", "spl" },
};

static bool is_word(const char *text, uint32_t length, const char *word)
{
	uint32_t i;

	for (i = 0; i < length; i++)
		if (word[i] == '\0' || word[i] != text[i])
			return false;
	return word[i] == '\0';
}

/* r8 to r15, with d, w or b for less of it. */
static int32_t numbered_register(const char *text, uint32_t length)
{
	uint32_t number = 0, i;

	if (length < 2 || text[0] != 'r')
		return -1;
	for (i = 1; i < length && i < 3 && is_digit(text[i]); i++)
		number = number * 10 + (uint32_t)(text[i] - '0');
	if (i < length && (text[i] == 'd' || text[i] == 'w' || text[i] == 'b'))
		i++;
	return i == length && number >= 8 && number <= 15 ? (int32_t)number : -1;
}

static int32_t read_register(struct reader *reader)
{
	const char *text = reader->at;
	uint32_t length = 0, i, width;

	while (is_digit(text[length]) || (text[length] >= 'a' && text[length] <= 'z'))
		length++;
	reader->at += length;
	for (i = 0; i < 8; i++)
		for (width = 0; width < 4; width++)
			if (length < 4 && is_word(text, length, register_names[i][width]))
				return (int32_t)i;
	if (is_word(text, length, "rip"))
		return DBK_OPERAND_RIP;
	return numbered_register(text, length);
}

static bool read_base(struct reader *reader, uint8_t *number_ret)
{
	int32_t number = accept(reader, '%') ? read_register(reader) : -1;

	*number_ret = (uint8_t)number;
	return number >= 0;
}

/* After the displacement: (%base), (%base,%index,scale), (,%index,scale). */
static bool read_memory(struct reader *reader, struct dbk_operand *operand)
{
	int64_t scale = 1;

	if (!accept(reader, '('))
		return false;
	operand->kind = DBK_OPERAND_MEMORY;
	operand->base = operand->index = DBK_OPERAND_NO_REGISTER;
	if (*reader->at != ',' && !read_base(reader, &operand->base))
		return false;
	if (accept(reader, ',')) {
		if (!read_base(reader, &operand->index))
			return false;
		if (accept(reader, ',') && !read_number(reader, &scale))
			return false;
	}
	operand->scale = (uint8_t)scale;
	return (scale == 1 || scale == 2 || scale == 4 || scale == 8) && accept(reader, ')');
}

static bool read_where(struct reader *reader, struct dbk_operand *operand)
{
	if (accept(reader, '$')) {
		operand->kind = DBK_OPERAND_CONSTANT;
		return read_number(reader, &operand->value);
	}
	if (*reader->at == '%') {
		operand->kind = DBK_OPERAND_REGISTER;
		return read_base(reader, &operand->base);
	}
	if (*reader->at != '(' && !read_number(reader, &operand->value))
		return false;
	return read_memory(reader, operand);
}

static bool read_operand(struct reader *reader, struct dbk_operand *operand)
{
	bool is_signed = accept(reader, '-');
	int64_t bytes;

	if (!read_number(reader, &bytes) || !accept(reader, '@') ||
	    !(bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8))
		return false;
	operand->bytes = (uint8_t)bytes;
	operand->is_signed = is_signed;
	return read_where(reader, operand) && (*reader->at == ' ' || *reader->at == '\0');
}

uint32_t dbk_operands_read(const char *untrusted_text, struct dbk_operand operands[DBK_PLACE_OPERANDS_MAX])
{
	struct reader reader = { untrusted_text };
	uint32_t count = 0;

	while (count < DBK_PLACE_OPERANDS_MAX) {
		struct dbk_operand *operand = &operands[count];

		while (accept(&reader, ' '))
			;
		if (*reader.at == '\0')
			break;
		memset(operand, 0, sizeof(*operand));
		if (!read_operand(&reader, operand))
			memset(operand, 0, sizeof(*operand)); /* DBK_OPERAND_NONE */
		while (*reader.at != ' ' && *reader.at != '\0')
			reader.at++;
		count++;
	}
	return count;
}
