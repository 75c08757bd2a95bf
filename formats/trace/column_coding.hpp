// SPDX-License-Identifier: Apache-2.0
//
// One column of a COLUMNS block: integers as bytes that compress well, and back.
//
// A coding is a form (how numbers are stored) of a difference (which numbers).  columns.md is the
// specification.  An encoder keeps its buffers and what it chose: it belongs to one writing thread.
#pragma once

#include "base/byte_reader.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace daybreak::formats {

using base::Bytes;
using base::ByteView;
using base::Result;

/// How the numbers of a column are stored: the low four bits of its coding.
enum class ColumnForm : uint8_t {
    constant,   ///< all are the one that is stored
    varint,     ///< one after the other, 7 bits a byte
    planes,     ///< the lowest bytes of all, then the next bytes of all, ...
    dictionary, ///< the different ones, and planes of their indexes
    scaled,     ///< a unit, a column of how often it goes into them, and one of what is left
};
constexpr unsigned kColumnForms = 5;

/// What of the values is stored: the high four bits of a coding.
enum class ColumnDifference : uint8_t {
    none,
    once,  ///< to the value before, zigzag
    twice, ///< to the difference before, zigzag
};
constexpr unsigned kColumnDifferences = 3;

struct ColumnCoding {
    ColumnForm form = ColumnForm::planes;
    ColumnDifference difference = ColumnDifference::none;

    constexpr uint8_t byte() const {
        return static_cast<uint8_t>(static_cast<unsigned>(difference) << 4 |
                                    static_cast<unsigned>(form));
    }
};

/// What an encoder found out about a column of earlier blocks.
struct ColumnMemory {
    ColumnCoding coding;     ///< of the values, or of how often the unit goes into them
    uint64_t unit = 1;       ///< above 1: the form is scaled
    uint8_t blocks_left = 0; ///< till both are chosen again
};

void put_varint(Bytes& out, uint64_t value);
/// Errors: truncated; corrupt when it is longer than 10 bytes.
Result<uint64_t> read_varint(base::ByteReader& reader);

class ColumnEncoder {
public:
    /// Appends the column of `values`: its coding, its length, its content.  `memory` is that of
    /// the same column of the blocks before; it is brought up to date.
    void put(std::span<const uint64_t> values, ColumnMemory& memory, Bytes& out);

private:
    std::span<const uint64_t> differences(std::span<const uint64_t> values, ColumnDifference how);
    void choose(std::span<const uint64_t> values, ColumnMemory& memory);
    /// The coding that gives the fewest bits, and how many.
    std::pair<ColumnCoding, double> best_coding(std::span<const uint64_t> values);
    void divide(std::span<const uint64_t> values, uint64_t unit);
    void put_coded(std::span<const uint64_t> values, ColumnMemory& memory, Bytes& out);
    void put_scaled(std::span<const uint64_t> values, ColumnMemory& memory, Bytes& out);
    double dictionary_bits(std::span<const uint64_t> values);
    void content(std::span<const uint64_t> values, ColumnForm form, Bytes& out);
    /// Fills indexes_ and distinct_; false when there are too many different values.
    bool index(std::span<const uint64_t> values);

    std::vector<uint64_t> differences_;
    std::vector<uint64_t> quotients_, remainders_;
    std::vector<uint64_t> indexes_, distinct_;
    std::vector<uint32_t> slots_; ///< hash table: index into distinct_ + 1
    Bytes content_, scaled_content_;
};

/// Appends bytes as they are as a column.
void put_raw_column(ByteView bytes, Bytes& out);

/// A column as it lies in a payload.
struct ColumnView {
    uint8_t coding = 0;
    ByteView content;
};

/// Equal numbers for equal values of a column, as they lie in it when that can be: a word each, a
/// byte each, or one for all.
struct ColumnCodes {
    std::vector<uint64_t> words;
    ByteView bytes;                 ///< of the column, when `words` is empty
    uint64_t same = 0;              ///< when `bytes` is empty, too
    std::vector<uint64_t> meanings; ///< the value of each code; empty: a code is the value
    uint64_t below = 1;             ///< above all codes; 0: one of them is 2^64 - 1

    bool is_same() const { return words.empty() && bytes.empty(); }
    uint64_t operator[](size_t i) const {
        return !bytes.empty() ? static_cast<uint64_t>(bytes[i]) : words.empty() ? same : words[i];
    }
    uint64_t value(size_t i) const { return meanings.empty() ? (*this)[i] : meanings[(*this)[i]]; }
    /// The highest value, or one of a dictionary that no code means; 2^64 - 1 when there is none.
    uint64_t highest() const;
    /// Calls use(codes) with what the codes are kept in: a span of words or bytes; not when they
    /// are all the same.
    template <typename Use>
    void visit(const Use& use) const {
        if (!words.empty())
            use(std::span<const uint64_t>(words));
        else if (!bytes.empty())
            use(bytes);
    }
};

/// Takes the next column.  Error: truncated, corrupt.
Result<ColumnView> read_column(base::ByteReader& reader);

/// Puts the column's `count` values into `values`, which is made that long.  `count` was checked
/// against what the block may hold.  Error: truncated, corrupt, unsupported.
Result<void> decode_column(const ColumnView& untrusted, size_t count,
                           std::vector<uint64_t>& values);
/// The same by codes, for as long as the column's bytes are there.
Result<void> decode_codes(const ColumnView& untrusted, size_t count, ColumnCodes& codes);

} // namespace daybreak::formats
