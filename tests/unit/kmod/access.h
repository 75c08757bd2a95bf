/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access.h - what the tests call of the module, whose headers are not C++
 */
#ifndef DBK_TEST_KMOD_ACCESS_H
#define DBK_TEST_KMOD_ACCESS_H

#include "engine/api/engine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the machine that the module sees: shim.h ---- */
void test_memory(void *memory, uint64_t address, uint64_t bytes);
void test_memory_facts(bool used_by_kernel, bool claimed_by_another, bool is_ram);
const char *test_log(void); /* what was logged since the last call */
void test_oops_in_progress(int count);

/* ---- the bank: as if the module were loaded with these parameters, and unloaded ---- */
void test_bank_load(const char *bank, bool salvage);
void test_bank_unload(void);
uint64_t test_bank_write_back(void); /* by its worker: most bytes without a pause */
uint32_t test_bank_use(void);
const char *test_bank_reason(void);
uint64_t test_bank_address(void);
uint64_t test_bank_bytes(void);
void test_panic(const char *text);
void test_reboot(unsigned long event);
void test_sleep(bool begins, bool hibernates);
uint32_t test_seals_outside_rcu(void); /* seals by bank and clock that a ring could be freed under */
/* A mapping of a block; 0 when it was made. */
struct test_mapping {
	uint64_t bytes;
	void *vma;
};
int test_map(struct test_mapping *mapping, const struct dbk_pages *pages);
/* So many bytes of the @index-th half that is shown to readers; nothing stays mapped. */
int test_map_half(uint32_t index, uint64_t bytes);
void test_unmap(struct test_mapping *mapping);

bool dbk_bank_alloc(uint32_t bytes, struct dbk_pages *pages_ret);
void dbk_bank_free(struct dbk_pages *pages);
uint64_t dbk_bank_free_bytes(void);
void dbk_bank_leave(void);

/* ---- the dying machine ---- */
bool test_machine_load(struct dbk_engine *engine);
void test_machine_unload(void);
const void *test_machine_log(void);   /* struct dbk_meta_log */
const void *test_machine_crash(void); /* struct dbk_meta_crash[DBK_CRASH_ENTRIES] */
void test_dying_add(struct dbk_consumer *consumer); /* what is sealed with the machine */
void test_dying_remove(struct dbk_consumer *consumer);
void test_oops(const char *text, uint64_t ip);
const char *test_text(const char *text, uint32_t bytes_max); /* one after the other; NULL: begin anew */
const char *test_hex(uint64_t value);
const char *test_decimal(uint64_t value, uint32_t digits);
void dbk_dying_log(const char *text, uint32_t bytes);
void dbk_dying_console(const char *text, uint32_t bytes);

/* ---- programs beside the module ---- */
/* What the module sees of files, which the test is.  Negative: an error. */
struct test_file {
	const char *name; /* in the folder */
	int look_error;	  /* of finding it */
	int open_error, read_error;
	bool is_regular;
	long long bytes;
	const void *content; /* @bytes of it */
};
/* As if the module were loaded with programs=@folder, which has these. */
void test_beside(const char *folder, int folder_error, const struct test_file *files, size_t count);
bool test_beside_memory(int left); /* what is allocated after that many fails; whether nothing is open or allocated */
/* What the test hears of it. */
void test_program_enabled(const void *dof, size_t bytes, const char *place, const char *file, const char *name);
void test_program_refused(const char *place, const char *file, const char *reason);
bool test_ring_is_there(const char *name);

/* ---- signed programs ---- */
/* As if the module were loaded with require_signed=@required.  Returns dbk_signature_check(), its reason, what is left. */
int test_signature(bool required, const void *dof, size_t *bytes, char reason_ret[256]);
/* The kernel's answer, which the test gives: 0, or a negative errno.  @keyring: 1: secondary, 2: platform */
int test_verify(const void *data, size_t bytes, const void *signature, size_t signature_bytes, int keyring);

/* ---- early-init ---- */
void test_parameters_keep(char *command_line);
const char *test_option_find(char **words);
/* Runs it with what the kernel puts on the stack: argc, argv, NULL, envp, NULL. Returns when it became another or exited. */
void test_early_init(long *stack);
/* The kernel of that run, which the test is: the result of a system call, and whether early-init ends with it. */
long test_early_syscall(long number, long a, long b, long c, bool *is_end_ret);

/* ---- maps of processes: blocks of a bank that gives so many, processes with pids below TEST_MAPS_PIDS ---- */
#define TEST_MAPS_PIDS 8192
bool test_maps_begin(uint32_t blocks);
bool test_maps_begin_for(uint64_t mappings); /* without a bank */
bool test_maps_grow(void);
bool test_maps_has_lost(uint64_t since_ns);
void test_maps_listed(uint32_t pid); /* one that lives is listed again */
void test_maps_end(void);
void test_maps_pass(uint64_t ns); /* the clock stands still but for this */
uint64_t test_maps_now(void);
uint32_t test_maps_blocks(void);
const void *test_maps_block(uint32_t index, uint32_t *bytes_ret); /* 0 bytes: nothing yet */
void test_maps_image(uint32_t pid); /* it begins, or executes another program */
void test_maps_exit(uint32_t pid, bool is_reaped);
/* @path must be the same pointer for the same file; NULL: memory without one */
void test_maps_mapping(uint32_t pid, uint64_t begin, uint64_t end, uint64_t offset, const char *path);
void test_maps_unmapped(uint32_t pid, uint64_t begin, uint64_t end);
void test_maps_fork(uint32_t pid, uint32_t parent); /* its mappings are entered, or are not */
void test_maps_lost(void);

#ifdef __cplusplus
}
#endif

#endif /* DBK_TEST_KMOD_ACCESS_H */
