/* SPDX-License-Identifier: Apache-2.0 */
/* clock ASKS SECONDS FILE: asks that often for a clock that the vDSO leaves to the kernel, then so long for one that it knows
 * itself, without a system call; leaves the vDSO in the file and prints where it is.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <time.h>

int main(int count, char **words)
{
	const char *vdso = (const char *)getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)vdso;
	struct timespec now, own;
	time_t end;
	FILE *file;
	int i;

	if (count != 4 || !vdso)
		return 2;
	for (i = 0; i < atoi(words[1]); i++)
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own);
	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	printf("%ld\n", (long)vdso);
	end = now.tv_sec + 1 + atoi(words[2]);
	while (now.tv_sec < end)
		clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	file = fopen(words[3], "w");
	if (!file || fwrite(vdso, header->e_shoff + header->e_shnum * sizeof(Elf64_Shdr), 1, file) != 1)
		return 1;
	return fclose(file) != 0;
}
