/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* boot.h - provider boot: what a machine does on its way up (kmod/providers/boot.c) */
DBK_CODED(boot, "module-load-start", "6.1+", TRACEPOINT, module_load)
DBK_CODED(boot, "module-load-done", "6.1+", TRACEPOINT, initcall_finish)
DBK_CODED(boot, "firmware-request", "6.1+", ENTRY, _request_firmware)
DBK_CODED(boot, "firmware-done", "6.1+", RETURN, _request_firmware)
DBK_CODED(boot, "device-probe-start", "6.1+", ENTRY, really_probe)
DBK_CODED(boot, "device-probe-done", "6.1+", RETURN, really_probe)
DBK_CODED(boot, "rootfs-mounted", "6.1+", TRACEPOINT, sys_exit)
DBK_CODED(boot, "switch-root", "6.1+", TRACEPOINT, sys_exit)
DBK_CODED(boot, "init-exec", "6.1+", TRACEPOINT, sched_process_exec)
DBK_CODED(boot, "unit-start", "6.1+", TRACEPOINT, cgroup_mkdir)
DBK_CODED(boot, "unit-ready", "6.1+", TRACEPOINT, sys_exit)
DBK_CODED(boot, "unit-stop", "6.1+", TRACEPOINT, cgroup_rmdir)
