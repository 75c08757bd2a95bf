// SPDX-License-Identifier: Apache-2.0
#include "formats/trace/shared_symbols.hpp"

#include "formats/trace/symbol_coding.hpp"

#include <algorithm>
#include <set>

namespace daybreak::formats {

namespace {

using base::errorf;

/// FNV-1a of 64 bits.
constexpr uint64_t kHashBegin = 0xcbf29ce484222325, kHashPrime = 0x100000001b3;

void add_byte(uint64_t& hash, uint8_t byte) {
    hash = (hash ^ byte) * kHashPrime;
}

using ModuleNames = std::set<std::string, std::less<>>;

/// Adds the symbols of the modules that `wanted` says.
template <typename Wanted>
void add_modules(const SymbolTable& from, SymbolTable& table, Wanted wanted) {
    std::vector<bool> is_wanted;
    for (const std::string& module : from.modules())
        is_wanted.push_back(wanted(module));
    for (const Symbol& symbol : from.symbols())
        if (is_wanted[symbol.module])
            table.add(symbol.address, symbol.type, symbol.name, from.modules()[symbol.module]);
}

/// Returns the first module that is not as `shared` says; the kernel before all others.
std::string differing(const SharedSymbols& shared, const SymbolTable& beside) {
    auto hashes = hashes_of_modules(beside);
    std::string differs;
    bool has_kernel = false;
    for (const SharedSymbols::Module& module : shared.modules) {
        auto there = hashes.find(module.name);
        bool same = there != hashes.end() && there->second == module.hash;
        if (module.name == kKernelModule)
            has_kernel = same;
        else if (!same && differs.empty())
            differs = module.name;
    }
    return has_kernel ? differs : std::string(kKernelModule);
}

} // namespace

Result<FileContent> read_symbols_file(const std::string& path, uint64_t boot_id,
                                      const OpenFile& open_file, RawBudget& budget) {
    DBK_TRY(std::shared_ptr<base::ByteSource> source, open_file(path));
    RecordingBuilder ignored;
    DBK_TRY(FileContent content,
            read_blocks(source, path, "", ignored, budget, std::make_shared<BlockStore>()));
    if (boot_of(content.file.header.boot_uuid) != boot_id)
        return errorf(ErrorCode::invalid, "%s", kSymbolsOfUnknownBoot);
    return content;
}

std::map<std::string, uint64_t, std::less<>> hashes_of_modules(const SymbolTable& table) {
    std::vector<uint64_t> by_index(table.modules().size(), kHashBegin);
    for (const Symbol& symbol : table.symbols()) {
        uint64_t& hash = by_index[symbol.module];
        for (int shift = 0; shift < 64; shift += 8)
            add_byte(hash, static_cast<uint8_t>(symbol.address >> shift));
        add_byte(hash, static_cast<uint8_t>(symbol.type));
        for (char c : symbol.name)
            add_byte(hash, static_cast<uint8_t>(c));
        add_byte(hash, '\n');
    }
    std::map<std::string, uint64_t, std::less<>> hashes;
    for (size_t i = 0; i < by_index.size(); i++)
        hashes.emplace(table.modules()[i], by_index[i]);
    return hashes;
}

std::optional<SharedSymbols> share_symbols(const SymbolTable& all, const SymbolTable& beside,
                                           std::span<const ModuleInfo> modules) {
    auto here = hashes_of_modules(all), there = hashes_of_modules(beside);
    ModuleNames shareable = {std::string(kKernelModule)};
    for (const ModuleInfo& module : modules)
        shareable.insert(module.name);
    SharedSymbols shared;
    ModuleNames taken;
    for (const auto& [name, hash] : here) {
        auto same = there.find(name);
        if (!shareable.contains(name) || same == there.end() || same->second != hash)
            continue;
        shared.modules.push_back({name, hash});
        taken.insert(name);
    }
    SymbolTable others;
    add_modules(all, others, [&](const std::string& name) { return !taken.contains(name); });
    others.finish();
    if (!taken.contains(kKernelModule) || others.symbols().size() > kSortedSymbolsMax)
        return std::nullopt;
    if (others.empty())
        return shared;
    std::optional<Bytes> additions = encode_sorted_symbols(others, others.symbols());
    if (!additions)
        return std::nullopt;
    shared.additions = std::move(*additions);
    return shared;
}

std::string join_symbols(const SharedSymbols& shared, const SymbolTable& beside,
                         SymbolTable& table) {
    std::string differs = differing(shared, beside);
    size_t name_bytes_left = kSymbolNameBytesMax;
    bool is_whole = differs.empty() && beside.symbols().size() <= kSymbolsMax - kSortedSymbolsMax;
    if (is_whole && !shared.additions.empty() &&
        !decode_sorted_symbols(shared.additions, table, name_bytes_left).ok())
        differs = "its own modules";
    ModuleNames wanted = {std::string(kKernelModule)};
    for (const SharedSymbols::Module& module : shared.modules)
        if (differs.empty())
            wanted.insert(module.name);
    if (differs != kKernelModule)
        add_modules(beside, table, [&](const std::string& name) { return wanted.contains(name); });
    table.finish();
    return differs;
}

} // namespace daybreak::formats
