// SPDX-License-Identifier: Apache-2.0
//
// daybreak sign: put a signature after a compiled program, for a module that asks for one, or after
// a module, for a kernel that does.
#include "base/file.hpp"
#include "cmd/commands.hpp"
#include "cmd/filter.hpp"
#include "formats/abi/ioctl.h"
#include "formats/abi/signature.h"
#include "formats/dof/dof_reader.hpp"

#include <elf.h>
#include <memory>

namespace daybreak::cmd {

namespace {

using base::ErrorCode;
using base::errorf;

struct SignOptions {
    std::string input_path;
    std::string key_path;
    std::string certificate_path;
    std::string output_path;
};

std::string_view text_of(base::ByteView image) {
    return {reinterpret_cast<const char*>(image.data()), image.size()};
}

bool is_module(base::ByteView image) {
    return text_of(image).starts_with(ELFMAG);
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

/// Error: what no signature belongs after.
base::Result<void> check_input(base::ByteView image, const std::string& path) {
    if (!is_module(image))
        if (auto parsed = formats::parse_dof(image); !parsed.ok())
            return std::move(parsed).error().with_context(path);
    if (text_of(image).ends_with(DBK_SIGNATURE_MARK))
        return errorf(ErrorCode::invalid, "%s is signed already: sign it as %s made it",
                      path.c_str(), is_module(image) ? "daybreak embed" : "daybreak compile");
    return {};
}

base::Result<void> sign(const SignOptions& options) {
    DBK_TRY(base::Bytes image, base::read_file(options.input_path));
    DBK_TRY_VOID(check_input(image, options.input_path));
    DBK_TRY(std::string signature, signature_of(image, options));
    std::string after = signature + trailer_of(signature);
    if (!is_module(image) && image.size() + after.size() > DBK_DOF_BYTES_MAX)
        return errorf(ErrorCode::limit,
                      "%s: with its signature it has %zu bytes, at most %u are taken",
                      options.input_path.c_str(), image.size() + after.size(), DBK_DOF_BYTES_MAX);
    DBK_TRY(auto output, base::OutputFile::create(options.output_path));
    DBK_TRY_VOID(output.write(image));
    DBK_TRY_VOID(output.write(base::as_bytes(after)));
    return output.commit();
}

} // namespace

void add_sign(CLI::App& app, int& status) {
    auto options = std::make_shared<SignOptions>();
    CLI::App* command =
        app.add_subcommand("sign", "Sign a compiled program or a module, with openssl");
    command->add_option("FILE", options->input_path, "The compiled program, or the module (.ko)")
        ->required();
    command->add_option("--key", options->key_path, "The private key, as openssl reads it")
        ->required();
    command->add_option("--certificate", options->certificate_path, "The key's certificate")
        ->required();
    command->add_option("-o,--output", options->output_path, "The signed file to write")
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
