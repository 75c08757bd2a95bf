// SPDX-License-Identifier: Apache-2.0
//
// daybreak sign: put a signature after a compiled program, for a module that asks for one.
#include "base/file.hpp"
#include "cmd/commands.hpp"
#include "cmd/filter.hpp"
#include "formats/abi/ioctl.h"
#include "formats/abi/signature.h"
#include "formats/dof/dof_reader.hpp"

#include <memory>

namespace daybreak::cmd {

namespace {

using base::ErrorCode;
using base::errorf;

struct SignOptions {
    std::string dof_path;
    std::string key_path;
    std::string certificate_path;
    std::string output_path;
};

bool is_signed(base::ByteView image) {
    const base::ByteView mark = base::as_bytes(DBK_SIGNATURE_MARK);
    return image.size() >= mark.size() &&
           std::equal(mark.begin(), mark.end(), image.end() - static_cast<ptrdiff_t>(mark.size()));
}

/// Returns a detached PKCS#7 signature as the kernel reads it: of the bytes alone, no attributes.
base::Result<std::string> signature_of(base::ByteView image, const SignOptions& options) {
    DBK_TRY(Filtered done, run_filter("sign",
                                      {"openssl", "cms", "-sign", "-binary", "-noattr", "-nocerts",
                                       "-nosmimecap", "-md", "sha256", "-outform", "DER", "-signer",
                                       options.certificate_path, "-inkey", options.key_path},
                                      image));
    if (!done.ended_well || done.output.empty())
        return errorf(ErrorCode::invalid, "openssl cannot sign with key %s and certificate %s",
                      options.key_path.c_str(), options.certificate_path.c_str());
    if (done.output.size() > DBK_SIGNATURE_BYTES_MAX)
        return errorf(ErrorCode::limit, "the signature has %zu bytes, at most %u are taken",
                      done.output.size(), DBK_SIGNATURE_BYTES_MAX);
    return std::move(done.output);
}

std::string trailer_of(const std::string& signature) {
    dbk_signature_trailer trailer = {};
    trailer.kind = DBK_SIGNATURE_PKCS7;
    for (unsigned i = 0; i < sizeof(trailer.signature_bytes); i++)
        trailer.signature_bytes[i] = static_cast<uint8_t>(signature.size() >> (24 - 8 * i));
    return std::string(reinterpret_cast<const char*>(&trailer), sizeof(trailer)) +
           DBK_SIGNATURE_MARK;
}

base::Result<void> sign(const SignOptions& options) {
    DBK_TRY(base::Bytes image, base::read_file(options.dof_path));
    if (auto parsed = formats::parse_dof(image); !parsed.ok())
        return std::move(parsed).error().with_context(options.dof_path);
    if (is_signed(image))
        return errorf(ErrorCode::invalid,
                      "%s is signed already: sign it as daybreak compile made it",
                      options.dof_path.c_str());
    DBK_TRY(std::string signature, signature_of(image, options));
    std::string after = signature + trailer_of(signature);
    if (image.size() + after.size() > DBK_DOF_BYTES_MAX)
        return errorf(ErrorCode::limit,
                      "%s: with its signature it has %zu bytes, at most %u are taken",
                      options.dof_path.c_str(), image.size() + after.size(), DBK_DOF_BYTES_MAX);
    DBK_TRY(auto output, base::OutputFile::create(options.output_path));
    DBK_TRY_VOID(output.write(image));
    DBK_TRY_VOID(output.write(base::as_bytes(after)));
    return output.commit();
}

} // namespace

void add_sign(CLI::App& app, int& status) {
    auto options = std::make_shared<SignOptions>();
    CLI::App* command = app.add_subcommand("sign", "Sign a compiled program, with openssl");
    command->add_option("DOF", options->dof_path, "The compiled program")->required();
    command->add_option("--key", options->key_path, "The private key, as openssl reads it")
        ->required();
    command->add_option("--certificate", options->certificate_path, "The key's certificate")
        ->required();
    command->add_option("-o,--output", options->output_path, "The signed program to write")
        ->required();
    command->footer("\nExample: with the key that DKMS signs modules with\n"
                    "  daybreak sign boot.dof --key /var/lib/dkms/mok.key\n"
                    "      --certificate /var/lib/dkms/mok.pub -o signed.dof");
    command->callback([options, &status] {
        auto done = sign(*options);
        status = done.ok() ? static_cast<int>(Exit::ok) : fail(done.error());
    });
}

} // namespace daybreak::cmd
