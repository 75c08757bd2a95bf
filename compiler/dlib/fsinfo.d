/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Provider fsinfo: which file, and how many bytes.  Of what a path names, only the last part is known.
 */
#pragma D depends_on library task.d

translator fileinfo_t < struct dentry *D > {
	fi_name = D->d_parent == D ? "/" : stringof(D->d_name.name);
	fi_dirname = "<unknown>";
	fi_pathname = "<unknown>";
	fi_offset = 0;
	fi_fs = stringof(D->d_sb->s_type->name);
	fi_mount = "<none>";
	fi_oflags = 0;
};

provider fsinfo {
	probe open(struct dentry *D, uint64_t bytes) : (fileinfo_t *D, uint64_t bytes);
	probe close(struct file *F, uint64_t bytes) : (fileinfo_t *F, uint64_t bytes);
	probe read(struct file *F, uint64_t bytes) : (fileinfo_t *F, uint64_t bytes);
	probe write(struct file *F, uint64_t bytes) : (fileinfo_t *F, uint64_t bytes);
	probe ioctl(struct file *F, uint64_t bytes) : (fileinfo_t *F, uint64_t bytes);
	probe readdir(struct file *F, uint64_t bytes) : (fileinfo_t *F, uint64_t bytes);
	probe fsync(struct file *F, uint64_t bytes) : (fileinfo_t *F, uint64_t bytes);
	probe frlock(struct file *F, uint64_t bytes) : (fileinfo_t *F, uint64_t bytes);
	probe space(struct file *F, uint64_t bytes) : (fileinfo_t *F, uint64_t bytes);
	probe map(struct file *F, uint64_t bytes) : (fileinfo_t *F, uint64_t bytes);
	probe getpage(struct file *F, uint64_t bytes) : (fileinfo_t *F, uint64_t bytes);
	probe getattr(struct dentry *D, uint64_t bytes) : (fileinfo_t *D, uint64_t bytes);
	probe setattr(struct dentry *D, uint64_t bytes) : (fileinfo_t *D, uint64_t bytes);
	probe getsecattr(struct dentry *D, uint64_t bytes) : (fileinfo_t *D, uint64_t bytes);
	probe readlink(struct dentry *D, uint64_t bytes) : (fileinfo_t *D, uint64_t bytes);
	probe create(struct dentry *D, uint64_t bytes) : (fileinfo_t *D, uint64_t bytes);
	probe mkdir(struct dentry *D, uint64_t bytes) : (fileinfo_t *D, uint64_t bytes);
	probe rmdir(struct dentry *D, uint64_t bytes) : (fileinfo_t *D, uint64_t bytes);
	probe remove(struct dentry *D, uint64_t bytes) : (fileinfo_t *D, uint64_t bytes);
	probe symlink(struct dentry *D, uint64_t bytes) : (fileinfo_t *D, uint64_t bytes);
	probe link(struct dentry *D, uint64_t bytes) : (fileinfo_t *D, uint64_t bytes);
	probe rename(struct dentry *D, uint64_t bytes) : (fileinfo_t *D, uint64_t bytes);
};
