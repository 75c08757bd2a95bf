/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * lockstat.h - provider lockstat: locks of the kernel, and waiting for them
 *
 * What is a call of a function has that function; a wait that the kernel's tracepoints have has none.
 *
 * arg0 is the lock: a struct mutex (adaptive), a spinlock_t, a rwlock_t (rw-acquire, rw-release, rw-spin) or a struct
 * rw_semaphore (rw-block, rw-downgrade).  Of a wait, which ends with the lock taken, arg1 is how long it was, ns, and arg2 as
 * what it is taken: 1 (RW_READER) or 0.  A mutex that was slept for is not one that was spun for as well.
 */
DBK_PLACE(lockstat, "vmlinux", "*", "adaptive-acquire", "6.1+", RETURN, mutex_lock, (u64 result, void *lock),
	  true, PASS(lock))
DBK_PLACE(lockstat, "vmlinux", "*", "adaptive-acquire", "6.1+", RETURN,
	  mutex_lock_interruptible mutex_lock_killable,
	  (int error, void *lock), error == 0, PASS(lock))
DBK_PLACE(lockstat, "vmlinux", "*", "adaptive-acquire", "6.1+", RETURN, mutex_trylock, (int taken, void *lock),
	  taken != 0, PASS(lock))
DBK_PLACE(lockstat, "vmlinux", "*", "adaptive-acquire-error", "6.1+", RETURN,
	  mutex_lock_interruptible mutex_lock_killable,
	  (int error, void *lock), error != 0, PASS(lock, error))
DBK_PLACE(lockstat, "vmlinux", "*", "adaptive-release", "6.1+", ENTRY, mutex_unlock, (void *lock), true, PASS(lock))
DBK_PLACE(lockstat, "vmlinux", "", "adaptive-spin", "6.1+", TRACEPOINT, contention_begin,
	  (void *lock, unsigned int flags), dbk_wait_begins(probe, lock, flags, LCB_F_MUTEX | LCB_F_SPIN), PASS_NONE())
DBK_PLACE(lockstat, "vmlinux", "", "adaptive-spin", "6.1+", TRACEPOINT, contention_end, (void *lock, int error),
	  true, PASS_WAIT(lock, error))
DBK_PLACE(lockstat, "vmlinux", "", "adaptive-block", "6.1+", TRACEPOINT, contention_begin,
	  (void *lock, unsigned int flags), dbk_wait_begins(probe, lock, flags, LCB_F_MUTEX), PASS_NONE())
DBK_PLACE(lockstat, "vmlinux", "", "adaptive-block", "6.1+", TRACEPOINT, contention_end, (void *lock, int error),
	  true, PASS_WAIT(lock, error))

DBK_PLACE(lockstat, "vmlinux", "*", "spin-acquire", "6.1+", RETURN,
	  _raw_spin_lock _raw_spin_lock_bh _raw_spin_lock_irq _raw_spin_lock_irqsave,
	  (u64 result, void *lock), true, PASS(lock))
DBK_PLACE(lockstat, "vmlinux", "*", "spin-acquire", "6.1+", RETURN,
	  _raw_spin_trylock _raw_spin_trylock_bh,
	  (int taken, void *lock), taken != 0, PASS(lock))
DBK_PLACE(lockstat, "vmlinux", "*", "spin-release", "6.1+", ENTRY,
	  _raw_spin_unlock _raw_spin_unlock_bh _raw_spin_unlock_irq _raw_spin_unlock_irqrestore,
	  (void *lock), true, PASS(lock))

/* The tracepoints have a spin lock's waiters from the third on only, and none of a virtual machine's without
 * paravirtual locks. */
DBK_PLACE(lockstat, "vmlinux", "*", "spin-spin", "6.1+", ENTRY,
	  native_queued_spin_lock_slowpath __pv_queued_spin_lock_slowpath,
	  (void *lock), dbk_wait_begins(probe, lock, LCB_F_SPIN, LCB_F_SPIN), PASS_NONE())
DBK_PLACE(lockstat, "vmlinux", "*", "spin-spin", "6.1+", RETURN,
	  native_queued_spin_lock_slowpath __pv_queued_spin_lock_slowpath,
	  (u64 result, void *lock), true, PASS_WAIT(lock, 0))

DBK_PLACE(lockstat, "vmlinux", "*", "rw-acquire", "6.1+", RETURN,
	  _raw_read_lock _raw_read_lock_bh _raw_read_lock_irq _raw_read_lock_irqsave,
	  (u64 result, void *lock), true, PASS(lock, 1))
DBK_PLACE(lockstat, "vmlinux", "*", "rw-acquire", "6.1+", RETURN, _raw_read_trylock, (int taken, void *lock),
	  taken != 0, PASS(lock, 1))
DBK_PLACE(lockstat, "vmlinux", "*", "rw-acquire", "6.1+", RETURN,
	  _raw_write_lock _raw_write_lock_bh _raw_write_lock_irq _raw_write_lock_irqsave,
	  (u64 result, void *lock), true, PASS(lock, 0))
DBK_PLACE(lockstat, "vmlinux", "*", "rw-acquire", "6.1+", RETURN, _raw_write_trylock, (int taken, void *lock),
	  taken != 0, PASS(lock, 0))
DBK_PLACE(lockstat, "vmlinux", "*", "rw-release", "6.1+", ENTRY,
	  _raw_read_unlock _raw_read_unlock_bh _raw_read_unlock_irq _raw_read_unlock_irqrestore,
	  (void *lock), true, PASS(lock, 1))
DBK_PLACE(lockstat, "vmlinux", "*", "rw-release", "6.1+", ENTRY,
	  _raw_write_unlock _raw_write_unlock_bh _raw_write_unlock_irq _raw_write_unlock_irqrestore,
	  (void *lock), true, PASS(lock, 0))
DBK_PLACE(lockstat, "vmlinux", "", "rw-spin", "6.1+", TRACEPOINT, contention_begin,
	  (void *lock, unsigned int flags),
	  dbk_wait_begins(probe, lock, flags, LCB_F_SPIN | LCB_F_READ) ||
		  dbk_wait_begins(probe, lock, flags, LCB_F_SPIN | LCB_F_WRITE), PASS_NONE())
DBK_PLACE(lockstat, "vmlinux", "", "rw-spin", "6.1+", TRACEPOINT, contention_end, (void *lock, int error),
	  true, PASS_WAIT(lock, error))
DBK_PLACE(lockstat, "vmlinux", "", "rw-block", "6.1+", TRACEPOINT, contention_begin,
	  (void *lock, unsigned int flags),
	  dbk_wait_begins(probe, lock, flags, LCB_F_READ) || dbk_wait_begins(probe, lock, flags, LCB_F_WRITE), PASS_NONE())
DBK_PLACE(lockstat, "vmlinux", "", "rw-block", "6.1+", TRACEPOINT, contention_end, (void *lock, int error),
	  true, PASS_WAIT(lock, error))
DBK_PLACE(lockstat, "vmlinux", "*", "rw-downgrade", "6.1+", ENTRY, downgrade_write, (void *lock), true, PASS(lock))

DBK_ABSENT(lockstat, "rw-upgrade", "a reader of a rw_semaphore cannot become its writer")
DBK_ABSENT(lockstat, "thread-spin", "a thread's run queue has a spin lock: lockstat:::spin-spin")
