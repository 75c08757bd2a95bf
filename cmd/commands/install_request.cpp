// SPDX-License-Identifier: Apache-2.0
//
// Compiling, embedding and packing what `install` places.
#include "cmd/commands/install_request.hpp"

#include "base/contains.hpp"
#include "base/counted.hpp"
#include "base/file.hpp"
#include "bootloader-hooks/install/cpio.hpp"
#include "cmd/commands/enabling.hpp"
#include "cmd/file_places.hpp"
#include "cmd/image_probes.hpp"
#include "cmd/native.hpp"
#include "cmd/quantity.hpp"
#include "cmd/terminal.hpp"
#include "compiler/types/decompress.hpp"
#include "daybreak_version.hpp"
#include "formats/abi/ioctl.h"
#include "formats/module/module_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace daybreak::cmd {

namespace {

using base::ErrorCode;
using base::errorf;
using base::Result;
using install::Host;
using install::InstalledKernel;

/// Where systemd looks for units.
constexpr const char* kUnitFolders[] = {"/etc/systemd/system", "/usr/local/lib/systemd/system",
                                        "/usr/lib/systemd/system", "/lib/systemd/system"};

std::string no_module_text(const std::string& release) {
    return base::strprintf(
        "kernel %s has no daybreak.ko in /lib/modules/%s/{updates/dkms,updates,extra}: build it "
        "with kmod/build and name it with --module",
        release.c_str(), release.c_str());
}

/// Where DKMS keeps the key that it makes for a machine, and its certificate.
constexpr const char* kDkmsKey = "/var/lib/dkms/mok.key";

/// Error: unsupported: a module with a program in it would not be loaded.
Result<void> check_signatures(const Host& host, const Signer& signer) {
    std::string demand = install::signature_demand(host);
    if (demand.empty())
        return {};
    if (signer.key.empty())
        return errorf(ErrorCode::unsupported,
                      "%s: a module with a program in it needs a signature of its own, by a key "
                      "that the kernel trusts: --sign %s",
                      demand.c_str(),
                      host.exists(kDkmsKey) ? kDkmsKey
                                            : "KEY (docs/boot.md says how to make and enrol one)");
    DBK_TRY(std::string identifier, key_identifier(signer.certificate));
    auto keys = host.read_through("/proc/keys");
    if (keys.ok() && *keys && (*keys)->find(identifier) != std::string::npos)
        return {};
    return errorf(ErrorCode::unsupported,
                  "%s, and does not trust %s (no key %s in /proc/keys): enrol it with `mokutil "
                  "--import %s`, restart, and choose 'Enroll MOK' at the console; it takes the "
                  "certificate in DER form",
                  demand.c_str(), signer.certificate.c_str(), identifier.c_str(),
                  signer.certificate.c_str());
}

install::SignImage image_signer(const Signer& signer) {
    if (signer.key.empty())
        return nullptr;
    return [signer](const std::string& image) { return sign_image(image, signer); };
}

/// The certificate lies beside the key where none is named, as DKMS has it.
/// Error: not_found: one of them.
Result<void> complete_signer(Signer& signer, bool is_wanted) {
    if (!is_wanted)
        return {};
    if (signer.key.empty())
        return errorf(ErrorCode::invalid, "--sign takes the file of a key, got ''");
    signer.key = std::filesystem::absolute(signer.key);
    signer.certificate = signer.certificate.empty()
                             ? std::filesystem::path(signer.key).replace_extension(".pub")
                             : std::filesystem::absolute(signer.certificate);
    for (const std::string& path : {signer.key, signer.certificate})
        if (::access(path.c_str(), R_OK) != 0)
            return errorf(
                ErrorCode::not_found,
                "cannot open %s: %s (--sign takes the key, --certificate its certificate)",
                path.c_str(), std::strerror(errno));
    return {};
}

/// Returns the kernels to trace, each with its module.  Errors: not_found, invalid.
Result<std::vector<InstalledKernel>> chosen_kernels(const Host& host,
                                                    const InstallArguments& arguments) {
    std::vector<InstalledKernel> there = install::installed_kernels(host), chosen;
    for (const std::string& release : arguments.kernels) {
        auto found =
            std::find_if(there.begin(), there.end(),
                         [&release](const InstalledKernel& one) { return one.release == release; });
        if (found == there.end())
            return errorf(
                ErrorCode::not_found,
                "kernel %s is not installed: expected /boot/vmlinuz-%s and /lib/modules/%s",
                release.c_str(), release.c_str(), release.c_str());
        if (std::none_of(chosen.begin(), chosen.end(),
                         [&release](const InstalledKernel& one) { return one.release == release; }))
            chosen.push_back(*found);
    }
    if (arguments.kernels.empty())
        chosen = there;
    if (!arguments.module.empty() && chosen.size() != 1)
        return errorf(ErrorCode::invalid,
                      "--module is for one kernel, %zu are chosen: name it with --kernel",
                      chosen.size());
    for (InstalledKernel& kernel : chosen)
        if (!arguments.module.empty())
            kernel.module = arguments.module;
    bool all = arguments.kernels.empty();
    for (const InstalledKernel& kernel : chosen) {
        if (!kernel.module.empty())
            continue;
        std::string text = no_module_text(kernel.release);
        if (!all)
            return errorf(ErrorCode::not_found, "%s", text.c_str());
        complain(text + "; left out");
    }
    std::erase_if(chosen, [](const InstalledKernel& kernel) { return kernel.module.empty(); });
    if (chosen.empty())
        return errorf(ErrorCode::not_found,
                      "no kernel to trace: none of the %zu in /boot has a module", there.size());
    return chosen;
}

std::string text_of(const base::Bytes& bytes) {
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

/// Has the programs compiled into a module.  Returns why they are not, which was said; "" when they are.
std::string make_native(const Host& host, const InstallArguments& arguments, const std::string& release,
                        const std::vector<formats::EmbeddedImage>& images, base::Bytes& module) {
    const NativeBuild build{arguments.sources, host.at("/lib/modules/" + release + "/build"), true};
    std::vector<NativeSource> programs;
    for (const formats::EmbeddedImage& image : images)
        programs.push_back({image.name + ".d", image.dof});
    auto native = native_module(build, module, release, programs);
    if (native.ok()) {
        module = *std::move(native);
        return "";
    }
    complain("kernel " + release + ": its programs are interpreted: " + native.error().message());
    return native.error().message();
}

/// Returns a kernel with its archive; empty when a program is wrong, which was said.
Result<std::optional<install::KernelCpio>> make_archive(const Host& host, const InstallArguments& arguments,
                                                        const InstalledKernel& kernel,
                                                        const std::string& early_init) {
    DBK_TRY(base::Bytes module, read_kernel_module(host, kernel, !arguments.module.empty()));
    std::vector<formats::EmbeddedImage> images;
    install::KernelCpio made{.release = kernel.release};
    for (const std::string& path : arguments.programs) {
        ProgramArguments program;
        program.script = path;
        // The same archive comes of the file that was named and of its copy.
        program.label = arguments.names[images.size()] + ".d";
        program.kernel = host.at(kernel.image);
        auto compiled = compile_for_machine(program);
        if (!compiled)
            return std::optional<install::KernelCpio>();
        if (!check_destructive(compiled->program).ok()) // the boot would refuse it
            return errorf(ErrorCode::invalid,
                          "%s: destructive actions are not allowed: say `#pragma D option "
                          "destructive` in the program",
                          path.c_str());
        if (!arguments.again)
            for (const std::string& line : unmatched_probes(compiled->program, *compiled->kernel))
                complain("warning: kernel " + kernel.release + ": " + line);
        images.push_back({arguments.names[images.size()], std::move(compiled->dof)});
    }
    if (arguments.native)
        made.why_interpreted = make_native(host, arguments, kernel.release, images, module);
    for (formats::EmbeddedImage& image : images) {
        DBK_TRY(image.dof, signed_bytes(std::move(image.dof), arguments.signer));
        if (image.dof.size() > DBK_DOF_BYTES_MAX)
            return errorf(ErrorCode::limit,
                          "%s.d: with its signature it has %zu bytes, at most %u are taken",
                          image.name.c_str(), image.dof.size(), DBK_DOF_BYTES_MAX);
    }
    DBK_TRY(base::Bytes embedded, formats::embed_images(module, images));
    DBK_TRY(embedded, signed_bytes(std::move(embedded), arguments.signer));
    made.cpio = install::make_boot_cpio(early_init, text_of(embedded));
    return std::optional(std::move(made));
}

/// Returns "64M@0x20000000": where it is already for a bank of that size, else a new place.
Result<std::string> bank_place(const Host& host, const std::string& size_text) {
    DBK_TRY(uint64_t bytes, parse_size("--bank", size_text));
    DBK_TRY(std::optional<install::Manifest> placed, install::read_manifest(host));
    std::string size = base::strprintf("%" PRIu64 "M@", bytes >> 20);
    if (placed && bytes % (1u << 20) == 0 && placed->bank.starts_with(size))
        return placed->bank;
    DBK_TRY(std::optional<std::string> iomem, host.read_through("/proc/iomem"));
    DBK_TRY(uint64_t address, install::bank_address(iomem.value_or(""), bytes));
    return size + base::strprintf("0x%" PRIx64, address);
}

/// Takes the standard program where none is named.
/// Errors: not_found: one cannot be read; invalid: two have one name.
Result<void> complete_programs(InstallArguments& arguments) {
    if (arguments.programs.empty()) {
        DBK_TRY(std::string standard, own_file("../share/daybreak/boot.d", "../packaging/boot.d"));
        arguments.programs.push_back(standard);
    }
    for (const std::string& path : arguments.programs)
        if (::access(path.c_str(), R_OK) != 0)
            return errorf(ErrorCode::not_found, "cannot open %s: %s", path.c_str(),
                          std::strerror(errno));
    DBK_TRY(arguments.names, program_names(arguments.programs));
    return {};
}

/// Returns the programs' texts and the hooks of kernels' packages.
Result<std::vector<install::OwnFile>> make_helpers(const Host& host,
                                                   const InstallArguments& arguments) {
    std::vector<install::OwnFile> files;
    for (size_t i = 0; i < arguments.programs.size(); i++) {
        DBK_TRY(base::Bytes text, base::read_file(arguments.programs[i]));
        files.push_back({.path = install::program_path(arguments.names[i]),
                         .content = text_of(text),
                         .is_helper = true});
    }
    std::error_code none;
    for (install::OwnFile& hook :
         install::kernel_hooks(host, std::filesystem::read_symlink("/proc/self/exe", none)))
        files.push_back(std::move(hook));
    return files;
}

/// "" when it is not known.
std::string running_release(const Host& host) {
    auto boot = install::read_this_boot(host);
    return boot.ok() ? boot->release : "";
}

/// What is installed, and what goes into the archives that are made again.
struct Renewal {
    Host& host;
    const install::Manifest& placed;
    const InstallArguments& arguments;
    install::BootLoader& loader;
    std::string early_init;
};

/// Returns the archive of a kernel as it should be now.  The error says why there is none.
Result<install::KernelCpio> new_archive(const Renewal& renewal, const InstalledKernel& kernel) {
    if (kernel.module.empty())
        return errorf(ErrorCode::not_found, "%s", no_module_text(kernel.release).c_str());
    DBK_TRY(std::optional<install::KernelCpio> archive,
            make_archive(renewal.host, renewal.arguments, kernel, renewal.early_init));
    if (!archive)
        return errorf(ErrorCode::invalid, "kernel %s: a program does not compile for it",
                      kernel.release.c_str());
    return *std::move(archive);
}

/// Returns the archive of a kernel as it was placed; empty when that is not there.
std::optional<install::KernelCpio> placed_archive(const Renewal& renewal, const std::string& release) {
    std::string path = renewal.loader.cpio_path(release);
    auto content = renewal.host.read(path);
    if (!content.ok() || !*content || !renewal.placed.placed(path, **content))
        return std::nullopt;
    return install::KernelCpio{release, **std::move(content), true, renewal.placed.why_interpreted(release)};
}

/// Adds the archives of the kernels that are there.  `is_at_work`: they are made again; else those
/// that there are stay.
void add_kernels(const Renewal& renewal, bool is_at_work, install::Request& request) {
    const install::Manifest& placed = renewal.placed;
    for (InstalledKernel& kernel : install::installed_kernels(renewal.host)) {
        bool was_there = base::contains(placed.kernels, kernel.release);
        if (!was_there && (placed.kernels_named || !is_at_work))
            continue;
        if (!placed.module.empty())
            kernel.module = was_there ? placed.module : kernel.module;
        auto entry = renewal.loader.entries({install::traced_kernel(kernel.release, placed.bank)},
                                            placed.mode != install::Mode::menu, placed);
        std::string why = entry.ok() ? "" : entry.error().message();
        std::optional<install::KernelCpio> archive;
        if (is_at_work && entry.ok()) {
            auto made = new_archive(renewal, kernel);
            if (made.ok())
                archive = *std::move(made);
            else
                why = made.error().message();
        }
        if (!archive && entry.ok() && was_there)
            archive = placed_archive(renewal, kernel.release);
        if (!why.empty()) {
            complain(why + (archive ? "; what was installed for it stays" : "; it is not traced"));
            request.version = placed.version;
        }
        if (archive)
            request.kernels.push_back(*std::move(archive));
    }
}

/// Error: not_found, invalid: a program's text is not the one that was installed.
Result<void> check_placed_programs(const Host& host, const install::Manifest& placed) {
    for (const std::string& name : placed.programs) {
        DBK_TRY(std::optional<std::string> text, host.read(install::program_path(name)));
        if (!text || !placed.placed(install::program_path(name), *text))
            return errorf(ErrorCode::invalid,
                          "%s %s: run daybreak install with the programs that are to be traced",
                          install::program_path(name).c_str(),
                          text ? "was changed since it was installed" : "is missing");
    }
    return {};
}

} // namespace

Result<void> check_unit(const Host& host) {
    for (const char* folder : kUnitFolders)
        if (host.exists(std::string(folder) + "/" + kUnit))
            return {};
    return errorf(
        ErrorCode::not_found,
        "%s is not installed, so nothing would take the recording after a boot: install Daybreak "
        "with `cmake --install build/release`",
        kUnit);
}

Result<std::string> read_early_init(const std::string& named) {
    std::string path = named;
    if (path.empty()) {
        DBK_TRY(path, own_file("../libexec/daybreak/early-init", "../bootloader-hooks/early-init"));
    }
    DBK_TRY(base::Bytes bytes, base::read_file(path));
    return text_of(bytes);
}

Result<base::Bytes> read_kernel_module(const Host& host, const InstalledKernel& kernel,
                                       bool is_named) {
    std::string path = is_named ? kernel.module : host.at(kernel.module);
    DBK_TRY(base::Bytes module, base::read_file(path));
    if (compiler::is_compressed(module)) {
        DBK_TRY(module, compiler::decompress(module, path));
    }
    auto info = formats::read_module(module);
    if (!info.ok())
        return std::move(info).error().with_context(path);
    if (info->release != kernel.release)
        return errorf(ErrorCode::invalid,
                      "%s is for kernel %s, expected %s: build it with kmod/build", path.c_str(),
                      info->release.c_str(), kernel.release.c_str());
    if (info->version != DAYBREAK_VERSION)
        return errorf(ErrorCode::invalid,
                      "%s is of Daybreak %s, this is %s: build it with kmod/build", path.c_str(),
                      info->version.c_str(), DAYBREAK_VERSION);
    if (!info->images.empty())
        return errorf(ErrorCode::invalid, "%s holds %s already: name a module that holds none",
                      path.c_str(), base::counted(info->images.size(), "program").c_str());
    return module;
}

Result<std::optional<install::Request>> make_request(const Host& host, InstallArguments arguments) {
    using install::Mode;
    DBK_TRY_VOID(complete_programs(arguments));
    DBK_TRY_VOID(check_unit(host));
    DBK_TRY_VOID(complete_signer(arguments.signer, arguments.signs));
    DBK_TRY_VOID(check_signatures(host, arguments.signer));
    DBK_TRY(std::string early_init, read_early_init(arguments.early_init));
    DBK_TRY(std::vector<InstalledKernel> kernels, chosen_kernels(host, arguments));
    install::Request request;
    request.mode = arguments.once ? Mode::once : arguments.menu ? Mode::menu : Mode::every;
    request.force = arguments.force;
    request.initramfs = arguments.initramfs;
    request.kernels_named = !arguments.kernels.empty();
    request.programs = arguments.names;
    request.version = DAYBREAK_VERSION;
    request.sign_key = arguments.signer.key;
    request.certificate = arguments.signer.certificate;
    request.sign_image = image_signer(arguments.signer);
    request.native = arguments.native;
    if (!arguments.sources.empty())
        request.sources = arguments.sources = std::filesystem::absolute(arguments.sources);
    if (!arguments.module.empty())
        request.module = std::filesystem::absolute(arguments.module);
    DBK_TRY(request.helpers, make_helpers(host, arguments));
    if (!arguments.bank.empty()) {
        DBK_TRY(request.bank, bank_place(host, arguments.bank));
    }
    request.running_release = running_release(host);
    for (const InstalledKernel& kernel : kernels) {
        DBK_TRY(std::optional<install::KernelCpio> archive,
                make_archive(host, arguments, kernel, early_init));
        if (!archive)
            return std::optional<install::Request>();
        request.kernels.push_back(*std::move(archive));
    }
    return std::optional(std::move(request));
}

Result<install::Request> make_request_again(Host& host, const install::Manifest& placed,
                                            InstallArguments arguments) {
    std::string loader_name;
    bool in_initramfs = install::is_initramfs(placed.loader);
    DBK_TRY(auto loader, install::open_boot_loader(host, &loader_name, in_initramfs));
    bool is_at_work =
        placed.mode == install::Mode::menu || install::is_to_be_armed(host, *loader, placed.mode);
    arguments.signer = {placed.sign_key, placed.certificate};
    if (is_at_work)
        DBK_TRY_VOID(check_signatures(host, arguments.signer));
    DBK_TRY_VOID(check_placed_programs(host, placed));
    install::Request request;
    arguments.names = placed.programs;
    arguments.programs.clear();
    for (const std::string& name : placed.programs)
        arguments.programs.push_back(host.at(install::program_path(name)));
    arguments.module = request.module = placed.module;
    arguments.native = request.native = placed.native;
    arguments.sources = request.sources = placed.sources;
    arguments.again = true;
    DBK_TRY(std::string early_init, read_early_init(arguments.early_init));
    request.mode = placed.mode;
    request.again = true;
    request.initramfs = in_initramfs;
    request.force = arguments.force;
    request.kernels_named = placed.kernels_named;
    request.programs = placed.programs;
    request.bank = placed.bank;
    request.sign_key = placed.sign_key;
    request.certificate = placed.certificate;
    request.sign_image = image_signer(arguments.signer);
    request.version = is_at_work ? DAYBREAK_VERSION : placed.version;
    request.running_release = running_release(host);
    DBK_TRY(request.helpers, make_helpers(host, arguments));
    add_kernels({host, placed, arguments, *loader, early_init}, is_at_work, request);
    return request;
}

} // namespace daybreak::cmd
