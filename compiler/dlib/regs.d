/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Indexes of uregs[]: the words of struct pt_regs, arch/x86/include/asm/ptrace.h of the Linux kernel, and after
 * them what it does not hold: the segment registers, the number of the thread's last trap.
 */

inline int R_R15 = 0;
inline int R_R14 = 1;
inline int R_R13 = 2;
inline int R_R12 = 3;
inline int R_RBP = 4;
inline int R_RBX = 5;
inline int R_R11 = 6;
inline int R_R10 = 7;
inline int R_R9 = 8;
inline int R_R8 = 9;
inline int R_RAX = 10;
inline int R_RCX = 11;
inline int R_RDX = 12;
inline int R_RSI = 13;
inline int R_RDI = 14;
inline int R_ORIG_RAX = 15;
inline int R_RIP = 16;
inline int R_CS = 17;
inline int R_RFL = 18;
inline int R_RSP = 19;
inline int R_SS = 20;
inline int R_PC = 16;
inline int R_SP = 19;
inline int R_FP = 4;
inline int R_PS = 18;
inline int R_DS = 21;
inline int R_ES = 22;
inline int R_FS = 23;
inline int R_GS = 24;
inline int R_TRAPNO = 25;

/* A trap's error code lies where a system call's number does. */
inline int R_ERR = R_ORIG_RAX;

/* The names that programs for 32 bits use, each the register that holds it. */
inline int R_EIP = R_RIP;
inline int R_EAX = R_RAX;
inline int R_EBX = R_RBX;
inline int R_ECX = R_RCX;
inline int R_EDX = R_RDX;
inline int R_ESI = R_RSI;
inline int R_EDI = R_RDI;
inline int R_EBP = R_RBP;
inline int R_ESP = R_RSP;
inline int R_EFL = R_RFL;
inline int R_R0 = R_RAX;
inline int R_R1 = R_RBX;
