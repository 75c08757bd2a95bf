// SPDX-License-Identifier: GPL-2.0-only
/*
 * stack.c - the engine's host: stacks, callers and registers
 *
 * Kernel stacks come from the unwinder that the kernel itself uses (ORC).  A
 * walk starts in our own code; what the D program wants starts at the probe.
 * So the frames of this module are passed over, and then what lies between the
 * module and the site: a tracepoint's iterator, ftrace's trampoline.
 *
 * User stacks follow frame pointers, of which Debian's programs have few; for these the engine
 * takes registers and memory along (docs/design/0087-recorded-stacks.md).
 */
#include <linux/module.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <asm/unwind.h>

#include "engine/api/engine.h"
#include "formats/abi/meta.h"
#include "arch/stack.h"
#include "kmod/frame.h"

/* 16: our own frames, from the unwinder's caller up to a provider's callback. */
#define OWN_FRAMES_MAX 16
/* 8: ftrace's trampoline and its helpers. */
#define TRAMPOLINE_FRAMES_MAX 8

static unsigned long text_start __ro_after_init;
static unsigned long text_end __ro_after_init;

static __probe_ctx bool in_module(unsigned long pc)
{
	return pc >= text_start && pc < text_end;
}

void dbk_stack_init(void)
{
#ifdef DBK_HAVE_MODULE_MEM
	text_start = (unsigned long)THIS_MODULE->mem[MOD_TEXT].base;
	text_end = text_start + THIS_MODULE->mem[MOD_TEXT].size;
#else
	text_start = (unsigned long)THIS_MODULE->core_layout.base;
	text_end = text_start + THIS_MODULE->core_layout.text_size;
#endif
}

static __probe_ctx unsigned long unwind_pc(struct unwind_state *state)
{
	return unwind_done(state) ? 0 : unwind_get_return_address(state);
}

/* Moves on to the first frame outside of the module; 0 when there is none. */
static __probe_ctx unsigned long unwind_past_module(struct unwind_state *state)
{
	unsigned long pc = 0;
	unsigned int i;

	for (i = 0; i < OWN_FRAMES_MAX; i++) {
		pc = unwind_pc(state);
		if (pc == 0 || !in_module(pc))
			break;
		unwind_next_frame(state);
	}
	return pc;
}

static __probe_ctx uint32_t unwind_rest(struct unwind_state *state, uint64_t *pcs, uint32_t count,
					uint32_t depth_max)
{
	unsigned long pc;

	for (; count < depth_max; unwind_next_frame(state)) {
		pc = unwind_pc(state);
		if (pc == 0)
			break;
		pcs[count++] = pc;
	}
	return count;
}

static __probe_ctx uint32_t stack_of_tracepoint(struct dbk_frame *frame, uint64_t *pcs,
						uint32_t depth_max)
{
	struct unwind_state state __dbk_unset;
	unsigned long pc;

	unwind_start(&state, current, NULL, NULL);
	pc = unwind_past_module(&state);
	if (pc >= frame->iterator_start && pc < frame->iterator_end)
		unwind_next_frame(&state);
	return unwind_rest(&state, pcs, 0, depth_max);
}

/*
 * The function has no frame yet, and ftrace stands between it and us: its own
 * address comes first, then the walk from its caller on.
 */
static __probe_ctx uint32_t stack_of_function(struct dbk_frame *frame, uint64_t *pcs,
					      uint32_t depth_max)
{
	struct unwind_state state __dbk_unset;
	uint32_t count = 0;
	unsigned int i;

	pcs[count++] = frame->ip;
	unwind_start(&state, current, NULL, NULL);
	unwind_past_module(&state);
	for (i = 0; i < TRAMPOLINE_FRAMES_MAX; i++) {
		if (unwind_pc(&state) == frame->parent_ip)
			return unwind_rest(&state, pcs, count, depth_max);
		unwind_next_frame(&state);
	}
	if (count < depth_max)
		pcs[count++] = frame->parent_ip;
	return count;
}

/* The unwinder passes over the frame of the registers it is given. */
static __probe_ctx uint32_t stack_of_registers(struct pt_regs *regs, uint64_t *pcs, uint32_t count,
					       uint32_t depth_max)
{
	struct unwind_state state __dbk_unset;

	if (count < depth_max)
		pcs[count++] = regs->ip;
	unwind_start(&state, current, regs, NULL);
	return unwind_rest(&state, pcs, count, depth_max);
}

/* Its frame is gone: its address comes first, then the walk from where it returned to. */
static __probe_ctx uint32_t stack_of_return(struct dbk_frame *frame, uint64_t *pcs,
					    uint32_t depth_max)
{
	pcs[0] = frame->function;
	return stack_of_registers(frame->regs, pcs, 1, depth_max);
}

static __probe_ctx uint32_t stack_of_interrupted(struct dbk_frame *frame, uint64_t *pcs,
						 uint32_t depth_max)
{
	struct unwind_state state __dbk_unset;

	if (!frame->regs || user_mode(frame->regs))
		return 0;
	/* Of perf_fetch_caller_regs(), without flags: ip is the caller's, sp not (perf_hw_regs()). */
	if (!(frame->regs->flags & X86_EFLAGS_FIXED)) {
		unwind_start(&state, current, NULL, (unsigned long *)frame->regs->sp);
		return unwind_rest(&state, pcs, 0, depth_max);
	}
	return stack_of_registers(frame->regs, pcs, 0, depth_max);
}

__probe_ctx uint32_t dbk_host_stack(void *untyped_frame, uint64_t *pcs, uint32_t depth_max)
{
	struct dbk_frame *frame = untyped_frame;

	if (!frame || depth_max == 0)
		return 0;
	if (frame->kind == DBK_FRAME_TRACEPOINT)
		return stack_of_tracepoint(frame, pcs, depth_max);
	if (frame->kind == DBK_FRAME_FUNCTION)
		return stack_of_function(frame, pcs, depth_max);
	if (frame->kind == DBK_FRAME_RETURN)
		return stack_of_return(frame, pcs, depth_max);
	if (frame->kind == DBK_FRAME_INTERRUPT)
		return stack_of_interrupted(frame, pcs, depth_max);
	return 0;
}

__probe_ctx uint64_t dbk_host_caller(void *untyped_frame)
{
	struct dbk_frame *frame = untyped_frame;
	uint64_t pcs[2] __dbk_unset;

	if (frame && frame->kind == DBK_FRAME_FUNCTION)
		return frame->parent_ip;
	if (frame && frame->kind == DBK_FRAME_RETURN)
		return frame->regs->ip;
	return dbk_host_stack(frame, pcs, 2) == 2 ? pcs[1] : 0;
}

/* The registers that user space entered the kernel with; NULL in a kernel thread. */
static __probe_ctx struct pt_regs *user_registers(void)
{
	struct task_struct *task = current;

	if (task->flags & (PF_KTHREAD | PF_IDLE) || !task->mm)
		return NULL;
	return task_pt_regs(task);
}

/*
 * One caller up a chain of frame pointers; false at its end.  A frame that leads to
 * itself is put into @bad_ret.
 */
static __probe_ctx bool user_frame_next(bool is_64bit, uint64_t *fp, uint64_t *pc_ret,
					uint64_t *bad_ret)
{
	uint64_t next, wide[2] __dbk_unset;
	uint32_t narrow[2] __dbk_unset;

	if (*fp == 0)
		return false;
	if (is_64bit) {
		if (!dbk_host_load_user(wide, *fp, sizeof(wide)))
			return false;
		next = wide[0];
		*pc_ret = wide[1];
	} else {
		if (!dbk_host_load_user(narrow, *fp, sizeof(narrow)))
			return false;
		next = narrow[0];
		*pc_ret = narrow[1];
	}
	/* Stacks grow down: a chain that does not go up is none, and could go on for ever. */
	if (next == *fp)
		*bad_ret = next;
	*fp = next > *fp ? next : 0;
	return *pc_ret != 0;
}

/*
 * The frames that no chain has: of a function that has returned, and the caller of one that has not
 * pushed its frame pointer yet.
 */
static __probe_ctx uint32_t user_frames_first(const struct dbk_frame *frame, struct pt_regs *regs,
					      uint64_t *pcs, uint32_t depth_max)
{
	uint32_t count = 0;

	if (frame && frame->kind == DBK_FRAME_USER_RETURN)
		pcs[count++] = frame->function;
	if (count < depth_max)
		pcs[count++] = regs->ip;
	if (frame && frame->kind == DBK_FRAME_USER_FUNCTION && count < depth_max &&
	    dbk_host_load_user(&pcs[count], regs->sp, sizeof(*pcs)))
		count++;
	return count;
}

__probe_ctx uint32_t dbk_host_ustack(void *frame, uint64_t *pcs, uint32_t depth_max,
				     uint64_t *bad_ret)
{
	struct pt_regs *regs = user_registers();
	uint64_t fp, bad = 0;
	uint32_t count;

	if (!regs || depth_max == 0)
		return 0;
	count = user_frames_first(frame, regs, pcs, depth_max);
	fp = regs->bp;
	while (count < depth_max && user_frame_next(user_64bit_mode(regs), &fp, &pcs[count], &bad))
		count++;
	/*
	 * In code without frame pointers the register holds anything, an empty list's head
	 * too: that is not a stack to complain about.  After the first caller it is one.
	 */
	if (bad != 0 && count > 2)
		*bad_ret = bad;
	return count;
}

/* Words of struct pt_regs, as DWARF numbers registers. */
#define WORD(name) (offsetof(struct pt_regs, name) / sizeof(long))
static const u8 dwarf_registers[DBK_USER_REGISTERS] = {
	WORD(ax),  WORD(dx),  WORD(cx),	 WORD(bx),  WORD(si),  WORD(di),
	WORD(bp),  WORD(sp),  WORD(r8),	 WORD(r9),  WORD(r10), WORD(r11),
	WORD(r12), WORD(r13), WORD(r14), WORD(r15), WORD(ip),
};
#undef WORD

__probe_ctx bool dbk_host_user_registers(void *frame, uint64_t *registers)
{
	struct pt_regs *regs = user_registers();
	unsigned int i;

	if (!regs || !user_64bit_mode(regs))
		return false;
	for (i = 0; i < DBK_USER_REGISTERS; i++)
		registers[i] = ((unsigned long *)regs)[dwarf_registers[i]];
	return true;
}

__probe_ctx uint64_t dbk_host_ucaller(void *frame)
{
	uint64_t pcs[2] __dbk_unset, bad;

	return dbk_host_ustack(frame, pcs, 2, &bad) == 2 ? pcs[1] : 0;
}

/*
 * uregs[] counts the words of struct pt_regs: r15 is 0, ip 16, sp 19.  After them
 * come the segment registers, which the kernel for 64 bits leaves as they are,
 * and the number of the thread's last trap: compiler/dlib/regs.d.
 */
enum { UREG_DS = 21, UREG_ES, UREG_FS, UREG_GS, UREG_TRAPNO };

__probe_ctx bool dbk_host_ureg(void *frame, uint64_t index, uint64_t *value_ret)
{
	struct pt_regs *regs = user_registers();
	unsigned int selector;

	BUILD_BUG_ON(sizeof(*regs) / sizeof(unsigned long) > UREG_DS);
	if (!regs)
		return false;
	if (index < sizeof(*regs) / sizeof(unsigned long)) {
		*value_ret = ((unsigned long *)regs)[index];
		return true;
	}
	if (index == UREG_DS)
		savesegment(ds, selector);
	else if (index == UREG_ES)
		savesegment(es, selector);
	else if (index == UREG_FS)
		savesegment(fs, selector);
	else if (index == UREG_GS)
		savesegment(gs, selector);
	else if (index == UREG_TRAPNO)
		selector = current->thread.trap_nr;
	else
		return false;
	*value_ret = selector;
	return true;
}

__probe_ctx int32_t dbk_host_errno(const struct dbk_probe *probe, void *untyped_frame)
{
	struct dbk_frame *frame = untyped_frame;

	return frame ? frame->error : 0;
}

/* The seventh argument of a function and those after it lie above its return address. */
__probe_ctx uint64_t dbk_host_arg(const struct dbk_probe *probe, void *untyped_frame,
				  uint32_t index)
{
	struct dbk_frame *frame = untyped_frame;
	uint64_t value = 0;

	if (!frame || index < 6)
		return 0;
	if (frame->kind == DBK_FRAME_USER_FUNCTION)
		dbk_host_load_user(&value, frame->regs->sp + sizeof(long) * (1 + index - 6),
				   sizeof(value));
	if (frame->kind != DBK_FRAME_FUNCTION || frame->sp == 0)
		return value;
	dbk_host_load(&value, frame->sp + sizeof(long) * (1 + index - 6), sizeof(value));
	return value;
}
