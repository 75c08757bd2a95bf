// SPDX-License-Identifier: Apache-2.0
//
// A program of 32 bits whose functions keep frame pointers: asks for its parent, three calls deep.
// It has no C library, so that nothing but the compiler is needed to build it.
#define NR_EXIT 1
#define NR_GETPPID 64

static int call_kernel(int number)
{
	int result;

	__asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(0) : "memory");
	return result;
}

__attribute__((noipa)) int ask(void)
{
	return call_kernel(NR_GETPPID) + 1;
}

__attribute__((noipa)) int middle(void)
{
	return ask() + 1;
}

__attribute__((noipa)) void outer(void)
{
	middle();
	call_kernel(NR_EXIT);
}

/* The chain of frames ends here. */
__asm__(".globl _start\n_start: xor %ebp, %ebp\n call outer\n");
