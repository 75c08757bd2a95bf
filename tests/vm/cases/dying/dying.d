/* SPDX-License-Identifier: Apache-2.0 */
#pragma D option quiet
#pragma D option bufpolicy=ring
#pragma D option bufsize=256k
#pragma D option stackframes=8

crash:::warn { printf("WARN %s %d %a\n", basename(args[0]), args[1], args[2]); }
crash:::oom-kill { printf("OOM %d %s %s\n", args[0]->pr_pid, args[0]->pr_fname, args[1]); }
crash:::hung-task { printf("HUNG %d %s\n", args[1]->pr_pid, args[1]->pr_fname); }
crash:::oops { printf("OOPS %d %s\n", pid, execname); stack(); }
crash:::panic { printf("PANIC %s %s\n", execname, args[0]); stack(); }
