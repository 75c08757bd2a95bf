// SPDX-License-Identifier: Apache-2.0
//
// Reading and rewriting the module's ELF file with libelf.
#include "formats/module/module_file.hpp"

#include "base/file.hpp"
#include "base/short_string.hpp"

#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <gelf.h>
#include <memory>
#include <sys/mman.h>
#include <unistd.h>

namespace daybreak::formats {

using base::Bytes;
using base::ByteView;
using base::errno_errorf;
using base::ErrorCode;
using base::errorf;
using base::Result;
using base::ScopedFd;

namespace {

/// Longer ones are none that is looked for.
constexpr size_t kSectionNameBytesMax = 64;

struct ElfCloser {
    void operator()(Elf* elf) const { elf_end(elf); }
};
using ElfHandle = std::unique_ptr<Elf, ElfCloser>;

/// A module file in memory, opened by libelf, with the sections that matter found.
struct OpenModule {
    ScopedFd fd; // an anonymous memory file: libelf reads and writes through descriptors
    ElfHandle elf;
    Elf_Scn* dof = nullptr;
    Elf_Scn* modinfo = nullptr;
    Elf_Scn* native = nullptr;
};

ByteView section_bytes(Elf_Scn* section) {
    Elf_Data* data = section ? elf_rawdata(section, nullptr) : nullptr;
    if (!data || !data->d_buf)
        return {};
    return ByteView(static_cast<const std::byte*>(data->d_buf), data->d_size);
}

/// What a person is to do with a file that cannot be a module as it is; ok: it is one, or no such
/// file.
Result<void> check_whole(ByteView untrusted) {
    static constexpr struct {
        std::string_view magic, format, unpack;
    } kCompressed[] = {{"\xfd"
                        "7zXZ",
                        "xz", "xz -d"},
                       {"\x28\xb5\x2f\xfd", "zstd", "zstd -d"},
                       {"\x1f\x8b", "gzip", "gzip -d"}};
    const std::string_view text(reinterpret_cast<const char*>(untrusted.data()), untrusted.size());
    for (const auto& one : kCompressed)
        if (text.starts_with(one.magic))
            return errorf(ErrorCode::unsupported,
                          "compressed with %s, expected a kernel module as it is: %s unpacks it",
                          one.format.data(), one.unpack.data());
    Elf64_Ehdr header = {};
    if (!looks_like_module(untrusted))
        return {};
    if (untrusted.size() < sizeof(header))
        return errorf(ErrorCode::truncated,
                      "ends early: an ELF file begins with %zu bytes, it has %zu", sizeof(header),
                      untrusted.size());
    std::memcpy(&header, untrusted.data(), sizeof(header));
    const uint64_t table_bytes = uint64_t{header.e_shnum} * header.e_shentsize;
    if (header.e_ident[EI_CLASS] == ELFCLASS64 &&
        (header.e_shoff > untrusted.size() || untrusted.size() - header.e_shoff < table_bytes))
        return errorf(ErrorCode::truncated,
                      "ends early: its table of sections, %" PRIu64 " bytes, is at byte %" PRIu64
                      " of %zu: copy or build it again",
                      table_bytes, uint64_t{header.e_shoff}, untrusted.size());
    return {};
}

Result<OpenModule> open_module(ByteView untrusted_module) {
    DBK_TRY_VOID(check_whole(untrusted_module));
    if (elf_version(EV_CURRENT) == EV_NONE)
        return errorf(ErrorCode::unsupported, "libelf: %s", elf_errmsg(-1));
    OpenModule module;
    module.fd = ScopedFd(::memfd_create("daybreak-module", MFD_CLOEXEC));
    if (!module.fd.valid())
        return errno_errorf("cannot make a memory file");
    DBK_TRY_VOID(base::write_all(module.fd.get(), untrusted_module, "a memory file"));
    module.elf.reset(elf_begin(module.fd.get(), ELF_C_RDWR, nullptr));
    GElf_Ehdr header;
    if (!module.elf || elf_kind(module.elf.get()) != ELF_K_ELF ||
        !gelf_getehdr(module.elf.get(), &header) || header.e_type != ET_REL ||
        header.e_machine != EM_X86_64)
        return errorf(ErrorCode::invalid,
                      "not a kernel module (expected a relocatable x86-64 ELF file)");
    size_t names = 0;
    if (elf_getshdrstrndx(module.elf.get(), &names) != 0)
        return errorf(ErrorCode::invalid, "not a kernel module (no section names)");
    ByteView name_table = section_bytes(elf_getscn(module.elf.get(), names));
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(module.elf.get(), section));) {
        GElf_Shdr shdr;
        std::string_view name =
            gelf_getshdr(section, &shdr)
                ? base::short_string_at(name_table, shdr.sh_name, kSectionNameBytesMax)
                : "";
        if (name == DBK_EMBED_SECTION)
            module.dof = section;
        if (name == DBK_NATIVE_SECTION)
            module.native = section;
        if (name == ".modinfo")
            module.modinfo = section;
    }
    if (!module.dof)
        return errorf(ErrorCode::invalid,
                      "not Daybreak's kernel module (it has no section " DBK_EMBED_SECTION ")");
    return module;
}

/// The first word of "KEY=6.1.0-56-amd64 SMP ..." among the NUL-separated module facts.
std::string fact_of(ByteView modinfo, std::string_view key) {
    std::string_view text(reinterpret_cast<const char*>(modinfo.data()), modinfo.size());
    for (size_t at = 0; at < text.size();) {
        std::string_view fact = text.substr(at, text.find('\0', at) - at);
        if (fact.starts_with(key)) {
            fact.remove_prefix(key.size());
            return std::string(fact.substr(0, fact.find(' ')));
        }
        at += fact.size() + 1;
    }
    return "";
}

} // namespace

bool looks_like_module(ByteView untrusted) {
    return untrusted.size() >= SELFMAG && std::memcmp(untrusted.data(), ELFMAG, SELFMAG) == 0;
}

Result<ModuleFileInfo> read_module(ByteView untrusted_module) {
    DBK_TRY(OpenModule module, open_module(untrusted_module));
    ModuleFileInfo info;
    info.release = fact_of(section_bytes(module.modinfo), "vermagic=");
    info.version = fact_of(section_bytes(module.modinfo), "version=");
    DBK_TRY(info.images, parse_container(section_bytes(module.dof)));
    DBK_TRY(info.natives, parse_native_parts(section_bytes(module.native)));
    return info;
}

Result<Bytes> embed_images(ByteView untrusted_module, const std::vector<EmbeddedImage>& images) {
    DBK_TRY(Bytes container, build_container(images));
    DBK_TRY(OpenModule module, open_module(untrusted_module));
    Elf_Data* data = elf_getdata(module.dof, nullptr);
    if (!data)
        return errorf(ErrorCode::corrupt, "section " DBK_EMBED_SECTION ": %s", elf_errmsg(-1));
    data->d_buf = container.data();
    data->d_size = container.size();
    elf_flagdata(data, ELF_C_SET, ELF_F_DIRTY);
    if (elf_update(module.elf.get(), ELF_C_WRITE) < 0)
        return errorf(ErrorCode::corrupt, "cannot lay the module out again: %s", elf_errmsg(-1));
    module.elf.reset(); // container must live until here
    return base::read_file("/proc/self/fd/" + std::to_string(module.fd.get()));
}

} // namespace daybreak::formats
