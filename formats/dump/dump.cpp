// SPDX-License-Identifier: Apache-2.0
//
// Telling the formats of dumps apart, and what their readers share.
#include "formats/dump/dump.hpp"

#include "base/crc32c.hpp"
#include "formats/abi/bank.h"
#include "formats/abi/trace.h"
#include "formats/dump/scan.hpp"

#include <algorithm>
#include <cinttypes>
#include <elf.h>

namespace daybreak::formats {

namespace {

using base::errorf;

constexpr size_t kDamageTextsMax = 8;

struct Signature {
    std::string_view bytes;
    const char* what;
};

/// What people give by mistake: no dumps, though there may be one inside.
constexpr Signature kOthers[] = {
    {{"\x1f\x8b", 2},
     "is packed by gzip: give it through a pipe, gzip -dc FILE | daybreak extract -"},
    {{"\x28\xb5\x2f\xfd", 4},
     "is packed by zstd: give it through a pipe, zstd -dc FILE | daybreak extract -"},
    {{"\xfd"
      "7zXZ\0",
      6},
     "is packed by xz: give it through a pipe, xz -dc FILE | daybreak extract -"},
    {{"DISKDUMP", 8}, "is of diskdump, before kdump: convert it with crash(8)"},
    {{"QFI\xfb", 4}, "is a qcow2 disk image, not the memory of a machine"},
};

bool begins_with(ByteView head, std::string_view signature) {
    return head.size() >= signature.size() &&
           std::equal(signature.begin(), signature.end(), head.begin(),
                      [](char a, std::byte b) { return std::byte(a) == b; });
}

/// Returns where the image of a bank, or of one half, says that it lay; empty when it is neither.
std::optional<uint64_t> bank_address(ByteView page) {
    static_assert(offsetof(dbk_bank_header, phys_addr) == offsetof(dbk_bank_half, phys_addr));
    auto number = [&](size_t offset, auto value) {
        std::memcpy(&value, page.data() + offset, sizeof(value));
        return value;
    };
    if (page.size() < sizeof(dbk_bank_half))
        return std::nullopt;
    uint32_t magic = number(0, uint32_t{0});
    bool bank = magic == DBK_BANK_MAGIC;
    if (!bank && magic != DBK_BANK_HALF_MAGIC)
        return std::nullopt;
    size_t checked = bank ? offsetof(dbk_bank_header, crc32c) : offsetof(dbk_bank_half, crc32c);
    if (number(checked, uint32_t{0}) != base::crc32c(page.first(checked)))
        return std::nullopt;
    return number(offsetof(dbk_bank_header, phys_addr), uint64_t{0});
}

Result<void> refuse_others(ByteView head) {
    for (const Signature& other : kOthers)
        if (begins_with(head, other.bytes))
            return errorf(ErrorCode::invalid, "the file %s", other.what);
    uint32_t magic = 0;
    if (head.size() >= sizeof(magic))
        std::memcpy(&magic, head.data(), sizeof(magic));
    if (magic == DBK_TRACE_MAGIC)
        return errorf(ErrorCode::invalid, "the file is a trace already: daybreak report reads it");
    return {};
}

} // namespace

const char* dump_format_text(DumpFormat format) {
    switch (format) {
    case DumpFormat::elf:
        return "ELF";
    case DumpFormat::kdump:
        return "kdump-compressed";
    case DumpFormat::flattened:
        return "flattened kdump-compressed";
    case DumpFormat::raw:
        return "raw memory image";
    }
    return "unknown";
}

void Scan::damaged(uint64_t bytes, std::string text) {
    facts.bytes_damaged += bytes;
    if (facts.damage.size() < kDamageTextsMax)
        facts.damage.push_back(std::move(text));
}

Result<void> Scan::tell(uint64_t done, uint64_t total) const {
    if (options.progress && !options.progress(done, total))
        return errorf(ErrorCode::interrupted, "interrupted");
    return {};
}

Result<void> Scan::give(uint64_t phys_addr, ByteView bytes) {
    uint64_t unaligned = -phys_addr % kDumpPageBytes;
    if (unaligned >= bytes.size())
        return {};
    bytes = bytes.subspan(static_cast<size_t>(unaligned));
    bytes = bytes.first(bytes.size() & ~(kDumpPageBytes - 1));
    if (bytes.empty())
        return {};
    facts.bytes_present += bytes.size();
    return sink.pages(phys_addr + unaligned, bytes);
}

Result<ByteView> Cursor::at(uint64_t offset, size_t bytes) {
    bool inside = offset >= start_ && offset - start_ <= window_.size() &&
                  bytes <= window_.size() - (offset - start_);
    if (!inside) {
        // Far away, as a page shared by many is: no window is read for it.
        bool near = offset >= start_ && offset - start_ <= window_.size() + window_bytes_;
        window_.resize(near || window_.empty() ? std::max(window_bytes_, bytes) : bytes);
        DBK_TRY(size_t got, input_.read_at(offset, window_));
        window_.resize(got);
        start_ = offset;
    }
    ByteView view = ByteView(window_).subspan(static_cast<size_t>(offset - start_));
    return view.first(std::min(view.size(), bytes));
}

void read_vmcoreinfo(std::string_view untrusted_text, Scan& scan) {
    DumpFacts& facts = scan.facts;
    scan.sink.vmcoreinfo(untrusted_text);
    while (!untrusted_text.empty()) {
        std::string_view line = untrusted_text.substr(0, untrusted_text.find('\n'));
        untrusted_text.remove_prefix(std::min(untrusted_text.size(), line.size() + 1));
        constexpr std::string_view kRelease = "OSRELEASE=", kTime = "CRASHTIME=";
        if (line.starts_with(kRelease)) {
            line.remove_prefix(kRelease.size());
            facts.release = line.substr(0, 64);
        } else if (line.starts_with(kTime)) {
            facts.crash_time_s =
                std::strtoull(std::string(line.substr(kTime.size())).c_str(), nullptr, 10);
        }
    }
}

Result<void> scan_raw(Scan& scan) {
    // A byte more than there is: its absence is the end.
    uint64_t wanted = scan.input.size_bytes().value_or(kReadBytes) + 1;
    Bytes buffer(static_cast<size_t>(std::min<uint64_t>(kReadBytes, wanted)));
    uint64_t total = scan.input.size_bytes().value_or(0), base = scan.options.raw_phys_addr;
    for (uint64_t offset = 0;;) {
        DBK_TRY_VOID(scan.tell(offset, total));
        DBK_TRY(size_t got, scan.input.read_at(offset, buffer));
        if (offset == 0 && base == 0)
            base = bank_address(ByteView(buffer).first(got)).value_or(0);
        DBK_TRY_VOID(scan.give(base + offset, ByteView(buffer).first(got)));
        offset += got;
        if (got < buffer.size())
            return {};
    }
}

Result<DumpFacts> scan_dump(DumpInput& input, PageSink& sink, const ScanOptions& options) {
    Bytes head(kDumpPageBytes);
    DBK_TRY(size_t got, input.read_at(0, head));
    head.resize(got);
    if (head.empty())
        return errorf(ErrorCode::invalid, "the file is empty");
    DBK_TRY_VOID(refuse_others(head));
    Scan scan{input, sink, options, {}};
    if (is_flattened(head)) {
        DBK_TRY(std::unique_ptr<DumpInput> plain, unflatten(input));
        Scan inner{*plain, sink, options, {}};
        DBK_TRY_VOID(scan_kdump(inner));
        inner.facts.format = DumpFormat::flattened;
        return std::move(inner.facts);
    }
    if (begins_with(head, ELFMAG)) {
        scan.facts.format = DumpFormat::elf;
        DBK_TRY_VOID(scan_elf(scan));
    } else if (begins_with(head, "KDUMP   ")) {
        scan.facts.format = DumpFormat::kdump;
        DBK_TRY_VOID(scan_kdump(scan));
    } else {
        DBK_TRY_VOID(scan_raw(scan));
    }
    return std::move(scan.facts);
}

} // namespace daybreak::formats
