// SPDX-License-Identifier: GPL-2.0-only
/*
 * place.c - where the bank is, and whether it may be written to
 *
 * A user who mistypes an address must not lose what lies there.  What memmap=SIZE$ADDRESS
 * took away is, page by page, memory in the firmware's map, and is not memory in
 * the kernel's; devices, ACPI tables and what the firmware keeps for itself are
 * not.  What reserve_mem= set aside is known to the kernel by name.
 */
#include <linux/ctype.h>
#include <linux/ioport.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/string.h>

#include "formats/abi/bank.h"
#include "arch/firmware.h"
#include "kmod/bank/bank.h"

#define refuse(reason, ...) (scnprintf(reason, DBK_REASON_BYTES, __VA_ARGS__), false)

static bool name_find(const char *name, struct dbk_bank_place *place, char reason[DBK_REASON_BYTES])
{
#ifdef DBK_HAVE_RESERVE_MEM
	phys_addr_t address, bytes;

	if (reserve_mem_find_by_name(name, &address, &bytes) != 1)
		return refuse(reason, "no memory is reserved as %.64s: reserve_mem=SIZE:4096:%.64s",
			      name, name);
	*place = (struct dbk_bank_place){ .address = address, .bytes = bytes, .named = true };
	return true;
#else
	return refuse(reason,
		      "this kernel reserves no memory by name (%.64s): memmap=SIZE$ADDRESS "
		      "and daybreak.bank=SIZE@ADDRESS",
		      name);
#endif
}

/* memmap='s own form, with @ for its $, which boot loaders eat; or the address first. */
static bool numbers_read(const char *text, struct dbk_bank_place *place,
			 char reason[DBK_REASON_BYTES])
{
	char *end;
	u64 first = memparse(text, &end);
	char separator = *end;
	u64 second = separator ? memparse(end + 1, &end) : 0;

	if (*end != '\0' || (separator != '@' && separator != '$' && separator != ','))
		return refuse(reason, "%.64s is neither SIZE@ADDRESS, ADDRESS,SIZE nor a name",
			      text);
	*place = (struct dbk_bank_place){
		.address = separator == ',' ? first : second,
		.bytes = separator == ',' ? second : first,
	};
	return true;
}

static bool size_check(const struct dbk_bank_place *place, char reason[DBK_REASON_BYTES])
{
	u64 address = place->address;

	if (place->bytes < DBK_BANK_BYTES_MIN || place->bytes > DBK_BANK_BYTES_MAX)
		return refuse(reason, "%llu bytes: a bank has 1 MiB to 1 TiB", place->bytes);
	if (!PAGE_ALIGNED(address) || !PAGE_ALIGNED(place->bytes))
		return refuse(reason, "0x%llx bytes at 0x%llx do not begin and end with a page",
			      place->bytes, address);
	if (address == 0 || address + place->bytes < address)
		return refuse(reason, "there is no memory of %llu bytes at 0x%llx", place->bytes,
			      address);
	return true;
}

static bool is_memory(const struct dbk_bank_place *place)
{
	u64 at;

	for (at = place->address; at < place->address + place->bytes; at += PAGE_SIZE)
		if (!dbk_memory_is_firmwares(at, at + PAGE_SIZE))
			return false;
	return true;
}

/* What the kernel uses itself would be overwritten; what is not memory would be who knows what. */
static bool memory_check(const struct dbk_bank_place *place, bool reads_only,
			 char reason[DBK_REASON_BYTES])
{
	u64 address = place->address, end = address + place->bytes;

	if (place->named)
		return true;
	if (region_intersects(address, place->bytes, IORESOURCE_SYSTEM_RAM, IORES_DESC_NONE) !=
		    REGION_DISJOINT ||
	    dbk_range_is_kernels(address, end))
		return refuse(reason,
			      "0x%llx to 0x%llx is memory that the kernel uses: reserve it with "
			      "memmap=%lluK$0x%llx",
			      address, end - 1, place->bytes >> 10, address);
	if (!reads_only && !is_memory(place))
		return refuse(reason, "0x%llx to 0x%llx is not all memory", address, end - 1);
	return true;
}

bool dbk_bank_place_find(const char *text, bool reads_only, struct dbk_bank_place *place_ret,
			 char reason[DBK_REASON_BYTES])
{
	bool found = isdigit(text[0]) ? numbers_read(text, place_ret, reason)
				      : name_find(text, place_ret, reason);

	return found && size_check(place_ret, reason) &&
	       memory_check(place_ret, reads_only, reason);
}
