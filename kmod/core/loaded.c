// SPDX-License-Identifier: GPL-2.0-only
/*
 * loaded.c - a program that has no ring yet: verified, for this kernel, the files that it names open
 */
#include <linux/sched.h>
#include <linux/utsname.h>

#include "kmod/core/loaded.h"
#include "kmod/providers/provider.h"

/* Offsets of kernel structures are compiled in: another kernel would make them wrong reads. */
static int target_check(const struct dbk_program *program, struct dbk_reason *reason)
{
	const char *release;
	u8 btf_id[16];
	bool typed;

	if (!dbk_program_target(program, &release, &typed, btf_id) || !typed ||
	    release[0] == '\0' || strcmp(release, init_utsname()->release) == 0)
		return 0;
	scnprintf(reason->text, sizeof(reason->text),
		  "compiled with the types of kernel %.64s, this is %.64s: compile it again for "
		  "this kernel",
		  release, init_utsname()->release);
	return -ENOEXEC;
}

int dbk_loaded_create(const void *untrusted_dof, size_t bytes, struct dbk_reason *reason,
		      struct dbk_loaded *loaded_ret)
{
	struct dbk_loaded loaded = {};
	int err;

	reason->text[0] = '\0';
	err = dbk_program_load(untrusted_dof, bytes, reason, &loaded.program);
	if (err)
		return err;
	err = target_check(loaded.program, reason);
	if (!err) {
		struct dbk_requester requester = { loaded.program, current, reason };

		err = dbk_place_files_open(&requester, &loaded.files);
	}
	if (err)
		dbk_loaded_destroy(&loaded);
	else
		*loaded_ret = loaded;
	return err;
}

void dbk_loaded_destroy(struct dbk_loaded *loaded)
{
	dbk_place_files_close(&loaded->files);
	dbk_program_destroy(loaded->program);
}
