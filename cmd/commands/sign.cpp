// SPDX-License-Identifier: Apache-2.0
//
// daybreak sign: put a signature after a compiled program, for a module that asks for one, or after
// a module, for a kernel that does.
#include "base/file.hpp"
#include "cmd/commands.hpp"
#include "cmd/signature.hpp"
#include "formats/abi/ioctl.h"
#include "formats/dof/dof_reader.hpp"
#include "formats/module/module_file.hpp"

#include <memory>

namespace daybreak::cmd {

namespace {

using base::ErrorCode;
using base::errorf;

struct SignOptions {
    std::string input_path;
    Signer signer;
    std::string output_path;
};

/// Error: what no signature belongs after.
base::Result<void> check_input(base::ByteView image, const std::string& path) {
    if (!formats::looks_like_module(image))
        if (auto parsed = formats::parse_dof(image); !parsed.ok())
            return std::move(parsed).error().with_context(path);
    if (is_signed(image))
        return errorf(ErrorCode::invalid, "%s is signed already: sign it as %s made it",
                      path.c_str(), formats::looks_like_module(image) ? "daybreak embed" : "daybreak compile");
    return {};
}

base::Result<void> sign(const SignOptions& options) {
    DBK_TRY(base::Bytes image, base::read_file(options.input_path));
    DBK_TRY_VOID(check_input(image, options.input_path));
    bool is_program = !formats::looks_like_module(image);
    DBK_TRY(image, signed_bytes(std::move(image), options.signer));
    if (is_program && image.size() > DBK_DOF_BYTES_MAX)
        return errorf(ErrorCode::limit,
                      "%s: with its signature it has %zu bytes, at most %u are taken",
                      options.input_path.c_str(), image.size(), DBK_DOF_BYTES_MAX);
    DBK_TRY(auto output, base::OutputFile::create(options.output_path));
    DBK_TRY_VOID(output.write(image));
    return output.commit();
}

} // namespace

void add_sign(Command app, int& status) {
    auto options = std::make_shared<SignOptions>();
    options->signer.may_ask = true;
    Command command =
        app.add_subcommand("sign", "Sign a compiled program or a module, with openssl");
    command.add_option("FILE", options->input_path, "The compiled program, or the module (.ko)")
        .required();
    command.add_option("--key", options->signer.key, "The private key, as openssl reads it")
        .required();
    command.add_option("--certificate", options->signer.certificate, "The key's certificate")
        .required();
    command.add_option("-o,--output", options->output_path, "The signed file to write").required();
    command.footer("\nExample: with the key that DKMS signs modules with\n"
                   "  daybreak sign boot.dof --key /var/lib/dkms/mok.key\n"
                   "      --certificate /var/lib/dkms/mok.pub -o signed.dof");
    command.callback([options, &status] {
        auto done = sign(*options);
        status = done.ok() ? static_cast<int>(Exit::ok) : fail(done.error());
    });
}

} // namespace daybreak::cmd
