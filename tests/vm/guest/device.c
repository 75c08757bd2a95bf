// SPDX-License-Identifier: Apache-2.0
//
// device PROGRAM.dof COUNTS.dof: asks /dev/daybreak for all that formats/abi/ioctl.md promises.
//
// Both programs see calls of getppid(); the second aggregates. The module is loaded and has nothing embedded.  Prints CHECK lines (checks.sh).
#define _GNU_SOURCE
#include "formats/abi/meta.h"
#include "formats/abi/segment.h"
#include "tests/vm/guest/program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLS 1000

/* The errno of a call that should fail with @wanted; 0 when it did not fail. */
static void refuses(const char *name, long result, int wanted)
{
	int got = result < 0 ? errno : 0;

	printf("CHECK %s %s %s\n", name, got == wanted ? "ok" : "fail", got ? strerror(got) : "it succeeded");
}

static long enable(int device, const void *dof, size_t bytes, struct dbk_ioc_enable *enable_ret)
{
	memset(enable_ret, 0, sizeof(*enable_ret));
	enable_ret->dof = (uintptr_t)dof;
	enable_ret->dof_bytes = bytes;
	return ioctl(device, DBK_IOC_ENABLE, enable_ret);
}

static struct dbk_ioc_status status_of(int device)
{
	struct dbk_ioc_status status;

	if (ioctl(device, DBK_IOC_STATUS, &status) < 0) {
		memset(&status, 0xff, sizeof(status));
		check("status", 0, errno);
	}
	return status;
}

static void check_refusals(int device, const struct program *program)
{
	struct dbk_ioc_enable answer;
	struct dbk_ioc_ring ring = { .ring_id = 4711 };
	char zeros[4096] = { 0 };

	refuses("unknown-call", ioctl(device, _IO(0xDB, 99), 0), ENOTTY);
	refuses("bad-address", ioctl(device, DBK_IOC_STATUS, (void *)8), EFAULT);
	refuses("enable-zeros", enable(device, zeros, sizeof(zeros), &answer), EINVAL);
	check("enable-zeros-says-why", answer.reason[0] != '\0' && answer.ring_id == 0, strlen(answer.reason));
	refuses("enable-nothing", enable(device, zeros, 0, &answer), EINVAL);
	refuses("enable-too-large", enable(device, zeros, DBK_DOF_BYTES_MAX + 1, &answer), E2BIG);
	refuses("enable-bad-address", enable(device, (void *)8, program->length, &answer), EFAULT);
	refuses("enable-cut", enable(device, program->bytes, program->length / 2, &answer), EINVAL);
	refuses("claim-none", ioctl(device, DBK_IOC_CLAIM, &(struct dbk_ioc_ring){ 0 }), ENOENT);
	refuses("claim-unknown", ioctl(device, DBK_IOC_CLAIM, &ring), ENOENT);
	refuses("stop-unknown", ioctl(device, DBK_IOC_STOP, &ring), ENOENT);
	refuses("destroy-unknown", ioctl(device, DBK_IOC_DESTROY, &ring), ENOENT);
	refuses("open-to-write", open(DBK_DEVICE_PATH, O_RDWR) < 0 ? -1 : 0, geteuid() == 0 ? 0 : EACCES);
}

static long mapped(const void *address)
{
	return address == MAP_FAILED ? -1 : 0;
}

/* Whether /proc/self/smaps gives the mapping at @address this flag, with a space on both sides. */
static int has_flag(const void *address, const char *flag)
{
	FILE *smaps = fopen("/proc/self/smaps", "r");
	char line[512];
	unsigned long start;
	int inside = 0, found = 0;

	while (smaps && fgets(line, sizeof(line), smaps)) {
		if (sscanf(line, "%lx-", &start) == 1 && strchr(line, '-') == line + strspn(line, "0123456789abcdef"))
			inside = start == (unsigned long)address;
		else if (inside && strncmp(line, "VmFlags:", 8) == 0)
			found = strstr(line, flag) != NULL;
	}
	if (smaps)
		fclose(smaps);
	return found;
}

static void check_mapping_rules(int device, struct dbk_ioc_region *region, void *good)
{
	struct dbk_ioc_region inside = *region, nowhere = *region;

	inside.offset += 4096;
	nowhere.offset = 1ull << 60;
	refuses("map-writable", mapped(map(device, region, 4096, PROT_READ | PROT_WRITE, MAP_SHARED)), EACCES);
	refuses("map-private-writable", mapped(map(device, region, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE)), EACCES);
	refuses("map-executable", mapped(map(device, region, 4096, PROT_READ | PROT_EXEC, MAP_SHARED)), EACCES);
	refuses("map-beyond", mapped(map(device, region, region->bytes + 4096, PROT_READ, MAP_SHARED)), EINVAL);
	refuses("map-inside", mapped(map(device, &inside, 4096, PROT_READ, MAP_SHARED)), EINVAL);
	refuses("map-nowhere", mapped(map(device, &nowhere, 4096, PROT_READ, MAP_SHARED)), EINVAL);
	refuses("make-writable", mprotect(good, 4096, PROT_READ | PROT_WRITE), EACCES);
	refuses("make-executable", mprotect(good, 4096, PROT_READ | PROT_EXEC), EACCES);
	refuses("make-longer", mapped(mremap(good, 4096, 8192, MREMAP_MAYMOVE)), EFAULT);
	check("not-dumped", has_flag(good, " de ") && has_flag(good, " dd "), 0);
	check("map-a-part", mapped(map(device, region, 4096, PROT_READ, MAP_SHARED)) == 0, 0);
}

/* Maps every region and counts what begins as it should; gives the first segments of @ring_id. */
static void *check_regions(int device, uint32_t ring_id, struct dbk_ioc_region *region_ret)
{
	struct dbk_ioc_status status = status_of(device);
	long described = 0, segments = 0, metadata = 0, of_no_kind = 0;
	void *first = NULL;

	for (uint32_t index = 0;; index++) {
		struct dbk_ioc_region region = { .index = index };
		const uint32_t *magic;

		if (ioctl(device, DBK_IOC_REGION, &region) < 0) {
			refuses("regions-end", -1, ENOENT);
			break;
		}
		described++;
		of_no_kind += region.kind != DBK_REGION_SEGMENTS && region.kind != DBK_REGION_META;
		magic = map(device, &region, region.bytes, PROT_READ, MAP_SHARED);
		if (magic == MAP_FAILED)
			continue;
		metadata += region.kind == DBK_REGION_META && *magic == DBK_META_MAGIC;
		segments += region.kind == DBK_REGION_SEGMENTS;
		/* A CPU that recorded nothing has no segment yet. */
		if (!first && region.ring_id == ring_id && *magic == DBK_SEGMENT_MAGIC) {
			first = (void *)magic;
			*region_ret = region;
		}
	}
	check("regions-as-status-says", described == status.region_count, described);
	check("regions-have-a-kind", of_no_kind == 0, of_no_kind);
	check("metadata-regions", metadata >= 5, metadata);
	check("segment-regions", segments >= 1, segments);
	return first;
}

static void check_segment(const char *name, const void *address, uint32_t ring_id)
{
	const struct dbk_segment_header *header = address;

	check(name, header->magic == DBK_SEGMENT_MAGIC && header->ring_id == ring_id, header->committed_bytes);
}

/* Another opener may look, and must not touch. */
static void check_owner(int device, uint32_t ring_id)
{
	struct dbk_ioc_ring ring = { .ring_id = ring_id };
	struct dbk_ioc_release no_cpu = { .ring_id = ring_id, .cpu = 100000 };
	int other = open_device();

	refuses("stop-by-another", ioctl(other, DBK_IOC_STOP, &ring), EPERM);
	refuses("destroy-by-another", ioctl(other, DBK_IOC_DESTROY, &ring), EPERM);
	refuses("claim-by-another", ioctl(other, DBK_IOC_CLAIM, &ring), EBUSY);
	refuses("claim-own", ioctl(device, DBK_IOC_CLAIM, &ring), EALREADY);
	refuses("release-no-cpu", ioctl(device, DBK_IOC_RELEASE, &no_cpu), EINVAL);
	close(other);
}

/* No byte of what the caller had there stays; there is no bank. */
static void check_bank(int device)
{
	static const char zeros[sizeof(struct dbk_ioc_bank)];
	struct dbk_ioc_bank bank, all;

	memset(&bank, 0xff, sizeof(bank));
	bank.ring_id = 0;
	check("bank", ioctl(device, DBK_IOC_BANK, &bank) == 0, 0);
	all = bank;
	memset(all.reason, 0, sizeof(all.reason));
	all.inside_bytes = all.outside_bytes = 0;
	check("bank-is-all-answer", memcmp(&all, zeros, sizeof(all)) == 0, strnlen(bank.reason, sizeof(bank.reason)));
}

#define AGGREGATIONS_BYTES (4 << 20)

/* What the entries of all CPUs counted since the last call; -1: a call failed. */
static long take_counts(int device, uint32_t ring_id, void *buffer, uint32_t room)
{
	struct dbk_ioc_aggsnap snap = { .ring_id = ring_id, .buffer = (uintptr_t)buffer };
	long counted = 0;

	for (;; snap.cpu++) {
		const struct dbk_segment_header *header = buffer;

		snap.bytes = room;
		if (ioctl(device, DBK_IOC_AGGSNAP, &snap) < 0)
			return errno == EINVAL && snap.cpu > 0 ? counted : -1;
		for (uint32_t at = DBK_SEGMENT_DATA_OFFSET; at < header->committed_bytes;) {
			const struct dbk_agg_entry *entry = (const void *)((const char *)buffer + at);

			counted += *(const uint64_t *)((const char *)(entry + 1) + entry->key_bytes);
			at += entry->entry_bytes;
		}
	}
}

/* What was counted reaches its owner, all of it and once, also when a call to take it fails. */
static void check_aggregations(const struct program *program)
{
	struct dbk_ioc_enable answer;
	struct dbk_ioc_aggsnap snap = { 0 };
	int device = open_device(), other = open_device();
	char *buffer = malloc(AGGREGATIONS_BYTES);
	long counted;

	check("count-enable", enable(device, program->bytes, program->length, &answer) == 0, answer.matched);
	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	snap.ring_id = answer.ring_id;
	snap.bytes = AGGREGATIONS_BYTES;
	snap.buffer = (uintptr_t)buffer;
	refuses("take-by-another", ioctl(other, DBK_IOC_AGGSNAP, &snap), EPERM);
	snap.bytes = 4096;
	refuses("take-without-room", ioctl(device, DBK_IOC_AGGSNAP, &snap), ENOSPC);
	snap.bytes = AGGREGATIONS_BYTES;
	snap.buffer = 8;
	for (snap.cpu = 0; ioctl(device, DBK_IOC_AGGSNAP, &snap) < 0 && errno == EFAULT; snap.cpu++)
		;
	check("take-to-bad-address", snap.cpu > 0, snap.cpu);
	counted = take_counts(device, answer.ring_id, buffer, AGGREGATIONS_BYTES);
	check("takes-every-call", counted == CALLS, counted);
	syscall(SYS_getppid);
	counted = take_counts(device, answer.ring_id, buffer, AGGREGATIONS_BYTES);
	check("takes-each-once", counted == 1, counted);
	snap.ring_id = 4711;
	refuses("take-unknown", ioctl(device, DBK_IOC_AGGSNAP, &snap), ENOENT);
	free(buffer);
	close(other);
	close(device);
}

static void check_life(int device, const struct program *program)
{
	struct dbk_ioc_region region = { 0 };
	struct dbk_ioc_enable answer;
	struct dbk_ioc_ring ring = { 0 };
	const void *cpus;
	void *segments;
	long enabled = enable(device, program->bytes, program->length, &answer);

	check("enable", enabled == 0, answer.matched);
	if (answer.reason[0])
		printf("reason: %s\n", answer.reason);
	ring.ring_id = answer.ring_id;
	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	segments = check_regions(device, ring.ring_id, &region);
	cpus = find_metadata(device, ring.ring_id, DBK_META_CPUS);
	if (!segments || !cpus) {
		check("segments-and-counters", 0, 0);
		return;
	}
	check("counts-every-call", records_of(cpus) == CALLS, records_of(cpus));
	check_mapping_rules(device, &region, segments);
	check_owner(device, ring.ring_id);
	check("stop", ioctl(device, DBK_IOC_STOP, &ring) == 0, 0);
	check("stopped", ring.activity == DBK_ACTIVITY_STOPPED, ring.activity);
	syscall(SYS_getppid);
	check("nothing-after-stop", records_of(cpus) == CALLS, records_of(cpus));
	check("stop-again", ioctl(device, DBK_IOC_STOP, &ring) == 0, 0);
	check("destroy", ioctl(device, DBK_IOC_DESTROY, &ring) == 0, 0);
	refuses("destroy-again", ioctl(device, DBK_IOC_DESTROY, &ring), ENOENT);
	refuses("map-after-destroy", mapped(map(device, &region, 4096, PROT_READ, MAP_SHARED)), EINVAL);
	check_segment("mapping-outlives-its-ring", segments, ring.ring_id);
	check("no-ring-left", status_of(device).ring_count == 0, 0);
}

static uint32_t crc32c(uint32_t crc, const void *data, size_t bytes)
{
	const uint8_t *at = data;

	for (crc = ~crc; bytes; bytes--) {
		crc ^= *at++;
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	return ~crc;
}

static int seal_holds(const struct dbk_segment_header *header)
{
	struct dbk_segment_header copy = *header;

	copy.crc32c = 0;
	return crc32c(crc32c(0, &copy, sizeof(copy)), header + 1, header->committed_bytes - sizeof(copy)) ==
	       header->crc32c;
}

/* How many segments of @ring_id are sealed, rightly; *open_ret: how many are not. */
static long count_sealed(int device, uint32_t ring_id, long *open_ret)
{
	struct dbk_ioc_region region = { 0 };
	long sealed = 0;

	*open_ret = 0;
	for (; ioctl(device, DBK_IOC_REGION, &region) == 0; region.index++) {
		const char *base;

		if (region.kind != DBK_REGION_SEGMENTS || region.ring_id != ring_id)
			continue;
		base = map(device, &region, region.bytes, PROT_READ, MAP_SHARED);
		for (uint64_t at = 0; base != MAP_FAILED && at < region.bytes; at += DBK_SEGMENT_BYTES_DEFAULT) {
			const struct dbk_segment_header *header = (const void *)(base + at);

			if (header->magic != DBK_SEGMENT_MAGIC)
				continue;
			if (!(header->flags & DBK_SEGMENT_F_SEALED))
				++*open_ret;
			else if (seal_holds(header))
				sealed++;
			else
				check("seal-holds", 0, header->sequence);
		}
		/* A mapping keeps its file open, and with it the ring. */
		if (base != MAP_FAILED)
			munmap((void *)base, region.bytes);
	}
	return sealed;
}

/* Closed segments are sealed beside their writers, and all when the ring is stopped. */
static void check_sealing(const struct program *program)
{
	struct dbk_ioc_enable answer;
	struct dbk_ioc_ring ring = { 0 };
	int device = open_device();
	long sealed = 0, open = 0;

	check("seal-enable", enable(device, program->bytes, program->length, &answer) == 0, answer.matched);
	ring.ring_id = answer.ring_id;
	for (int i = 0; i < 10 * CALLS; i++)
		syscall(SYS_getppid);
	/* Some tendings, of which each comes when its CPU is awake. */
	for (int i = 0; i < 50 && sealed == 0; i++) {
		usleep(100000);
		sealed = count_sealed(device, ring.ring_id, &open);
	}
	check("closed-are-sealed", sealed > 0 && open >= 1, sealed);
	check("seal-stop", ioctl(device, DBK_IOC_STOP, &ring) == 0, 0);
	sealed = count_sealed(device, ring.ring_id, &open);
	check("stopped-are-sealed", sealed > 1 && open == 0, open);
	close(device);
}

/* A ring that was let go outlives its opener, counts on, and belongs to the process that claims it. */
static void check_detach(const struct program *program)
{
	struct dbk_ioc_enable answer;
	struct dbk_ioc_ring ring = { 0 };
	int device = open_device(), other = open_device();
	const void *cpus;

	check("detach-enable", enable(device, program->bytes, program->length, &answer) == 0, answer.matched);
	ring.ring_id = answer.ring_id;
	refuses("detach-by-another", ioctl(other, DBK_IOC_DETACH, &ring), EPERM);
	check("detach", ioctl(device, DBK_IOC_DETACH, &ring) == 0, 0);
	check("detach-returns-activity", ring.activity == DBK_ACTIVITY_ACTIVE, ring.activity);
	refuses("detach-again", ioctl(device, DBK_IOC_DETACH, &ring), EPERM);
	refuses("detached-stop", ioctl(device, DBK_IOC_STOP, &ring), EPERM);
	close(device);
	check("detached-outlives-opener", status_of(other).ring_count == 1 && status_of(other).anonymous == 1,
	      status_of(other).anonymous);
	cpus = find_metadata(other, ring.ring_id, DBK_META_CPUS);
	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	check("detached-counts-on", cpus && records_of(cpus) == CALLS, cpus ? (long)records_of(cpus) : -1);
	check("detached-claim", ioctl(other, DBK_IOC_CLAIM, &ring) == 0, ring.ring_id);
	check("detached-destroy", ioctl(other, DBK_IOC_DESTROY, &ring) == 0, 0);
	refuses("detach-unknown", ioctl(other, DBK_IOC_DETACH, &ring), ENOENT);
	close(other);
}

/* A ring goes with its opener, also when that one is killed; the descriptor may be gone earlier. */
static void check_death(const struct program *program)
{
	struct dbk_ioc_enable answer;
	int device = open_device(), wait_status;
	pid_t child = fork();

	if (child == 0) {
		int own = open_device();

		if (enable(own, program->bytes, program->length, &answer) == 0)
			kill(getpid(), SIGKILL);
		_exit(1);
	}
	waitpid(child, &wait_status, 0);
	check("owner-was-killed", WIFSIGNALED(wait_status), wait_status);
	check("ring-died-with-it", status_of(device).ring_count == 0, 0);
	close(device);
}

static long enable_as(int device, const struct program *program, const char *name, struct dbk_ioc_enable_as *as_ret)
{
	memset(as_ret, 0, sizeof(*as_ret));
	as_ret->enable.dof = (uintptr_t)program->bytes;
	as_ret->enable.dof_bytes = program->length;
	memcpy(as_ret->name, name, strnlen(name, sizeof(as_ret->name)));
	return ioctl(device, DBK_IOC_ENABLE_AS, as_ret);
}

/* A ring has the name that its maker chose, and is known to be its maker's. */
static void check_names(const struct program *program)
{
	static const char *const wrong[] = { "", "two words", "new\nline", "caf\xc3\xa9",
					     "0123456789012345678901234567890!" /* has no room for its NUL */ };
	const char *longest = "012345678901234567890123456789!";
	struct dbk_ioc_holder holder = { .ring_id = 4711 };
	struct dbk_ioc_enable_as as, again;
	int device = open_device(), refused = 0;
	const void *block;

	for (unsigned int i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		refused += enable_as(device, program, wrong[i], &as) < 0 && errno == EINVAL && as.enable.reason[0];
	check("name-wrong", refused == 5 && status_of(device).ring_count == 0, refused);
	refuses("name-bad-address", ioctl(device, DBK_IOC_ENABLE_AS, (void *)8), EFAULT);
	refuses("holder-unknown", ioctl(device, DBK_IOC_HOLDER, &holder), ENOENT);
	check("name", enable_as(device, program, longest, &as) == 0, as.enable.matched);
	refuses("name-taken", enable_as(device, program, longest, &again), EEXIST);
	check("name-taken-says-so", strstr(again.enable.reason, longest) != NULL, 0);
	block = find_metadata(device, as.enable.ring_id, DBK_META_RING);
	check("name-is-the-rings",
	      block && strcmp(((const struct dbk_meta_ring *)((const char *)block + DBK_META_DATA_OFFSET))->name, longest) == 0, 0);
	holder.ring_id = as.enable.ring_id;
	check("holder", ioctl(device, DBK_IOC_HOLDER, &holder) == 0 && holder.flags == DBK_RING_HELD &&
	      holder.pid == (uint32_t)getpid() && strcmp(holder.comm, "device") == 0, holder.pid);
	check("name-detach", ioctl(device, DBK_IOC_DETACH, &(struct dbk_ioc_ring){ .ring_id = holder.ring_id }) == 0, 0);
	check("holder-of-none", ioctl(device, DBK_IOC_HOLDER, &holder) == 0 && holder.flags == 0 &&
	      holder.pid == (uint32_t)getpid(), holder.flags);
	refuses("name-taken-by-none", enable_as(device, program, longest, &again), EEXIST);
	check("name-claim", ioctl(device, DBK_IOC_CLAIM, &(struct dbk_ioc_ring){ .ring_id = holder.ring_id }) == 0, 0);
	check("name-destroy", ioctl(device, DBK_IOC_DESTROY, &(struct dbk_ioc_ring){ .ring_id = holder.ring_id }) == 0, 0);
	close(device);
}

/* What exists only when named is made, and what exists is listed without making all. */
static void check_naming(int device)
{
	struct dbk_ioc_provide functions = { "fbt", "", "vfs_rea[d]", "" };
	struct dbk_ioc_provide endless = { "fbt", "", "vfs_read", "" };
	struct dbk_ioc_provide unknown = { "unknown", "", "", "" };
	struct dbk_ioc_probe probe = { .probe_id = DBK_PROBE_ONLY_EXISTING };
	struct dbk_ioc_name name = { 0 };
	uint32_t before = status_of(device).probe_count;

	check("list-existing", ioctl(device, DBK_IOC_PROBE, &probe) == 0 && probe.probe_id == 1, probe.probe_id);
	const char *const names[DBK_NAMES] = { probe.provider, probe.module, probe.function, probe.name };
	name.probe_id = probe.probe_id;
	for (name.which = 0; name.which < DBK_NAMES; name.which++)
		check("name", ioctl(device, DBK_IOC_NAME, &name) == 0 && strcmp(name.part, names[name.which]) == 0, name.which);
	refuses("name-of-no-kind", ioctl(device, DBK_IOC_NAME, &name), EINVAL);
	check("function", ioctl(device, DBK_IOC_FUNCTION, &name) == 0 && strcmp(name.part, probe.function) == 0, 0);
	name.which = DBK_NAME_FUNCTION;
	name.at = ~0u;
	check("name-ends", ioctl(device, DBK_IOC_NAME, &name) == 0 && name.part[0] == '\0', 0);
	name.probe_id++;
	refuses("name-of-another", ioctl(device, DBK_IOC_NAME, &name), ESTALE);
	name.index = ~0u;
	refuses("name-of-none", ioctl(device, DBK_IOC_NAME, &name), ENOENT);
	check("list-existing-makes-none", status_of(device).probe_count == before, before);
	check("provide", ioctl(device, DBK_IOC_PROVIDE, &functions) == 0, 0);
	check("provide-made-two", status_of(device).probe_count == before + 2, status_of(device).probe_count - before);
	check("provide-again", ioctl(device, DBK_IOC_PROVIDE, &functions) == 0, 0);
	check("count", ioctl(device, DBK_IOC_COUNT, &functions) == 2, 0);
	check("count-unknown", ioctl(device, DBK_IOC_COUNT, &unknown) == 0, 0);
	check("provide-unknown", ioctl(device, DBK_IOC_PROVIDE, &unknown) == 0, 0);
	check("provide-made-no-more", status_of(device).probe_count == before + 2, 0);
	memset(endless.name, 'x', sizeof(endless.name));
	refuses("provide-endless", ioctl(device, DBK_IOC_PROVIDE, &endless), EINVAL);
	refuses("count-endless", ioctl(device, DBK_IOC_COUNT, &endless), EINVAL);
}

static void check_listing(int device)
{
	long counts[4] = { 0 };
	static const char *const names[4] = { "syscall", "sdt", "proc", "fbt" };
	uint32_t previous = 0;
	int ordered = 1;
	struct dbk_ioc_probe probe = { 0 };
	/* Calls are made when a program names them. */
	struct dbk_ioc_provide calls = { "syscall", "", "", "" };

	check("count-calls", ioctl(device, DBK_IOC_COUNT, &calls) > 300, 0);
	for (; ioctl(device, DBK_IOC_PROBE, &probe) == 0; probe.index++) {
		ordered &= probe.probe_id > previous;
		previous = probe.probe_id;
		for (int i = 0; i < 4; i++)
			counts[i] += strcmp(probe.provider, names[i]) == 0;
	}
	check("list-in-order", ordered, previous);
	check("list-system-calls", counts[0] >= 700, counts[0]);
	check("list-tracepoints", counts[1] >= 400, counts[1]);
	check("list-processes", counts[2] == 14, counts[2]);
	/* Entry and return of each. */
	check("list-functions", counts[3] >= 40000, counts[3]);
	check("list-as-status-says", status_of(device).probe_count == probe.index, probe.index);
}

int main(int argc, char **argv)
{
	struct program program, counts;
	int device;

	if (argc != 3) {
		fprintf(stderr, "usage: device PROGRAM.dof COUNTS.dof\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	program = read_program(argv[1]);
	counts = read_program(argv[2]);
	device = open_device();
	check("abi-version", status_of(device).abi_version == DBK_IOC_ABI_VERSION, DBK_IOC_ABI_VERSION);
	check_refusals(device, &program);
	check_life(device, &program);
	check_sealing(&program);
	check_detach(&program);
	check_death(&program);
	check_names(&program);
	check_aggregations(&counts);
	check_bank(device);
	check_naming(device);
	check_listing(device);
	close(device);
	return 0;
}
