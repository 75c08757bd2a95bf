/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * fsinfo.h - provider fsinfo: what is asked of file systems, by illumos' names
 *
 * arg0 is the struct file, or the struct dentry of what a path names; arg1 a number of bytes: read, written, mapped.
 * 6.1's fdatasync() asks the file system by a pointer alone: there fsync has fsync() and the like.
 */
DBK_PLACE(fsinfo, "vmlinux", "", "open", "6.1+", ENTRY, vfs_open,
	  (const struct path *path), true, PASS(path->dentry, 0))
DBK_PLACE(fsinfo, "vmlinux", "", "close", "6.1", ENTRY, filp_close,
	  (struct file *file), LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0), PASS(file, 0))
DBK_PLACE(fsinfo, "vmlinux", "", "close", "6.12+", ENTRY, filp_flush,
	  (struct file *file), true, PASS(file, 0))
DBK_PLACE(fsinfo, "vmlinux", "", "read", "6.1+", RETURN, vfs_read,
	  (long bytes, struct file *file), true, PASS(file, bytes > 0 ? bytes : 0))
DBK_PLACE(fsinfo, "vmlinux", "", "write", "6.1+", RETURN, vfs_write,
	  (long bytes, struct file *file), true, PASS(file, bytes > 0 ? bytes : 0))
DBK_PLACE(fsinfo, "vmlinux", "", "ioctl", "6.1+", ENTRY, security_file_ioctl security_file_ioctl_compat,
	  (struct file *file), true, PASS(file, 0))
DBK_PLACE(fsinfo, "vmlinux", "", "readdir", "6.1+", ENTRY, iterate_dir,
	  (struct file *file), true, PASS(file, 0))
DBK_PLACE(fsinfo, "vmlinux", "", "fsync", "6.1+", ENTRY, vfs_fsync_range,
	  (struct file *file), true, PASS(file, 0))
DBK_PLACE(fsinfo, "vmlinux", "", "frlock", "6.1+", ENTRY, fcntl_setlk,
	  (unsigned int number, struct file *file), true, PASS(file, 0))
DBK_PLACE(fsinfo, "vmlinux", "", "space", "6.1+", ENTRY, vfs_fallocate,
	  (struct file *file, int mode, loff_t offset, loff_t bytes), true, PASS(file, bytes))
DBK_PLACE(fsinfo, "vmlinux", "", "map", "6.1+", ENTRY, mmap_region,
	  (struct file *file, unsigned long address, unsigned long bytes), file, PASS(file, bytes))
DBK_PLACE(fsinfo, "vmlinux", "", "getpage", "6.1+", ENTRY, filemap_fault,
	  (struct vm_fault *fault), true, PASS(fault->vma->vm_file, PAGE_SIZE))
DBK_PLACE(fsinfo, "vmlinux", "", "getattr", "6.1+", ENTRY, vfs_getattr_nosec,
	  (const struct path *path), true, PASS(path->dentry, 0))
DBK_PLACE(fsinfo, "vmlinux", "", "setattr", "6.1+", ENTRY, notify_change,
	  (void *map, struct dentry *entry), true, PASS(entry, 0))
DBK_PLACE(fsinfo, "vmlinux", "", "getsecattr", "6.1+", ENTRY, vfs_getxattr,
	  (void *map, struct dentry *entry), true, PASS(entry, 0))
DBK_PLACE(fsinfo, "vmlinux", "", "readlink", "6.1+", ENTRY, vfs_readlink,
	  (struct dentry *entry), true, PASS(entry, 0))
DBK_PLACE(fsinfo, "vmlinux", "", "create", "6.1+", ENTRY, security_inode_create security_inode_mknod,
	  (struct inode *folder, struct dentry *entry), true, PASS(entry, 0))
DBK_PLACE(fsinfo, "vmlinux", "", "mkdir", "6.1+", ENTRY, vfs_mkdir,
	  (void *map, struct inode *folder, struct dentry *entry), true, PASS(entry, 0))
DBK_PLACE(fsinfo, "vmlinux", "", "rmdir", "6.1+", ENTRY, vfs_rmdir,
	  (void *map, struct inode *folder, struct dentry *entry), true, PASS(entry, 0))
DBK_PLACE(fsinfo, "vmlinux", "", "remove", "6.1+", ENTRY, vfs_unlink,
	  (void *map, struct inode *folder, struct dentry *entry), true, PASS(entry, 0))
DBK_PLACE(fsinfo, "vmlinux", "", "symlink", "6.1+", ENTRY, vfs_symlink,
	  (void *map, struct inode *folder, struct dentry *entry), true, PASS(entry, 0))
DBK_PLACE(fsinfo, "vmlinux", "", "link", "6.1+", ENTRY, vfs_link,
	  (struct dentry *old, void *map, struct inode *folder, struct dentry *entry), true, PASS(entry, 0))
DBK_PLACE(fsinfo, "vmlinux", "", "rename", "6.1+", ENTRY, vfs_rename,
	  (struct renamedata *names), true, PASS(names->old_dentry, 0))

DBK_ABSENT(fsinfo, "access", "a path is asked for, not a file: syscall::faccessat:entry")
DBK_ABSENT(fsinfo, "addmap", "mappings are not counted by file: fsinfo:::map")
DBK_ABSENT(fsinfo, "delmap", "mappings are not counted by file: syscall::munmap:entry")
DBK_ABSENT(fsinfo, "dispose", "sdt:::mm_filemap_delete_from_page_cache has pages that are let go")
DBK_ABSENT(fsinfo, "fid", "fbt::exportfs_encode_fh:entry is near it")
DBK_ABSENT(fsinfo, "inactive", "vfs::vop_reclaim:entry has inodes that are let go")
DBK_ABSENT(fsinfo, "lookup", "vfs:namecache:lookup: has parts of paths, vfs:namei:lookup: whole ones")
DBK_ABSENT(fsinfo, "pageio", "io:::start has what is read and written")
DBK_ABSENT(fsinfo, "pathconf", "the C library answers it")
DBK_ABSENT(fsinfo, "poll", "a file system is asked by a pointer: syscall::poll:entry")
DBK_ABSENT(fsinfo, "putpage", "sdt:::writeback_* have what is written back")
DBK_ABSENT(fsinfo, "realvp", "there is no vnode below another")
DBK_ABSENT(fsinfo, "rwlock", "an inode's lock is an rw_semaphore: lockstat:::rw-block")
DBK_ABSENT(fsinfo, "rwunlock", "an inode's lock is an rw_semaphore: lockstat:::rw-block")
DBK_ABSENT(fsinfo, "seek", "lseek() moves a file with no function of its own: syscall::lseek:entry")
DBK_ABSENT(fsinfo, "setfl", "syscall::fcntl:entry has F_SETFL")
DBK_ABSENT(fsinfo, "setsecattr", "fbt::vfs_setxattr:entry is near it")
DBK_ABSENT(fsinfo, "shrlock", "files are not opened for one alone")
DBK_ABSENT(fsinfo, "vnevent", "fbt::fsnotify:entry is near it")
