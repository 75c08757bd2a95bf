/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * signature.h - how a signature follows a DOF image
 *
 * The form is the one that the kernel's own scripts/sign-file gives to modules, so that either tool signs;
 * signature.md beside this file is the specification with a worked example.
 */
#ifndef DBK_ABI_SIGNATURE_H
#define DBK_ABI_SIGNATURE_H

#include "abi.h"

#define DBK_SIGNATURE_MARK	 "~Module signature appended~\n"
#define DBK_SIGNATURE_MARK_BYTES 28u
#define DBK_SIGNATURE_PKCS7	 2u
/* 64 KiB: with a chain of certificates it has a few. */
#define DBK_SIGNATURE_BYTES_MAX (64u << 10)

/* Between the signature and the mark. */
struct dbk_signature_trailer {
	uint8_t algorithm; /* 0: the signature says it; so for the next */
	uint8_t hash;
	uint8_t kind; /* DBK_SIGNATURE_PKCS7 */
	uint8_t signer_bytes; /* 0 */
	uint8_t key_id_bytes; /* 0 */
	uint8_t reserved[3]; /* 0 */
	uint8_t signature_bytes[4]; /* big-endian, as the kernel has it */
};

DBK_ABI_SIZE(struct dbk_signature_trailer, 12);
DBK_ABI_AT(struct dbk_signature_trailer, kind, 2);
DBK_ABI_AT(struct dbk_signature_trailer, signature_bytes, 8);

#endif /* DBK_ABI_SIGNATURE_H */
