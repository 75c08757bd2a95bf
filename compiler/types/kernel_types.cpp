// SPDX-License-Identifier: Apache-2.0
//
// Where kernels and their modules keep their BTF.
#include "compiler/types/kernel_types.hpp"

#include "base/file.hpp"
#include "base/sha256.hpp"
#include "compiler/types/btf_cache.hpp"
#include "compiler/types/kernel_image.hpp"

#include <algorithm>
#include <filesystem>

namespace daybreak::compiler {

using base::Bytes;
using base::ErrorCode;
using base::errorf;
using base::Result;

namespace {

bool exists(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
}

/// Module names have '_' where file names may have '-'.
std::string module_name(std::string_view name) {
    std::string plain(name);
    std::replace(plain.begin(), plain.end(), '-', '_');
    return plain;
}

/// Returns the module a path of modules.dep is of: "kernel/fs/ext4/ext4.ko.xz" is "ext4".
std::string module_of_path(std::string_view path) {
    std::string_view file = path.substr(path.rfind('/') + 1);
    return module_name(file.substr(0, file.find(".ko")));
}

bool is_module_name(std::string_view name) {
    return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-';
    });
}

/// Returns a module's file in a tree that depmod has not seen, such as an unpacked package; "".
std::string search_module(const std::string& folder, std::string_view name) {
    std::error_code error;
    std::filesystem::recursive_directory_iterator entry(folder, error), end;
    // 100 000: a kernel has 4 000 modules.
    for (unsigned i = 0; i < 100000 && !error && entry != end; i++, entry.increment(error)) {
        const std::string& path = entry->path().native();
        if (path.find(".ko", path.rfind('/')) != std::string::npos && module_of_path(path) == name)
            return path;
    }
    return "";
}

} // namespace

BtfKernelTypes::BtfKernelTypes(KernelSource source) : source_(std::move(source)) {}

/// Finds out which kernel runs, and takes it for the wanted one when none was named.
Result<void> BtfKernelTypes::find_release() {
    std::string path = source_.root + "/proc/sys/kernel/osrelease";
    auto bytes = base::read_file(path);
    if (bytes.ok()) {
        running_.assign(reinterpret_cast<const char*>(bytes->data()), bytes->size());
        running_.erase(std::find(running_.begin(), running_.end(), '\n'), running_.end());
    }
    if (source_.release.empty())
        source_.release = running_;
    if (source_.release.empty())
        return std::move(bytes).error().with_context("the running kernel is not known");
    if (source_.release.find('/') != std::string::npos)
        return errorf(ErrorCode::invalid, "%s is not a kernel release", source_.release.c_str());
    return {};
}

/// Returns where an image of the release may be.
std::vector<std::string> BtfKernelTypes::image_paths() const {
    const std::string &root = source_.root, &release = source_.release;
    std::vector<std::string> paths;
    for (const char* folder : {"/usr/lib/debug/boot/vmlinux-", "/boot/vmlinux-", "/boot/vmlinuz-"})
        paths.push_back(root + folder + release);
    for (const char* file : {"/vmlinux", "/vmlinuz", "/build/vmlinux"})
        paths.push_back(root + "/lib/modules/" + release + file);
    paths.push_back(root + "/usr/lib/debug/lib/modules/" + release + "/vmlinux");
    return paths;
}

Result<std::vector<KernelFunction>> BtfKernelTypes::functions() {
    std::string path = source_.file;
    if (path.empty()) {
        DBK_TRY_VOID(find_release());
        std::vector<std::string> paths = image_paths();
        auto found = std::find_if(paths.begin(), paths.end(), exists);
        if (found == paths.end())
            return errorf(ErrorCode::not_found, "no image of kernel %s: name one by its path",
                          source_.release.c_str());
        path = *found;
    }
    DBK_TRY(Bytes bytes, base::read_file(path));
    DBK_TRY(Bytes vmlinux, extract_vmlinux(std::move(bytes), path));
    return traceable_functions(vmlinux, path);
}

Result<Bytes> BtfKernelTypes::read_image(const std::string& path) {
    const BtfCache cache(source_.cache);
    cached_ = cache.file_for(path); // of the image as it is before it is read
    if (auto entry = cache.find(cached_)) {
        id_ = entry->id;
        cached_.clear();
        return std::move(entry->btf);
    }
    return read_btf_file(path);
}

Result<Bytes> BtfKernelTypes::read_vmlinux() {
    if (!source_.file.empty()) {
        path_ = source_.file;
        return read_image(path_);
    }
    DBK_TRY_VOID(find_release());
    const std::string &root = source_.root, &release = source_.release;
    std::vector<std::string> candidates = image_paths();
    if (release == running_)
        candidates.insert(candidates.begin(), root + "/sys/kernel/btf/vmlinux");
    std::optional<base::Error> first_error;
    for (const std::string& candidate : candidates) {
        if (!exists(candidate))
            continue;
        auto bytes = read_image(candidate);
        if (bytes.ok()) {
            path_ = candidate;
            return bytes;
        }
        // A vmlinux without .BTF may have a vmlinuz with it beside.
        if (!first_error)
            first_error = std::move(bytes).error();
    }
    if (first_error)
        return *std::move(first_error);
    return errorf(ErrorCode::not_found,
                  "no type data for kernel %s: neither %s/boot/vmlinuz-%s nor another image of it "
                  "is there; name one with --kernel",
                  release.c_str(), root.c_str(), release.c_str());
}

Result<std::unique_ptr<Btf>> BtfKernelTypes::load_vmlinux() {
    DBK_TRY(auto bytes, read_vmlinux());
    auto btf = Btf::parse(std::move(bytes));
    if (!btf.ok())
        return std::move(btf).error().with_context(path_);
    return btf;
}

Result<const Btf*> BtfKernelTypes::vmlinux() {
    if (error_)
        return *error_;
    if (!vmlinux_) {
        auto loaded = load_vmlinux();
        if (!loaded.ok()) {
            error_ = loaded.error();
            return *error_;
        }
        vmlinux_ = std::move(*loaded);
    }
    return vmlinux_.get();
}

Result<BtfId> BtfKernelTypes::id() {
    DBK_TRY(const Btf* btf, vmlinux()); // may know it
    if (!id_) {
        auto digest = base::sha256(btf->bytes());
        id_.emplace();
        std::copy_n(digest.begin(), id_->size(), id_->begin());
        BtfCache(source_.cache).keep(cached_, *id_, btf->bytes());
    }
    return *id_;
}

/// Returns the file that holds a module's BTF; "" when there is none.
Result<std::string> BtfKernelTypes::module_path(const std::string& name) const {
    if (source_.release == running_) {
        std::string path = source_.root + "/sys/kernel/btf/" + name;
        if (exists(path))
            return path;
    }
    std::string folder = source_.root + "/lib/modules/" + source_.release + "/";
    auto bytes = base::read_file(folder + "modules.dep");
    if (!bytes.ok())
        return search_module(folder, name);
    std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    while (!text.empty()) {
        std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        std::string_view path = line.substr(0, line.find(':'));
        if (module_of_path(path) == name)
            return path.starts_with('/') ? source_.root + std::string(path)
                                         : folder + std::string(path);
    }
    return std::string();
}

Result<std::unique_ptr<Btf>> BtfKernelTypes::load_module(const std::string& name, const Btf& base) {
    // With a file alone there is nothing to say where its modules are.
    if (source_.release.empty() || !is_module_name(name))
        return std::unique_ptr<Btf>();
    DBK_TRY(auto path, module_path(name));
    if (path.empty())
        return std::unique_ptr<Btf>();
    auto bytes = read_btf_file(path);
    if (!bytes.ok() && bytes.error().code() == ErrorCode::not_found)
        return std::unique_ptr<Btf>();
    if (!bytes.ok())
        return std::move(bytes).error();
    auto btf = Btf::parse(std::move(*bytes), &base);
    if (!btf.ok())
        return std::move(btf).error().with_context(path);
    return btf;
}

Result<const Btf*> BtfKernelTypes::module(std::string_view name) {
    DBK_TRY(const Btf* base, vmlinux());
    if (name == "vmlinux" || name == "kernel")
        return base;
    std::string plain = module_name(name);
    auto found = modules_.find(plain);
    if (found == modules_.end()) {
        DBK_TRY(auto loaded, load_module(plain, *base));
        found = modules_.emplace(plain, std::move(loaded)).first;
    }
    return static_cast<const Btf*>(found->second.get());
}

} // namespace daybreak::compiler
