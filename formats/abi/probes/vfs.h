/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * vfs.h - provider vfs: what is asked of file systems, by FreeBSD's names over Linux's functions
 *
 * entry has the inode that it is about, of a name its directory; the dentry; the name, of namei:lookup the path; and a number:
 * bytes, flags or a mode.  namei:lookup is of paths that are walked: to open, to look at, to make or remove what they name.  return has what the function returned, vop_reclaim 0.  Reads and writes are those of read(2) and its like; of
 * 6.1's fdatasync() there is no vop_fsync.
 */
DBK_PLACE(vfs, "vop", "vop_open", "entry", "6.1+", ENTRY, vfs_open,
	  (const struct path *path, struct file *file),
	  true, PASS(d_inode(path->dentry), path->dentry, dbk_name_of(path->dentry), file->f_flags))
DBK_PLACE(vfs, "vop", "vop_open", "return", "6.1+", RETURN, vfs_open, (long result), true, PASS(result))
DBK_PLACE(vfs, "vop", "vop_close", "entry", "6.1", ENTRY, filp_close, (struct file *file),
	  LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0),
	  PASS(file_inode(file), file->f_path.dentry, dbk_name_of(file->f_path.dentry), file->f_flags))
DBK_PLACE(vfs, "vop", "vop_close", "entry", "6.12+", ENTRY, filp_flush, (struct file *file),
	  true, PASS(file_inode(file), file->f_path.dentry, dbk_name_of(file->f_path.dentry), file->f_flags))
DBK_PLACE(vfs, "vop", "vop_close", "return", "6.1", RETURN, filp_close, (long result),
	  LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0), PASS(result))
DBK_PLACE(vfs, "vop", "vop_close", "return", "6.12+", RETURN, filp_flush, (long result), true, PASS(result))
DBK_PLACE(vfs, "vop", "vop_read", "entry", "6.1+", ENTRY, vfs_read,
	  (struct file *file, char *buffer, size_t bytes),
	  true, PASS(file_inode(file), file->f_path.dentry, dbk_name_of(file->f_path.dentry), bytes))
DBK_PLACE(vfs, "vop", "vop_read", "return", "6.1+", RETURN, vfs_read, (long result), true, PASS(result))
DBK_PLACE(vfs, "vop", "vop_write", "entry", "6.1+", ENTRY, vfs_write,
	  (struct file *file, char *buffer, size_t bytes),
	  true, PASS(file_inode(file), file->f_path.dentry, dbk_name_of(file->f_path.dentry), bytes))
DBK_PLACE(vfs, "vop", "vop_write", "return", "6.1+", RETURN, vfs_write, (long result), true, PASS(result))
DBK_PLACE(vfs, "vop", "vop_fsync", "entry", "6.1+", ENTRY, vfs_fsync_range,
	  (struct file *file, loff_t start, loff_t end, int data),
	  true, PASS(file_inode(file), file->f_path.dentry, dbk_name_of(file->f_path.dentry), data))
DBK_PLACE(vfs, "vop", "vop_fsync", "return", "6.1+", RETURN, vfs_fsync_range, (long result),
	  true, PASS(result))
DBK_PLACE(vfs, "vop", "vop_readdir", "entry", "6.1+", ENTRY, iterate_dir, (struct file *file),
	  true, PASS(file_inode(file), file->f_path.dentry, dbk_name_of(file->f_path.dentry), 0))
DBK_PLACE(vfs, "vop", "vop_readdir", "return", "6.1+", RETURN, iterate_dir, (long result), true, PASS(result))
DBK_PLACE(vfs, "vop", "vop_allocate", "entry", "6.1+", ENTRY, vfs_fallocate,
	  (struct file *file, int mode, loff_t offset, loff_t bytes),
	  true, PASS(file_inode(file), file->f_path.dentry, dbk_name_of(file->f_path.dentry), bytes))
DBK_PLACE(vfs, "vop", "vop_allocate", "return", "6.1+", RETURN, vfs_fallocate, (long result),
	  true, PASS(result))
DBK_PLACE(vfs, "vop", "vop_advlock", "entry", "6.1+", ENTRY, fcntl_setlk,
	  (unsigned int number, struct file *file, unsigned int command),
	  true, PASS(file_inode(file), file->f_path.dentry, dbk_name_of(file->f_path.dentry), command))
DBK_PLACE(vfs, "vop", "vop_advlock", "return", "6.1+", RETURN, fcntl_setlk, (long result),
	  true, PASS(result))
DBK_PLACE(vfs, "vop", "vop_getattr", "entry", "6.1+", ENTRY, vfs_getattr_nosec, (const struct path *path),
	  true, PASS(d_inode(path->dentry), path->dentry, dbk_name_of(path->dentry), 0))
DBK_PLACE(vfs, "vop", "vop_getattr", "return", "6.1+", RETURN, vfs_getattr_nosec, (long result),
	  true, PASS(result))
DBK_PLACE(vfs, "vop", "vop_setattr", "entry", "6.1+", ENTRY, notify_change,
	  (void *map, struct dentry *entry, struct iattr *change),
	  true, PASS(d_inode(entry), entry, dbk_name_of(entry), change->ia_valid))
DBK_PLACE(vfs, "vop", "vop_setattr", "return", "6.1+", RETURN, notify_change, (long result),
	  true, PASS(result))
DBK_PLACE(vfs, "vop", "vop_readlink", "entry", "6.1+", ENTRY, vfs_readlink,
	  (struct dentry *entry, char *buffer, int bytes),
	  true, PASS(d_inode(entry), entry, dbk_name_of(entry), bytes))
DBK_PLACE(vfs, "vop", "vop_readlink", "return", "6.1+", RETURN, vfs_readlink, (long result),
	  true, PASS(result))
DBK_PLACE(vfs, "vop", "vop_getextattr", "entry", "6.1+", ENTRY, vfs_getxattr,
	  (void *map, struct dentry *entry, const char *name, void *value, size_t bytes),
	  true, PASS(d_inode(entry), entry, name, bytes))
DBK_PLACE(vfs, "vop", "vop_getextattr", "return", "6.1+", RETURN, vfs_getxattr, (long result),
	  true, PASS(result))
DBK_PLACE(vfs, "vop", "vop_mkdir", "entry", "6.1+", ENTRY, vfs_mkdir,
	  (void *map, struct inode *folder, struct dentry *entry, umode_t mode),
	  true, PASS(folder, entry, dbk_name_of(entry), mode))
DBK_PLACE(vfs, "vop", "vop_mkdir", "return", "6.1+", RETURN, vfs_mkdir, (long result), true, PASS(result))
DBK_PLACE(vfs, "vop", "vop_rmdir", "entry", "6.1+", ENTRY, vfs_rmdir,
	  (void *map, struct inode *folder, struct dentry *entry),
	  true, PASS(folder, entry, dbk_name_of(entry), 0))
DBK_PLACE(vfs, "vop", "vop_rmdir", "return", "6.1+", RETURN, vfs_rmdir, (long result), true, PASS(result))
DBK_PLACE(vfs, "vop", "vop_remove", "entry", "6.1+", ENTRY, vfs_unlink,
	  (void *map, struct inode *folder, struct dentry *entry),
	  true, PASS(folder, entry, dbk_name_of(entry), 0))
DBK_PLACE(vfs, "vop", "vop_remove", "return", "6.1+", RETURN, vfs_unlink, (long result), true, PASS(result))
DBK_PLACE(vfs, "vop", "vop_mknod", "entry", "6.1+", ENTRY, vfs_mknod,
	  (void *map, struct inode *folder, struct dentry *entry, umode_t mode),
	  true, PASS(folder, entry, dbk_name_of(entry), mode))
DBK_PLACE(vfs, "vop", "vop_mknod", "return", "6.1+", RETURN, vfs_mknod, (long result), true, PASS(result))
DBK_PLACE(vfs, "vop", "vop_symlink", "entry", "6.1+", ENTRY, vfs_symlink,
	  (void *map, struct inode *folder, struct dentry *entry),
	  true, PASS(folder, entry, dbk_name_of(entry), 0))
DBK_PLACE(vfs, "vop", "vop_symlink", "return", "6.1+", RETURN, vfs_symlink, (long result), true, PASS(result))
DBK_PLACE(vfs, "vop", "vop_link", "entry", "6.1+", ENTRY, vfs_link,
	  (struct dentry *old, void *map, struct inode *folder, struct dentry *entry),
	  true, PASS(folder, entry, dbk_name_of(entry), 0))
DBK_PLACE(vfs, "vop", "vop_link", "return", "6.1+", RETURN, vfs_link, (long result), true, PASS(result))
DBK_PLACE(vfs, "vop", "vop_rename", "entry", "6.1+", ENTRY, vfs_rename, (struct renamedata *names),
	  true, PASS(names->old_dir, names->old_dentry, dbk_name_of(names->old_dentry), names->flags))
DBK_PLACE(vfs, "vop", "vop_rename", "return", "6.1+", RETURN, vfs_rename, (long result), true, PASS(result))
DBK_PLACE(vfs, "vop", "vop_reclaim", "entry", "6.1+", ENTRY, evict, (struct inode *inode),
	  true, PASS(inode, 0, "", 0))
DBK_PLACE(vfs, "vop", "vop_reclaim", "return", "6.1+", RETURN, evict, (), true, PASS(0))
DBK_PLACE(vfs, "namei", "lookup", "entry", "6.1+", ENTRY, filename_lookup,
	  (int from, struct filename *path, unsigned int flags),
	  !IS_ERR_OR_NULL(path), PASS(0, 0, path->name, flags))
DBK_PLACE(vfs, "namei", "lookup", "entry", "6.1+", ENTRY, do_filp_open __filename_parentat,
	  (int from, struct filename *path), !IS_ERR_OR_NULL(path), PASS(0, 0, path->name, 0))
DBK_PLACE(vfs, "namei", "lookup", "entry", "6.1+", ENTRY, do_file_open_root,
	  (const struct path *root, const char *path), true, PASS(0, 0, path, 0))
DBK_PLACE(vfs, "namei", "lookup", "return", "6.1+", RETURN, filename_lookup __filename_parentat, (long result),
	  true, PASS(result))
DBK_PLACE(vfs, "namei", "lookup", "return", "6.1+", RETURN, do_filp_open do_file_open_root, (struct file *file),
	  true, PASS(IS_ERR(file) ? PTR_ERR(file) : 0))

/* One part of a path in the cache of names: hit-negative is known not to be there. */
DBK_PLACE(vfs, "namecache", "lookup", "hit", "6.1+", RETURN, lookup_fast, (struct dentry *entry),
	  entry && !IS_ERR(entry) && d_inode(entry), PASS(d_inode(entry->d_parent), dbk_name_of(entry), d_inode(entry)))
DBK_PLACE(vfs, "namecache", "lookup", "hit-negative", "6.1+", RETURN, lookup_fast, (struct dentry *entry),
	  entry && !IS_ERR(entry) && !d_inode(entry), PASS(d_inode(entry->d_parent), dbk_name_of(entry)))
DBK_PLACE(vfs, "namecache", "lookup", "miss", "6.1+", RETURN, lookup_fast, (struct dentry *entry),
	  !entry, PASS_NONE())

DBK_ABSENT(vfs, "vop_create", "open() makes a file with no function of its own: fsinfo:::create")
DBK_ABSENT(vfs, "vop_ioctl", "ioctl() asks a file with no function of its own: fsinfo:::ioctl")
DBK_ABSENT(vfs, "done", "FreeBSD's lookup without locks has no name of its own here: lookup:hit has it too")
