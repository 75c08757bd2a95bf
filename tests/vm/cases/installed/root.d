
/* SPDX-License-Identifier: Apache-2.0 */
/* How the first process came to the real root; appended to the standard program. */
boot:::rootfs-mounted { printf("ROOT %s %s\n", args[0], args[1]); }
boot:::switch-root { printf("SWITCH\n"); }
boot:::init-exec { printf("INIT %s\n", args[0]); }
boot:::init-exec { printf("PHASE %s\n", bootphase); }
