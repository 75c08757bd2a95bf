/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Provider syscall: what args[] of the entry of each system call are, for 64-bit programs, as Linux has declared them: a
 * `probe` of this page is a call, as probefunc names it.  A type that is a number under another name is written as that
 * number, so that no kernel need be known.  Of every return args[0] and args[1] are the returned value, a long.
 */

provider syscall {
	probe accept(int fd, struct sockaddr *upeer_sockaddr, int *upeer_addrlen);
	probe accept4(int fd, struct sockaddr *upeer_sockaddr, int *upeer_addrlen, int flags);
	probe access(const char *filename, int mode);
	probe acct(const char *name);
	probe add_key(const char *_type, const char *_description, const void *_payload,
	    size_t plen, int ringid);
	probe adjtimex(struct __kernel_timex *txc_p);
	probe alarm(unsigned int seconds);
	probe arch_prctl(int option, unsigned long arg2);
	probe bind(int fd, struct sockaddr *umyaddr, int addrlen);
	probe bpf(int cmd, union bpf_attr *uattr, unsigned int size);
	probe brk(unsigned long brk);
	probe cachestat(unsigned int fd, struct cachestat_range *cstat_range,
	    struct cachestat *cstat, unsigned int flags);
	probe capget(struct __user_cap_header_struct *header,
	    struct __user_cap_data_struct *dataptr);
	probe capset(struct __user_cap_header_struct *header,
	    struct __user_cap_data_struct *data);
	probe chdir(const char *filename);
	probe chmod(const char *filename, unsigned short mode);
	probe chown(const char *filename, uid_t user, gid_t group);
	probe chroot(const char *filename);
	probe clock_adjtime(int which_clock, struct __kernel_timex *utx);
	probe clock_getres(int which_clock, struct __kernel_timespec *tp);
	probe clock_gettime(int which_clock, struct __kernel_timespec *tp);
	probe clock_nanosleep(int which_clock, int flags, const struct __kernel_timespec *rqtp,
	    struct __kernel_timespec *rmtp);
	probe clock_settime(int which_clock, const struct __kernel_timespec *tp);
	probe clone(unsigned long clone_flags, unsigned long newsp, int *parent_tidptr,
	    int *child_tidptr, unsigned long tls);
	probe clone3(struct clone_args *uargs, size_t size);
	probe close(unsigned int fd);
	probe close_range(unsigned int fd, unsigned int max_fd, unsigned int flags);
	probe connect(int fd, struct sockaddr *uservaddr, int addrlen);
	probe copy_file_range(int fd_in, long long *off_in, int fd_out, long long *off_out,
	    size_t len, unsigned int flags);
	probe creat(const char *pathname, unsigned short mode);
	probe delete_module(const char *name_user, unsigned int flags);
	probe dup(unsigned int fildes);
	probe dup2(unsigned int oldfd, unsigned int newfd);
	probe dup3(unsigned int oldfd, unsigned int newfd, int flags);
	probe epoll_create(int size);
	probe epoll_create1(int flags);
	probe epoll_ctl(int epfd, int op, int fd, struct epoll_event *event);
	probe epoll_pwait(int epfd, struct epoll_event *events, int maxevents, int timeout,
	    const unsigned long *sigmask, size_t sigsetsize);
	probe epoll_pwait2(int epfd, struct epoll_event *events, int maxevents,
	    const struct __kernel_timespec *timeout, const unsigned long *sigmask,
	    size_t sigsetsize);
	probe epoll_wait(int epfd, struct epoll_event *events, int maxevents, int timeout);
	probe eventfd(unsigned int count);
	probe eventfd2(unsigned int count, int flags);
	probe execve(const char *filename, const char * const *argv, const char * const *envp);
	probe execveat(int fd, const char *filename, const char * const *argv,
	    const char * const *envp, int flags);
	probe exit(int error_code);
	probe exit_group(int error_code);
	probe faccessat(int dfd, const char *filename, int mode);
	probe faccessat2(int dfd, const char *filename, int mode, int flags);
	probe fadvise64(int fd, long long offset, size_t len, int advice);
	probe fallocate(int fd, int mode, long long offset, long long len);
	probe fanotify_init(unsigned int flags, unsigned int event_f_flags);
	probe fanotify_mark(int fanotify_fd, unsigned int flags, uint64_t mask, int dfd,
	    const char *pathname);
	probe fchdir(unsigned int fd);
	probe fchmod(unsigned int fd, unsigned short mode);
	probe fchmodat(int dfd, const char *filename, unsigned short mode);
	probe fchmodat2(int dfd, const char *filename, unsigned short mode, unsigned int flags);
	probe fchown(unsigned int fd, uid_t user, gid_t group);
	probe fchownat(int dfd, const char *filename, uid_t user, gid_t group, int flag);
	probe fcntl(unsigned int fd, unsigned int cmd, unsigned long arg);
	probe fdatasync(unsigned int fd);
	probe fgetxattr(int fd, const char *name, void *value, size_t size);
	probe finit_module(int fd, const char *uargs, int flags);
	probe flistxattr(int fd, char *list, size_t size);
	probe flock(unsigned int fd, unsigned int cmd);
	probe fork(void);
	probe fremovexattr(int fd, const char *name);
	probe fsconfig(int fd, unsigned int cmd, const char *_key, const void *_value, int aux);
	probe fsetxattr(int fd, const char *name, const void *value, size_t size, int flags);
	probe fsmount(int fs_fd, unsigned int flags, unsigned int attr_flags);
	probe fsopen(const char *_fs_name, unsigned int flags);
	probe fspick(int dfd, const char *path, unsigned int flags);
	probe fstat(unsigned int fd, struct stat *statbuf);
	probe fstatfs(unsigned int fd, struct statfs *buf);
	probe fsync(unsigned int fd);
	probe ftruncate(unsigned int fd, long length);
	probe futex(uint32_t *uaddr, int op, uint32_t val, const struct __kernel_timespec *utime,
	    uint32_t *uaddr2, uint32_t val3);
	probe futex_requeue(struct futex_waitv *waiters, unsigned int flags, int nr_wake,
	    int nr_requeue);
	probe futex_wait(void *uaddr, unsigned long val, unsigned long mask, unsigned int flags,
	    struct __kernel_timespec *timeout, int clockid);
	probe futex_waitv(struct futex_waitv *waiters, unsigned int nr_futexes, unsigned int flags,
	    struct __kernel_timespec *timeout, int clockid);
	probe futex_wake(void *uaddr, unsigned long mask, int nr, unsigned int flags);
	probe futimesat(int dfd, const char *filename, struct __kernel_old_timeval *utimes);
	probe get_mempolicy(int *policy, unsigned long *nmask, unsigned long maxnode,
	    unsigned long addr, unsigned long flags);
	probe get_robust_list(int pid, struct robust_list_head **head_ptr, size_t *len_ptr);
	probe getcpu(unsigned int *cpup, unsigned int *nodep, struct getcpu_cache *unused);
	probe getcwd(char *buf, unsigned long size);
	probe getdents(unsigned int fd, struct linux_dirent *dirent, unsigned int count);
	probe getdents64(unsigned int fd, struct linux_dirent64 *dirent, unsigned int count);
	probe getegid(void);
	probe geteuid(void);
	probe getgid(void);
	probe getgroups(int gidsetsize, gid_t *grouplist);
	probe getitimer(int which, struct __kernel_old_itimerval *value);
	probe getpeername(int fd, struct sockaddr *usockaddr, int *usockaddr_len);
	probe getpgid(pid_t pid);
	probe getpgrp(void);
	probe getpid(void);
	probe getppid(void);
	probe getpriority(int which, int who);
	probe getrandom(char *ubuf, size_t len, unsigned int flags);
	probe getresgid(gid_t *rgidp, gid_t *egidp, gid_t *sgidp);
	probe getresuid(uid_t *ruidp, uid_t *euidp, uid_t *suidp);
	probe getrlimit(unsigned int resource, struct rlimit *rlim);
	probe getrusage(int who, struct rusage *ru);
	probe getsid(pid_t pid);
	probe getsockname(int fd, struct sockaddr *usockaddr, int *usockaddr_len);
	probe getsockopt(int fd, int level, int optname, char *optval, int *optlen);
	probe gettid(void);
	probe gettimeofday(struct __kernel_old_timeval *tv, struct timezone *tz);
	probe getuid(void);
	probe getxattr(const char *pathname, const char *name, void *value, size_t size);
	probe init_module(void *umod, unsigned long len, const char *uargs);
	probe inotify_add_watch(int fd, const char *pathname, uint32_t mask);
	probe inotify_init(void);
	probe inotify_init1(int flags);
	probe inotify_rm_watch(int fd, int32_t wd);
	probe io_cancel(unsigned long ctx_id, struct iocb *iocb, struct io_event *result);
	probe io_destroy(unsigned long ctx);
	probe io_getevents(unsigned long ctx_id, long min_nr, long nr, struct io_event *events,
	    struct __kernel_timespec *timeout);
	probe io_pgetevents(unsigned long ctx_id, long min_nr, long nr, struct io_event *events,
	    struct __kernel_timespec *timeout, const struct __aio_sigset *usig);
	probe io_setup(unsigned int nr_events, unsigned long *ctxp);
	probe io_submit(unsigned long ctx_id, long nr, struct iocb **iocbpp);
	probe io_uring_enter(unsigned int fd, uint32_t to_submit, uint32_t min_complete,
	    uint32_t flags, const void *argp, size_t argsz);
	probe io_uring_register(unsigned int fd, unsigned int opcode, void *arg,
	    unsigned int nr_args);
	probe io_uring_setup(uint32_t entries, struct io_uring_params *params);
	probe ioctl(unsigned int fd, unsigned int cmd, unsigned long arg);
	probe ioperm(unsigned long from, unsigned long num, int turn_on);
	probe iopl(unsigned int level);
	probe ioprio_get(int which, int who);
	probe ioprio_set(int which, int who, int ioprio);
	probe kcmp(pid_t pid1, pid_t pid2, int type, unsigned long idx1, unsigned long idx2);
	probe kexec_file_load(int kernel_fd, int initrd_fd, unsigned long cmdline_len,
	    const char *cmdline_ptr, unsigned long flags);
	probe kexec_load(unsigned long entry, unsigned long nr_segments,
	    struct kexec_segment *segments, unsigned long flags);
	probe keyctl(int option, unsigned long arg2, unsigned long arg3, unsigned long arg4,
	    unsigned long arg5);
	probe kill(pid_t pid, int sig);
	probe landlock_add_rule(int ruleset_fd, int rule_type, const void *rule_attr,
	    uint32_t flags);
	probe landlock_create_ruleset(const struct landlock_ruleset_attr *attr, size_t size,
	    uint32_t flags);
	probe landlock_restrict_self(int ruleset_fd, uint32_t flags);
	probe lchown(const char *filename, uid_t user, gid_t group);
	probe lgetxattr(const char *pathname, const char *name, void *value, size_t size);
	probe link(const char *oldname, const char *newname);
	probe linkat(int olddfd, const char *oldname, int newdfd, const char *newname, int flags);
	probe listen(int fd, int backlog);
	probe listmount(const struct mnt_id_req *req, uint64_t *mnt_ids, size_t nr_mnt_ids,
	    unsigned int flags);
	probe listxattr(const char *pathname, char *list, size_t size);
	probe llistxattr(const char *pathname, char *list, size_t size);
	probe lookup_dcookie(uint64_t cookie64, char *buf, size_t len);
	probe lremovexattr(const char *pathname, const char *name);
	probe lseek(unsigned int fd, long offset, unsigned int whence);
	probe lsetxattr(const char *pathname, const char *name, const void *value, size_t size,
	    int flags);
	probe lsm_get_self_attr(unsigned int attr, struct lsm_ctx *ctx, uint32_t *size,
	    uint32_t flags);
	probe lsm_list_modules(uint64_t *ids, uint32_t *size, uint32_t flags);
	probe lsm_set_self_attr(unsigned int attr, struct lsm_ctx *ctx, uint32_t size,
	    uint32_t flags);
	probe lstat(const char *filename, struct stat *statbuf);
	probe madvise(unsigned long start, size_t len_in, int behavior);
	probe map_shadow_stack(unsigned long addr, unsigned long size, unsigned int flags);
	probe mbind(unsigned long start, unsigned long len, unsigned long mode,
	    const unsigned long *nmask, unsigned long maxnode, unsigned int flags);
	probe membarrier(int cmd, unsigned int flags, int cpu_id);
	probe memfd_create(const char *uname, unsigned int flags);
	probe memfd_secret(unsigned int flags);
	probe migrate_pages(pid_t pid, unsigned long maxnode, const unsigned long *old_nodes,
	    const unsigned long *new_nodes);
	probe mincore(unsigned long start, size_t len, unsigned char *vec);
	probe mkdir(const char *pathname, unsigned short mode);
	probe mkdirat(int dfd, const char *pathname, unsigned short mode);
	probe mknod(const char *filename, unsigned short mode, unsigned int dev);
	probe mknodat(int dfd, const char *filename, unsigned short mode, unsigned int dev);
	probe mlock(unsigned long start, size_t len);
	probe mlock2(unsigned long start, size_t len, int flags);
	probe mlockall(int flags);
	probe mmap(unsigned long addr, unsigned long len, unsigned long prot, unsigned long flags,
	    unsigned long fd, unsigned long off);
	probe modify_ldt(int func, void *ptr, unsigned long bytecount);
	probe mount(char *dev_name, char *dir_name, char *type, unsigned long flags, void *data);
	probe mount_setattr(int dfd, const char *path, unsigned int flags, struct mount_attr *uattr,
	    size_t usize);
	probe move_mount(int from_dfd, const char *from_pathname, int to_dfd,
	    const char *to_pathname, unsigned int flags);
	probe move_pages(pid_t pid, unsigned long nr_pages, const void **pages, const int *nodes,
	    int *status, int flags);
	probe mprotect(unsigned long start, size_t len, unsigned long prot);
	probe mq_getsetattr(int mqdes, const struct mq_attr *u_mqstat, struct mq_attr *u_omqstat);
	probe mq_notify(int mqdes, const struct sigevent *u_notification);
	probe mq_open(const char *u_name, int oflag, unsigned short mode, struct mq_attr *u_attr);
	probe mq_timedreceive(int mqdes, char *u_msg_ptr, size_t msg_len, unsigned int *u_msg_prio,
	    const struct __kernel_timespec *u_abs_timeout);
	probe mq_timedsend(int mqdes, const char *u_msg_ptr, size_t msg_len, unsigned int msg_prio,
	    const struct __kernel_timespec *u_abs_timeout);
	probe mq_unlink(const char *u_name);
	probe mremap(unsigned long addr, unsigned long old_len, unsigned long new_len,
	    unsigned long flags, unsigned long new_addr);
	probe mseal(unsigned long start, size_t len, unsigned long flags);
	probe msgctl(int msqid, int cmd, struct msqid_ds *buf);
	probe msgget(int key, int msgflg);
	probe msgrcv(int msqid, struct msgbuf *msgp, size_t msgsz, long msgtyp, int msgflg);
	probe msgsnd(int msqid, struct msgbuf *msgp, size_t msgsz, int msgflg);
	probe msync(unsigned long start, size_t len, int flags);
	probe munlock(unsigned long start, size_t len);
	probe munlockall(void);
	probe munmap(unsigned long addr, size_t len);
	probe name_to_handle_at(int dfd, const char *name, struct file_handle *handle, void *mnt_id,
	    int flag);
	probe nanosleep(struct __kernel_timespec *rqtp, struct __kernel_timespec *rmtp);
	probe newfstatat(int dfd, const char *filename, struct stat *statbuf, int flag);
	probe open(const char *filename, int flags, unsigned short mode);
	probe open_by_handle_at(int mountdirfd, struct file_handle *handle, int flags);
	probe open_tree(int dfd, const char *filename, unsigned int flags);
	probe openat(int dfd, const char *filename, int flags, unsigned short mode);
	probe openat2(int dfd, const char *filename, struct open_how *how, size_t usize);
	probe pause(void);
	probe perf_event_open(struct perf_event_attr *attr_uptr, pid_t pid, int cpu, int group_fd,
	    unsigned long flags);
	probe personality(unsigned int personality);
	probe pidfd_getfd(int pidfd, int fd, unsigned int flags);
	probe pidfd_open(pid_t pid, unsigned int flags);
	probe pidfd_send_signal(int pidfd, int sig, struct siginfo *info, unsigned int flags);
	probe pipe(int *fildes);
	probe pipe2(int *fildes, int flags);
	probe pivot_root(const char *new_root, const char *put_old);
	probe pkey_alloc(unsigned long flags, unsigned long init_val);
	probe pkey_free(int pkey);
	probe pkey_mprotect(unsigned long start, size_t len, unsigned long prot, int pkey);
	probe poll(struct pollfd *ufds, unsigned int nfds, int timeout_msecs);
	probe ppoll(struct pollfd *ufds, unsigned int nfds, struct __kernel_timespec *tsp,
	    const unsigned long *sigmask, size_t sigsetsize);
	probe prctl(int option, unsigned long arg2, unsigned long arg3, unsigned long arg4,
	    unsigned long arg5);
	probe pread64(unsigned int fd, char *buf, size_t count, long long pos);
	probe preadv(unsigned long fd, const struct iovec *vec, unsigned long vlen,
	    unsigned long pos_l, unsigned long pos_h);
	probe preadv2(unsigned long fd, const struct iovec *vec, unsigned long vlen,
	    unsigned long pos_l, unsigned long pos_h, int flags);
	probe prlimit64(pid_t pid, unsigned int resource, const struct rlimit64 *new_rlim,
	    struct rlimit64 *old_rlim);
	probe process_madvise(int pidfd, const struct iovec *vec, size_t vlen, int behavior,
	    unsigned int flags);
	probe process_mrelease(int pidfd, unsigned int flags);
	probe process_vm_readv(pid_t pid, const struct iovec *lvec, unsigned long liovcnt,
	    const struct iovec *rvec, unsigned long riovcnt, unsigned long flags);
	probe process_vm_writev(pid_t pid, const struct iovec *lvec, unsigned long liovcnt,
	    const struct iovec *rvec, unsigned long riovcnt, unsigned long flags);
	probe pselect6(int n, unsigned long *inp, unsigned long *outp, unsigned long *exp,
	    struct __kernel_timespec *tsp, void *sig);
	probe ptrace(long request, long pid, unsigned long addr, unsigned long data);
	probe pwrite64(unsigned int fd, const char *buf, size_t count, long long pos);
	probe pwritev(unsigned long fd, const struct iovec *vec, unsigned long vlen,
	    unsigned long pos_l, unsigned long pos_h);
	probe pwritev2(unsigned long fd, const struct iovec *vec, unsigned long vlen,
	    unsigned long pos_l, unsigned long pos_h, int flags);
	probe quotactl(unsigned int cmd, const char *special, unsigned int id, void *addr);
	probe quotactl_fd(unsigned int fd, unsigned int cmd, unsigned int id, void *addr);
	probe read(unsigned int fd, char *buf, size_t count);
	probe readahead(int fd, long long offset, size_t count);
	probe readlink(const char *path, char *buf, int bufsiz);
	probe readlinkat(int dfd, const char *pathname, char *buf, int bufsiz);
	probe readv(unsigned long fd, const struct iovec *vec, unsigned long vlen);
	probe reboot(int magic1, int magic2, unsigned int cmd, void *arg);
	probe recvfrom(int fd, void *ubuf, size_t size, unsigned int flags, struct sockaddr *addr,
	    int *addr_len);
	probe recvmmsg(int fd, struct mmsghdr *mmsg, unsigned int vlen, unsigned int flags,
	    struct __kernel_timespec *timeout);
	probe recvmsg(int fd, struct user_msghdr *msg, unsigned int flags);
	probe remap_file_pages(unsigned long start, unsigned long size, unsigned long prot,
	    unsigned long pgoff, unsigned long flags);
	probe removexattr(const char *pathname, const char *name);
	probe rename(const char *oldname, const char *newname);
	probe renameat(int olddfd, const char *oldname, int newdfd, const char *newname);
	probe renameat2(int olddfd, const char *oldname, int newdfd, const char *newname,
	    unsigned int flags);
	probe request_key(const char *_type, const char *_description, const char *_callout_info,
	    int destringid);
	probe restart_syscall(void);
	probe rmdir(const char *pathname);
	probe rseq(struct rseq *rseq, uint32_t rseq_len, int flags, uint32_t sig);
	probe rt_sigaction(int sig, const struct sigaction *act, struct sigaction *oact,
	    size_t sigsetsize);
	probe rt_sigpending(unsigned long *uset, size_t sigsetsize);
	probe rt_sigprocmask(int how, unsigned long *nset, unsigned long *oset, size_t sigsetsize);
	probe rt_sigqueueinfo(pid_t pid, int sig, struct siginfo *uinfo);
	probe rt_sigreturn(void);
	probe rt_sigsuspend(unsigned long *unewset, size_t sigsetsize);
	probe rt_sigtimedwait(const unsigned long *uthese, struct siginfo *uinfo,
	    const struct __kernel_timespec *uts, size_t sigsetsize);
	probe rt_tgsigqueueinfo(pid_t tgid, pid_t pid, int sig, struct siginfo *uinfo);
	probe sched_get_priority_max(int policy);
	probe sched_get_priority_min(int policy);
	probe sched_getaffinity(pid_t pid, unsigned int len, unsigned long *user_mask_ptr);
	probe sched_getattr(pid_t pid, struct sched_attr *uattr, unsigned int usize,
	    unsigned int flags);
	probe sched_getparam(pid_t pid, struct sched_param *param);
	probe sched_getscheduler(pid_t pid);
	probe sched_rr_get_interval(pid_t pid, struct __kernel_timespec *interval);
	probe sched_setaffinity(pid_t pid, unsigned int len, unsigned long *user_mask_ptr);
	probe sched_setattr(pid_t pid, struct sched_attr *uattr, unsigned int flags);
	probe sched_setparam(pid_t pid, struct sched_param *param);
	probe sched_setscheduler(pid_t pid, int policy, struct sched_param *param);
	probe sched_yield(void);
	probe seccomp(unsigned int op, unsigned int flags, void *uargs);
	probe select(int n, unsigned long *inp, unsigned long *outp, unsigned long *exp,
	    struct __kernel_old_timeval *tvp);
	probe semctl(int semid, int semnum, int cmd, unsigned long arg);
	probe semget(int key, int nsems, int semflg);
	probe semop(int semid, struct sembuf *tsops, unsigned int nsops);
	probe semtimedop(int semid, struct sembuf *tsops, unsigned int nsops,
	    const struct __kernel_timespec *timeout);
	probe sendfile(int out_fd, int in_fd, long long *offset, size_t count);
	probe sendmmsg(int fd, struct mmsghdr *mmsg, unsigned int vlen, unsigned int flags);
	probe sendmsg(int fd, struct user_msghdr *msg, unsigned int flags);
	probe sendto(int fd, void *buff, size_t len, unsigned int flags, struct sockaddr *addr,
	    int addr_len);
	probe set_mempolicy(int mode, const unsigned long *nmask, unsigned long maxnode);
	probe set_mempolicy_home_node(unsigned long start, unsigned long len,
	    unsigned long home_node, unsigned long flags);
	probe set_robust_list(struct robust_list_head *head, size_t len);
	probe set_tid_address(int *tidptr);
	probe setdomainname(char *name, int len);
	probe setfsgid(gid_t gid);
	probe setfsuid(uid_t uid);
	probe setgid(gid_t gid);
	probe setgroups(int gidsetsize, gid_t *grouplist);
	probe sethostname(char *name, int len);
	probe setitimer(int which, struct __kernel_old_itimerval *value,
	    struct __kernel_old_itimerval *ovalue);
	probe setns(int fd, int flags);
	probe setpgid(pid_t pid, pid_t pgid);
	probe setpriority(int which, int who, int niceval);
	probe setregid(gid_t rgid, gid_t egid);
	probe setresgid(gid_t rgid, gid_t egid, gid_t sgid);
	probe setresuid(uid_t ruid, uid_t euid, uid_t suid);
	probe setreuid(uid_t ruid, uid_t euid);
	probe setrlimit(unsigned int resource, struct rlimit *rlim);
	probe setsid(void);
	probe setsockopt(int fd, int level, int optname, char *optval, int optlen);
	probe settimeofday(struct __kernel_old_timeval *tv, struct timezone *tz);
	probe setuid(uid_t uid);
	probe setxattr(const char *pathname, const char *name, const void *value, size_t size,
	    int flags);
	probe shmat(int shmid, char *shmaddr, int shmflg);
	probe shmctl(int shmid, int cmd, struct shmid_ds *buf);
	probe shmdt(char *shmaddr);
	probe shmget(int key, size_t size, int shmflg);
	probe shutdown(int fd, int how);
	probe sigaltstack(const struct sigaltstack *uss, struct sigaltstack *uoss);
	probe signalfd(int ufd, unsigned long *user_mask, size_t sizemask);
	probe signalfd4(int ufd, unsigned long *user_mask, size_t sizemask, int flags);
	probe socket(int family, int type, int protocol);
	probe socketpair(int family, int type, int protocol, int *usockvec);
	probe splice(int fd_in, long long *off_in, int fd_out, long long *off_out, size_t len,
	    unsigned int flags);
	probe stat(const char *filename, struct stat *statbuf);
	probe statfs(const char *pathname, struct statfs *buf);
	probe statmount(const struct mnt_id_req *req, struct statmount *buf, size_t bufsize,
	    unsigned int flags);
	probe statx(int dfd, const char *filename, unsigned int flags, unsigned int mask,
	    struct statx *buffer);
	probe swapoff(const char *specialfile);
	probe swapon(const char *specialfile, int swap_flags);
	probe symlink(const char *oldname, const char *newname);
	probe symlinkat(const char *oldname, int newdfd, const char *newname);
	probe sync(void);
	probe sync_file_range(int fd, long long offset, long long nbytes, unsigned int flags);
	probe syncfs(int fd);
	probe sysfs(int option, unsigned long arg1, unsigned long arg2);
	probe sysinfo(struct sysinfo *info);
	probe syslog(int type, char *buf, int len);
	probe tee(int fdin, int fdout, size_t len, unsigned int flags);
	probe tgkill(pid_t tgid, pid_t pid, int sig);
	probe time(long *tloc);
	probe timer_create(int which_clock, struct sigevent *timer_event_spec,
	    int *created_timer_id);
	probe timer_delete(int timer_id);
	probe timer_getoverrun(int timer_id);
	probe timer_gettime(int timer_id, struct __kernel_itimerspec *setting);
	probe timer_settime(int timer_id, int flags, const struct __kernel_itimerspec *new_setting,
	    struct __kernel_itimerspec *old_setting);
	probe timerfd_create(int clockid, int flags);
	probe timerfd_gettime(int ufd, struct __kernel_itimerspec *otmr);
	probe timerfd_settime(int ufd, int flags, const struct __kernel_itimerspec *utmr,
	    struct __kernel_itimerspec *otmr);
	probe times(struct tms *tbuf);
	probe tkill(pid_t pid, int sig);
	probe truncate(const char *path, long length);
	probe umask(int mask);
	probe umount2(char *name, int flags);
	probe uname(struct new_utsname *name);
	probe unlink(const char *pathname);
	probe unlinkat(int dfd, const char *pathname, int flag);
	probe unshare(unsigned long unshare_flags);
	probe uretprobe(void);
	probe userfaultfd(int flags);
	probe ustat(unsigned int dev, struct ustat *ubuf);
	probe utime(char *filename, struct utimbuf *times);
	probe utimensat(int dfd, const char *filename, struct __kernel_timespec *utimes, int flags);
	probe utimes(char *filename, struct __kernel_old_timeval *utimes);
	probe vfork(void);
	probe vhangup(void);
	probe vmsplice(int fd, const struct iovec *uiov, unsigned long nr_segs, unsigned int flags);
	probe wait4(pid_t upid, int *stat_addr, int options, struct rusage *ru);
	probe waitid(int which, pid_t upid, struct siginfo *infop, int options, struct rusage *ru);
	probe write(unsigned int fd, const char *buf, size_t count);
	probe writev(unsigned long fd, const struct iovec *vec, unsigned long vlen);
};
