/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* access.c - the engine's own memory and everybody else's; see dif.h */
#include "engine/api/words.h"
#include "engine/run/dif.h"

__probe_ctx static inline uint64_t left_in(const void *base, uint64_t bytes, uint64_t address)
{
	uint64_t offset = address - (uint64_t)(uintptr_t)base;

	return offset < bytes ? bytes - offset : 0;
}

__probe_ctx uint64_t dbk_own_bytes(const struct dbk_cpu *cpu, uint64_t address)
{
	const struct dbk_consumer *consumer = cpu->consumer;
	uint64_t left;

	left = left_in(cpu->scratch, DBK_SCRATCH_BYTES, address);
	if (left == 0)
		left = left_in(consumer->program->image, consumer->program->image_bytes, address);
	if (left == 0)
		left = left_in(consumer->globals, consumer->globals_bytes, address);
	if (left == 0)
		left = left_in(cpu->buffer->locals, consumer->locals_bytes, address);
	if (left == 0)
		left = left_in(consumer->dynvars.chunks,
			       (uint64_t)consumer->dynvars.chunk_bytes *
				       consumer->dynvars.chunk_count,
			       address);
	return left;
}

/* What the host has to be read without its help. */
__probe_ctx static inline uint64_t host_bytes(const struct dbk_cpu *cpu, uint64_t address)
{
	bool may = (cpu->consumer->program->lacks & DBK_LACKS_KERNEL) == 0;

	return may ? dbk_host_readable(address) : 0;
}

__probe_ctx static inline uint64_t readable_bytes(const struct dbk_cpu *cpu, uint64_t address)
{
	uint64_t bytes = host_bytes(cpu, address);

	return bytes != 0 ? bytes : dbk_own_bytes(cpu, address);
}

/* Only a chunk's data: what links the chunks is not D's. */
__probe_ctx static bool may_store_dynamic(const struct dbk_dynvars *dynvars, uint64_t address,
					  uint64_t bytes)
{
	uint64_t offset = address - (uint64_t)(uintptr_t)dynvars->chunks;
	uint64_t within;

	if (dynvars->chunks == NULL ||
	    offset >= (uint64_t)dynvars->chunk_bytes * dynvars->chunk_count)
		return false;
	within = offset % dynvars->chunk_bytes;
	return within >= sizeof(struct dbk_dynvar) && bytes <= dynvars->data_bytes &&
	       within - sizeof(struct dbk_dynvar) <= dynvars->data_bytes - bytes;
}

__probe_ctx bool dbk_may_store(const struct dbk_cpu *cpu, uint64_t address, uint64_t bytes)
{
	const struct dbk_consumer *consumer = cpu->consumer;

	if (bytes == 0)
		return true;
	/* All of the scratch memory, as in DTrace: what lies after alloca()'s bytes is D's too. */
	return left_in(cpu->scratch, DBK_SCRATCH_BYTES, address) >= bytes ||
	       left_in(consumer->globals, consumer->globals_bytes, address) >= bytes ||
	       left_in(cpu->buffer->locals, consumer->locals_bytes, address) >= bytes ||
	       may_store_dynamic(&consumer->dynvars, address, bytes);
}

__probe_ctx bool dbk_load(struct dbk_cpu *cpu, void *to, uint64_t address, uint32_t bytes)
{
	if (bytes == 0) /* from a hostile program @to may be NULL then */
		return true;
	if (!dbk_spend(cpu, DBK_WORK_INSN + bytes))
		return false;
	if (readable_bytes(cpu, address) >= bytes) {
		memmove(to, (const void *)(uintptr_t)address, bytes);
		return true;
	}
	if (!dbk_may_see_kernel(cpu) || !dbk_spend(cpu, DBK_WORK_CALL))
		return false;
	if (dbk_host_load(to, address, bytes))
		return true;
	dbk_fault(cpu, DTRACEFLT_BADADDR, address);
	return false;
}

__probe_ctx void dbk_copy(struct dbk_cpu *cpu, uint64_t from, uint64_t to, uint64_t bytes)
{
	if (!dbk_may_store(cpu, to, bytes))
		dbk_fault(cpu, DTRACEFLT_BADADDR, to);
	else
		dbk_load(cpu, (void *)(uintptr_t)to, from, (uint32_t)bytes);
}

__probe_ctx void *dbk_scratch(struct dbk_cpu *cpu, uint64_t bytes)
{
	uint8_t *at = cpu->scratch + cpu->scratch_used;

	if (bytes > DBK_SCRATCH_BYTES - cpu->scratch_used) {
		dbk_fault(cpu, DTRACEFLT_NOSCRATCH, 0);
		return NULL;
	}
	cpu->scratch_used += (uint32_t)DBK_ROUND_UP(bytes, 8);
	return at;
}

__probe_ctx uint64_t dbk_zeroed_scratch(struct dbk_cpu *cpu, uint64_t bytes)
{
	void *memory = dbk_scratch(cpu, bytes);

	if (memory == NULL || !dbk_spend(cpu, bytes))
		return 0;
	memset(memory, 0, bytes);
	return (uint64_t)(uintptr_t)memory;
}

__probe_ctx bool dbk_view_string(struct dbk_cpu *cpu, uint64_t address, struct dbk_view *view_ret)
{
	uint32_t strsize = cpu->consumer->strsize;
	uint64_t own = readable_bytes(cpu, address);
	int32_t length;
	char *copy;

	if (own != 0) {
		view_ret->text = (const char *)(uintptr_t)address;
		view_ret->length = dbk_text_length(view_ret->text, own < strsize ? own : strsize);
		return dbk_spend(cpu, (uint64_t)view_ret->length * DBK_WORK_CHAR);
	}
	if (!dbk_may_see_kernel(cpu))
		return false;
	copy = dbk_scratch(cpu, strsize + 1);
	if (copy == NULL)
		return false;
	length = address == 0 ? -1 : dbk_host_load_string(copy, address, strsize + 1);
	if (length < 0) {
		dbk_fault(cpu, DTRACEFLT_BADADDR, address);
		return false;
	}
	/* Gives back what the string did not need. */
	cpu->scratch_used -= (uint32_t)(DBK_ROUND_UP(strsize + 1, 8) - DBK_ROUND_UP(length + 1, 8));
	view_ret->text = copy;
	view_ret->length = (uint32_t)length;
	return dbk_spend(cpu, DBK_WORK_CALL + (uint64_t)length * DBK_WORK_CHAR);
}

__probe_ctx int32_t dbk_copy_string(struct dbk_cpu *cpu, char *to, uint64_t address, uint32_t room)
{
	uint64_t hosts = host_bytes(cpu, address);
	uint64_t own = hosts == 0 ? dbk_own_bytes(cpu, address) : 0;
	int32_t length;

	if (hosts != 0) {
		length = (int32_t)dbk_text_take(to, (const char *)(uintptr_t)address,
						hosts < room - 1 ? hosts : room - 1);
		to[length] = '\0';
	} else if (own == 0) {
		if (!dbk_may_see_kernel(cpu))
			return -1;
		length = address == 0 ? -1 : dbk_host_load_string(to, address, room);
		if (length < 0)
			dbk_fault(cpu, DTRACEFLT_BADADDR, address);
	} else {
		const char *from = (const char *)(uintptr_t)address;

		length = (int32_t)dbk_text_length(from, own < room - 1 ? own : room - 1);
		/* Within a variable's own string, forward only: a function call costs more than most. */
		if (likely((uint64_t)(to - from) >= (uint32_t)length))
			dbk_text_copy(to, from, (uint32_t)length);
		else
			memmove(to, from, (uint32_t)length);
		to[length] = '\0';
	}
	if (length >= 0 && !dbk_spend(cpu, DBK_WORK_CALL + (uint64_t)length * DBK_WORK_CHAR))
		return -1;
	return length;
}

__probe_ctx uint64_t dbk_new_string(struct dbk_cpu *cpu, const char *text, uint32_t length)
{
	uint32_t most = cpu->consumer->strsize;
	char *copy;

	if (length > most)
		length = most;
	copy = dbk_scratch(cpu, (uint64_t)length + 1);
	if (copy == NULL || !dbk_spend(cpu, (uint64_t)length * DBK_WORK_CHAR))
		return 0;
	memmove(copy, text, length);
	copy[length] = '\0';
	return (uint64_t)(uintptr_t)copy;
}
