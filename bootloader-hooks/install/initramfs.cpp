// SPDX-License-Identifier: Apache-2.0
//
// Tracing from the distribution's own initramfs, where neither its boot loader nor the kernel's
// command line can be changed.  docs/design/0090-in-the-initramfs.md says why.
//
// kInitramfsState says for which kernel the hook adds our archive when an initramfs is made, and
// whether that was done:
//
//     RELEASE          it is to be there
//     RELEASE made     it is there: armed
//     - RELEASE        it is to be taken out
//
// An initramfs is made between two of these, so that at any moment it is known which one may have
// our archive in it.
#include "bootloader-hooks/install/boot_loader.hpp"
#include "bootloader-hooks/install/initramfs_text.hpp"
#include "bootloader-hooks/install/kernel_arguments.hpp"

#include <algorithm>
#include <iterator>

namespace daybreak::install {

using base::ErrorCode;
using base::errorf;
using base::Result;

namespace {

/// Written by the last script of the initramfs, on the root, where /etc always is.
constexpr const char* kTriedPath = "/etc/daybreak-tried";
constexpr const char* kMade = " made";
constexpr const char* kTakenOut = "- ";

std::string first_line(const Host& host, const std::string& path) {
    auto text = host.read(path);
    return text.ok() && *text ? (*text)->substr(0, (*text)->find('\n')) : "";
}

/// What makes an initramfs.
struct Maker {
    const char* program;
    std::vector<OwnFile> files; ///< the hook first
    /// Returns the programs that make the one of a kernel anew; `image` is where it lies.
    std::vector<std::vector<std::string>> (*commands)(const Host& host, const std::string& release,
                                                      const std::string& image);
};

OwnFile script(const std::string& path, const char* content) {
    return {.path = path, .content = content, .mode = 0755};
}

const Maker& initramfs_tools() {
    // The scripts run in the order of their names.
    const std::string folder = "/etc/initramfs-tools";
    static const Maker maker = {
        "/usr/sbin/update-initramfs",
        {script(folder + "/hooks/daybreak", kInitramfsToolsHook),
         script(folder + "/scripts/init-top/00daybreak", kFirstScript),
         script(folder + "/scripts/init-bottom/zz-daybreak", kLastScript)},
        [](const Host& host, const std::string& release, const std::string&) {
            // It renames the new one over the old one, and runs what boot loaders added for that.
            return std::vector<std::vector<std::string>>{
                {"update-initramfs", "-u", "-k", release, "-b", host.at("/boot")}, {"sync"}};
        }};
    return maker;
}

const Maker& dracut() {
    const std::string folder = kDracutFolder;
    static const Maker maker = {
        "/usr/bin/dracut",
        {script(folder + "/module-setup.sh", kDracutModule),
         script(folder + "/first.sh", kFirstScript), script(folder + "/last.sh", kLastScript)},
        [](const Host& host, const std::string& release, const std::string& image) {
            // It writes over the old one, which a power cut would leave damaged.
            std::string path = host.at(image), made = path + ".daybreak-new";
            return std::vector<std::vector<std::string>>{{"dracut", "-q", "--force", made, release},
                                                         {"sync", made},
                                                         {"mv", "-f", made, path},
                                                         {"sync"}};
        }};
    return maker;
}

class Initramfs final : public BootLoader {
public:
    Initramfs(Host& host, const Maker& maker) : host_(host), maker_(maker) {}

    std::string cpio_path(const std::string& release) const override {
        return std::string(kStateFolder) + "/" + cpio_name(release);
    }
    /// The copy in the initramfs would be an old one.
    bool looks_for_cpio() const override { return false; }
    Result<Entries> entries(const std::vector<TracedKernel>& kernels, bool can_arm,
                            const std::optional<Manifest>& placed) override;
    std::vector<std::string> own_files() override;
    std::optional<std::string> default_release() override { return std::nullopt; }
    Result<void> check_can_arm() override { return {}; }
    Result<std::string> armed() override {
        std::string state = first_line(host_, kInitramfsState);
        return state.ends_with(kMade) ? state.substr(0, state.find(' ')) : "";
    }
    bool has_entry(const std::string&) override { return host_.exists(maker_.files[0].path); }
    std::string tried() override {
        std::string release = first_line(host_, kTriedPath);
        return release.empty() && host_.exists(kTriedPath) ? "?" : release;
    }
    std::vector<Step> forget_tried() override;
    std::vector<Step> arm(const std::string& release, bool anew) override;
    std::vector<Step> disarm(const std::vector<Variable>&) override;
    std::vector<Step> end_arming() override;
    std::string risk() const override {
        return "note: no boot loader takes part: should a traced boot die before its root is "
               "mounted, each boot after it is traced too, until one is made with daybreak=off or "
               "`single` on the kernel's command line, or with another kernel";
    }

private:
    std::string image(const std::string& release) const {
        std::string fedora = "/boot/initramfs-" + release + ".img";
        return host_.exists(fedora) ? fedora : "/boot/initrd.img-" + release;
    }
    /// Adds the steps that make the initramfs of a kernel anew, with `state` before them.
    void make(const std::string& release, const std::string& state, std::vector<Step>& steps) const;
    /// Adds the step after which kInitramfsState is that; "": there is none.
    void set_state(const std::string& state, std::vector<Step>& steps) const;

    Host& host_;
    const Maker& maker_;
};

Result<Entries> Initramfs::entries(const std::vector<TracedKernel>& kernels, bool can_arm,
                                   const std::optional<Manifest>&) {
    Entries made;
    if (kernels.empty())
        return made;
    if (!can_arm)
        return errorf(ErrorCode::unsupported,
                      "--menu adds an entry to a boot loader's menu, and none is known here");
    for (const TracedKernel& kernel : kernels) {
        if (kernel.arguments != own_arguments(""))
            return errorf(ErrorCode::unsupported,
                          "--bank reserves memory by the kernel's command line, which stays as it "
                          "is where the initramfs loads the module");
        if (!host_.exists(image(kernel.release)))
            return errorf(ErrorCode::invalid, "kernel %s has no initramfs: expected %s",
                          kernel.release.c_str(), image(kernel.release).c_str());
    }
    made.files = maker_.files;
    return made;
}

std::vector<std::string> Initramfs::own_files() {
    std::vector<std::string> paths = own_files_of(host_, kStateFolder, ".cpio");
    for (const OwnFile& file : maker_.files)
        if (host_.exists(file.path))
            paths.push_back(file.path);
    return paths;
}

void Initramfs::set_state(const std::string& state, std::vector<Step>& steps) const {
    auto before = host_.read(kInitramfsState);
    Step step{
        .path = kInitramfsState, .before = before.ok() ? *before : std::nullopt, .is_text = true};
    for (const Step& earlier : steps)
        if (earlier.path == step.path)
            step.before = earlier.after;
    if (!state.empty())
        step.after = state + "\n";
    steps.push_back(std::move(step));
}

void Initramfs::make(const std::string& release, const std::string& state,
                     std::vector<Step>& steps) const {
    set_state(state, steps);
    if (!host_.exists(image(release)))
        return; // of a kernel that was removed
    for (std::vector<std::string>& command : maker_.commands(host_, release, image(release)))
        steps.push_back({.command = std::move(command), .what = "the initramfs is made anew"});
}

std::vector<Step> Initramfs::forget_tried() {
    auto text = host_.read(kTriedPath);
    if (!text.ok() || !*text)
        return {};
    return {{.path = kTriedPath, .before = *text, .is_text = true}};
}

std::vector<Step> Initramfs::end_arming() {
    std::vector<Step> steps;
    std::string state = first_line(host_, kInitramfsState);
    if (state.empty() && !host_.exists(kInitramfsState) && !host_.has_left_over(kInitramfsState))
        return steps;
    if (state.starts_with(kTakenOut))
        state.erase(0, std::string_view(kTakenOut).size());
    state = state.substr(0, state.find(' '));
    if (!state.empty())
        make(state, kTakenOut + state, steps);
    set_state("", steps);
    return steps;
}

std::vector<Step> Initramfs::disarm(const std::vector<Variable>&) {
    std::vector<Step> steps = end_arming(), forgotten = forget_tried();
    std::move(forgotten.begin(), forgotten.end(), std::back_inserter(steps));
    return steps;
}

std::vector<Step> Initramfs::arm(const std::string& release, bool anew) {
    std::vector<Step> steps = forget_tried();
    std::string state = first_line(host_, kInitramfsState);
    if (!anew && state == release + kMade)
        return steps;
    // The initramfs of another kernel may have our archive in it.
    if (!anew && !state.empty() && state.substr(0, state.find(' ')) != release)
        steps = disarm({});
    make(release, release, steps);
    set_state(release + kMade, steps);
    return steps;
}

Result<std::unique_ptr<BootLoader>> open_made_by(Host& host, const Maker& maker) {
    if (!host.exists(maker.program))
        return errorf(ErrorCode::not_found, "%s is not there", maker.program);
    return std::unique_ptr<BootLoader>(std::make_unique<Initramfs>(host, maker));
}

} // namespace

bool initramfs_tools_is_used(const Host& host) {
    return host.exists(initramfs_tools().program);
}

Result<std::unique_ptr<BootLoader>> open_initramfs_tools(Host& host) {
    return open_made_by(host, initramfs_tools());
}

bool dracut_is_used(const Host& host) {
    return host.exists(dracut().program);
}

Result<std::unique_ptr<BootLoader>> open_dracut(Host& host) {
    return open_made_by(host, dracut());
}

} // namespace daybreak::install
