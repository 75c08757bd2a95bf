// SPDX-License-Identifier: Apache-2.0
//
// The kernel's own symbol table, found by its shape and unpacked.
#include "compiler/types/kernel_symbols.hpp"

#include "base/page.hpp"
#include "formats/kallsyms/kallsyms.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>

namespace daybreak::compiler {

using base::ByteView;
using base::ErrorCode;
using base::errorf;
using base::kPageBytes;
using base::Result;
using formats::KallsymsOffsets;

namespace {

// scripts/kallsyms.c: 256 tokens, of which most are 2 to 20 bytes; every 256th name has a marker;
// each table is aligned to 8.
constexpr uint32_t kTokens = 256, kTokenBytesMax = 64, kMarkedNames = 256, kAlign = 8;
// 1000 to 4 million: Debian's kernels have 94 000 and 163 000.
constexpr uint32_t kSymbolsMin = 1000, kSymbolsMax = 4u << 20;
constexpr uint32_t kNameBytesMax = 1024;        // packed; KSYM_NAME_LEN is 512
constexpr uint64_t kTablesBytesMax = 64u << 20; // from the number of symbols to the tokens
constexpr uint64_t kNamesTriedMax = 64u << 20;  // a wrong start is mostly noticed within a few
constexpr uint64_t kKernelHalf = 0xffffffffull; // upper half of any address of the kernel's text
constexpr uint64_t kEntryBytesMax = 16; // from a function to its call of ftrace, as kmod has it

constexpr uint64_t aligned(uint64_t offset) {
    return (offset + kAlign - 1) / kAlign * kAlign;
}

/// Returns the T at an offset; 0 past the end.
template <typename T>
T at(ByteView bytes, uint64_t offset) {
    T value = 0;
    if (offset <= bytes.size() && bytes.size() - offset >= sizeof(T))
        std::memcpy(&value, bytes.data() + offset, sizeof(T));
    return value;
}

struct Symbol {
    uint64_t address;
    std::string_view name; ///< without the letter of its type
};

class SymbolSearch {
public:
    explicit SymbolSearch(ByteView image) : image_(image) {}
    /// Whether there is a table of a known layout.
    bool find();
    /// Returns all symbols that have an address when they are counted that way; they go with this.
    std::vector<Symbol> symbols(KallsymsOffsets way) const;

private:
    bool find_tokens();
    bool is_token_table(uint64_t start, uint64_t end, const std::array<uint16_t, kTokens>& index);
    bool find_names();
    bool names_at(uint64_t start, uint32_t count);
    bool find_addresses();

    ByteView image_;
    formats::KallsymsTokens tokens_;
    std::vector<std::string> names_;
    uint64_t tokens_at_ = 0, tokens_end_ = 0; ///< the end is that of their index
    uint64_t names_at_ = 0;
    uint32_t count_ = 0;
    uint64_t names_left_ = kNamesTriedMax;
    uint64_t addresses_at_ = 0, base_ = 0;
};

bool SymbolSearch::is_token_table(uint64_t start, uint64_t end,
                                  const std::array<uint16_t, kTokens>& index) {
    uint64_t next = start;
    for (size_t i = 0; i < index.size(); i++) {
        if (start + index[i] != next)
            return false;
        const auto* text = reinterpret_cast<const char*>(image_.data()) + next;
        size_t length = strnlen(text, static_cast<size_t>(end - next));
        tokens_[i] = {text, length};
        next += length + 1;
        if (next > end)
            return false;
    }
    return aligned(next) == end;
}

/// The tokens' index is 256 offsets, each a little greater than the one before it; the tokens end
/// where it begins.
bool SymbolSearch::find_tokens() {
    std::array<uint16_t, kTokens> index;
    for (uint64_t here = kAlign; here + sizeof(index) <= image_.size(); here += kAlign) {
        if (at<uint16_t>(image_, here) != 0 || at<uint16_t>(image_, here + 2) == 0)
            continue;
        std::memcpy(index.data(), image_.data() + here, sizeof(index));
        auto far = [](uint16_t left, uint16_t right) {
            return right <= left || right > left + kTokenBytesMax;
        };
        if (std::adjacent_find(index.begin(), index.end(), far) != index.end())
            continue;
        for (uint64_t bytes = aligned(index.back());
             bytes <= aligned(index.back() + kTokenBytesMax); bytes += kAlign) {
            if (bytes <= here && is_token_table(here - bytes, here, index)) {
                tokens_at_ = here - bytes;
                tokens_end_ = here + sizeof(index);
                return true;
            }
        }
    }
    return false;
}

/// Whether that many names lie there, and their markers after them.
bool SymbolSearch::names_at(uint64_t start, uint32_t count) {
    std::vector<uint32_t> markers;
    ByteView names = image_.first(static_cast<size_t>(tokens_at_));
    size_t next = static_cast<size_t>(start);
    for (uint32_t i = 0; i < count; i++) {
        if (names_left_ == 0)
            return false;
        names_left_--;
        if (i % kMarkedNames == 0)
            markers.push_back(static_cast<uint32_t>(next - start));
        size_t length = formats::kallsyms_length(names, next);
        if (length == 0 || length > kNameBytesMax || next + length > tokens_at_)
            return false;
        next += length;
    }
    next = aligned(next);
    return next + markers.size() * sizeof(uint32_t) <= tokens_at_ &&
           std::memcmp(image_.data() + next, markers.data(), markers.size() * sizeof(uint32_t)) ==
               0;
}

/// The number of names, in a word of its own, and then the names, are before the tokens.
bool SymbolSearch::find_names() {
    uint64_t lowest = tokens_at_ > kTablesBytesMax ? tokens_at_ - kTablesBytesMax : 0;
    for (uint64_t here = tokens_at_; here >= lowest + kAlign && names_left_ != 0;) {
        here -= kAlign;
        auto count = at<uint64_t>(image_, here);
        if (count < kSymbolsMin || count > kSymbolsMax)
            continue;
        if (names_at(here + kAlign, static_cast<uint32_t>(count))) {
            names_at_ = here + kAlign;
            count_ = static_cast<uint32_t>(count);
            return true;
        }
    }
    return false;
}

/// Distances from a base, which follows them: before the number of names, or since 6.4 after the
/// tokens.
bool SymbolSearch::find_addresses() {
    uint64_t bytes = aligned(uint64_t{count_} * sizeof(int32_t));
    uint64_t before = names_at_ - 2 * kAlign;
    for (uint64_t base_at : {before, aligned(tokens_end_) + bytes}) {
        base_ = at<uint64_t>(image_, base_at);
        addresses_at_ = base_at - bytes;
        if (base_ >> 32 == kKernelHalf && base_ % kPageBytes == 0 && base_at >= bytes)
            return true;
    }
    return false;
}

bool SymbolSearch::find() {
    if (!find_tokens() || !find_names() || !find_addresses())
        return false;
    ByteView names = image_.subspan(names_at_, tokens_at_ - names_at_);
    auto unpacked = formats::unpack_kallsyms(names, tokens_, count_);
    if (unpacked.ok())
        names_ = std::move(*unpacked);
    return unpacked.ok();
}

std::vector<Symbol> SymbolSearch::symbols(KallsymsOffsets way) const {
    std::vector<Symbol> symbols;
    for (size_t i = 0; i < names_.size(); i++) {
        auto offset = at<int32_t>(image_, addresses_at_ + i * sizeof(int32_t));
        if (auto address = formats::kallsyms_address(way, base_, offset))
            symbols.push_back({*address, std::string_view(names_[i]).substr(1)});
    }
    return symbols;
}

/// Returns where in the file an address of the image is loaded from; nothing when nowhere.
std::optional<uint64_t> file_offset(ByteView image, uint64_t address) {
    auto headers = at<uint64_t>(image, 32); // e_phoff
    auto count = at<uint16_t>(image, 56);   // e_phnum
    for (uint64_t header = headers; count-- != 0; header += 56) {
        auto begin = at<uint64_t>(image, header + 16), bytes = at<uint64_t>(image, header + 32);
        if (at<uint32_t>(image, header) == 1 && address >= begin && address - begin < bytes)
            return at<uint64_t>(image, header + 8) + (address - begin);
    }
    return std::nullopt;
}

} // namespace

Result<std::vector<KernelFunction>> traceable_functions(ByteView untrusted_vmlinux,
                                                        const std::string& what) {
    SymbolSearch search(untrusted_vmlinux);
    bool found = search.find();
    std::vector<Symbol> symbols;
    std::map<std::string_view, uint64_t> marks;
    std::optional<uint64_t> offset; // of ftrace's table in the file: only the right way finds it
    for (auto way : {KallsymsOffsets::absolute_percpu, KallsymsOffsets::relative}) {
        if (!found || offset)
            break;
        marks = {{"_stext", 0}, {"_etext", 0}, {"__start_mcount_loc", 0}, {"__stop_mcount_loc", 0}};
        symbols = search.symbols(way);
        for (const Symbol& symbol : symbols)
            if (auto mark = marks.find(symbol.name); mark != marks.end())
                mark->second = symbol.address;
        offset = file_offset(untrusted_vmlinux, marks["__start_mcount_loc"]);
    }
    uint64_t first = marks["__start_mcount_loc"], last = marks["__stop_mcount_loc"];
    if (first == 0 || last < first || !offset)
        return errorf(ErrorCode::unsupported,
                      "%s: its table of symbols is not of a layout that is known (%zu symbols)",
                      what.c_str(), symbols.size());
    if (last - first > untrusted_vmlinux.size())
        return errorf(ErrorCode::corrupt, "%s: %llu bytes of calls of ftrace", what.c_str(),
                      static_cast<unsigned long long>(last - first));
    std::vector<uint64_t> calls;
    for (uint64_t at_bytes = 0; at_bytes < last - first; at_bytes += sizeof(uint64_t))
        calls.push_back(at<uint64_t>(untrusted_vmlinux, *offset + at_bytes));
    std::sort(calls.begin(), calls.end());
    std::stable_sort(symbols.begin(), symbols.end(), [](const Symbol& left, const Symbol& right) {
        return left.address < right.address;
    });
    std::vector<KernelFunction> functions;
    uint64_t previous = 0;
    size_t after = 0; // the first symbol at a greater address
    for (size_t i = 0; i < symbols.size(); i++) {
        uint64_t begin = symbols[i].address, end = begin + kEntryBytesMax + 1;
        while (after < symbols.size() && symbols[after].address <= begin)
            after++;
        if (after < symbols.size())
            end = std::min(end, symbols[after].address);
        auto call = std::lower_bound(calls.begin(), calls.end(), begin);
        if (begin < marks["_stext"] || begin >= marks["_etext"] || call == calls.end() ||
            *call >= end)
            continue;
        functions.push_back({std::string(symbols[i].name), *call == previous});
        previous = *call;
    }
    return functions;
}

} // namespace daybreak::compiler
