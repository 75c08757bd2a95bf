/* SPDX-License-Identifier: GPL-2.0-only */
/* tracepoints.h - declarations of those that only this architecture's kernels have */
#include <asm/trace/fpu.h>
