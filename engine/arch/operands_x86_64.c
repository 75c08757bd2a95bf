/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * operands_x86_64.c - where the arguments of a mark are, of x86-64; see operands.h
 *
 *     %rax  $5  -8(%rbp)  16(%rsp,%rcx,8)
 *     4096(%rip)    a variable: from the mark's own address on, which who has read the file's
 *                   symbols writes for name(%rip)
 *
 * Registers: rax rbx rcx rdx rsi rdi rbp rsp r8 ... r15, then rip.
 */
#include "engine/arch/operands.h"

#if defined(__x86_64__)

#define RIP 16

const uint32_t dbk_operand_registers = RIP + 1;

/* The first eight by number; names of each by its use in 64, 32, 16 and 8 bits. */
static const char register_names[8][4][4] = {
	{"rax", "eax", "ax", "al"},  {"rbx", "ebx", "bx", "bl"},  {"rcx", "ecx", "cx", "cl"},
	{"rdx", "edx", "dx", "dl"},  {"rsi", "esi", "si", "sil"}, {"rdi", "edi", "di", "dil"},
	{"rbp", "ebp", "bp", "bpl"}, {"rsp", "esp", "sp", "spl"},
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
	for (i = 1; i < length && i < 3 && dbk_operand_is_digit(text[i]); i++)
		number = number * 10 + (uint32_t)(text[i] - '0');
	if (i < length && (text[i] == 'd' || text[i] == 'w' || text[i] == 'b'))
		i++;
	return i == length && number >= 8 && number <= 15 ? (int32_t)number : -1;
}

static int32_t read_register(struct dbk_operand_reader *reader)
{
	const char *text = reader->at;
	uint32_t length = 0, i, width;

	while (dbk_operand_is_digit(text[length]) || (text[length] >= 'a' && text[length] <= 'z'))
		length++;
	reader->at += length;
	for (i = 0; i < 8; i++)
		for (width = 0; width < 4; width++)
			if (length < 4 && is_word(text, length, register_names[i][width]))
				return (int32_t)i;
	if (is_word(text, length, "rip"))
		return RIP;
	return numbered_register(text, length);
}

static bool read_base(struct dbk_operand_reader *reader, uint8_t *number_ret)
{
	int32_t number = dbk_operand_accept(reader, '%') ? read_register(reader) : -1;

	*number_ret = (uint8_t)number;
	return number >= 0;
}

/* After the displacement: (%base), (%base,%index,scale), (,%index,scale). */
static bool read_memory(struct dbk_operand_reader *reader, struct dbk_operand *operand)
{
	int64_t scale = 1;

	if (!dbk_operand_accept(reader, '('))
		return false;
	operand->kind = DBK_OPERAND_MEMORY;
	operand->base = operand->index = DBK_OPERAND_NO_REGISTER;
	if (*reader->at != ',' && !read_base(reader, &operand->base))
		return false;
	if (dbk_operand_accept(reader, ',')) {
		if (!read_base(reader, &operand->index))
			return false;
		if (dbk_operand_accept(reader, ',') && !dbk_operand_number(reader, &scale))
			return false;
	}
	operand->scale = (uint8_t)scale;
	return (scale == 1 || scale == 2 || scale == 4 || scale == 8) &&
	       dbk_operand_accept(reader, ')');
}

bool dbk_operand_where(struct dbk_operand_reader *reader, struct dbk_operand *operand)
{
	if (dbk_operand_accept(reader, '$')) {
		operand->kind = DBK_OPERAND_CONSTANT;
		return dbk_operand_number(reader, &operand->value);
	}
	if (*reader->at == '%') {
		operand->kind = DBK_OPERAND_REGISTER;
		return read_base(reader, &operand->base);
	}
	if (*reader->at != '(' && !dbk_operand_number(reader, &operand->value))
		return false;
	return read_memory(reader, operand);
}

#endif
