/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * mac_framework.h - provider mac_framework: what the security modules are asked, by FreeBSD's names
 *
 * The function is the hook's.  arg0 is the answer, 0 or a negative errno; arg1 the hook's first argument: the file, the
 * inode, the socket.
 */
DBK_PLACE(mac_framework, "vmlinux", "*", "mac-check-ok", "6.1+", RETURN,
	  security_bprm_check security_bpf security_capable security_file_fcntl security_file_ioctl security_file_lock
	  security_file_mprotect security_file_open security_file_permission security_inode_create security_inode_getattr
	  security_inode_getxattr security_inode_link security_inode_mkdir security_inode_mknod security_inode_permission
	  security_inode_readlink security_inode_removexattr security_inode_rename security_inode_rmdir security_inode_setattr
	  security_inode_setxattr security_inode_symlink security_inode_unlink security_ipc_permission security_kernel_load_data
	  security_kernel_module_request security_kernel_read_file security_key_permission security_locked_down security_mmap_file
	  security_perf_event_open security_ptrace_access_check security_sb_mount security_sb_statfs security_sb_umount
	  security_settime64 security_socket_accept security_socket_bind security_socket_connect security_socket_create
	  security_socket_listen security_socket_recvmsg security_socket_sendmsg security_socket_shutdown security_syslog
	  security_task_fix_setuid security_task_kill security_task_setnice security_task_setpgid
	  security_task_setscheduler security_unix_stream_connect,
	  (int error, void *object), error == 0, PASS(error, object))
DBK_PLACE(mac_framework, "vmlinux", "*", "mac-check-err", "6.1+", RETURN,
	  security_bprm_check security_bpf security_capable security_file_fcntl security_file_ioctl security_file_lock
	  security_file_mprotect security_file_open security_file_permission security_inode_create security_inode_getattr
	  security_inode_getxattr security_inode_link security_inode_mkdir security_inode_mknod security_inode_permission
	  security_inode_readlink security_inode_removexattr security_inode_rename security_inode_rmdir security_inode_setattr
	  security_inode_setxattr security_inode_symlink security_inode_unlink security_ipc_permission security_kernel_load_data
	  security_kernel_module_request security_kernel_read_file security_key_permission security_locked_down security_mmap_file
	  security_perf_event_open security_ptrace_access_check security_sb_mount security_sb_statfs security_sb_umount
	  security_settime64 security_socket_accept security_socket_bind security_socket_connect security_socket_create
	  security_socket_listen security_socket_recvmsg security_socket_sendmsg security_socket_shutdown security_syslog
	  security_task_fix_setuid security_task_kill security_task_setnice security_task_setpgid
	  security_task_setscheduler security_unix_stream_connect,
	  (int error, void *object), error != 0, PASS(error, object))

/* Of a call that no module knows, which is none refused, the answer is ENOSYS. */
DBK_PLACE(mac_framework, "vmlinux", "*", "mac-check-ok", "6.1+", RETURN, security_task_prctl,
	  (int error, void *object), error == 0 || error == -ENOSYS, PASS(error, object))
DBK_PLACE(mac_framework, "vmlinux", "*", "mac-check-err", "6.1+", RETURN, security_task_prctl,
	  (int error, void *object), error != 0 && error != -ENOSYS, PASS(error, object))

DBK_ABSENT(mac_framework, "mac-grant-ok", "privileges are capabilities: mac_framework::security_capable:mac-check-ok")
DBK_ABSENT(mac_framework, "mac-grant-err", "privileges are capabilities: mac_framework::security_capable:mac-check-err")
