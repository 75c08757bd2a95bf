// SPDX-License-Identifier: Apache-2.0
//
// Making signatures, by openssl.
#include "cmd/signature.hpp"

#include "base/file.hpp"
#include "base/temporary_folder.hpp"
#include "cmd/filter.hpp"
#include "cmd/held_signals.hpp"
#include "formats/abi/signature.h"

#include <cctype>
#include <map>

namespace daybreak::cmd {

using base::ErrorCode;
using base::errorf;
using base::Result;

bool is_signed(base::ByteView image) {
    std::string_view text(reinterpret_cast<const char*>(image.data()), image.size());
    return text.ends_with(DBK_SIGNATURE_MARK);
}

Result<base::Bytes> signed_bytes(base::Bytes image, const Signer& signer) {
    if (signer.key.empty())
        return image;
    // A detached PKCS#7 signature as the kernel reads it: of the bytes alone, no attributes.
    std::vector<std::string> words = {"openssl",          "cms",      "-sign",       "-binary",
                                      "-noattr",          "-nocerts", "-nosmimecap", "-md",
                                      "sha256",           "-outform", "DER",         "-signer",
                                      signer.certificate, "-inkey",   signer.key};
    if (!signer.may_ask)
        words.insert(words.end(), {"-passin", "pass:"});
    DBK_TRY(Filtered done, run_filter("sign", words, image));
    if (!done.ended_well || done.output.empty())
        return errorf(ErrorCode::invalid, "openssl cannot sign with key %s and certificate %s%s",
                      signer.key.c_str(), signer.certificate.c_str(),
                      signer.may_ask ? "" : " (install takes no key with a passphrase)");
    const std::string& signature = done.output;
    if (signature.size() > DBK_SIGNATURE_BYTES_MAX)
        return errorf(ErrorCode::limit, "the signature has %zu bytes, at most %u are taken",
                      signature.size(), DBK_SIGNATURE_BYTES_MAX);
    dbk_signature_trailer trailer = {};
    trailer.kind = DBK_SIGNATURE_PKCS7;
    for (unsigned i = 0; i < sizeof(trailer.signature_bytes); i++)
        trailer.signature_bytes[i] = static_cast<uint8_t>(signature.size() >> (24 - 8 * i));
    std::string after = signature +
                        std::string(reinterpret_cast<const char*>(&trailer), sizeof(trailer)) +
                        DBK_SIGNATURE_MARK;
    base::ByteView bytes = base::as_bytes(after);
    image.insert(image.end(), bytes.begin(), bytes.end());
    return image;
}

Result<std::string> sign_image(const std::string& image, const Signer& signer) {
    constexpr const char* kWhat = "install --sign";
    // It takes certificates as PEM only, and says things on its standard output.
    DBK_TRY(base::Bytes certificate, base::read_file(signer.certificate));
    DBK_TRY(Filtered pem, run_filter(kWhat, {"openssl", "x509", "-outform", "PEM"}, certificate));
    if (!pem.ended_well)
        return errorf(ErrorCode::invalid, "openssl cannot read the certificate %s",
                      signer.certificate.c_str());
    const HeldSignals until_the_folder_is_removed;
    DBK_TRY(base::TemporaryFolder folder, base::TemporaryFolder::create("daybreak-sign"));
    for (const auto& [name, text] :
         std::map<std::string, std::string>{{"certificate", pem.output}, {"in", image}}) {
        DBK_TRY(auto file, base::OutputFile::create(folder.at(name)));
        DBK_TRY_VOID(file.write(base::as_bytes(text)));
        DBK_TRY_VOID(file.commit());
    }
    DBK_TRY(Filtered done,
            run_filter(kWhat,
                       {"sbsign", "--key", signer.key, "--cert", folder.at("certificate"),
                        "--output", folder.at("out"), folder.at("in")},
                       {}));
    if (!done.ended_well)
        return errorf(ErrorCode::invalid, "sbsign cannot sign with key %s and certificate %s",
                      signer.key.c_str(), signer.certificate.c_str());
    DBK_TRY(base::Bytes bytes, base::read_file(folder.at("out")));
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
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
