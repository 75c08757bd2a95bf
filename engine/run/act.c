/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * act.c - destructive actions: what a firing does to the machine; see fire.h
 *
 * Probe context.  The engine decides whether an action may be carried out, the host
 * how.  None of them stores anything in the record; one that is not carried out is a fault.
 */
#include "engine/run/fire.h"

/* What chill() may take of each interval, on a CPU: DTrace's numbers. */
#define CHILL_INTERVAL_NS 1000000000ull

/* A negative time, too, is more than is left. */
__probe_ctx static bool chill(struct dbk_cpu *cpu, uint64_t ns)
{
	uint64_t now = dbk_host_mono_ns();

	if (now - cpu->chill_mark_ns > CHILL_INTERVAL_NS) {
		cpu->chill_mark_ns = now;
		cpu->chilled_ns = 0;
	}
	if (ns > DBK_CHILL_MAX_NS - cpu->chilled_ns)
		return false;
	dbk_host_chill(ns);
	cpu->chilled_ns += ns;
	/* timestamp stands still within a firing, but not across this. */
	cpu->timestamp_serial = cpu->serial - 1;
	return true;
}

__probe_ctx static bool act(struct dbk_cpu *cpu, uint32_t kind, uint64_t value)
{
	switch (kind) {
	case DTRACEACT_RAISE:
		return dbk_host_raise((int32_t)value);
	case DTRACEACT_STOP:
		return dbk_host_raise(DBK_SIGSTOP);
	case DTRACEACT_CHILL:
		return chill(cpu, value);
	case DTRACEACT_BREAKPOINT:
		return dbk_host_breakpoint(cpu->probe, cpu->ecb->epid);
	default: /* the loader lets nothing else through */
		return dbk_host_panic(cpu->probe, cpu->ecb->epid);
	}
}

__probe_ctx bool dbk_act(struct dbk_cpu *cpu, uint32_t kind, uint64_t value)
{
	bool on_process = kind == DTRACEACT_RAISE || kind == DTRACEACT_STOP;

	if (on_process ? !dbk_may_see_process(cpu) : !dbk_may_see_kernel(cpu))
		return false;
	if (act(cpu, kind, value))
		return true;
	dbk_fault(cpu, DTRACEFLT_ILLOP, 0);
	return false;
}
