// SPDX-License-Identifier: GPL-2.0-only
/*
 * rights.c - asks the kernel's capabilities and lockdown; see rights.h (docs/design/0033-rights.md)
 */
#include <linux/capability.h>
#include <linux/security.h>

#include "formats/abi/dof.h"
#include "kmod/core/rights.h"

int dbk_rights_open(void)
{
	return perfmon_capable() && bpf_capable() ? 0 : -EPERM;
}

#ifdef DBK_HAVE_LOCKED_DOWN
/* What BPF programs are asked: the nearest to ours. */
static bool forbids_writing(void)
{
	return security_locked_down(LOCKDOWN_BPF_WRITE_USER) != 0;
}

static bool forbids_reading(void)
{
	return security_locked_down(LOCKDOWN_BPF_READ_KERNEL) != 0;
}
#else
static bool forbids_writing(void)
{
	return false;
}

static bool forbids_reading(void)
{
	return false;
}
#endif

int dbk_rights_restrict(struct dbk_program *program, struct dbk_reason *remark,
			struct dbk_reason *reason)
{
	u64 destructive = 0;

	dbk_program_option(program, DTRACEOPT_DESTRUCTIVE, &destructive);
	if (destructive != 0 && forbids_writing()) {
		strscpy(reason->text, "the kernel is locked down: no destructive actions",
			sizeof(reason->text));
		return -EPERM;
	}
	if (!forbids_reading())
		return 0;
	dbk_program_restrict(program, DBK_LACKS_KERNEL);
	strscpy(remark->text,
		"the kernel is locked down (confidentiality): kernel memory, registers and stacks "
		"cannot be read",
		sizeof(remark->text));
	return 0;
}
