// SPDX-License-Identifier: Apache-2.0
//
// The kernel that a program is compiled for, as a source of types.
//
// KernelTypes is what TypeTable asks; BtfKernelTypes answers from the BTF of a running kernel, of
// an installed kernel image, or of a file.  Nothing is opened, unpacked or indexed before it is
// needed.
#pragma once

#include "base/byte_reader.hpp"
#include "base/result.hpp"
#include "compiler/types/btf.hpp"
#include "compiler/types/kernel_symbols.hpp"

#include <array>
#include <map>
#include <memory>
#include <string>

namespace daybreak::compiler {

/// First 16 bytes of the SHA-256 of the .BTF section: names a kernel build's types.
using BtfId = std::array<uint8_t, 16>;

class KernelTypes {
public:
    virtual ~KernelTypes() = default;

    /// Returns the BTF of the kernel itself.  Errors: whatever kept it from being read; the same
    /// error comes again at each call.
    virtual base::Result<const Btf*> vmlinux() = 0;
    /// Returns the BTF of a module, split from vmlinux's; null when there is no such module or it
    /// carries no BTF.  "vmlinux" and "kernel" are vmlinux().
    virtual base::Result<const Btf*> module(std::string_view name) = 0;
    /// Returns the release (uname -r) the types are of; "" when only a file is known, or when it is
    /// the running kernel's and vmlinux() was not called yet.
    virtual const std::string& release() const = 0;
    /// Returns the id of vmlinux's BTF.
    virtual base::Result<BtfId> id() = 0;
};

/// Where to look for a kernel's types.
struct KernelSource {
    std::string release; ///< uname -r; "" with file empty too: the running kernel
    std::string file; ///< raw BTF, ELF vmlinux or module with .BTF, or bzImage; wins over release
    std::string root; ///< prefix of /sys, /boot, /lib, /usr: for guests' trees and tests
    std::string cache; ///< folder for what was unpacked (btf_cache.hpp); "": every time anew
};

class BtfKernelTypes final : public KernelTypes {
public:
    /// Remembers where to look.  Opens nothing.
    explicit BtfKernelTypes(KernelSource source);

    base::Result<const Btf*> vmlinux() override;
    base::Result<const Btf*> module(std::string_view name) override;
    const std::string& release() const override { return source_.release; }
    base::Result<BtfId> id() override;
    /// Returns the kernel's functions that can be traced, by its image; release()'s, or the file.
    /// Errors: not_found (only types are there), and as traceable_functions().
    base::Result<std::vector<KernelFunction>> functions();
    /// Returns the path the BTF came from, "" before vmlinux() was called.
    const std::string& path() const { return path_; }

private:
    base::Result<void> find_release();
    std::vector<std::string> image_paths() const;
    base::Result<base::Bytes> read_vmlinux();
    base::Result<base::Bytes> read_image(const std::string& path);
    base::Result<std::unique_ptr<Btf>> load_vmlinux();
    base::Result<std::unique_ptr<Btf>> load_module(const std::string& name, const Btf& base);
    base::Result<std::string> module_path(const std::string& name) const;

    KernelSource source_;
    std::string running_; ///< release of the running kernel, "" when not known
    std::string path_;
    std::string cached_; ///< file to keep the BTF in once its id is known; "": none
    std::unique_ptr<Btf> vmlinux_;
    std::optional<base::Error> error_;
    std::map<std::string, std::unique_ptr<Btf>, std::less<>> modules_; // null: known to have none
    std::optional<BtfId> id_;
};

} // namespace daybreak::compiler
