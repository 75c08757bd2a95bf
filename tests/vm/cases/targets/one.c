/* SPDX-License-Identifier: Apache-2.0 */
/*
 * one: a program that is traced
 *
 *   one user          calls work() with its effective user, and says which users it has
 *   one asks          for each line it reads says how many trace its probe
 *   one cut LIBRARY   calls plugged() of a library that it opens; then for each line it reads has a
 * child that does, and says which signal ended that; of a line "own" it does so itself before one
 * as USER PROGRAM [ARGUMENT]
 */
#define _GNU_SOURCE
#include "own.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) long work(long user) {
    asm volatile("" ::: "memory");
    return user + 1;
}

static char line[16];

static int next_line(void) {
    return fgets(line, sizeof(line), stdin) != NULL;
}

static int asks(void) {
    for (int i = 0; next_line(); i++) {
        printf("%d\n", OWN_ASKED_ENABLED());
        fflush(stdout);
        if (OWN_ASKED_ENABLED())
            OWN_ASKED(i);
    }
    return 0;
}

static int ended_by(int (*plugged)(int)) {
    int status = 0;
    pid_t child = fork();

    if (child == 0)
        _exit(plugged(1) != 2);
    if (child < 0 || waitpid(child, &status, 0) != child)
        return -1;
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static int cut(const char* path) {
    void* library = dlopen(path, RTLD_NOW);
    int (*plugged)(int) = library != NULL ? (int (*)(int))dlsym(library, "plugged") : NULL;

    if (plugged == NULL)
        return 3;
    printf("called %d\n", plugged(1));
    fflush(stdout);
    while (next_line()) {
        if (line[0] == 'o')
            plugged(2);
        printf("ended by %d\n", ended_by(plugged));
        fflush(stdout);
    }
    _exit(0); /* what the library does at its end is not in its file any more */
}

int main(int argc, char** argv) {
    if (argc > 3 && strcmp(argv[1], "as") == 0) {
        uid_t user = (uid_t)atoi(argv[2]);

        if (setresuid(user, user, user) != 0)
            return 4;
        execv(argv[3], argv + 3);
        return 5;
    }
    if (argc > 1 && strcmp(argv[1], "asks") == 0)
        return asks();
    if (argc > 2 && strcmp(argv[1], "cut") == 0)
        return cut(argv[2]);
    printf("%d %d\n", (int)getuid(), (int)geteuid());
    return work(geteuid()) == 0;
}
