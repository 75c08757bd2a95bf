// SPDX-License-Identifier: Apache-2.0
/*
 * early_init_access.c - early-init's parsing, out of the program, which never runs here
 */
#include "bootloader-hooks/early-init/main.c"
#include "tests/unit/kmod/access.h"

void test_parameters_keep(char *command_line)
{
	parameters_keep(command_line);
}

const char *test_option_find(char **words)
{
	return option_find(words);
}
