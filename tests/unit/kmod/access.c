// SPDX-License-Identifier: Apache-2.0
/*
 * access.c - the module's variables, and what it hooks, for the tests
 */
#include "arch/clock.h"
#include "kmod/bank/bank.h"
#include "kmod/bank/state.h"
#include "kmod/kernel/tracepoint.h"
#include "kmod/triggers/console.h"
#include "kmod/triggers/machine.h"
#include "kmod/triggers/triggers.h"

#include "engine/api/trigger.h"
#include "tests/unit/kmod/access.h"

struct dbk_state dbk;
extern void *const shim_param_bank;
extern void *const shim_param_salvage;
static u32 seals_outside_rcu;
static struct dbk_line line;

/* ---- what the module calls, and is not here ---- */

int dbk_tracepoint_hook(struct dbk_tracepoint_hook *hook)
{
	hook->hooked = true;
	return 0;
}

void dbk_tracepoint_unhook(struct dbk_tracepoint_hook *hook)
{
	hook->hooked = false;
}

void dbk_console_unhook(void)
{
}

bool dbk_clock_tsc(void)
{
	return true;
}

void test_dying_seal(enum dbk_seal how);

void test_dying_seal(enum dbk_seal how)
{
	seals_outside_rcu += shim.rcu_depth == 0;
	dbk_dying_seal(how);
}

/* ---- the machine ---- */

void test_memory(void *memory, uint64_t address, uint64_t bytes)
{
	shim.memory = memory;
	shim.memory_address = address;
	shim.memory_bytes = bytes;
	test_memory_facts(false, false, true);
}

void test_memory_facts(bool used_by_kernel, bool claimed_by_another, bool is_ram)
{
	shim.memory_is_used = used_by_kernel;
	shim.region_is_claimed = claimed_by_another;
	shim.memory_is_ram = is_ram;
}

const char *test_log(void)
{
	static char taken[sizeof(shim.log)];

	memcpy(taken, shim.log, sizeof(taken));
	shim.log[0] = '\0';
	return taken;
}

void test_oops_in_progress(int count)
{
	oops_in_progress = count;
}

/* ---- the bank ---- */

void test_bank_load(const char *bank, bool salvage)
{
	dbk_bank = (struct dbk_bank_state_vars){ .half = DBK_BANK_NO_HALF };
	*(const char **)shim_param_bank = bank;
	*(bool *)shim_param_salvage = salvage;
	dbk.boot_id = 0x1122334455667788;
	dbk_bank_init();
}

void test_bank_unload(void)
{
	dbk_bank_exit();
}

uint64_t test_bank_write_back(void)
{
	shim.busy_bytes = shim.busy_bytes_most = 0;
	shim.work->run(NULL);
	return shim.busy_bytes_most;
}

uint32_t test_bank_use(void)
{
	return dbk_bank.use;
}

const char *test_bank_reason(void)
{
	return dbk_bank.reason;
}

uint64_t test_bank_address(void)
{
	return dbk_bank.place.address;
}

uint64_t test_bank_bytes(void)
{
	return dbk_bank.place.bytes;
}

void test_panic(const char *text)
{
	shim.panic->notifier_call(shim.panic, 0, (void *)text);
}

void test_reboot(unsigned long event)
{
	shim.reboot->notifier_call(shim.reboot, event, NULL);
}

void test_sleep(bool begins, bool hibernates)
{
	static const unsigned long events[2][2] = {{PM_POST_SUSPEND, PM_POST_HIBERNATION},
						   {PM_SUSPEND_PREPARE, PM_HIBERNATION_PREPARE}};

	shim.sleep->notifier_call(shim.sleep, events[begins][hibernates], NULL);
}

uint32_t test_seals_outside_rcu(void)
{
	return seals_outside_rcu;
}

int test_map(struct test_mapping *mapping, const struct dbk_pages *pages)
{
	struct vm_area_struct *vma = calloc(1, sizeof(*vma));

	vma->vm_end = mapping->bytes;
	mapping->vma = vma;
	return dbk_bank_mmap(vma, pages);
}

int test_map_half(uint32_t index, uint64_t bytes)
{
	struct vm_area_struct vma = { .vm_end = bytes };
	struct dbk_ioc_region region = { 0 };

	return dbk_bank_region(index, &region) ? dbk_bank_region_mmap(&vma, region.offset) : -ENOENT;
}

void test_unmap(struct test_mapping *mapping)
{
	struct vm_area_struct *vma = mapping->vma;

	vma->vm_ops->close(vma);
	free(vma);
}

/* ---- the dying machine ---- */

bool test_machine_load(struct dbk_engine *engine)
{
	dbk.engine = engine;
	if (dbk_machine_create() != 0)
		return false;
	dbk_triggers_hook();
	return true;
}

void test_machine_unload(void)
{
	dbk_triggers_unhook();
	dbk_machine_destroy();
}

static const void *block(u32 index)
{
	return (const u8 *)dbk.blocks[index].address + DBK_META_DATA_OFFSET;
}

const void *test_machine_log(void)
{
	return block(DBK_BLOCK_LOG);
}

const void *test_machine_crash(void)
{
	return block(DBK_BLOCK_CRASH);
}

void test_dying_add(struct dbk_consumer *consumer)
{
	mutex_lock(&dbk.mutex);
	dbk_dying_add(consumer);
	mutex_unlock(&dbk.mutex);
}

void test_dying_remove(struct dbk_consumer *consumer)
{
	mutex_lock(&dbk.mutex);
	dbk_dying_remove(consumer);
	mutex_unlock(&dbk.mutex);
}

void test_oops(const char *text, uint64_t ip)
{
	struct pt_regs regs = { ip };
	struct die_args args = { &regs, text };

	shim.die->notifier_call(shim.die, DIE_OOPS, &args);
}

const char *test_text(const char *text, uint32_t bytes_max)
{
	if (!text)
		line.used = 0;
	else
		dbk_dying_text(&line, text, bytes_max);
	return line.text;
}

const char *test_hex(uint64_t value)
{
	line.used = 0;
	dbk_dying_hex(&line, value);
	return line.text;
}

const char *test_decimal(uint64_t value, uint32_t digits)
{
	line.used = 0;
	dbk_dying_decimal(&line, value, digits);
	return line.text;
}
