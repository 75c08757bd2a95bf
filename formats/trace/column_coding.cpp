// SPDX-License-Identifier: Apache-2.0
//
// Encoding of a column: the choice among codings, made on a sample (docs/design/0055-columns.md).
#include "formats/trace/column_coding.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace daybreak::formats {

namespace {

/// Of a column a choice is made on so many of its values.
constexpr size_t kSampleValues = 1024;
/// A choice holds for so many blocks.
constexpr uint8_t kBlocksPerChoice = 32;
/// Above so many different values a dictionary is not tried.
constexpr size_t kDictionaryMax = 4096;
constexpr size_t kSlots = 4 * kDictionaryMax;

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

/// What the bytes counted come to when each is as long as its frequency says.
double entropy_bits(const std::array<uint32_t, 256>& counts, size_t total) {
    double sum = 0;
    for (uint32_t count : counts)
        if (count != 0)
            sum += count * std::log2(static_cast<double>(total) / count);
    return sum;
}

bool is_constant(std::span<const uint64_t> values) {
    return std::all_of(values.begin(), values.end(),
                       [&](uint64_t value) { return value == values[0]; });
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
    out.push_back(std::byte{0});
    put_varint(out, bytes.size());
    out.insert(out.end(), bytes.begin(), bytes.end());
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
    slots_.assign(kSlots, 0);
    distinct_.clear();
    indexes_.resize(values.size());
    for (size_t i = 0; i < values.size(); i++) {
        size_t slot = values[i] * 0x9e3779b97f4a7c15u >> 50;
        while (slots_[slot] != 0 && distinct_[slots_[slot] - 1] != values[i])
            slot = (slot + 1) % kSlots;
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

double ColumnEncoder::planes_bits(std::span<const uint64_t> values) const {
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

double ColumnEncoder::varint_bits(std::span<const uint64_t> values) {
    trial_.clear();
    for (uint64_t value : values)
        put_varint(trial_, value);
    std::array<uint32_t, 256> counts{};
    for (std::byte byte : trial_)
        counts[static_cast<size_t>(byte)]++;
    return entropy_bits(counts, trial_.size());
}

double ColumnEncoder::dictionary_bits(std::span<const uint64_t> values) {
    if (!index(values))
        return HUGE_VAL;
    double bits = 0;
    for (uint64_t value : distinct_)
        bits += 8 + std::bit_width(value);
    return bits + planes_bits(indexes_);
}

ColumnCoding ColumnEncoder::choose(std::span<const uint64_t> values) {
    std::span<const uint64_t> sample = values;
    if (values.size() > kSampleValues)
        sample = values.subspan((values.size() - kSampleValues) / 2, kSampleValues);
    ColumnCoding best;
    double least = HUGE_VAL;
    for (unsigned how = 0; how < kColumnDifferences; how++) {
        auto difference = static_cast<ColumnDifference>(how);
        std::span<const uint64_t> stored = differences(sample, difference).subspan(how != 0);
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
    return best;
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
    }
}

void ColumnEncoder::put(std::span<const uint64_t> values, ColumnMemory& memory, Bytes& out) {
    ColumnCoding coding;
    if (is_constant(values)) {
        coding.form = ColumnForm::constant;
    } else {
        if (memory.blocks_left == 0) {
            memory.coding = choose(values);
            memory.blocks_left = kBlocksPerChoice;
        }
        memory.blocks_left--;
        coding = memory.coding;
    }
    std::span<const uint64_t> stored = differences(values, coding.difference);
    if (coding.form == ColumnForm::dictionary && !index(stored)) {
        coding.form = ColumnForm::planes;
        memory.blocks_left = 0;
    }
    content_.clear();
    content(stored, coding.form, content_);
    out.push_back(static_cast<std::byte>(coding.byte()));
    put_varint(out, content_.size());
    out.insert(out.end(), content_.begin(), content_.end());
}

} // namespace daybreak::formats
