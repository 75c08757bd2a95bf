// SPDX-License-Identifier: Apache-2.0
/*
 * start.c - where the kernel enters: argc, argv and envp lie on the stack
 */
__asm__(".globl _start\n"
	".type _start, @function\n"
	"_start:\n"
	"	xorl	%ebp, %ebp\n"
	"	movq	%rsp, %rdi\n"
	"	andq	$-16, %rsp\n"
	"	call	early_init\n"
	"	hlt\n");
