// SPDX-License-Identifier: Apache-2.0
//
// rawtp OBJECT: attaches the program of an eBPF object, says "attached", and at SIGINT prints how many
// records its map `seen` counted.
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void nothing(int number)
{
	(void)number;
}

static unsigned long long records_seen(struct bpf_object *object)
{
	int cpu_count = libbpf_num_possible_cpus();
	unsigned long long *counts = calloc(cpu_count, sizeof(*counts)), sum = 0;
	unsigned int key = 0;

	if (counts && !bpf_map_lookup_elem(bpf_object__find_map_fd_by_name(object, "seen"), &key, counts))
		for (int cpu = 0; cpu < cpu_count; cpu++)
			sum += counts[cpu];
	free(counts);
	return sum;
}

int main(int argc, char **argv)
{
	struct bpf_object *object = argc == 2 ? bpf_object__open_file(argv[1], NULL) : NULL;
	struct sigaction action = { .sa_handler = nothing };
	sigset_t blocked, before;

	if (!object || bpf_object__load(object) ||
	    !bpf_program__attach(bpf_object__find_program_by_name(object, "record"))) {
		fprintf(stderr, "rawtp: cannot attach the program\n");
		return 1;
	}
	// Blocked until sigsuspend(), so that an early SIGINT is not lost.
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGINT);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	sigaction(SIGINT, &action, NULL);
	puts("attached");
	fflush(stdout);
	sigsuspend(&before);
	printf("%llu\n", records_seen(object));
	return 0;
}
