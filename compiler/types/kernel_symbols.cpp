// SPDX-License-Identifier: Apache-2.0
//
// The kernel's own symbol table, found by its shape and unpacked.
#include "compiler/types/kernel_symbols.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>

namespace daybreak::compiler {

using base::ByteView;
using base::ErrorCode;
using base::errorf;
using base::Result;

namespace {

// scripts/kallsyms.c: 256 tokens, of which most are 2 to 20 bytes; every 256th name has a marker;
// each table is aligned to 8.
constexpr uint32_t kTokens = 256, kTokenBytesMax = 64, kMarkedNames = 256, kAlign = 8;
// 1000 to 4 million: Debian's kernels have 94 000 and 163 000.
constexpr uint32_t kSymbolsMin = 1000, kSymbolsMax = 4u << 20;
constexpr uint32_t kNameBytesMax = 1024;        // packed; KSYM_NAME_LEN is 512
constexpr uint64_t kTablesBytesMax = 64u << 20; // from the number of symbols to the tokens
constexpr uint64_t kTextBytesMax = 64u << 20;   // of all names, unpacked: 4 MB and 8 MB
constexpr uint64_t kNamesTriedMax = 64u << 20;  // a wrong start is mostly noticed within a few
constexpr uint64_t kKernelHalf = 0xffffffffull; // upper half of any address of the kernel's text
constexpr uint64_t kPageBytes = 4096;           // the text begins at a multiple of it
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
    std::string name; ///< without the letter of its kind
};

class SymbolSearch {
public:
    explicit SymbolSearch(ByteView image) : image_(image) {}
    /// Returns all symbols; empty when there is no table of a known layout.
    std::vector<Symbol> find();

private:
    bool find_tokens();
    bool is_token_table(uint64_t start, uint64_t end, const std::array<uint16_t, kTokens>& index);
    bool find_names();
    bool names_at(uint64_t start, uint32_t count);
    uint32_t name_bytes(uint64_t& offset) const;
    bool find_addresses();

    ByteView image_;
    std::vector<std::string_view> tokens_;
    uint64_t tokens_at_ = 0, tokens_end_ = 0; ///< the end is that of their index
    uint64_t names_at_ = 0;
    uint32_t count_ = 0;
    uint64_t names_left_ = kNamesTriedMax;
    uint64_t addresses_at_ = 0, base_ = 0;
};

bool SymbolSearch::is_token_table(uint64_t start, uint64_t end,
                                  const std::array<uint16_t, kTokens>& index) {
    tokens_.clear();
    uint64_t next = start;
    for (uint16_t offset : index) {
        if (start + offset != next)
            return false;
        const auto* text = reinterpret_cast<const char*>(image_.data()) + next;
        size_t length = strnlen(text, static_cast<size_t>(end - next));
        tokens_.emplace_back(text, length);
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

/// Moves past the length of a name, one byte or two, and returns it.
uint32_t SymbolSearch::name_bytes(uint64_t& offset) const {
    uint32_t length = at<uint8_t>(image_, offset++);
    if (length & 0x80)
        length = (length & 0x7f) | static_cast<uint32_t>(at<uint8_t>(image_, offset++)) << 7;
    return length;
}

/// Whether that many names lie there, and their markers after them.
bool SymbolSearch::names_at(uint64_t start, uint32_t count) {
    std::vector<uint32_t> markers;
    uint64_t next = start;
    for (uint32_t i = 0; i < count; i++) {
        if (names_left_ == 0)
            return false;
        names_left_--;
        if (i % kMarkedNames == 0)
            markers.push_back(static_cast<uint32_t>(next - start));
        uint32_t length = name_bytes(next);
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

std::vector<Symbol> SymbolSearch::find() {
    std::vector<Symbol> symbols;
    if (!find_tokens() || !find_names() || !find_addresses())
        return symbols;
    uint64_t next = names_at_, text_bytes = 0;
    for (uint32_t i = 0; i < count_; i++) {
        Symbol symbol;
        for (uint32_t left = name_bytes(next); left != 0; left--)
            symbol.name += tokens_[at<uint8_t>(image_, next++)];
        text_bytes += symbol.name.size();
        if (text_bytes > kTextBytesMax)
            return {};
        symbol.name.erase(0, 1);
        // Of what is per CPU, distances are the addresses themselves, and positive.
        auto distance = at<int32_t>(image_, addresses_at_ + uint64_t{i} * sizeof(int32_t));
        symbol.address = distance >= 0 ? static_cast<uint64_t>(distance)
                                       : base_ - 1 - static_cast<uint64_t>(int64_t{distance});
        symbols.push_back(std::move(symbol));
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
    std::vector<Symbol> symbols = SymbolSearch(untrusted_vmlinux).find();
    std::map<std::string_view, uint64_t> marks = {
        {"_stext", 0}, {"_etext", 0}, {"__start_mcount_loc", 0}, {"__stop_mcount_loc", 0}};
    for (const Symbol& symbol : symbols)
        if (auto mark = marks.find(symbol.name); mark != marks.end())
            mark->second = symbol.address;
    uint64_t first = marks["__start_mcount_loc"], last = marks["__stop_mcount_loc"];
    auto offset = file_offset(untrusted_vmlinux, first);
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
        functions.push_back({std::move(symbols[i].name), *call == previous});
        previous = *call;
    }
    return functions;
}

} // namespace daybreak::compiler
