// SPDX-License-Identifier: Apache-2.0
//
// What became of a boot, kept for people.
#include "base/contains.hpp"
#include "bootloader-hooks/install/installation.hpp"
#include "bootloader-hooks/install/kernel_arguments.hpp"
#include "bootloader-hooks/install/machine.hpp"

#include <algorithm>
#include <sstream>

namespace daybreak::install {

using base::ErrorCode;
using base::errorf;
using base::Result;

namespace {

struct ResultWord {
    const char* word;
    const char* text; ///< for people
};
/// In the order of BootResult.
constexpr ResultWord kResults[] = {
    {"collected", "traced"},
    {"not-armed", "not traced: it was not armed"},
    {"not-loaded", "not traced: early-init ran, and daybreak.ko is not loaded"},
    {"not-read", "traced, and its recording could not be written"},
    {"nothing-held", "not traced, or its recording was taken already"},
    {"died", "not traced: a boot before it was to be traced and did not come up, or was cut off"},
    {"no-cpio", "not traced: what install placed is not all there"},
};

std::string text_of(const LastBoot& boot) {
    std::string text = std::string("result ") + kResults[static_cast<size_t>(boot.result)].word +
                       "\nboot " + boot.boot_id + "\nkernel " + boot.release + "\n";
    if (!boot.detail.empty())
        text += "detail " + boot.detail + "\n";
    for (const std::string& file : boot.files)
        text += "file " + file + "\n";
    return text;
}

/// Lines of other words are a later version's.
LastBoot parse_last_boot(const std::string& untrusted_text) {
    LastBoot boot;
    std::istringstream lines(untrusted_text);
    for (std::string line; std::getline(lines, line);) {
        size_t blank = std::min(line.find(' '), line.size());
        std::string key = line.substr(0, blank),
                    value = line.substr(std::min(blank + 1, line.size()));
        for (size_t i = 0; key == "result" && i < std::size(kResults); i++)
            if (value == kResults[i].word)
                boot.result = static_cast<BootResult>(i);
        for (auto [name, to] :
             {std::pair("boot", &boot.boot_id), std::pair("kernel", &boot.release),
              std::pair("detail", &boot.detail)})
            if (key == name)
                *to = value;
        if (key == "file")
            boot.files.push_back(value);
    }
    return boot;
}

std::string first_line(const Host& host, const std::string& path) {
    auto text = host.read_through(path);
    return text.ok() && *text ? (*text)->substr(0, (*text)->find('\n')) : "";
}

bool is_as_installed(const Host& host, const Manifest& placed) {
    return std::all_of(placed.files.begin(), placed.files.end(), [&](const PlacedFile& file) {
        return file.is_helper || file_trouble(host, placed, file.path).empty();
    });
}

} // namespace

std::string last_boot_text(const Host& host, const LastBoot& boot) {
    bool is_this = boot.boot_id == first_line(host, "/proc/sys/kernel/random/boot_id");
    std::string text = std::string(is_this ? "this one, kernel " : "an earlier one, kernel ") +
                       boot.release + ": " + kResults[static_cast<size_t>(boot.result)].text;
    if (!boot.detail.empty())
        text += " (" + boot.detail + ")";
    for (size_t i = 0; i < boot.files.size(); i++)
        text += (i == 0 ? ", in " : " ") + boot.files[i];
    return text;
}

Result<ThisBoot> read_this_boot(const Host& host) {
    ThisBoot boot;
    boot.boot_id = first_line(host, "/proc/sys/kernel/random/boot_id");
    boot.release = first_line(host, "/proc/sys/kernel/osrelease");
    if (boot.boot_id.empty() || boot.release.empty())
        return errorf(ErrorCode::io, "cannot read which boot this is: is /proc mounted?");
    std::string arguments = " " + first_line(host, "/proc/cmdline") + " ";
    boot.chosen = arguments.find(std::string(" ") + kEarlyInitArgument + " ") != std::string::npos;
    boot.keeps_start =
        arguments.find(std::string(" ") + kKernelStartArguments + " ") != std::string::npos;
    boot.chosen = boot.chosen || host.exists(kInitramfsMark);
    boot.loaded = host.exists("/sys/module/daybreak");
    return boot;
}

Result<std::optional<LastBoot>> read_last_boot(const Host& host) {
    DBK_TRY(std::optional<std::string> text, host.read(kLastBootPath));
    return text ? std::optional(parse_last_boot(*text)) : std::nullopt;
}

bool goes_on_after(BootResult result) {
    return result == BootResult::collected || result == BootResult::not_read ||
           result == BootResult::not_armed;
}

LastBoot untraced_boot(Host& host, const ThisBoot& boot) {
    LastBoot last = {BootResult::not_armed, boot.boot_id, boot.release, "", {}};
    auto placed = read_manifest(host);
    if (!placed.ok() || !*placed)
        return last;
    if (boot.chosen) {
        last.result = BootResult::not_loaded;
        last.detail = signature_demand(host);
        if (!base::contains((*placed)->kernels, boot.release))
            last.detail = "this kernel is not installed for";
        else if (std::string why = first_line(host, kInitramfsMark); !why.empty())
            last.detail = why;
        else if (last.detail.empty())
            last.detail = "early-init said why on the console";
        return last;
    }
    // One that was changed is there: it does not keep a boot from being traced.
    for (const PlacedFile& file : (*placed)->files)
        if (last.detail.empty() && !file.is_helper && !host.exists(file.path)) {
            last.result = BootResult::no_cpio;
            last.detail = file.path + " is missing";
        }
    auto loader = open_boot_loader_named(host, (*placed)->loader);
    if (loader.ok() && !(*loader)->tried().empty() &&
        (last.detail.empty() || (*loader)->looks_for_cpio())) {
        last.result = BootResult::died;
        last.detail.clear();
    }
    return last;
}

Result<Plan> plan_after_boot(Host& host, const LastBoot& boot) {
    Plan plan;
    DBK_TRY(std::optional<Manifest> placed, read_manifest(host));
    if (!placed)
        return plan;
    DBK_TRY(std::optional<std::string> before, host.read(kLastBootPath));
    plan.steps.push_back(
        {.path = kLastBootPath, .before = before, .after = text_of(boot), .is_text = true});
    auto opened = open_boot_loader_named(host, placed->loader);
    if (!opened.ok()) { // what became of the boot is kept all the same
        plan.notes.push_back(opened.error().message());
        return plan;
    }
    BootLoader* loader = opened->get();
    bool came_up = boot.result == BootResult::collected || boot.result == BootResult::not_read ||
                   boot.result == BootResult::not_loaded || boot.result == BootResult::nothing_held;
    std::vector<Step> steps = came_up ? loader->forget_tried() : std::vector<Step>();
    auto armed = loader->armed();
    bool is_over = boot.result != BootResult::not_armed && boot.result != BootResult::no_cpio &&
                   (placed->mode == Mode::once || !goes_on_after(boot.result));
    std::vector<Step> end = is_over ? loader->end_arming() : std::vector<Step>();
    std::move(end.begin(), end.end(), std::back_inserter(steps));
    std::string next = loader->default_release().value_or(boot.release);
    if (std::string trouble = loader->default_trouble(traced_kernels(*placed)); !trouble.empty())
        plan.notes.push_back(trouble);
    else if (placed->mode == Mode::every && goes_on_after(boot.result) && armed.ok() &&
             (armed->empty() || (is_initramfs(placed->loader) && *armed != next)) &&
             is_as_installed(host, *placed) && base::contains(placed->kernels, next) &&
             loader->archive_trouble(traced_kernel(next, placed->bank)).empty())
        steps = loader->arm(next);
    std::move(steps.begin(), steps.end(), std::back_inserter(plan.steps));
    return plan;
}

} // namespace daybreak::install
