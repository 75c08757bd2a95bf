// SPDX-License-Identifier: Apache-2.0
//
// Encoding of a column: the choice among codings, made on a sample (docs/design/0055-columns.md
// and docs/design/0071-a-unit-for-times.md).
#include "formats/trace/column_coding.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace daybreak::formats {

namespace {

/// Of a column a choice is made on so many of its values.
constexpr size_t kSampleValues = 512;
/// A choice holds for so many blocks.
constexpr uint8_t kBlocksPerChoice = 32;
/// A unit is looked for in groups of so many values: what divides all of them is the clock's.
constexpr size_t kUnitGroup = 16;
/// Above so many different values a dictionary is not tried.
constexpr size_t kDictionaryMax = 4096;

uint64_t zigzag(uint64_t difference) {
    return difference << 1 ^ (0 - (difference >> 63));
}

uint64_t bits_of_all(std::span<const uint64_t> values) {
    uint64_t all = 0;
    for (uint64_t value : values)
        all |= value;
    return all;
}

unsigned plane_count(uint64_t all) {
    return all == 0 ? 1 : (static_cast<unsigned>(std::bit_width(all)) + 7) / 8;
}

double n_log2_n(size_t n) {
    static const auto table = [] {
        std::array<double, kSampleValues + 1> all{};
        for (size_t i = 1; i < all.size(); i++)
            all[i] = static_cast<double>(i) * std::log2(static_cast<double>(i));
        return all;
    }();
    auto real = static_cast<double>(n);
    return n < table.size() ? table[n] : real * std::log2(real);
}

/// What the bytes counted come to when each is as long as its frequency says.
double entropy_bits(const std::array<uint32_t, 256>& counts, size_t total) {
    double sum = n_log2_n(total);
    for (uint32_t count : counts)
        sum -= n_log2_n(count);
    return sum;
}

double planes_bits(std::span<const uint64_t> values) {
    double bits = 0;
    unsigned planes = plane_count(bits_of_all(values));
    for (unsigned plane = 0; plane < planes; plane++) {
        std::array<uint32_t, 256> counts{};
        for (uint64_t value : values)
            counts[value >> (8 * plane) & 0xff]++;
        bits += entropy_bits(counts, values.size());
    }
    return bits;
}

double varint_bits(std::span<const uint64_t> values) {
    std::array<uint32_t, 256> counts{};
    size_t total = values.size();
    for (uint64_t value : values) {
        for (; value > 0x7f; value >>= 7, total++)
            counts[0x80 | (value & 0x7f)]++;
        counts[value]++;
    }
    return entropy_bits(counts, total);
}

bool is_constant(std::span<const uint64_t> values) {
    return std::all_of(values.begin(), values.end(),
                       [&](uint64_t value) { return value == values[0]; });
}

/// Returns the unit of which nearly all values are multiples: 1 when there is none.  A clock that
/// ticks in steps of 10 ns gives such values, with a few exceptions where it was set.
uint64_t common_unit(std::span<const uint64_t> values) {
    std::vector<uint64_t> divisors; // the greatest of each group
    for (; values.size() >= kUnitGroup; values = values.subspan(kUnitGroup)) {
        uint64_t divisor = 0;
        for (uint64_t value : values.first(kUnitGroup))
            divisor = std::gcd(divisor, value);
        divisors.push_back(divisor);
    }
    if (divisors.empty())
        return 1;
    // What three quarters have is in the middle when they are in order.
    auto middle = divisors.begin() + static_cast<ptrdiff_t>(divisors.size() / 2);
    std::nth_element(divisors.begin(), middle, divisors.end());
    uint64_t unit = *middle;
    auto fit = static_cast<size_t>(std::count(divisors.begin(), divisors.end(), unit));
    return 4 * fit >= 3 * divisors.size() && unit != 0 ? unit : 1;
}

void put_column(ColumnCoding coding, ByteView content, Bytes& out) {
    out.push_back(static_cast<std::byte>(coding.byte()));
    put_varint(out, content.size());
    out.insert(out.end(), content.begin(), content.end());
}

void put_planes(std::span<const uint64_t> values, Bytes& out) {
    unsigned planes = plane_count(bits_of_all(values));
    out.push_back(static_cast<std::byte>(planes));
    size_t at = out.size();
    out.resize(at + planes * values.size());
    std::byte* to = out.data() + at;
    for (unsigned plane = 0; plane < planes; plane++)
        for (uint64_t value : values)
            *to++ = static_cast<std::byte>(value >> (8 * plane));
}

} // namespace

void put_varint(Bytes& out, uint64_t value) {
    while (value >= 0x80) {
        out.push_back(static_cast<std::byte>(value | 0x80));
        value >>= 7;
    }
    out.push_back(static_cast<std::byte>(value));
}

void put_raw_column(ByteView bytes, Bytes& out) {
    put_column({ColumnForm::constant, ColumnDifference::none}, bytes, out);
}

std::span<const uint64_t> ColumnEncoder::differences(std::span<const uint64_t> values,
                                                     ColumnDifference how) {
    if (how == ColumnDifference::none)
        return values;
    differences_.resize(values.size());
    uint64_t before = 0, step = 0;
    for (size_t i = 0; i < values.size(); i++) {
        uint64_t difference = values[i] - before;
        before = values[i];
        differences_[i] = zigzag(difference - step);
        if (how == ColumnDifference::twice)
            step = difference;
    }
    return differences_;
}

bool ColumnEncoder::index(std::span<const uint64_t> values) {
    int bits = std::bit_width(2 * std::min(values.size(), kDictionaryMax)); // a table half full
    slots_.assign(size_t{1} << bits, 0);
    distinct_.clear();
    indexes_.resize(values.size());
    for (size_t i = 0; i < values.size(); i++) {
        size_t slot = values[i] * 0x9e3779b97f4a7c15u >> (64 - bits);
        while (slots_[slot] != 0 && distinct_[slots_[slot] - 1] != values[i])
            slot = (slot + 1) & (slots_.size() - 1);
        if (slots_[slot] == 0) {
            if (distinct_.size() == kDictionaryMax)
                return false;
            distinct_.push_back(values[i]);
            slots_[slot] = static_cast<uint32_t>(distinct_.size());
        }
        indexes_[i] = slots_[slot] - 1;
    }
    return true;
}

double ColumnEncoder::dictionary_bits(std::span<const uint64_t> values) {
    if (!index(values))
        return HUGE_VAL;
    double bits = 0;
    for (uint64_t value : distinct_)
        bits += 8 + std::bit_width(value);
    return bits + planes_bits(indexes_);
}

std::pair<ColumnCoding, double> ColumnEncoder::best_coding(std::span<const uint64_t> values) {
    ColumnCoding best;
    double least = HUGE_VAL;
    // Differences of differences are tried where differences were better than the values.
    for (unsigned how = 0; how < kColumnDifferences; how++) {
        if (how == 2 && best.difference == ColumnDifference::none)
            break;
        auto difference = static_cast<ColumnDifference>(how);
        std::span<const uint64_t> stored = differences(values, difference).subspan(how != 0);
        auto consider = [&](ColumnForm form, double bits) {
            if (bits < least) {
                least = bits;
                best = {form, difference};
            }
        };
        consider(ColumnForm::planes, planes_bits(stored));
        consider(ColumnForm::varint, varint_bits(stored));
        consider(ColumnForm::dictionary, dictionary_bits(stored));
    }
    return {best, least};
}

void ColumnEncoder::divide(std::span<const uint64_t> values, uint64_t unit) {
    quotients_.resize(values.size());
    remainders_.resize(values.size());
    for (size_t i = 0; i < values.size(); i++) {
        quotients_[i] = values[i] / unit;
        remainders_[i] = values[i] % unit;
    }
}

void ColumnEncoder::choose(std::span<const uint64_t> values, ColumnMemory& memory) {
    std::span<const uint64_t> sample = values;
    if (values.size() > kSampleValues)
        sample = values.subspan((values.size() - kSampleValues) / 2, kSampleValues);
    auto [coding, bits] = best_coding(sample);
    memory = {coding, 1, kBlocksPerChoice};
    uint64_t unit = common_unit(sample);
    if (unit == 1)
        return;
    divide(sample, unit);
    auto [scaled, scaled_bits] = best_coding(quotients_);
    if (scaled_bits + varint_bits(remainders_) < bits)
        memory = {scaled, unit, kBlocksPerChoice};
}

void ColumnEncoder::content(std::span<const uint64_t> values, ColumnForm form, Bytes& out) {
    switch (form) {
    case ColumnForm::constant:
        return put_varint(out, values[0]);
    case ColumnForm::varint:
        for (uint64_t value : values)
            put_varint(out, value);
        return;
    case ColumnForm::planes:
        return put_planes(values, out);
    case ColumnForm::dictionary:
        put_varint(out, distinct_.size());
        for (uint64_t value : distinct_)
            put_varint(out, value);
        return put_planes(indexes_, out);
    case ColumnForm::scaled:
        DBK_ASSERT(false); // put_scaled() does that
    }
}

void ColumnEncoder::put_coded(std::span<const uint64_t> values, ColumnMemory& memory, Bytes& out) {
    ColumnCoding coding = memory.coding;
    if (is_constant(values))
        coding = {ColumnForm::constant, ColumnDifference::none};
    std::span<const uint64_t> stored = differences(values, coding.difference);
    if (coding.form == ColumnForm::dictionary && !index(stored)) {
        coding.form = ColumnForm::planes;
        memory.blocks_left = 0;
    }
    content_.clear();
    content(stored, coding.form, content_);
    put_column(coding, content_, out);
}

void ColumnEncoder::put_scaled(std::span<const uint64_t> values, ColumnMemory& memory, Bytes& out) {
    divide(values, memory.unit);
    scaled_content_.clear();
    put_varint(scaled_content_, memory.unit);
    put_coded(quotients_, memory, scaled_content_);
    ColumnMemory remainders{{ColumnForm::varint, ColumnDifference::none}};
    put_coded(remainders_, remainders, scaled_content_);
    put_column({ColumnForm::scaled, ColumnDifference::none}, scaled_content_, out);
}

void ColumnEncoder::put(std::span<const uint64_t> values, ColumnMemory& memory, Bytes& out) {
    if (is_constant(values))
        return put_coded(values, memory, out);
    if (memory.blocks_left == 0)
        choose(values, memory);
    memory.blocks_left--;
    if (memory.unit > 1)
        return put_scaled(values, memory, out);
    put_coded(values, memory, out);
}

} // namespace daybreak::formats
