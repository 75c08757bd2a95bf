// SPDX-License-Identifier: Apache-2.0
/*
 * signature_access.c - signature.c with the test for the kernel's keys
 */
#include "tests/support/kernel/shim.h"
#include "tests/unit/kmod/access.h"

#define DBK_HAVE_VERIFY_PKCS7
#define VERIFY_USE_SECONDARY_KEYRING	1
#define VERIFY_USE_PLATFORM_KEYRING	2
#define VERIFYING_UNSPECIFIED_SIGNATURE 0
#define verify_pkcs7_signature(data, bytes, signature, signature_bytes, keyring, usage, view, context) \
	test_verify(data, bytes, signature, signature_bytes, keyring)

#include "kmod/core/signature.c"

int test_signature(bool required, const void *dof, size_t *bytes, char reason_ret[256])
{
	struct dbk_reason reason = { "" };
	int err;

	require_signed = required;
	err = dbk_signature_check(dof, bytes, &reason);
	memcpy(reason_ret, reason.text, sizeof(reason.text));
	return err;
}
