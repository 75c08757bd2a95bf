// SPDX-License-Identifier: Apache-2.0
//
// life: what happens to processes and threads, a known number of times.
//
// Everything is done in a child, "life", whose id is printed: a process, a thread, a program that
// is not there, a program that is, a signal that is handled, one that is ignored, one that is
// waited for.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void on_signal(int number) {
    (void)number;
}

static void* thread(void* argument) {
    return argument;
}

static void live(void) {
    sigset_t set;
    siginfo_t information;
    pthread_t other;
    char* arguments[] = {"/bin/true", NULL};
    char* nothing[] = {"/nowhere/to/be/found", NULL};

    signal(SIGUSR1, on_signal);
    signal(SIGUSR2, SIG_IGN);
    raise(SIGUSR1);
    raise(SIGUSR2);
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(SIGTERM);
    sigwaitinfo(&set, &information);
    pthread_create(&other, NULL, thread, NULL);
    pthread_join(other, NULL);
    if (fork() == 0) {
        execv(nothing[0], nothing);
        execv(arguments[0], arguments);
        _exit(1);
    }
    wait(NULL);
}

int main(void) {
    pid_t child = fork();
    if (child == 0) {
        live();
        _exit(0);
    }
    printf("LIFE %d\n", (int)child);
    return waitpid(child, NULL, 0) == child ? 0 : 1;
}
