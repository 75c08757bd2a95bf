/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Provider vfs: what args[] of its probes are; formats/abi/probes/vfs.h says what they stand for.
 */

provider vfs {
	probe entry(struct inode *I, struct dentry *D, char *name, uint64_t number) :
	    (struct inode *I, struct dentry *D, string name, uint64_t number);
	probe return(int64_t result);
	probe hit(struct inode *folder, char *name, struct inode *I) :
	    (struct inode *folder, string name, struct inode *I);
	probe hit__negative(struct inode *folder, char *name) : (struct inode *folder, string name);
	probe miss(void);
};
