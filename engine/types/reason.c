/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* reason.c - a very small formatter; see reason.h */
#include "engine/types/reason.h"

struct text {
	char *to;
	uint32_t used;
};

static void put_char(struct text *text, char c)
{
	if (text->used < DBK_ENGINE_REASON_BYTES - 1)
		text->to[text->used++] = c;
}

static void put_string(struct text *text, const char *string)
{
	uint32_t i;

	/* A sentence from another's string table shows no control characters. */
	for (i = 0; i < DBK_ENGINE_REASON_BYTES && string[i] != '\0'; i++)
		put_char(text, (unsigned char)string[i] < ' ' ? '?' : string[i]);
}

static void put_number(struct text *text, uint64_t value, uint32_t base)
{
	char digits[20];
	uint32_t count = 0;

	do {
		digits[count++] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value != 0);
	while (count > 0)
		put_char(text, digits[--count]);
}

static void put_formatted(struct text *text, const char *format, va_list args)
{
	for (; *format != '\0'; format++) {
		if (*format != '%') {
			put_char(text, *format);
			continue;
		}
		format++;
		if (*format == 's')
			put_string(text, va_arg(args, const char *));
		else if (*format == 'u')
			put_number(text, va_arg(args, uint32_t), 10);
		else if (*format == 'U')
			put_number(text, va_arg(args, uint64_t), 10);
		else if (*format == 'x')
			put_number(text, va_arg(args, uint64_t), 16);
		else
			put_char(text, *format);
	}
}

int dbk_refuse(struct dbk_reason *reason, int error, const char *format, ...)
{
	struct text text;
	va_list args;

	if (reason == NULL)
		return error;
	text.to = reason->text;
	text.used = 0;
	va_start(args, format);
	put_formatted(&text, format, args);
	va_end(args);
	reason->text[text.used] = '\0';
	return error;
}

void dbk_reason_prefix(struct dbk_reason *reason, const char *what, uint32_t number)
{
	struct dbk_reason old;

	if (reason == NULL)
		return;
	old = *reason;
	dbk_refuse(reason, 0, "%s %u: %s", what, number, old.text);
}
