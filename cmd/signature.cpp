// SPDX-License-Identifier: Apache-2.0
//
// Making signatures, by openssl.
#include "cmd/signature.hpp"

#include "base/file.hpp"
#include "cmd/filter.hpp"
#include "formats/abi/signature.h"

#include <cctype>

namespace daybreak::cmd {

using base::ErrorCode;
using base::errorf;
using base::Result;

bool is_signed(base::ByteView image) {
    std::string_view text(reinterpret_cast<const char*>(image.data()), image.size());
    return text.ends_with(DBK_SIGNATURE_MARK);
}

Result<std::string> make_signature(base::ByteView image, const Signer& signer) {
    // A detached PKCS#7 signature as the kernel reads it: of the bytes alone, no attributes.
    DBK_TRY(Filtered done, run_filter("sign",
                                      {"openssl", "cms", "-sign", "-binary", "-noattr", "-nocerts",
                                       "-nosmimecap", "-md", "sha256", "-outform", "DER", "-signer",
                                       signer.certificate, "-inkey", signer.key},
                                      image));
    if (!done.ended_well || done.output.empty())
        return errorf(ErrorCode::invalid, "openssl cannot sign with key %s and certificate %s",
                      signer.key.c_str(), signer.certificate.c_str());
    const std::string& signature = done.output;
    if (signature.size() > DBK_SIGNATURE_BYTES_MAX)
        return errorf(ErrorCode::limit, "the signature has %zu bytes, at most %u are taken",
                      signature.size(), DBK_SIGNATURE_BYTES_MAX);
    dbk_signature_trailer trailer = {};
    trailer.kind = DBK_SIGNATURE_PKCS7;
    for (unsigned i = 0; i < sizeof(trailer.signature_bytes); i++)
        trailer.signature_bytes[i] = static_cast<uint8_t>(signature.size() >> (24 - 8 * i));
    return signature + std::string(reinterpret_cast<const char*>(&trailer), sizeof(trailer)) +
           DBK_SIGNATURE_MARK;
}

Result<std::string> key_identifier(const std::string& certificate) {
    DBK_TRY(base::Bytes bytes, base::read_file(certificate));
    DBK_TRY(Filtered done,
            run_filter("install --sign",
                       {"openssl", "x509", "-noout", "-ext", "subjectKeyIdentifier"}, bytes));
    if (!done.ended_well)
        return errorf(ErrorCode::invalid, "openssl cannot read the certificate %s",
                      certificate.c_str());
    // A line of words, and one of digits with colons.
    std::string digits;
    for (char c : done.output.substr(std::min(done.output.find('\n'), done.output.size())))
        if (std::isxdigit(static_cast<unsigned char>(c)))
            digits += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (digits.empty())
        return errorf(ErrorCode::unsupported,
                      "the certificate %s has no subjectKeyIdentifier, by which the kernel would "
                      "name its key",
                      certificate.c_str());
    return digits;
}

} // namespace daybreak::cmd
