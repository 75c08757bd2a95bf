/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * fpuinfo.h - provider fpuinfo: registers for floating point and vectors, of which a thread's are saved and loaded late
 *
 * arg0 is the thread's struct fpu.
 */
DBK_PLACE(fpuinfo, "vmlinux", "", "before-save", "6.1+", TRACEPOINT, x86_fpu_before_save, (struct fpu *fpu), true, PASS(fpu))
DBK_PLACE(fpuinfo, "vmlinux", "", "after-save", "6.1+", TRACEPOINT, x86_fpu_after_save, (struct fpu *fpu), true, PASS(fpu))
DBK_PLACE(fpuinfo, "vmlinux", "", "regs-activated", "6.1+", TRACEPOINT, x86_fpu_regs_activated, (struct fpu *fpu), true, PASS(fpu))
DBK_PLACE(fpuinfo, "vmlinux", "", "regs-deactivated", "6.1+", TRACEPOINT, x86_fpu_regs_deactivated, (struct fpu *fpu), true, PASS(fpu))
DBK_PLACE(fpuinfo, "vmlinux", "", "dropped", "6.1+", TRACEPOINT, x86_fpu_dropped, (struct fpu *fpu), true, PASS(fpu))
DBK_PLACE(fpuinfo, "vmlinux", "", "copy-src", "6.1+", TRACEPOINT, x86_fpu_copy_src, (struct fpu *fpu), true, PASS(fpu))
DBK_PLACE(fpuinfo, "vmlinux", "", "copy-dst", "6.1+", TRACEPOINT, x86_fpu_copy_dst, (struct fpu *fpu), true, PASS(fpu))
DBK_PLACE(fpuinfo, "vmlinux", "", "xstate-check-failed", "6.1+", TRACEPOINT, x86_fpu_xstate_check_failed, (struct fpu *fpu), true, PASS(fpu))

DBK_ABSENT(fpuinfo, "before-restore", "the kernel has the tracepoint, and nothing passes it")
DBK_ABSENT(fpuinfo, "after-restore", "the kernel has the tracepoint, and nothing passes it")
DBK_ABSENT(fpuinfo, "init-state", "the kernel has the tracepoint, and nothing passes it")
