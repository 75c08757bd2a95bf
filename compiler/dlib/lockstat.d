/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Provider lockstat: which lock (a rwlock_t is a struct qrwlock), how long it was waited for (ns), as what a reader-writer lock
 * is held.
 */

inline int RW_WRITER = 0;
inline int RW_READER = 1;

provider lockstat {
	probe adaptive__acquire(struct mutex *lock);
	probe adaptive__acquire__error(struct mutex *lock, int error);
	probe adaptive__release(struct mutex *lock);
	probe adaptive__spin(struct mutex *lock, uint64_t ns);
	probe adaptive__block(struct mutex *lock, uint64_t ns);
	probe spin__acquire(struct spinlock *lock);
	probe spin__release(struct spinlock *lock);
	probe spin__spin(struct spinlock *lock, uint64_t ns);
	probe rw__acquire(struct qrwlock *lock, int who);
	probe rw__release(struct qrwlock *lock, int who);
	probe rw__spin(struct qrwlock *lock, uint64_t ns, int who);
	probe rw__block(struct rw_semaphore *lock, uint64_t ns, int who);
	probe rw__downgrade(struct rw_semaphore *lock);
};
