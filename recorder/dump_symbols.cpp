// SPDX-License-Identifier: Apache-2.0
//
// Keeping the pages of the symbols, and taking them apart (docs/design/0025).
#include "recorder/dump_symbols.hpp"

#include "base/elf_notes.hpp"
#include "formats/kallsyms/kallsyms.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace daybreak::recorder {

namespace {

using base::Bytes;
using base::ByteView;
using base::ErrorCode;
using base::errorf;

constexpr size_t kPage = formats::kDumpPageBytes;
/// x86-64: the kernel's image is mapped here, 1 GiB at most, from physical address phys_base on.
constexpr uint64_t kImageStart = 0xffffffff80000000, kImageBytes = 1 << 30;
/// Debian's kernels have 3 MiB.
constexpr uint64_t kTablesBytesMax = 64 << 20;
/// struct new_utsname: six texts of 65 bytes.
constexpr size_t kUtsText = 65, kUtsRelease = 2, kUtsVersion = 3, kUtsTexts = 6;

constexpr const char* kTables[] = {
    "SYMBOL(kallsyms_names)",       "SYMBOL(kallsyms_num_syms)", "SYMBOL(kallsyms_token_table)",
    "SYMBOL(kallsyms_token_index)", "SYMBOL(kallsyms_offsets)",  "SYMBOL(kallsyms_relative_base)"};

template <typename Number>
Number number_at(ByteView bytes, size_t index) {
    Number value;
    std::memcpy(&value, bytes.data() + index * sizeof(value), sizeof(value));
    return value;
}

/// Returns the bytes of a build id in hexadecimal; none, when it is none.
Bytes bytes_of_hex(std::string_view text) {
    Bytes bytes;
    if (text.size() % 2 != 0 || text.size() > 2 * base::kBuildIdBytesMax)
        return bytes;
    for (; !text.empty(); text.remove_prefix(2)) {
        uint8_t byte = 0;
        auto [end, error] = std::from_chars(text.data(), text.data() + 2, byte, 16);
        if (error != std::errc() || end != text.data() + 2)
            return {};
        bytes.push_back(std::byte{byte});
    }
    return bytes;
}

} // namespace

void DumpSymbols::vmcoreinfo(std::string_view untrusted_text) {
    facts_.clear();
    build_id_.clear();
    ranges_.clear();
    while (!untrusted_text.empty()) {
        std::string_view line = untrusted_text.substr(0, untrusted_text.find('\n'));
        untrusted_text.remove_prefix(std::min(untrusted_text.size(), line.size() + 1));
        size_t equals = line.find('=');
        if (equals == std::string_view::npos)
            continue;
        std::string_view name = line.substr(0, equals), text = line.substr(equals + 1);
        if (name == "BUILD-ID") {
            build_id_ = bytes_of_hex(text);
            continue;
        }
        bool is_symbol = name.starts_with("SYMBOL(");
        int64_t number = 0;
        uint64_t address = 0;
        if (is_symbol ? std::from_chars(text.begin(), text.end(), address, 16).ec != std::errc()
                      : std::from_chars(text.begin(), text.end(), number).ec != std::errc())
            continue;
        facts_[std::string(name)] = is_symbol ? address : static_cast<uint64_t>(number);
    }
    uint64_t first = UINT64_MAX, last = 0;
    for (const char* name : kTables) {
        auto address = fact(name);
        if (!address.ok())
            return;
        first = std::min(first, *address);
        last = std::max(last, *address);
    }
    // The last of them is never the longest: a page is enough for it.
    if (last - first <= kTablesBytesMax)
        want(first, last + kPage);
    auto uts = fact("SYMBOL(init_uts_ns)"), name = fact("OFFSET(uts_namespace.name)");
    if (uts.ok() && name.ok())
        want(*uts + *name, *uts + *name + kUtsTexts * kUtsText);
}

void DumpSymbols::want(uint64_t from, uint64_t to) {
    auto phys_base = fact("NUMBER(phys_base)");
    if (!phys_base.ok() || from < kImageStart || to < from || to - kImageStart > kImageBytes)
        return;
    uint64_t moved = *phys_base - kImageStart;
    ranges_.push_back(
        {(from + moved) & ~uint64_t{kPage - 1}, (to + moved + kPage - 1) & ~uint64_t{kPage - 1}});
}

bool DumpSymbols::wants(uint64_t phys_addr) const {
    return std::ranges::any_of(ranges_, [&](const Range& range) {
        return phys_addr >= range.begin && phys_addr < range.end;
    });
}

void DumpSymbols::pages(uint64_t phys_addr, ByteView untrusted_bytes) {
    if (ranges_.empty())
        return;
    for (size_t at = 0; at + kPage <= untrusted_bytes.size(); at += kPage)
        if (wants(phys_addr + at)) {
            ByteView page = untrusted_bytes.subspan(at, kPage);
            pages_.insert_or_assign(phys_addr + at, Bytes(page.begin(), page.end()));
        }
}

Result<uint64_t> DumpSymbols::fact(const char* name) const {
    auto found = facts_.find(name);
    if (found == facts_.end())
        return errorf(ErrorCode::not_found,
                      "the dump does not say where its kernel has its symbols");
    return found->second;
}

Result<Bytes> DumpSymbols::read(uint64_t address, size_t bytes) const {
    DBK_TRY(uint64_t phys_base, fact("NUMBER(phys_base)"));
    uint64_t from = address - kImageStart + phys_base;
    Bytes read;
    while (read.size() < bytes) {
        uint64_t at = from + read.size();
        auto page = pages_.find(at & ~uint64_t{kPage - 1});
        if (page == pages_.end())
            return errorf(ErrorCode::not_found, "the dump has not all of its kernel's symbols");
        auto skip = static_cast<size_t>(at % kPage);
        size_t now = std::min(kPage - skip, bytes - read.size());
        auto begin = page->second.begin() + static_cast<ptrdiff_t>(skip);
        read.insert(read.end(), begin, begin + static_cast<ptrdiff_t>(now));
    }
    return read;
}

/// Returns type and name of each symbol, in one.
Result<std::vector<std::string>> DumpSymbols::read_names(uint64_t count) const {
    DBK_TRY(uint64_t names_at, fact("SYMBOL(kallsyms_names)"));
    DBK_TRY(uint64_t tokens_at, fact("SYMBOL(kallsyms_token_table)"));
    DBK_TRY(uint64_t index_at, fact("SYMBOL(kallsyms_token_index)"));
    if (tokens_at <= names_at || index_at <= tokens_at || index_at - names_at > kTablesBytesMax)
        return errorf(ErrorCode::invalid, "the symbols in the dump lie in an unknown order");
    DBK_TRY(Bytes names, read(names_at, static_cast<size_t>(tokens_at - names_at)));
    DBK_TRY(Bytes table, read(tokens_at, static_cast<size_t>(index_at - tokens_at)));
    DBK_TRY(Bytes index, read(index_at, 256 * sizeof(uint16_t)));
    std::string_view text(reinterpret_cast<const char*>(table.data()), table.size());
    formats::KallsymsTokens tokens;
    for (size_t i = 0; i < tokens.size(); i++) {
        tokens[i] = text.substr(std::min<size_t>(number_at<uint16_t>(index, i), text.size()));
        tokens[i] = tokens[i].substr(0, tokens[i].find('\0'));
    }
    auto unpacked = formats::unpack_kallsyms(names, tokens, static_cast<size_t>(count));
    if (!unpacked.ok())
        return errorf(ErrorCode::invalid, "the symbols in the dump contradict themselves");
    return unpacked;
}

Result<formats::SymbolTable> DumpSymbols::read_table() const {
    DBK_TRY(uint64_t count_at, fact("SYMBOL(kallsyms_num_syms)"));
    DBK_TRY(uint64_t offsets_at, fact("SYMBOL(kallsyms_offsets)"));
    DBK_TRY(uint64_t base_at, fact("SYMBOL(kallsyms_relative_base)"));
    DBK_TRY(uint64_t text_start, fact("SYMBOL(_stext)"));
    DBK_TRY(Bytes count_bytes, read(count_at, sizeof(uint32_t)));
    DBK_TRY(Bytes base_bytes, read(base_at, sizeof(uint64_t)));
    uint64_t count = number_at<uint32_t>(count_bytes, 0), base = number_at<uint64_t>(base_bytes, 0);
    if (count > formats::kSymbolsMax)
        return errorf(ErrorCode::invalid, "the dump claims %zu symbols",
                      static_cast<size_t>(count));
    DBK_TRY(std::vector<std::string> names, read_names(count));
    DBK_TRY(Bytes offsets, read(offsets_at, names.size() * sizeof(int32_t)));
    for (auto way : {formats::KallsymsOffsets::absolute_percpu, formats::KallsymsOffsets::relative}) {
        formats::SymbolTable table;
        bool is_right = false;
        for (size_t i = 0; i < names.size(); i++) {
            auto address = formats::kallsyms_address(way, base, number_at<int32_t>(offsets, i));
            char type = names[i][0];
            if (!address || type == 'a' || type == 'A')
                continue;
            std::string_view name = std::string_view(names[i]).substr(1);
            is_right |= name == "_stext" && *address == text_start;
            table.add(*address, type, name, "vmlinux");
        }
        table.finish();
        if (is_right)
            return table;
    }
    return errorf(ErrorCode::invalid, "the symbols in the dump are not where its kernel lay");
}

Result<DumpKernel> DumpSymbols::kernel() const {
    DBK_TRY(uint64_t uts, fact("SYMBOL(init_uts_ns)"));
    DBK_TRY(uint64_t name, fact("OFFSET(uts_namespace.name)"));
    DumpKernel kernel;
    kernel.build_id = build_id_;
    DBK_TRY(kernel.symbols, read_table());
    DBK_TRY(Bytes texts, read(uts + name, kUtsTexts * kUtsText));
    auto text = [&](size_t which) {
        const char* begin = reinterpret_cast<const char*>(texts.data()) + which * kUtsText;
        return std::string(begin, strnlen(begin, kUtsText));
    };
    kernel.release = text(kUtsRelease);
    kernel.version = text(kUtsVersion);
    return kernel;
}

} // namespace daybreak::recorder
