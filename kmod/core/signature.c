// SPDX-License-Identifier: GPL-2.0-only
/*
 * signature.c - asks the kernel whose a program is; see signature.h
 *
 * formats/abi/signature.md has the form.  The keys are those that the kernel takes for modules:
 * built in, secondary (with the machine owner's), and the firmware's.
 */
#include <linux/kernel.h>
#include <linux/moduleparam.h>
#include <linux/string.h>
#include <linux/verification.h>

#include "formats/abi/signature.h"
#include "kmod/core/signature.h"

/* kmod/build ... DBK_REQUIRE_SIGNED=1; then the parameter cannot take it back. */
#ifdef DBK_REQUIRE_SIGNED
static bool require_signed = true;
#else
static bool require_signed;
#endif
module_param(require_signed, bool_enable_only, 0444);
MODULE_PARM_DESC(require_signed, "take only programs signed by a key that the kernel trusts");

#define refuse(reason, error, ...)                                                                 \
	(scnprintf((reason)->text, sizeof((reason)->text), __VA_ARGS__), error)

#ifdef DBK_HAVE_VERIFY_PKCS7
static int verify(const void *dof, size_t bytes, const void *signature, size_t signature_bytes)
{
	int err = verify_pkcs7_signature(dof, bytes, signature, signature_bytes,
					 VERIFY_USE_SECONDARY_KEYRING,
					 VERIFYING_UNSPECIFIED_SIGNATURE, NULL, NULL);

	if (err != -ENOKEY)
		return err;
	return verify_pkcs7_signature(dof, bytes, signature, signature_bytes,
				      VERIFY_USE_PLATFORM_KEYRING, VERIFYING_UNSPECIFIED_SIGNATURE,
				      NULL, NULL);
}
#else
static int verify(const void *dof, size_t bytes, const void *signature, size_t signature_bytes)
{
	return -EOPNOTSUPP;
}
#endif

/* Where the signature is, at @untrusted_dof + @bytes_ret; 0 bytes of it: damaged. */
static u32 signature_find(const u8 *untrusted_dof, size_t bytes, size_t *bytes_ret)
{
	struct dbk_signature_trailer trailer;
	static const u8 zero[3];
	size_t room;
	u32 found;

	if (bytes < DBK_SIGNATURE_MARK_BYTES + sizeof(trailer))
		return 0;
	room = bytes - DBK_SIGNATURE_MARK_BYTES - sizeof(trailer);
	memcpy(&trailer, untrusted_dof + room, sizeof(trailer));
	found = (u32)trailer.signature_bytes[0] << 24 | (u32)trailer.signature_bytes[1] << 16 |
		(u32)trailer.signature_bytes[2] << 8 | trailer.signature_bytes[3];
	if (trailer.kind != DBK_SIGNATURE_PKCS7 || trailer.algorithm || trailer.hash ||
	    trailer.signer_bytes || trailer.key_id_bytes ||
	    memcmp(trailer.reserved, zero, sizeof(zero)) || found > DBK_SIGNATURE_BYTES_MAX ||
	    found >= room)
		return 0;
	*bytes_ret = room - found;
	return found;
}

static int failed(int err, struct dbk_reason *reason)
{
	switch (err) {
	case -ENOKEY:
		return refuse(reason, err, "it is signed by a key that this kernel does not trust");
	case -EKEYREJECTED:
		return refuse(reason, err,
			      "its signature does not match it, or the key is revoked");
	case -EBADMSG:
		return refuse(reason, err, "its signature is damaged");
	case -EOPNOTSUPP:
		return refuse(reason, err, "this kernel cannot check signatures");
	default:
		return refuse(reason, err, "its signature cannot be checked (error %d)", -err);
	}
}

int dbk_signature_check(const void *untrusted_dof, size_t *bytes, struct dbk_reason *reason)
{
	const u8 *dof = untrusted_dof;
	u32 signature_bytes;
	size_t signed_bytes;
	int err;

	if (!require_signed)
		return 0;
	if (*bytes < DBK_SIGNATURE_MARK_BYTES ||
	    memcmp(dof + *bytes - DBK_SIGNATURE_MARK_BYTES, DBK_SIGNATURE_MARK,
		   DBK_SIGNATURE_MARK_BYTES))
		return refuse(reason, -ENOKEY,
			      "it is not signed, as require_signed asks (daybreak sign)");
	signature_bytes = signature_find(dof, *bytes, &signed_bytes);
	err = signature_bytes ? verify(dof, signed_bytes, dof + signed_bytes, signature_bytes)
			      : -EBADMSG;
	if (err)
		return failed(err, reason);
	*bytes = signed_bytes;
	return 0;
}
