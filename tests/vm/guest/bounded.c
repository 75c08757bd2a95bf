// SPDX-License-Identifier: Apache-2.0
//
// bounded CAPABILITY[,CAPABILITY...] COMMAND...: runs a command as root with no other capabilities;
// numbers of linux/capability.h, "none" for none.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static int is_kept(const char *list, int capability) {
    while (*list >= '0' && *list <= '9') {
        char *end;
        if (strtol(list, &end, 10) == capability)
            return 1;
        list = *end == ',' ? end + 1 : end;
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: bounded CAPABILITY,... COMMAND...\n");
        return 2;
    }
    // Root gets at an exec what is within its bound.
    for (int capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++)
        if (!is_kept(argv[1], capability) && prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) {
            perror("bounded: PR_CAPBSET_DROP");
            return 1;
        }
    execvp(argv[2], argv + 2);
    perror(argv[2]);
    return 1;
}
