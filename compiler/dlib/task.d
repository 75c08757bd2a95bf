/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the current process is: its directories, its files, its cgroup (version 2), the systemd unit and the container
 * that is, and its namespaces; and how far the machine has come.
 */
#pragma D depends_on library io.d

inline string cwd = d_path(&curthread->fs->pwd);
inline string root = d_path(&curthread->fs->root);

/* f_flags are those of open(2); a descriptor that is not open has the names "<none>". */
translator fileinfo_t < struct file *F > {
	fi_name = F == NULL ? "<none>" : basename(d_path(&F->f_path));
	fi_dirname = F == NULL ? "<none>" : dirname(d_path(&F->f_path));
	fi_pathname = F == NULL ? "<none>" : d_path(&F->f_path);
	fi_offset = F == NULL ? 0 : F->f_pos;
	fi_fs = F == NULL ? "<none>" : stringof(F->f_path.dentry->d_sb->s_type->name);
	fi_mount = "<none>";
	fi_oflags = F == NULL ? 0 : F->f_flags;
};

inline fileinfo_t fds[int fd] = xlate <fileinfo_t> (curthread->files == NULL || fd < 0 ||
    fd >= curthread->files->fdt->max_fds ? (struct file *)NULL : curthread->files->fdt->fd[fd]);

/*
 * D has no loops: a path of 10 parts is the longest; of a longer one the first parts are "...".  The root has no parent.
 */
inline int cgroup_is_unit[string kind] = kind == ".service" || kind == ".scope" || kind == ".slice" ||
    kind == ".socket" || kind == ".mount" || kind == ".swap";

inline string cgroup_path_10[struct kernfs_node *K] = K->parent == NULL ? "" : "...";
inline string cgroup_unit_10[struct kernfs_node *K] = "";
inline string cgroup_path_9[struct kernfs_node *K] = K->parent == NULL ? "" :
    strjoin(cgroup_path_10[K->parent], strjoin("/", stringof(K->name)));
inline string cgroup_unit_9[struct kernfs_node *K] = K->parent == NULL ? "" :
    cgroup_is_unit[strrchr(strjoin(".", stringof(K->name)), '.')] ? stringof(K->name) : cgroup_unit_10[K->parent];
inline string cgroup_path_8[struct kernfs_node *K] = K->parent == NULL ? "" :
    strjoin(cgroup_path_9[K->parent], strjoin("/", stringof(K->name)));
inline string cgroup_unit_8[struct kernfs_node *K] = K->parent == NULL ? "" :
    cgroup_is_unit[strrchr(strjoin(".", stringof(K->name)), '.')] ? stringof(K->name) : cgroup_unit_9[K->parent];
inline string cgroup_path_7[struct kernfs_node *K] = K->parent == NULL ? "" :
    strjoin(cgroup_path_8[K->parent], strjoin("/", stringof(K->name)));
inline string cgroup_unit_7[struct kernfs_node *K] = K->parent == NULL ? "" :
    cgroup_is_unit[strrchr(strjoin(".", stringof(K->name)), '.')] ? stringof(K->name) : cgroup_unit_8[K->parent];
inline string cgroup_path_6[struct kernfs_node *K] = K->parent == NULL ? "" :
    strjoin(cgroup_path_7[K->parent], strjoin("/", stringof(K->name)));
inline string cgroup_unit_6[struct kernfs_node *K] = K->parent == NULL ? "" :
    cgroup_is_unit[strrchr(strjoin(".", stringof(K->name)), '.')] ? stringof(K->name) : cgroup_unit_7[K->parent];
inline string cgroup_path_5[struct kernfs_node *K] = K->parent == NULL ? "" :
    strjoin(cgroup_path_6[K->parent], strjoin("/", stringof(K->name)));
inline string cgroup_unit_5[struct kernfs_node *K] = K->parent == NULL ? "" :
    cgroup_is_unit[strrchr(strjoin(".", stringof(K->name)), '.')] ? stringof(K->name) : cgroup_unit_6[K->parent];
inline string cgroup_path_4[struct kernfs_node *K] = K->parent == NULL ? "" :
    strjoin(cgroup_path_5[K->parent], strjoin("/", stringof(K->name)));
inline string cgroup_unit_4[struct kernfs_node *K] = K->parent == NULL ? "" :
    cgroup_is_unit[strrchr(strjoin(".", stringof(K->name)), '.')] ? stringof(K->name) : cgroup_unit_5[K->parent];
inline string cgroup_path_3[struct kernfs_node *K] = K->parent == NULL ? "" :
    strjoin(cgroup_path_4[K->parent], strjoin("/", stringof(K->name)));
inline string cgroup_unit_3[struct kernfs_node *K] = K->parent == NULL ? "" :
    cgroup_is_unit[strrchr(strjoin(".", stringof(K->name)), '.')] ? stringof(K->name) : cgroup_unit_4[K->parent];
inline string cgroup_path_2[struct kernfs_node *K] = K->parent == NULL ? "" :
    strjoin(cgroup_path_3[K->parent], strjoin("/", stringof(K->name)));
inline string cgroup_unit_2[struct kernfs_node *K] = K->parent == NULL ? "" :
    cgroup_is_unit[strrchr(strjoin(".", stringof(K->name)), '.')] ? stringof(K->name) : cgroup_unit_3[K->parent];
inline string cgroup_path_1[struct kernfs_node *K] = K->parent == NULL ? "" :
    strjoin(cgroup_path_2[K->parent], strjoin("/", stringof(K->name)));
inline string cgroup_unit_1[struct kernfs_node *K] = K->parent == NULL ? "" :
    cgroup_is_unit[strrchr(strjoin(".", stringof(K->name)), '.')] ? stringof(K->name) : cgroup_unit_2[K->parent];
inline string cgroup_path_0[struct kernfs_node *K] = K->parent == NULL ? "" :
    strjoin(cgroup_path_1[K->parent], strjoin("/", stringof(K->name)));
inline string cgroup_unit_0[struct kernfs_node *K] = K->parent == NULL ? "" :
    cgroup_is_unit[strrchr(strjoin(".", stringof(K->name)), '.')] ? stringof(K->name) : cgroup_unit_1[K->parent];

/* "/system.slice/ssh.service", and "ssh.service"; "/" and "" of what is in no unit. */
inline string cgroup = curthread->cgroups->dfl_cgrp->kn->parent == NULL ? "/" :
    cgroup_path_0[curthread->cgroups->dfl_cgrp->kn];
inline string unit = cgroup_unit_0[curthread->cgroups->dfl_cgrp->kn];

/*
 * Before the end of start-up, of which the module takes note (kmod/kernel/phase.h), the first process says it: its root
 * is the kernel's rootfs until it changes to the real one, and its last program is systemd-shutdown.  3: the kernel
 * runs; 4 to 6: it halts, powers off or restarts.
 */
inline string bootphase = *(int *)&`system_state < 3 ? "kernel" :
    (*(int *)&`system_state >= 4 && *(int *)&`system_state <= 6) ||
    stringof(((struct pid_namespace *)&`init_pid_ns)->child_reaper->comm) == "systemd-shutdow" ? "shutdown" :
    *(unsigned int *)&daybreak`dbk_boot_running ? "running" :
    stringof(((struct pid_namespace *)&`init_pid_ns)->child_reaper->fs->root.mnt->mnt_sb->s_type->name) == "rootfs" ?
    "initrd" : "system";

/*
 * The ID of a container, 64 digits: its cgroup, or the one around it, is called so, as Docker, Podman, containerd and CRI-O
 * have it ("docker-ID.scope", "/docker/ID", "libpod-ID.scope/container").  The argument begins with the last '-'.
 */
inline int container_is_id[string S] = strlen(S) == 65 || (strlen(S) == 71 && substr(S, 65) == ".scope");
inline string container_id[string S] = container_is_id[S] ? substr(S, 1, 64) : "";
inline string container_of[struct kernfs_node *K] = K->parent == NULL ? "" :
    container_id[strrchr(strjoin("-", stringof(K->name)), '-')];
inline string container_here[struct kernfs_node *K] = K->parent == NULL ? "" :
    container_is_id[strrchr(strjoin("-", stringof(K->name)), '-')] ? container_of[K] : container_of[K->parent];
inline string container = container_here[curthread->cgroups->dfl_cgrp->kn];

/* Namespaces by number, as in /proc/PID/ns; 0: the thread is about to be gone, and has left them. */
inline uint64_t cgroupns = curthread->nsproxy == NULL ? 0 : curthread->nsproxy->cgroup_ns->ns.inum;
inline uint64_t ipcns = curthread->nsproxy == NULL ? 0 : curthread->nsproxy->ipc_ns->ns.inum;
inline uint64_t mntns = curthread->nsproxy == NULL ? 0 : curthread->nsproxy->mnt_ns->ns.inum;
inline uint64_t netns = curthread->nsproxy == NULL ? 0 : curthread->nsproxy->net_ns->ns.inum;
inline uint64_t utsns = curthread->nsproxy == NULL ? 0 : curthread->nsproxy->uts_ns->ns.inum;
inline uint64_t pidns = curthread->thread_pid == NULL ? 0 :
    curthread->thread_pid->numbers[curthread->thread_pid->level].ns->ns.inum;
inline uint64_t userns = curthread->cred->user_ns->ns.inum;
