/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* program.c - what a loaded program is asked by more than its loader */
#include "engine/types/internal.h"

bool dbk_program_option(const struct dbk_program *program, uint32_t option, uint64_t *value_ret)
{
	bool found = false;
	uint32_t i;

	for (i = 0; i < program->option_count; i++) {
		if (program->options[i].id != option ||
		    program->options[i].value == DTRACEOPT_UNSET)
			continue;
		*value_ret = program->options[i].value;
		found = true;
	}
	return found;
}
