/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Provider crash: the message's format; where a warning was asked for; the thread or process.
 */
#pragma D depends_on library procfs.d

provider crash {
	probe panic(char *format) : (string format);
	probe oops();
	probe warn(char *file, int line, uintptr_t caller) : (string file, int line, uintptr_t caller);
	probe hung__task(struct task_struct *L) : (lwpsinfo_t *L, psinfo_t *L);
	probe oom__kill(struct task_struct *P, char *why) : (psinfo_t *P, string why);
};
