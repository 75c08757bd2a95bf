/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* subr_net.c - addresses as text; see subr.h */
#include "engine/run/subr.h"

#define AF_INET_LINUX	2u
#define AF_INET6_LINUX	10u
#define ARPHRD_ETHERNET 1u
#define ARPHRD_INFINI	32u

#define ADDRESS_TEXT 64u /* the longest, 20 bytes of InfiniBand, is 59 */

__probe_ctx static char *put_decimal(char *to, uint32_t value)
{
	if (value >= 100)
		*to++ = (char)('0' + value / 100);
	if (value >= 10)
		*to++ = (char)('0' + value / 10 % 10);
	*to++ = (char)('0' + value % 10);
	return to;
}

__probe_ctx static char hex_digit(uint32_t value)
{
	return (char)(value < 10 ? '0' + value : 'a' + value - 10);
}

__probe_ctx static char *put_v4(char *to, const uint8_t *bytes)
{
	uint32_t i;

	for (i = 0; i < 4; i++) {
		if (i > 0)
			*to++ = '.';
		to = put_decimal(to, bytes[i]);
	}
	return to;
}

__probe_ctx static char *put_group(char *to, uint32_t value)
{
	int32_t shift = 12;

	while (shift > 0 && (value >> shift) == 0)
		shift -= 4;
	for (; shift >= 0; shift -= 4)
		*to++ = hex_digit((value >> shift) & 0xf);
	return to;
}

/* The longest run of two or more zero groups, the first of equals; its length. */
__probe_ctx static uint32_t zero_run(const uint16_t *groups, uint32_t *at_ret)
{
	uint32_t best = 1, i, run = 0;

	*at_ret = 8;
	for (i = 0; i < 8; i++) {
		run = groups[i] == 0 ? run + 1 : 0;
		if (run > best) {
			best = run;
			*at_ret = i + 1 - run;
		}
	}
	return *at_ret == 8 ? 0 : best;
}

__probe_ctx static char *put_v6(char *to, const uint8_t *bytes)
{
	uint32_t i, run, run_at;
	uint16_t groups[8];
	bool v4_inside;

	for (i = 0; i < 8; i++)
		groups[i] = (uint16_t)(bytes[2 * i] << 8 | bytes[2 * i + 1]);
	run = zero_run(groups, &run_at);
	/* ::a.b.c.d and ::ffff:a.b.c.d */
	v4_inside = run_at == 0 && (run == 6 || (run == 5 && groups[5] == 0xffff));
	for (i = 0; i < 8; i++) {
		if (i == run_at) {
			*to++ = ':';
			i += run - 1;
			if (i == 7)
				*to++ = ':';
			continue;
		}
		if (i > 0)
			*to++ = ':';
		if (v4_inside && i == 6)
			return put_v4(to, bytes + 12);
		to = put_group(to, groups[i]);
	}
	return to;
}

__probe_ctx static uint64_t address_text(struct dbk_cpu *cpu, uint64_t address, bool v6)
{
	char text[ADDRESS_TEXT], *end;
	uint8_t bytes[16];

	if (!dbk_load(cpu, bytes, address, v6 ? 16 : 4))
		return 0;
	end = v6 ? put_v6(text, bytes) : put_v4(text, bytes);
	return dbk_new_string(cpu, text, (uint32_t)(end - text));
}

__probe_ctx uint64_t dbk_subr_inet_ntoa(struct dbk_cpu *cpu)
{
	return address_text(cpu, dbk_subr_argument(cpu, 0), false);
}

__probe_ctx uint64_t dbk_subr_inet_ntoa6(struct dbk_cpu *cpu)
{
	return address_text(cpu, dbk_subr_argument(cpu, 0), true);
}

__probe_ctx uint64_t dbk_subr_inet_ntop(struct dbk_cpu *cpu)
{
	uint64_t family = dbk_subr_argument(cpu, 0);

	if (family != AF_INET_LINUX && family != AF_INET6_LINUX)
		return dbk_fault(cpu, DTRACEFLT_ILLOP, 0);
	return address_text(cpu, dbk_subr_argument(cpu, 1), family == AF_INET6_LINUX);
}

__probe_ctx uint64_t dbk_subr_link_ntop(struct dbk_cpu *cpu)
{
	uint64_t type = dbk_subr_argument(cpu, 0);
	uint32_t count = type == ARPHRD_ETHERNET ? 6 : 20, i;
	char text[ADDRESS_TEXT], *to = text;
	uint8_t bytes[20];

	if (type != ARPHRD_ETHERNET && type != ARPHRD_INFINI)
		return dbk_fault(cpu, DTRACEFLT_ILLOP, 0);
	if (!dbk_load(cpu, bytes, dbk_subr_argument(cpu, 1), count))
		return 0;
	for (i = 0; i < count; i++) {
		if (i > 0)
			*to++ = ':';
		*to++ = hex_digit(bytes[i] >> 4);
		*to++ = hex_digit(bytes[i] & 0xf);
	}
	return dbk_new_string(cpu, text, (uint32_t)(to - text));
}
