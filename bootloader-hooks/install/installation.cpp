// SPDX-License-Identifier: Apache-2.0
//
// The plans of install and uninstall.
#include "bootloader-hooks/install/installation.hpp"
#include "bootloader-hooks/install/kernel_arguments.hpp"
#include "bootloader-hooks/install/unified_image.hpp"

#include <algorithm>

namespace daybreak::install {

using base::ErrorCode;
using base::errorf;
using base::Result;

namespace {

/// Error: invalid: the file is neither what install placed nor what it places now.
Result<void> check_ours(const std::string& path, const std::string& content,
                        const std::optional<Manifest>& placed, const char* verb) {
    if (!placed || !placed->names(path))
        return errorf(ErrorCode::invalid,
                      "%s is there, and was not placed by install: move it away", path.c_str());
    if (placed->placed(path, content))
        return {};
    return errorf(
        ErrorCode::invalid,
        "%s was changed since it was installed (%zu bytes, CRC %08x): --force %s it all the same",
        path.c_str(), content.size(), crc_of(content), verb);
}

/// The same of our part of the boot loader's file.
Result<void> check_part(Host& host, BootLoader& loader, const std::optional<Manifest>& placed,
                        bool force, const char* verb) {
    if (loader.path().empty())
        return {};
    if (force)
        return {};
    DBK_TRY(std::optional<std::string> text, host.read(loader.path()));
    DBK_TRY(std::string part, loader.part_of(text.value_or("")));
    if (part.empty() || (placed && placed->placed_part(loader.path(), part)))
        return {};
    return errorf(
        ErrorCode::invalid,
        "Daybreak's part of %s was changed since it was installed: --force %s it all the same",
        loader.path().c_str(), verb);
}

std::vector<TracedKernel> traced_kernels(const Request& request) {
    std::vector<TracedKernel> kernels;
    for (const KernelCpio& kernel : request.kernels)
        kernels.push_back(traced_kernel(kernel.release, request.bank));
    return kernels;
}

/// What the manifest says once all is in place.
/// Error: corrupt: our part of the boot loader's file.
Result<Manifest> wanted_manifest(const Request& request, const std::string& loader_name,
                                 BootLoader& loader, const Entries& entries,
                                 const std::optional<Manifest>& placed) {
    Manifest manifest;
    manifest.mode = request.mode;
    manifest.loader = loader_name;
    manifest.version = request.version;
    manifest.bank = request.bank;
    manifest.module = request.module;
    manifest.sign_key = request.sign_key;
    manifest.certificate = request.certificate;
    manifest.native = request.native;
    manifest.sources = request.sources;
    manifest.programs = request.programs;
    manifest.kernels_named = request.kernels_named;
    // In the order in which uninstall removes them: no entry without its archive.
    for (const OwnFile& file : entries.files)
        manifest.files.push_back(placed_file(file.path, file.content));
    for (const KernelCpio& kernel : request.kernels) {
        manifest.kernels.push_back(kernel.release);
        manifest.files.push_back(placed_file(loader.cpio_path(kernel.release), kernel.cpio));
        if (!kernel.why_interpreted.empty())
            manifest.interpreted.push_back(kernel.release + " " + kernel.why_interpreted);
    }
    for (const OwnFile& file : request.helpers)
        manifest.files.push_back(placed_file(file.path, file.content, true));
    manifest.variables = placed ? placed->variables : loader.variables();
    if (!entries.part || request.kernels.empty())
        return manifest;
    bool made = !entries.part->before;
    if (placed)
        for (const PlacedPart& part : placed->parts)
            if (part.path == loader.path())
                made = part.made;
    // The checksum of a part is over its marker lines, too: read back from the file as it will be.
    DBK_TRY(std::string part, loader.part_of(*entries.part->after));
    manifest.parts.push_back({loader.path(), crc_of(part), made});
    return manifest;
}

Step write_step(const OwnFile& file, std::optional<std::string> before) {
    return {.path = file.path,
            .before = std::move(before),
            .after = file.content,
            .is_text = file.is_text,
            .mode = file.mode};
}

/// What is placed now and what will be, in one manifest: for the time in between.
Manifest joined(Manifest wanted, const Manifest& placed) {
    for (const PlacedFile& file : placed.files)
        if (std::find(wanted.files.begin(), wanted.files.end(), file) == wanted.files.end())
            wanted.files.push_back(file);
    for (const PlacedPart& part : placed.parts)
        if (std::find(wanted.parts.begin(), wanted.parts.end(), part) == wanted.parts.end())
            wanted.parts.push_back(part);
    return wanted;
}

/// The request with what is to lie at the archives' places, which may have them inside.
Result<Request> packed(const Host& host, Request request, BootLoader& loader,
                       const std::optional<Manifest>& placed) {
    for (KernelCpio& kernel : request.kernels) {
        if (kernel.is_placed)
            continue;
        TracedKernel traced = traced_kernel(kernel.release, request.bank);
        DBK_TRY(kernel.cpio, loader.archive(traced, std::move(kernel.cpio)));
        std::string demand = loader.signature_demand(traced);
        if (demand.empty())
            continue;
        if (!request.sign_image)
            return errorf(ErrorCode::unsupported,
                          "%s, so the firmware boots a copy of the image of kernel %s only with a "
                          "signature: give a key that it or shim trusts with --sign KEY",
                          demand.c_str(), kernel.release.c_str());
        std::string path = loader.cpio_path(kernel.release);
        auto there = host.read(path);
        // A new signature would have another time in it.
        if (there.ok() && *there && placed && placed->placed(path, **there) &&
            is_signed_copy(**there, kernel.cpio)) {
            kernel.cpio = **there;
            continue;
        }
        DBK_TRY(kernel.cpio, request.sign_image(kernel.cpio));
    }
    return request;
}

/// The steps that put files in place.  Error: invalid: something else is in their place.
Result<std::vector<Step>> file_steps(Host& host, const std::vector<OwnFile>& files, bool force,
                                     const std::optional<Manifest>& placed) {
    std::vector<Step> steps;
    for (const OwnFile& file : files) {
        DBK_TRY(std::optional<std::string> before, host.read(file.path));
        if (before == file.content && placed && placed->names(file.path))
            continue;
        if (before && !force)
            DBK_TRY_VOID(check_ours(file.path, *before, placed, "replaces"));
        steps.push_back(write_step(file, before));
    }
    return steps;
}

/// The files that a request places, in the order in which that is done: no entry without its
/// archive.
std::vector<OwnFile> files_of(const Request& request, BootLoader& loader, const Entries& entries) {
    std::vector<OwnFile> files = request.helpers;
    for (const KernelCpio& kernel : request.kernels)
        files.push_back({loader.cpio_path(kernel.release), kernel.cpio, false});
    files.insert(files.end(), entries.files.begin(), entries.files.end());
    return files;
}

/// The steps that remove the placed files that `keeps` does not name.
Result<std::vector<Step>> removal_steps(Host& host, const Manifest& placed, const Manifest& keeps,
                                        bool force) {
    std::vector<Step> steps;
    std::vector<std::string> seen;
    for (const PlacedFile& file : placed.files) {
        if (keeps.names(file.path) || std::find(seen.begin(), seen.end(), file.path) != seen.end())
            continue;
        seen.push_back(file.path);
        DBK_TRY(std::optional<std::string> content, host.read(file.path));
        if (content && !force)
            DBK_TRY_VOID(check_ours(file.path, *content, placed, "removes"));
        if (content || host.has_left_over(file.path))
            steps.push_back({.path = file.path, .before = std::move(content)});
    }
    return steps;
}

void append(std::vector<Step>& to, std::vector<Step> steps) {
    std::move(steps.begin(), steps.end(), std::back_inserter(to));
}

bool has_kernel(const Request& request, const std::string& release) {
    return std::any_of(request.kernels.begin(), request.kernels.end(),
                       [&release](const KernelCpio& kernel) { return kernel.release == release; });
}

bool takes_the_only_one(const Request& request) {
    return request.mode == Mode::once && request.kernels_named && request.kernels.size() == 1;
}

/// Returns the kernel that the next boot traces: the one that it would boot anyway.
Result<std::string> release_to_arm(BootLoader& loader, const Request& request) {
    if (request.mode == Mode::menu)
        return std::string();
    if (takes_the_only_one(request))
        return request.kernels.front().release;
    std::string release = loader.default_release().value_or(request.running_release);
    if (release.empty())
        return errorf(ErrorCode::invalid,
                      "the machine does not boot a kernel with an initramfs by default: trace one "
                      "with --once --kernel RELEASE, or use --menu");
    if (!has_kernel(request, release))
        return errorf(
            ErrorCode::invalid,
            "the machine boots kernel %s, which is not among those to trace: make a module for it, "
            "or trace another one with --once --kernel RELEASE",
            release.c_str());
    return release;
}

/// The same where no person asks: a kernel that was armed stays so while the one that would boot
/// anyway cannot be traced.
Result<std::string> release_to_keep(Host& host, BootLoader& loader, const Request& request) {
    if (!is_to_be_armed(host, loader, request.mode))
        return std::string();
    if (takes_the_only_one(request))
        return request.kernels.front().release;
    std::string release = loader.default_release().value_or(request.running_release);
    if (has_kernel(request, release))
        return release;
    DBK_TRY(std::string armed, loader.armed());
    return has_kernel(request, armed) ? armed : std::string();
}

/// The steps that arm the next boot, or see to it that none is armed.  `anew`: it was disarmed.
Result<std::vector<Step>> arming_steps(BootLoader& loader, const std::string& release,
                                       const Manifest& manifest, bool anew) {
    if (release.empty())
        return anew ? std::vector<Step>() : loader.disarm(manifest.variables);
    DBK_TRY_VOID(loader.armed());
    return loader.arm(release, anew);
}

bool replaces_any(const std::vector<Step>& steps) {
    return std::any_of(steps.begin(), steps.end(),
                       [](const Step& step) { return step.before.has_value(); });
}

} // namespace

TracedKernel traced_kernel(const std::string& release, const std::string& bank) {
    return {release, own_arguments(bank)};
}

std::vector<TracedKernel> traced_kernels(const Manifest& placed) {
    std::vector<TracedKernel> kernels;
    for (const std::string& release : placed.kernels)
        kernels.push_back(traced_kernel(release, placed.bank));
    return kernels;
}

Result<Plan> plan_install(Host& host, const Request& unpacked, std::string* armed_ret) {
    std::string loader_name;
    DBK_TRY(auto loader, open_boot_loader(host, &loader_name, unpacked.initramfs));
    DBK_TRY(std::optional<Manifest> placed, read_manifest(host));
    if (placed && placed->loader != loader_name &&
        (is_initramfs(loader_name) || is_initramfs(placed->loader)))
        return errorf(
            ErrorCode::invalid,
            "installed by %s already, this would be by %s: run daybreak uninstall first%s",
            placed->loader.c_str(), loader_name.c_str(),
            is_initramfs(loader_name) ? "" : ", or say --initramfs");
    bool can_arm = unpacked.mode != Mode::menu;
    if (can_arm) {
        auto checked = loader->check_can_arm();
        if (!checked.ok())
            return errorf(
                ErrorCode::unsupported,
                "%s (install --menu adds an entry to the boot menu, and arms nothing; --initramfs "
                "needs no boot loader)",
                checked.error().message().c_str());
    }
    DBK_TRY(Request request, packed(host, unpacked, *loader, placed));
    auto armed_before = loader->armed();
    bool is_armed = armed_before.ok() && !armed_before->empty();
    DBK_TRY(*armed_ret, request.again ? release_to_keep(host, *loader, request)
                                      : release_to_arm(*loader, request));
    DBK_TRY_VOID(check_part(host, *loader, placed, request.force, "replaces"));
    DBK_TRY(Entries entries, loader->entries(traced_kernels(request), can_arm, placed));
    DBK_TRY(Manifest wanted, wanted_manifest(request, loader_name, *loader, entries, placed));
    DBK_TRY(std::vector<Step> files,
            file_steps(host, files_of(request, *loader, entries), request.force, placed));
    DBK_TRY(std::vector<Step> removals,
            removal_steps(host, placed.value_or(Manifest()), wanted, request.force));
    DBK_TRY(std::optional<std::string> manifest_text, host.read(kManifestPath));
    Plan plan;
    std::string text = wanted.text();
    bool replaces = placed && placed->text() != text;
    std::string first_text = replaces ? joined(wanted, *placed).text() : text;
    if (manifest_text != first_text)
        plan.steps.push_back(write_step({kManifestPath, first_text}, manifest_text));
    // No entry that is armed is without its archive, or not there.
    bool disarms = !loader->looks_for_cpio() && (replaces_any(files) || !removals.empty()) &&
                   (is_armed || !request.again);
    if (is_armed && !has_kernel(request, *armed_before))
        disarms = true;
    if (disarms)
        append(plan.steps, loader->disarm(wanted.variables));
    append(plan.steps, std::move(files));
    if (entries.part && entries.part->before != entries.part->after)
        plan.steps.push_back(*entries.part);
    append(plan.steps, std::move(removals));
    if (first_text != text)
        plan.steps.push_back(write_step({kManifestPath, text}, first_text));
    DBK_TRY_VOID(check_room(host, plan));
    if (request.again && !is_armed && armed_ret->empty())
        return plan; // what the boot loader notes of a boot that did not come up stays
    DBK_TRY(std::vector<Step> arming, arming_steps(*loader, *armed_ret, wanted, disarms));
    append(plan.steps, std::move(arming));
    if (std::string risk = loader->risk(); !plan.steps.empty() && !risk.empty())
        plan.notes.push_back(risk);
    return plan;
}

namespace {

/// Adds the steps that take our entries out of a boot loader's files, and disarm it.
/// Errors: those of check_part() and BootLoader::entries(), without `force`.
Result<void> plan_loader(Host& host, BootLoader& loader, const Manifest& placed, bool force,
                         Plan& plan) {
    DBK_TRY_VOID(check_part(host, loader, placed, force, "removes"));
    auto entries = loader.entries({}, false, placed);
    if (!entries.ok() && !force)
        return std::move(entries).error();
    append(plan.steps, loader.disarm(placed.variables));
    if (!entries.ok())
        plan.notes.push_back(entries.error().message());
    else if (const auto& part = entries->part;
             part && (part->before != part->after || host.has_left_over(part->path)))
        plan.steps.push_back(*part);
    return {};
}

/// The steps after those of the boot loader.  `keeps_manifest`: not all could be taken away.
Result<void> plan_files(Host& host, const Manifest& placed, bool force, bool keeps_manifest,
                        Plan& plan) {
    DBK_TRY(std::vector<Step> removals, removal_steps(host, placed, Manifest(), force));
    append(plan.steps, std::move(removals));
    if (host.exists(kLastBootPath) || host.has_left_over(kLastBootPath))
        plan.steps.push_back({.path = kLastBootPath});
    DBK_TRY(std::optional<std::string> text, host.read(kManifestPath));
    if (!keeps_manifest)
        plan.steps.push_back({.path = kManifestPath, .before = text, .is_text = true});
    return {};
}

void note_not_open(const base::Error& error, Plan& plan) {
    plan.notes.push_back(base::strprintf(
        "our entries stay as they are; uninstall again when they can be seen, or remove %s to "
        "forget them: %s",
        kManifestPath, error.message().c_str()));
}

/// What a manifest would name, where it cannot be read, of each boot loader that is there.
Result<Plan> plan_uninstall_by_names(Host& host) {
    Plan plan;
    Manifest all;
    bool has_loader = false;
    for (const KnownBootLoader& known : boot_loaders()) {
        auto loader = known.open(host);
        if (!loader.ok()) {
            append(plan.steps, known.disarm(host));
            continue;
        }
        // A tool for initramfs is on many a machine whose boot loader is not to be seen.
        if (known.is_initramfs && (*loader)->own_files().empty() && (*loader)->tried().empty())
            continue;
        has_loader = true;
        Manifest own;
        for (const Variable& variable : (*loader)->variables())
            own.variables.push_back({variable.name, std::nullopt});
        own.parts.push_back({(*loader)->path(), 0, true});
        DBK_TRY_VOID(plan_loader(host, **loader, own, true, plan));
        for (const std::string& path : (*loader)->own_files())
            all.files.push_back({.path = path});
    }
    if (!has_loader)
        note_not_open(errorf(ErrorCode::not_found, "no files of a boot loader are there"), plan);
    for (const OwnFile& hook : kernel_hooks(host, ""))
        all.files.push_back({.path = hook.path});
    for (const std::string& name : host.list(kStateFolder))
        if (name.ends_with(".d"))
            all.files.push_back({.path = std::string(kStateFolder) + "/" + name});
    DBK_TRY_VOID(plan_files(host, all, true, !has_loader, plan));
    return plan;
}

} // namespace

Result<Plan> plan_uninstall(Host& host, bool force) {
    Plan plan;
    auto read = read_manifest(host);
    if (force && !read.ok() && read.error().code() == ErrorCode::corrupt)
        return plan_uninstall_by_names(host);
    DBK_TRY(std::optional<Manifest> placed, std::move(read));
    if (!placed) {
        if (host.has_left_over(kManifestPath))
            plan.steps.push_back(
                {.path = kManifestPath}); // a process ended before anything was placed
        return plan;
    }
    auto loader = open_boot_loader_named(host, placed->loader);
    if (!loader.ok() && !force)
        return std::move(loader).error();
    if (loader.ok()) {
        DBK_TRY_VOID(plan_loader(host, **loader, *placed, force, plan));
    } else {
        for (const KnownBootLoader& known : boot_loaders())
            if (known.name == placed->loader)
                append(plan.steps, known.disarm(host));
        note_not_open(loader.error(), plan);
    }
    DBK_TRY_VOID(plan_files(host, *placed, force, !loader.ok(), plan));
    return plan;
}

} // namespace daybreak::install
