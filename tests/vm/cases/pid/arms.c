/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arms: enables a compiled program and lets it go, again and again
 *
 *   arms PROGRAM.dof ROUNDS   prints how many rounds went well
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "formats/abi/ioctl.h"

int main(int argc, char **argv)
{
	static char dof[1 << 20];
	struct dbk_ioc_enable request = { 0 };
	int device = open("/dev/daybreak", O_RDWR);
	int file = argc == 3 ? open(argv[1], O_RDONLY) : -1;
	ssize_t bytes = file < 0 ? -1 : read(file, dof, sizeof(dof));
	long round, rounds = argc == 3 ? atol(argv[2]) : 0;

	if (device < 0 || bytes <= 0)
		return 2;
	for (round = 0; round < rounds; round++) {
		struct dbk_ioc_ring ring = { 0 };

		request.dof = (uintptr_t)dof;
		request.dof_bytes = (uint32_t)bytes;
		if (ioctl(device, DBK_IOC_ENABLE, &request) != 0) {
			printf("round %ld: %s\n", round, request.reason);
			return 1;
		}
		usleep((useconds_t)(round % 7) * 200);
		ring.ring_id = request.ring_id;
		if (ioctl(device, DBK_IOC_DESTROY, &ring) != 0)
			return 3;
	}
	printf("%ld\n", round);
	return 0;
}
