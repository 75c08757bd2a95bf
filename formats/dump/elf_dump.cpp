// SPDX-License-Identifier: Apache-2.0
//
// ELF dumps: /proc/vmcore, QEMU's dump-guest-memory, makedumpfile -E.
//
// Program headers of type PT_LOAD say which bytes of the file are which physical memory, PT_NOTE
// holds VMCOREINFO.  The file is read by ascending offset, whatever the order of the headers, and
// what two of them claim is read once: a pipe serves as well.
#include "formats/dump/scan.hpp"

#include "base/elf_notes.hpp"

#include <algorithm>
#include <cinttypes>
#include <elf.h>

namespace daybreak::formats {

namespace {

using base::errorf;
using base::strprintf;

/// A machine has some hundred ranges of memory; QEMU with paging one for each mapping.
constexpr uint64_t kHeadersMax = 1u << 20;
constexpr size_t kHeadersPerRead = 1024;
constexpr uint64_t kNotesBytesMax = 4u << 20; // of all headers: many may have the same note

class ElfScan {
public:
    explicit ElfScan(Scan& scan) : scan_(scan) {}

    Result<void> run() {
        DBK_TRY_VOID(read_header());
        DBK_TRY_VOID(read_program_headers());
        DBK_TRY_VOID(check_addresses());
        auto by_offset = [](const Elf64_Phdr& a, const Elf64_Phdr& b) {
            return a.p_offset < b.p_offset;
        };
        std::sort(parts_.begin(), parts_.end(), by_offset);
        for (const Elf64_Phdr& part : parts_) {
            if (part.p_type == PT_NOTE)
                DBK_TRY_VOID(read_notes(part));
            else if (!scan_.facts.cut)
                DBK_TRY_VOID(read_memory(part));
        }
        return {};
    }

private:
    Result<void> read_header() {
        DBK_TRY(Bytes bytes, scan_.input.exactly(0, sizeof(header_), "ELF header"));
        std::memcpy(&header_, bytes.data(), sizeof(header_));
        if (header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_ident[EI_DATA] != ELFDATA2LSB)
            return errorf(ErrorCode::unsupported,
                          "a dump of a 32-bit or big-endian machine; those are not recorded on");
        if (header_.e_type != ET_CORE)
            return errorf(ErrorCode::invalid, "an ELF file, but not a dump (its type is %u)",
                          header_.e_type);
        if (header_.e_phentsize != sizeof(Elf64_Phdr))
            return errorf(ErrorCode::corrupt, "its program headers have %u bytes, %zu expected",
                          header_.e_phentsize, sizeof(Elf64_Phdr));
        return {};
    }

    /// More than 65534 headers are counted in a section header.
    Result<uint64_t> header_count() {
        if (header_.e_phnum != PN_XNUM)
            return uint64_t{header_.e_phnum};
        DBK_TRY(Bytes bytes,
                scan_.input.exactly(header_.e_shoff, sizeof(Elf64_Shdr), "section header"));
        Elf64_Shdr section;
        std::memcpy(&section, bytes.data(), sizeof(section));
        return uint64_t{section.sh_info};
    }

    Result<void> read_program_headers() {
        DBK_TRY(uint64_t count, header_count());
        if (count > kHeadersMax)
            return errorf(ErrorCode::limit, "%" PRIu64 " program headers, %" PRIu64 " are the most",
                          count, kHeadersMax);
        for (uint64_t done = 0; done < count;) {
            size_t now = static_cast<size_t>(std::min<uint64_t>(count - done, kHeadersPerRead));
            DBK_TRY(Bytes bytes, scan_.input.exactly(header_.e_phoff + done * sizeof(Elf64_Phdr),
                                                     now * sizeof(Elf64_Phdr), "program headers"));
            for (size_t i = 0; i < now; i++) {
                Elf64_Phdr part;
                std::memcpy(&part, bytes.data() + i * sizeof(part), sizeof(part));
                take(part);
            }
            done += now;
        }
        return {};
    }

    void take(const Elf64_Phdr& part) {
        if (part.p_type != PT_LOAD && part.p_type != PT_NOTE)
            return;
        uint64_t file_end, memory_end;
        bool wraps = __builtin_add_overflow(part.p_offset, part.p_filesz, &file_end) ||
                     __builtin_add_overflow(part.p_paddr, part.p_filesz, &memory_end);
        if (wraps) {
            scan_.damaged(0, strprintf("a program header claims %" PRIu64 " bytes at 0x%" PRIx64,
                                       uint64_t{part.p_filesz}, uint64_t{part.p_offset}));
            return;
        }
        if (part.p_type == PT_LOAD) {
            end_ = std::max(end_, file_end);
            if (part.p_memsz > part.p_filesz)
                scan_.facts.bytes_excluded += part.p_memsz - part.p_filesz;
        }
        if (part.p_filesz != 0)
            parts_.push_back(part);
    }

    Result<void> check_addresses() {
        size_t loads = 0;
        bool any = false;
        for (const Elf64_Phdr& part : parts_) {
            loads += part.p_type == PT_LOAD;
            any = any || (part.p_type == PT_LOAD && part.p_paddr != 0);
        }
        if (loads == 0)
            return errorf(ErrorCode::invalid, "the ELF file holds no memory");
        if (loads > 1 && !any)
            return errorf(ErrorCode::invalid, "the ELF file has no physical addresses: it is the "
                                              "core of a process, not the dump of a machine");
        return {};
    }

    Result<void> read_memory(const Elf64_Phdr& part) {
        uint64_t end = part.p_offset + part.p_filesz;
        uint64_t offset = std::max<uint64_t>(part.p_offset, read_to_);
        read_to_ = std::max(read_to_, end);
        uint64_t there = std::min(end, scan_.input.size_bytes().value_or(end));
        uint64_t wanted = std::min<uint64_t>(kReadBytes, there - std::min(offset, there));
        buffer_.resize(
            std::max<size_t>({buffer_.size(), static_cast<size_t>(wanted), kDumpPageBytes}));
        while (offset < end) {
            DBK_TRY_VOID(scan_.tell(offset, end_));
            uint64_t phys_addr = part.p_paddr + (offset - part.p_offset);
            size_t now = static_cast<size_t>(std::min<uint64_t>(end - offset, buffer_.size()));
            if (now < end - offset) // the next one shall begin on a page
                now -= static_cast<size_t>((phys_addr + now) % kDumpPageBytes);
            DBK_TRY(size_t got, scan_.input.read_at(offset, std::span(buffer_).first(now)));
            DBK_TRY_VOID(scan_.give(phys_addr, ByteView(buffer_).first(got)));
            offset += got;
            if (got < now) {
                scan_.facts.cut = true;
                scan_.damaged(end_ - offset,
                              strprintf("the file ends at %" PRIu64 ", its headers say %" PRIu64,
                                        offset, end_));
                return {};
            }
        }
        return {};
    }

    Result<void> read_notes(const Elf64_Phdr& part) {
        size_t size = static_cast<size_t>(std::min<uint64_t>(part.p_filesz, notes_left_));
        notes_left_ -= size;
        Result<Bytes> read = scan_.input.exactly(part.p_offset, size, "notes");
        if (!read.ok()) {
            if (read.error().code() == ErrorCode::io)
                return std::move(read).error();
            return {}; // nothing is lost by notes
        }
        base::ElfNotes notes(*read);
        for (base::ElfNote note; notes.next(note);)
            if (note.name.starts_with("VMCOREINFO"))
                read_vmcoreinfo(
                    {reinterpret_cast<const char*>(note.content.data()), note.content.size()},
                    scan_);
        return {};
    }

    Scan& scan_;
    Elf64_Ehdr header_ = {};
    std::vector<Elf64_Phdr> parts_;
    uint64_t notes_left_ = kNotesBytesMax;
    uint64_t end_ = 0;     // of the memory in the file
    uint64_t read_to_ = 0; // file offset
    Bytes buffer_;
};

} // namespace

Result<void> scan_elf(Scan& scan) {
    return ElfScan(scan).run();
}

} // namespace daybreak::formats
