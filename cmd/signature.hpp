// SPDX-License-Identifier: Apache-2.0
//
// Signatures after modules and compiled programs, in the kernel's form; formats/abi/signature.md.
#pragma once

#include "base/byte_reader.hpp"
#include "base/result.hpp"

#include <string>

namespace daybreak::cmd {

/// Files of a private key and of its certificate, as openssl reads them.
struct Signer {
    std::string key, certificate;
    bool may_ask = false; ///< for the key's passphrase; else such a key is an error
};

bool is_signed(base::ByteView image);

/// Returns a module or a program with a signature after it, by openssl; as it is without a key.
/// Errors: invalid: openssl cannot sign so; limit: the signature is too large; not_found: openssl.
base::Result<base::Bytes> signed_bytes(base::Bytes image, const Signer& signer);

/// Returns an image of a kernel with a signature for the firmware, by sbsign.  Errors: as above;
/// io.
base::Result<std::string> sign_image(const std::string& image, const Signer& signer);

/// Returns how the kernel names the key of a certificate in /proc/keys: in hexadecimal digits.
/// Errors: as above, and unsupported: the certificate gives its key no identifier.
base::Result<std::string> key_identifier(const std::string& certificate);

} // namespace daybreak::cmd
