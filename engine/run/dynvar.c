/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * dynvar.c - loads and stores of dynamic variables by an instruction
 *
 * The tuple stack becomes a key, and what is stored by reference is brought into our memory.  The
 * table is engine/memory/dynvar.h's.
 */
#include "engine/memory/buffer.h"
#include "engine/memory/dynvar.h"
#include "engine/memory/thread.h"
#include "engine/run/dif.h"

__probe_ctx static bool put_member(struct dbk_cpu *cpu, const struct dbk_tuple *tuple,
				   uint32_t *used)
{
	uint32_t room = DBK_KEY_BYTES_MAX - *used, bytes = 8;
	uint8_t *to = cpu->key + *used;
	int32_t length;

	if (tuple->by_ref && tuple->is_string) {
		if (room == 0)
			return false;
		if (room > cpu->consumer->strsize + 1)
			room = cpu->consumer->strsize + 1;
		length = dbk_copy_string(cpu, (char *)to, tuple->value, room);
		/* Cut by the room and not by strsize, or just as long: another key could be the same. */
		if (length < 0 || ((uint32_t)length == room - 1 && room <= cpu->consumer->strsize))
			return false;
		bytes = (uint32_t)length + 1;
	} else if (tuple->by_ref) {
		bytes = tuple->bytes;
		if (bytes > room || !dbk_load(cpu, to, tuple->value, bytes))
			return false;
	} else if (room >= 8) {
		memcpy(to, &tuple->value, 8);
	} else {
		return false;
	}
	/* DBK_KEY_BYTES_MAX is a multiple of 8: the padding has room. */
	while ((bytes & 7) != 0)
		to[bytes++] = 0;
	*used += bytes;
	return true;
}

/* Of the tuple stack.  false: a fault, or a key beyond what a chunk has room for (a drop, counted) */
__probe_ctx static bool make_key(struct dbk_cpu *cpu, uint32_t var, bool thread,
				 struct dbk_dynvar_key *key)
{
	uint32_t i, used = 0;

	for (i = 0; i < cpu->tuple_count; i++) {
		if (!put_member(cpu, &cpu->tuple[i], &used)) {
			if (!cpu->fault_set)
				dbk_drop(cpu->buffer, DBK_DROP_DYNAMIC);
			return false;
		}
	}
	if (used > cpu->consumer->dynvars.key_bytes) {
		dbk_drop(cpu->buffer, DBK_DROP_DYNAMIC);
		return false;
	}
	dbk_dynvar_key(cpu, var, thread, used, key);
	return true;
}

__probe_ctx uint64_t dbk_dynvar_load(struct dbk_cpu *cpu, uint32_t index, bool thread)
{
	const struct dbk_var *var = &cpu->consumer->program->vars[index];
	struct dbk_dynvar_key key;
	void *copy = NULL;

	if (!make_key(cpu, index, thread, &key))
		return 0;
	if (var->by_ref && !thread) {
		copy = dbk_scratch(cpu, var->bytes);
		if (copy == NULL)
			return 0;
	}
	return dbk_bucket_load(cpu, &key, copy);
}

/* Brings a by-reference value into our memory before the bucket is entered: a load that faults is
 * slow, and others would wait.  Returns its address, 0 after a fault. */
__probe_ctx static uint64_t stage(struct dbk_cpu *cpu, const struct dbk_var *var, uint64_t address)
{
	struct dbk_view view;
	void *copy;

	if (var->is_string) {
		if (!dbk_view_string(cpu, address, &view))
			return 0;
		return dbk_new_string(cpu, view.text, view.length);
	}
	copy = dbk_scratch(cpu, var->bytes);
	if (copy == NULL || !dbk_load(cpu, copy, address, var->bytes))
		return 0;
	return (uint64_t)(uintptr_t)copy;
}

__probe_ctx void dbk_dynvar_store(struct dbk_cpu *cpu, uint32_t index, bool tuple, bool thread,
				  uint64_t value)
{
	const struct dbk_var *var = &cpu->consumer->program->vars[index];
	uint32_t mark = cpu->scratch_used;
	struct dbk_dynvar_key key;
	int32_t change;
	bool stored;

	if (tuple && !make_key(cpu, index, thread, &key))
		return;
	if (var->by_ref && value != 0) {
		value = stage(cpu, var, value);
		if (value == 0)
			return;
	}
	if (tuple)
		stored = dbk_bucket_store(cpu, &key, value, &change);
	else
		stored = dbk_thread_store_ref(cpu, index, value);
	/* A store that found no room ends the clause: nothing of it is recorded. */
	if (!stored)
		dbk_fault(cpu, DBK_FAULT_DROP, 0);
	cpu->scratch_used = mark;
}
