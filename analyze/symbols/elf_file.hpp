// SPDX-License-Identifier: Apache-2.0
//
// ElfFile: any user's file, opened for libelf if it may be a program.
//
// libelf makes room for as many sections as a file's header says, and takes each that is asked for
// into memory whole.  A file with holes has any size and takes no room on a disk, and sections may
// lie over one another.  So what is taken is bounded by what is there.
#pragma once

#include "base/byte_reader.hpp"

#include <cstdint>

struct Elf;
struct Elf_Scn;

namespace daybreak::analyze {

class ElfFile {
public:
    /// Programs and libraries of a Debian 12 have at most 74 sections; object files may have more
    /// (Free Pascal's), and are not read then.
    static constexpr uint64_t kSectionsMax = 4096, kSectionNamesBytesMax = 1 << 20;

    ElfFile() = default;
    /// Opens an untrusted file or image, which must outlive this.  get() is null for what no linker
    /// writes for this kind of machine.
    explicit ElfFile(int fd);
    explicit ElfFile(base::ByteView untrusted_image);
    ~ElfFile();
    ElfFile(ElfFile&& other) noexcept;
    ElfFile& operator=(ElfFile&&) = delete;

    Elf* get() const { return elf_; }
    /// Returns how many bytes there are, or what may be there of a file with holes.
    uint64_t bytes() const { return bytes_; }
    /// Takes a section from those bytes; false: of all that were taken there would be more.
    bool take(Elf_Scn* section);

private:
    void open(Elf* elf);

    Elf* elf_ = nullptr;
    uint64_t bytes_ = 0, bytes_left_ = 0;
};

} // namespace daybreak::analyze
