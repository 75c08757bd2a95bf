// SPDX-License-Identifier: Apache-2.0
//
// await_trigger MILLISECONDS: says "ready", then whether a trigger woke it: "trigger N" or "none".
//
// What was entered before it began is seen already.
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "formats/abi/ioctl.h"

int main(int argc, char **argv)
{
	struct dbk_ioc_triggers seen = {0}, newest = {0};
	struct pollfd device = {.fd = open(DBK_DEVICE_PATH, O_RDONLY), .events = POLLPRI};
	int woken;

	if (argc != 2 || device.fd < 0 || ioctl(device.fd, DBK_IOC_TRIGGERS_SEEN, &seen) != 0)
		return 1;
	/* Nothing is to be seen twice. */
	if (poll(&device, 1, 0) != 0)
		return 2;
	printf("ready\n");
	fflush(stdout);
	woken = poll(&device, 1, atoi(argv[1]));
	if (woken <= 0) {
		printf("none\n");
		return 0;
	}
	if ((device.revents & POLLPRI) == 0 || poll(&device, 1, 0) != 1 ||
	    ioctl(device.fd, DBK_IOC_TRIGGERS_SEEN, &newest) != 0 || poll(&device, 1, 0) != 0)
		return 3;
	printf("trigger %llu\n", (unsigned long long)(newest.sequence - seen.sequence));
	return 0;
}
