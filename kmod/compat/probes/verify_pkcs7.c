// SPDX-License-Identifier: GPL-2.0-only
/* Signatures of data, by the kernel's trusted keys. */
#include <linux/verification.h>

int probe(const void *data)
{
	return verify_pkcs7_signature(data, 1, data, 1, VERIFY_USE_SECONDARY_KEYRING,
				      VERIFYING_UNSPECIFIED_SIGNATURE, NULL, NULL) ?:
	       verify_pkcs7_signature(data, 1, data, 1, VERIFY_USE_PLATFORM_KEYRING,
				      VERIFYING_UNSPECIFIED_SIGNATURE, NULL, NULL);
}
