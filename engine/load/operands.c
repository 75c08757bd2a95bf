/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * operands.c - where the arguments of a mark are, as its note describes them
 *
 *     SIZE@WHERE SIZE@WHERE ...      SIZE: 1 2 4 8, negative when signed; WHERE:
 * engine/arch/operands.h
 *
 * The text is a compiler's, in a file that anyone may have made.  What is described in another way
 * (a floating-point register, a symbol) is an operand that cannot be read; it reads as 0.
 */
#include "engine/arch/operands.h"
#include "engine/load/program.h"

static bool read_operand(struct dbk_operand_reader *reader, struct dbk_operand *operand)
{
	bool is_signed = dbk_operand_accept(reader, '-');
	int64_t bytes;

	if (!dbk_operand_number(reader, &bytes) || !dbk_operand_accept(reader, '@') ||
	    !(bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8))
		return false;
	operand->bytes = (uint8_t)bytes;
	operand->is_signed = is_signed;
	return dbk_operand_where(reader, operand) && (*reader->at == ' ' || *reader->at == '\0');
}

uint32_t dbk_operands_read(const char *untrusted_text, struct dbk_operand operands[DBK_PLACE_OPERANDS_MAX])
{
	struct dbk_operand_reader reader = {untrusted_text};
	uint32_t count = 0;

	while (count < DBK_PLACE_OPERANDS_MAX) {
		struct dbk_operand *operand = &operands[count];

		while (dbk_operand_accept(&reader, ' '))
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
