// SPDX-License-Identifier: Apache-2.0
//
// daybreak selftest: what of an installation works on this machine, and what to do where it does
// not.
//
// Each check prints a line.  What is "not here" has not failed.  A machine is not changed, but by
// --load, which is undone.
#include "analyze/completeness.hpp"
#include "base/counted.hpp"
#include "base/file.hpp"
#include "cmd/commands/install.hpp"
#include "cmd/commands/install_request.hpp"
#include "compiler/types/kernel_types.hpp"
#include "daybreak_version.hpp"
#include "formats/trace/reader.hpp"
#include "recorder/device.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <unistd.h>

namespace daybreak::cmd {

namespace {

using base::ErrorCode;
using base::Result;
using base::strprintf;
using install::Host;

constexpr const char* kSignatureMark = "~Module signature appended~\n";
constexpr const char* kTypesPath = "/sys/kernel/btf/vmlinux";
constexpr const char* kBankArgument = "daybreak.bank=";
/// What the module calls its part of /proc/iomem.
constexpr const char* kBankResource = " : daybreak bank\n";
/// A record of a process that this one starts; without the module only of the tracer itself.
constexpr const char* kProcessProgram =
    "proc:::exit /pid == $target/ { printf(\"recorded %d\\n\", 6 * 7); }";
constexpr const char* kOwnProgram = "BEGIN { printf(\"recorded %d\\n\", 6 * 7); exit(0); }";
constexpr const char* kRecorded = "recorded 42\n";

struct SelftestArguments {
    bool load = false;
    std::string root; ///< for tests: a folder that stands for the machine
    std::string early_init;
};

/// The machine, what was found out of it so far, and the lines that were printed.
class Selftest {
public:
    explicit Selftest(const SelftestArguments& arguments)
        : arguments_(arguments), host_(arguments.root, install::run_program),
          release_(first_line("/proc/sys/kernel/osrelease")) {}

    int run();

private:
    void ok(const char* label, const std::string& text) { print(label, "ok: " + text); }
    void not_here(const char* label, const std::string& why) { print(label, "not here: " + why); }
    void fails(const char* label, const std::string& text) {
        has_failed_ = true;
        print(label, "FAIL: " + text);
    }
    void print(const char* label, const std::string& text) {
        put(strprintf("%-10s %s\n", label, text.c_str()));
    }

    void check_module();
    void check_signature();
    void check_lockdown();
    void check_loaded();
    void check_types();
    void check_programs();
    void check_installation();
    void check_files(const install::Manifest& placed);
    void check_bank();
    void check_last_boot();
    void check_record();
    void unload();

    bool is_machine() const { return arguments_.root.empty(); }
    bool is_loaded() const { return host_.exists("/sys/module/daybreak"); }
    std::string text_of(const std::string& path) const {
        auto text = host_.read_through(path);
        return text.ok() ? text->value_or("") : "";
    }
    std::string first_line(const std::string& path) const {
        std::string text = text_of(path);
        return text.substr(0, text.find('\n'));
    }

    const SelftestArguments& arguments_;
    Host host_;
    std::string release_, module_path_;
    base::Bytes module_; ///< empty when it is not good
    std::optional<install::Manifest> placed_;
    bool has_failed_ = false, loaded_here_ = false;
    bool answers_ = false; ///< the module, and it is this one's
};

void Selftest::check_module() {
    const char* label = "module";
    module_path_ = install::module_file(host_, release_);
    std::string folder = "/lib/modules/" + release_;
    if (module_path_.empty() && is_loaded())
        return not_here(label, "no daybreak.ko in " + folder +
                                   ": the one that is loaded is from elsewhere");
    if (module_path_.empty())
        return fails(label,
                     folder +
                         ": got no daybreak.ko, expected one in updates/dkms, updates or extra: " +
                         (host_.exists(folder + "/build")
                              ? "install daybreak-dkms, or build it with kmod/build"
                              : "install linux-headers-" + release_ + ", then daybreak-dkms"));
    auto module = read_kernel_module(host_, {release_, "", module_path_}, false);
    if (!module.ok())
        return fails(label, module.error().message());
    module_ = *std::move(module);
    ok(label, module_path_ + ", version " DAYBREAK_VERSION);
}

void Selftest::check_signature() {
    const char* label = "signature";
    std::string demand = install::signature_demand(host_);
    if (demand.empty())
        return not_here(label, "this kernel takes modules that are not signed");
    if (module_.empty())
        return not_here(label, "there is no module to look at");
    std::string_view text(reinterpret_cast<const char*>(module_.data()), module_.size());
    if (!text.ends_with(kSignatureMark))
        return fails(label, module_path_ + ": got no signature, expected one, since " + demand +
                                ": let DKMS sign it, and enrol its key with mokutil --import "
                                "/var/lib/dkms/mok.pub");
    ok(label, is_loaded() ? "signed, and the kernel knows the key"
                          : "signed; --load shows whether the kernel knows the key");
}

void Selftest::check_lockdown() {
    const char* label = "lockdown";
    std::string text = first_line("/sys/kernel/security/lockdown");
    if (text.find("[confidentiality]") != std::string::npos)
        return fails(label, "got confidentiality, expected integrity or none: kernel memory, "
                            "registers and stacks cannot be read; boot without "
                            "lockdown=confidentiality");
    if (text.find("[integrity]") == std::string::npos)
        return not_here(label, "the kernel is not locked down");
    ok(label, "integrity: programs are taken, destructive actions are not");
}

void Selftest::check_loaded() {
    const char* label = "loaded";
    if (!is_loaded() && !arguments_.load)
        return not_here(label, "not loaded; --load tries it and takes it away again");
    if (!is_loaded() && module_.empty())
        return not_here(label, "there is no good module to load");
    if (!is_loaded()) {
        // Not modprobe: its options may name programs that would be enabled.
        auto loaded = host_.run({"insmod", host_.at(module_path_)});
        if (!loaded.ok())
            return fails(label, loaded.error().message() + ": the last lines of dmesg say why");
        loaded_here_ = true;
    }
    if (std::string version = first_line("/sys/module/daybreak/version");
        version != DAYBREAK_VERSION)
        return fails(label, "the loaded module is of Daybreak " + version +
                                ", this is " DAYBREAK_VERSION
                                ": rmmod daybreak, then modprobe daybreak");
    std::string how = loaded_here_ ? "loaded for this test" : "loaded";
    if (!is_machine())
        return ok(label, how);
    if (::geteuid() != 0)
        return not_here(label, how + "; only root may ask it");
    auto device = recorder::open_device();
    auto status = device.ok() ? recorder::check_version(**device)
                              : Result<dbk_ioc_status>(std::move(device).error());
    if (!status.ok())
        return fails(label, status.error().message());
    std::string reason(status->reason, strnlen(status->reason, sizeof(status->reason)));
    if (!reason.empty())
        return fails(label, "a program that came with the module was refused: " + reason);
    answers_ = true;
    ok(label, how + ", " + base::counted(status->probe_count, "probe"));
}

void Selftest::check_types() {
    compiler::BtfKernelTypes types({.release = "", .file = host_.at(kTypesPath), .root = ""});
    auto btf = types.vmlinux();
    if (!btf.ok())
        return fails("types", btf.error().message() +
                                  ": expected the types of a kernel with CONFIG_DEBUG_INFO_BTF=y");
    if ((*btf)->find(compiler::BtfKind::struct_, "task_struct") == 0)
        return fails("types", std::string(kTypesPath) +
                                  ": got no task_struct, expected the types of a kernel");
    ok("types", kTypesPath);
}

void Selftest::check_programs() {
    auto early_init = read_early_init(arguments_.early_init);
    if (early_init.ok())
        ok("early-init", base::counted(early_init->size(), "byte"));
    else
        fails("early-init", early_init.error().message());
    auto unit = check_unit(host_);
    if (unit.ok())
        ok("unit", kUnit);
    else if (placed_)
        fails("unit", unit.error().message());
    else
        not_here("unit", unit.error().message());
}

void Selftest::check_files(const install::Manifest& placed) {
    for (const install::PlacedFile& file : placed.files)
        if (host_.is_refused(file.path))
            return not_here("files", "only root may read " + file.path);
    std::vector<std::string> troubles = install::file_troubles(host_, placed);
    if (troubles.empty())
        return ok("files",
                  base::counted(placed.files.size(), "file") + " as installed, byte for byte");
    std::string more =
        troubles.size() == 1 ? "" : strprintf(" (and %zu more)", troubles.size() - 1);
    fails("files", troubles[0] + more + ": " + install::repair_command(host_, placed));
}

void Selftest::check_installation() {
    auto placed = install::read_manifest(host_);
    if (!placed.ok())
        return fails("installed", placed.error().message());
    if (!*placed)
        return not_here("installed", "no boot is prepared (daybreak install)");
    placed_ = **placed;
    check_files(*placed_);
    auto lines = install::installation_status(host_, DAYBREAK_VERSION);
    if (!lines.ok())
        return fails("installed", lines.error().message());
    for (const install::StatusLine& line : *lines) {
        if (line.label == "kernel" || line.label == "last boot")
            continue; // the check of files, and the one of the last boot
        if (line.is_wrong)
            fails(line.label.c_str(), line.text);
        else if (line.text.starts_with("not known"))
            not_here(line.label.c_str(), line.text);
        else
            ok(line.label.c_str(), line.text);
    }
}

void Selftest::check_bank() {
    const char* label = "bank";
    std::string arguments = " " + first_line("/proc/cmdline") + " ";
    size_t at = arguments.find(std::string(" ") + kBankArgument);
    if (at == std::string::npos)
        return not_here(label,
                        placed_ && !placed_->bank.empty()
                            ? "this boot reserves none; those that are traced do, " + placed_->bank
                            : "this boot reserves no memory (daybreak install --bank 64m)");
    at += 1 + std::string_view(kBankArgument).size();
    std::string bank = arguments.substr(at, arguments.find(' ', at) - at);
    if (!is_loaded())
        return not_here(label, bank + " is reserved, and no module is loaded that takes it");
    // The kernel reserved a bank that has a name; the module adds no line for that one.
    bool is_taken = bank.find('@') == std::string::npos ||
                    text_of("/proc/iomem").find(kBankResource) != std::string::npos;
    if (!is_taken)
        return fails(label, kBankArgument + bank +
                                ": got ordinary memory, expected 'daybreak bank' in /proc/iomem: "
                                "`dmesg | grep 'bank refused'` says why");
    ok(label, bank);
}

void Selftest::check_last_boot() {
    const char* label = "last trace";
    auto last = install::read_last_boot(host_);
    if (!last.ok())
        return fails(label, last.error().message());
    if (!*last)
        return not_here(label, "no boot was collected yet");
    if ((*last)->result != install::BootResult::collected) {
        std::string text = install::last_boot_text(host_, **last);
        return (*last)->result == install::BootResult::not_armed ? not_here(label, text)
                                                                 : fails(label, text);
    }
    std::string names;
    for (const std::string& path : (*last)->files) {
        if (host_.is_refused(path))
            return not_here(label, "only root may read " + path);
        auto trace = formats::read_trace(host_.at(path));
        if (!trace.ok())
            return fails(label, trace.error().message() +
                                    ": expected the recording of the last traced boot, which the "
                                    "next one writes anew");
        if (!trace->file.has_end)
            return fails(
                label,
                path + ": got a file without its end, expected the recording of the last traced "
                       "boot: daybreak report prints what is left");
        names += (names.empty() ? "" : " ") + path;
        analyze::CompletenessNote note = analyze::completeness_of(trace->recording);
        if (!note.reasons.empty())
            names += " (not complete: " + note.reasons[0] + ")";
    }
    ok(label, names);
}

void Selftest::check_record() {
    const char* label = "record";
    if (first_line("/sys/module/daybreak/parameters/require_signed") == "Y")
        return not_here(label, "the module takes signed programs only");
    if (is_loaded() && is_machine() && !answers_)
        return not_here(label, "the loaded module cannot be asked");
    std::error_code none;
    std::vector<std::string> command = {std::filesystem::read_symlink("/proc/self/exe", none),
                                        "dtrace", "-qn", answers_ ? kProcessProgram : kOwnProgram};
    if (answers_)
        command.insert(command.end(), {"-c", "true"});
    if (!is_machine())
        command.push_back("--simulate");
    auto printed = host_.run(command);
    if (!printed.ok())
        return fails(label, printed.error().message());
    if (("\n" + *printed).find(std::string("\n") + kRecorded) == std::string::npos)
        return fails(label, "got '" + printed->substr(0, printed->find('\n')) + "', expected '" +
                                std::string(kRecorded, sizeof("recorded 42") - 1) +
                                "': daybreak status says what is at work");
    ok(label, answers_ ? "a process's exit, from the probe to the print"
                       : "only in this process: no module is asked");
}

void Selftest::unload() {
    if (!loaded_here_)
        return;
    auto unloaded = host_.run({"rmmod", "daybreak"});
    if (!unloaded.ok())
        fails("unload", unloaded.error().message() + ": rmmod daybreak");
}

int Selftest::run() {
    using Check = void (Selftest::*)();
    constexpr Check kChecks[] = {
        &Selftest::check_module,   &Selftest::check_signature, &Selftest::check_lockdown,
        &Selftest::check_loaded,   &Selftest::check_types,     &Selftest::check_installation,
        &Selftest::check_programs, &Selftest::check_bank,      &Selftest::check_last_boot,
        &Selftest::check_record,   &Selftest::unload,
    };
    for (Check check : kChecks)
        (this->*check)();
    Exit written = finish_stdout();
    return static_cast<int>(has_failed_ ? Exit::failed : written);
}

} // namespace

void add_selftest(Command app, int& status) {
    auto arguments = std::make_shared<SelftestArguments>();
    Command command =
        app.add_subcommand("selftest", "Check that Daybreak works on this machine, a line a check");
    command.add_flag("--load", arguments->load,
                     "Load the module where it is not, and unload it at the end");
    command.add_option("--root", arguments->root, "A folder that stands for the machine, for tests")
        .group("");
    command.add_option("--early-init", arguments->early_init, "The first program, for tests")
        .group("");
    command.footer("\nAs root, or what only root may see is 'not here'. Changes nothing.\n"
                   "Exit status: 0 nothing failed, 1 a line has FAIL.\n"
                   "\nExample: after installing the packages\n"
                   "  daybreak selftest --load");
    command.callback([arguments, &status] { status = Selftest(*arguments).run(); });
}

} // namespace daybreak::cmd
