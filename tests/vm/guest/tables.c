// SPDX-License-Identifier: Apache-2.0
//
// tables NATIVE I386 X32: calls getppid() so often by each of the kernel's tables of system calls.
//
// Its first argument, which it ignores and a probe sees, is 64 in native calls, 86 in those of i386, 32 in those of x32.
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define I386_GETPPID 64 /* what semget() is natively */
#define X32_BIT	     0x40000000

static void call_i386(void)
{
	int number = I386_GETPPID;

	__asm__ volatile("int $0x80" : "+a"(number) : "b"(86) : "memory", "r8", "r9", "r10", "r11");
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	for (int i = atoi(argv[1]); i > 0; i--)
		syscall(SYS_getppid, 64);
	for (int i = atoi(argv[2]); i > 0; i--)
		call_i386();
	for (int i = atoi(argv[3]); i > 0; i--)
		syscall(X32_BIT | SYS_getppid, 32);
	return 0;
}
