// SPDX-License-Identifier: GPL-2.0-only
/*
 * embed.c - the enablings that came inside the module
 */
#include <linux/align.h>

#include "formats/abi/embed.h"
#include "kmod/core/anonymous.h"
#include "kmod/core/embed.h"
#include "kmod/core/signature.h"

/* embed_section.S; its size is what its header says, up to the module's end. */
extern const char dbk_embedded[];

/* 1 GiB: more than any container; a bound for what a damaged header may claim. */
#define CONTAINER_BYTES_MAX (1ull << 30)

#define PLACE "embedded enabling "

static const struct dbk_embed_header *container(void)
{
	return (const void *)dbk_embedded;
}

static void refuse(const char *reason)
{
	dbk_anonymous_refuse(PLACE, "container", reason);
}

/**
 * image_next() - the image at @at
 * @at_ret:   where the next one starts
 * @name_ret: its name, NUL-terminated
 *
 * Return: the DOF, with its size in @bytes_ret; NULL when the container does not hold one there.
 */
static const void *image_next(u64 at, u64 *at_ret, char name_ret[32], u64 *bytes_ret)
{
	u64 total = container()->total_bytes;
	const struct dbk_embed_image *image = (const void *)dbk_embedded + at;

	if (at > total || total - at < sizeof(*image))
		return NULL;
	at += sizeof(*image);
	if (image->dof_bytes > DBK_DOF_BYTES_MAX || image->dof_bytes > total - at)
		return NULL;
	memcpy(name_ret, image->name, sizeof(image->name));
	name_ret[sizeof(image->name) - 1] = '\0';
	*bytes_ret = image->dof_bytes;
	*at_ret = at + ALIGN(image->dof_bytes, 8);
	return image + 1;
}

static void image_enable(const void *dof, size_t bytes, const char *name)
{
	struct dbk_reason reason;

	if (dbk_signature_check(dof, &bytes, &reason)) {
		dbk_anonymous_refuse(PLACE, name, reason.text);
		return;
	}
	dbk_anonymous_enable(dof, bytes, PLACE, name, name);
}

void dbk_embed_enable(void)
{
	const struct dbk_embed_header *header = container();
	u64 at = sizeof(*header);
	u32 i;

	if (header->magic != DBK_EMBED_MAGIC || header->total_bytes < sizeof(*header) ||
	    header->total_bytes > CONTAINER_BYTES_MAX ||
	    header->image_count > DBK_EMBED_IMAGES_MAX) {
		refuse("the header is damaged");
		return;
	}
	for (i = 0; i < header->image_count; i++) {
		char name[32];
		u64 bytes;
		const void *dof = image_next(at, &at, name, &bytes);

		if (!dof) {
			refuse("an image goes beyond its end");
			break;
		}
		image_enable(dof, bytes, name);
	}
}
