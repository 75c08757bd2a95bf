// SPDX-License-Identifier: Apache-2.0
//
// The symbol table: sorted by address, looked up by nearest below.
#include "formats/trace/metadata.hpp"

#include "formats/trace/code_symbol.hpp"

#include <algorithm>
#include <cctype>
#include <mutex>
#include <tuple>

namespace daybreak::formats {

namespace {

/// Code before data, global before local, plain names before compiler-made ones: of several
/// symbols at one address the one that a person would name is kept first.
auto preference(const Symbol& symbol) {
    char type = symbol.type;
    bool global = std::isupper(static_cast<unsigned char>(type)) != 0 && type != 'W';
    return std::make_tuple(!is_code(symbol), !global, symbol.name.starts_with("__"),
                           symbol.name.size());
}

} // namespace

struct SymbolTable::Later {
    Load load;
    std::once_flag once;
    SymbolTable table;
};

void SymbolTable::load_later(Load load) {
    later_ = std::make_shared<Later>();
    later_->load = std::move(load);
}

const SymbolTable& SymbolTable::here() const {
    if (!later_)
        return *this;
    std::call_once(later_->once, [this] {
        later_->load(later_->table);
        later_->load = nullptr; // and with it the file that it read
    });
    return later_->table.here();
}

void SymbolTable::add(uint64_t address, char type, std::string_view name, std::string_view module) {
    auto found = module_index_.find(module);
    if (found == module_index_.end()) {
        found = module_index_.emplace(module, static_cast<uint32_t>(modules_.size())).first;
        modules_.emplace_back(module);
    }
    symbols_.push_back({address, found->second, type, std::string(name)});
}

void SymbolTable::add_hole() {
    if (!symbols_.empty())
        holes_.push_back(symbols_.back().address);
}

void SymbolTable::finish() {
    std::sort(holes_.begin(), holes_.end());
    // A kernel lists its own by address, and modules' after them: to merge two lists is less than
    // to sort one.
    auto below = [](const Symbol& a, const Symbol& b) {
        return a.address != b.address ? a.address < b.address : preference(a) < preference(b);
    };
    for (auto at = symbols_.begin(); at != symbols_.end();) {
        auto end = std::find_if(at + 1, symbols_.end(), [at](const Symbol& symbol) {
            return symbol.address != at->address;
        });
        std::stable_sort(at, end, below);
        at = end;
    }
    auto sorted = std::is_sorted_until(symbols_.begin(), symbols_.end(), below);
    std::stable_sort(sorted, symbols_.end(), below);
    std::inplace_merge(symbols_.begin(), sorted, symbols_.end(), below);
}

std::optional<SymbolTable::Match> SymbolTable::find(uint64_t address) const {
    if (later_)
        return here().find(address);
    auto above = std::upper_bound(
        symbols_.begin(), symbols_.end(), address,
        [](uint64_t wanted, const Symbol& symbol) { return wanted < symbol.address; });
    if (above == symbols_.begin())
        return std::nullopt;
    // Of several at the same address the first.
    auto below = std::lower_bound(
        symbols_.begin(), above, (above - 1)->address,
        [](const Symbol& symbol, uint64_t wanted) { return symbol.address < wanted; });
    bool in_hole = address != below->address &&
                   std::binary_search(holes_.begin(), holes_.end(), below->address);
    if (address - below->address > kSymbolBytesMax || below->name == "_end" || in_hole)
        return std::nullopt;
    return Match{modules_[below->module], below->name, address - below->address};
}

} // namespace daybreak::formats
