// SPDX-License-Identifier: Apache-2.0
//
// Front coding: of a sorted list each name is what it shares with the one before, and the rest.
#include "formats/trace/symbol_coding.hpp"

#include "formats/trace/column_coding.hpp"

#include <algorithm>
#include <cstring>

namespace daybreak::formats {

namespace {

using base::errorf;

size_t shared_bytes(std::string_view a, std::string_view b) {
    size_t most = std::min({a.size(), b.size(), kSharedBytesMax});
    auto differs = std::mismatch(a.begin(), a.begin() + static_cast<ptrdiff_t>(most), b.begin());
    return static_cast<size_t>(differs.first - a.begin());
}

void put_text(std::string_view text, Bytes& out) {
    ByteView bytes = base::as_bytes(text);
    out.insert(out.end(), bytes.begin(), bytes.end());
}

void put_column(std::span<const uint64_t> values, Bytes& out) {
    ColumnMemory memory;
    ColumnEncoder().put(values, memory, out);
}

template <typename Value>
void put_column_of(std::span<const Symbol> stretch, Bytes& out, Value value) {
    std::vector<uint64_t> values;
    for (const Symbol& symbol : stretch)
        values.push_back(value(symbol));
    put_column(values, out);
}

/// The order of the names. Their first bytes, as a number, decide most comparisons without a call.
std::vector<uint64_t> order_by_name(std::span<const Symbol> stretch) {
    struct Place {
        uint64_t first_bytes, second_bytes, place;
    };
    auto number = [](std::string_view name, size_t at) {
        uint64_t value = 0;
        if (at < name.size())
            std::memcpy(&value, name.data() + at,
                        std::min<size_t>(sizeof(value), name.size() - at));
        return __builtin_bswap64(value);
    };
    std::vector<Place> places;
    places.reserve(stretch.size());
    for (const Symbol& symbol : stretch)
        places.push_back({number(symbol.name, 0), number(symbol.name, 8), places.size()});
    std::sort(places.begin(), places.end(), [&](const Place& a, const Place& b) {
        if (a.first_bytes != b.first_bytes)
            return a.first_bytes < b.first_bytes;
        if (a.second_bytes != b.second_bytes)
            return a.second_bytes < b.second_bytes;
        const int names = stretch[a.place].name.compare(stretch[b.place].name);
        return names != 0 ? names < 0 : a.place < b.place;
    });
    std::vector<uint64_t> order;
    order.reserve(places.size());
    for (const Place& place : places)
        order.push_back(place.place);
    return order;
}

/// Takes one stretch apart.
class Decoder {
public:
    Decoder(ByteView untrusted, SymbolTable& table, size_t& name_bytes_left)
        : reader_(untrusted, "sorted symbols"), table_(table), name_bytes_left_(name_bytes_left) {}

    Result<void> run() {
        DBK_TRY_VOID(read_modules());
        DBK_TRY(uint64_t count, read_varint(reader_));
        DBK_TRY(ColumnView shared, read_column(reader_));
        DBK_TRY(ColumnView rests, read_column(reader_));
        // Each name has its newline there: what else is read is not more.
        if (rests.coding != 0 || count > rests.content.size())
            return errorf(ErrorCode::corrupt, "%zu bytes of names in coding %u for %llu symbols",
                          rests.content.size(), unsigned{rests.coding},
                          static_cast<unsigned long long>(count));
        if (count > kSortedSymbolsMax)
            return errorf(ErrorCode::limit, "%llu symbols, a block has at most %zu",
                          static_cast<unsigned long long>(count), kSortedSymbolsMax);
        if (count > kSymbolsMax - table_.symbols().size())
            return errorf(ErrorCode::limit, "more than %zu symbols", kSymbolsMax);
        count_ = static_cast<size_t>(count);
        DBK_TRY_VOID(decode_column(shared, count_, shared_));
        DBK_TRY_VOID(next_column(places_));
        DBK_TRY_VOID(next_column(addresses_));
        DBK_TRY_VOID(next_column(types_));
        DBK_TRY_VOID(next_column(module_indices_));
        if (reader_.remaining() != 0)
            return errorf(ErrorCode::corrupt, "%zu bytes after the last column",
                          reader_.remaining());
        DBK_TRY_VOID(read_names(rests.content));
        return add();
    }

private:
    Result<void> read_modules() {
        DBK_TRY(uint64_t count, read_varint(reader_));
        for (uint64_t i = 0; i < count; i++) {
            DBK_TRY(uint64_t length, read_varint(reader_));
            DBK_TRY(ByteView name, reader_.bytes(length));
            modules_.emplace_back(reinterpret_cast<const char*>(name.data()), name.size());
        }
        return {};
    }

    Result<void> next_column(std::vector<uint64_t>& values) {
        DBK_TRY(ColumnView column, read_column(reader_));
        return decode_column(column, count_, values);
    }

    /// Puts each name where its symbol is by address.
    Result<void> read_names(ByteView rests) {
        size_t room = name_bytes_left_;
        std::string_view left(reinterpret_cast<const char*>(rests.data()), rests.size());
        std::string name;
        names_.resize(count_);
        std::vector<bool> taken(count_);
        for (size_t i = 0; i < count_; i++) {
            size_t length = left.find('\n');
            if (length == std::string_view::npos || shared_[i] > name.size() ||
                shared_[i] > kSharedBytesMax)
                return errorf(ErrorCode::corrupt, "name %zu of %zu is not whole", i, count_);
            name.resize(shared_[i]);
            name += left.substr(0, length);
            left.remove_prefix(length + 1);
            if (places_[i] >= count_ || taken[places_[i]])
                return errorf(ErrorCode::corrupt, "name %zu of %zu has no place of its own", i,
                              count_);
            if (name.size() > room)
                return errorf(ErrorCode::limit, "more than %zu bytes of names",
                              kSymbolNameBytesMax);
            room -= name.size();
            taken[places_[i]] = true;
            names_[places_[i]] = name;
        }
        if (!left.empty())
            return errorf(ErrorCode::corrupt, "%zu bytes after the last name", left.size());
        return {};
    }

    Result<void> add() {
        for (size_t i = 0; i < count_; i++)
            if (module_indices_[i] >= modules_.size() || types_[i] > 0xff)
                return errorf(ErrorCode::corrupt, "symbol %zu of %zu has no module or no type", i,
                              count_);
        for (size_t i = 0; i < count_; i++)
            table_.add(addresses_[i], static_cast<char>(types_[i]), names_[i],
                       modules_[module_indices_[i]]);
        for (const std::string& name : names_)
            name_bytes_left_ -= name.size();
        return {};
    }

    base::ByteReader reader_;
    SymbolTable& table_;
    size_t& name_bytes_left_;
    size_t count_ = 0;
    std::vector<std::string> modules_;
    std::vector<uint64_t> shared_, places_, addresses_, types_, module_indices_;
    std::vector<std::string> names_; // by address
};

} // namespace

std::optional<Bytes> encode_sorted_symbols(const SymbolTable& table,
                                           std::span<const Symbol> stretch) {
    const std::vector<uint64_t> order = order_by_name(stretch);
    std::vector<uint64_t> shared;
    Bytes rests;
    std::string_view before;
    for (uint64_t place : order) {
        std::string_view name = stretch[place].name;
        if (name.find('\n') != std::string_view::npos)
            return std::nullopt;
        shared.push_back(shared_bytes(before, name));
        put_text(name.substr(shared.back()), rests);
        put_text("\n", rests);
        before = name;
    }
    Bytes out;
    put_varint(out, table.modules().size());
    for (const std::string& module : table.modules()) {
        put_varint(out, module.size());
        put_text(module, out);
    }
    put_varint(out, stretch.size());
    put_column(shared, out);
    put_raw_column(rests, out);
    put_column(order, out);
    put_column_of(stretch, out, [](const Symbol& symbol) { return symbol.address; });
    put_column_of(stretch, out,
                  [](const Symbol& symbol) { return static_cast<unsigned char>(symbol.type); });
    put_column_of(stretch, out, [](const Symbol& symbol) { return symbol.module; });
    return out;
}

Result<void> decode_sorted_symbols(ByteView untrusted, SymbolTable& table,
                                   size_t& name_bytes_left) {
    return Decoder(untrusted, table, name_bytes_left).run();
}

} // namespace daybreak::formats
