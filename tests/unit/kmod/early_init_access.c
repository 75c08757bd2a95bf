// SPDX-License-Identifier: Apache-2.0
/*
 * early_init_access.c - early-init with the test for a kernel: its parts, and a whole run of it
 */
#include "bootloader-hooks/early-init/syscalls.h"

#define syscall3 test_syscall3
#define syscall5(number, a, b, c, d, e) test_syscall3(number, a, b, c)

static long test_syscall3(long number, long a, long b, long c);

#include "bootloader-hooks/early-init/main.c"
#include "tests/unit/kmod/access.h"

#include <setjmp.h>

static jmp_buf end_of_run;

static long test_syscall3(long number, long a, long b, long c)
{
	bool is_end = false;
	long result = test_early_syscall(number, a, b, c, &is_end);

	if (is_end)
		longjmp(end_of_run, 1);
	return result;
}

void test_early_init(long *stack)
{
	if (setjmp(end_of_run) == 0)
		early_init(stack);
}

void test_parameters_keep(char *command_line)
{
	parameters_keep(command_line);
}

const char *test_option_find(char **words)
{
	return option_find(words);
}
