// SPDX-License-Identifier: Apache-2.0
//
// Mutations of DOF that stay DOF: instructions, tables, descriptions
//
// Random bytes hardly get beyond the section table.  This mutator finds the sections, and mostly
// changes one thing inside of one: an instruction becomes another, or another one's neighbour, or
// gets another operand; a section is moved to the end of the image and gets room for more
// instructions; the entries of other tables get numbers that are nearly right.
#include "formats/abi/dif.h"
#include "formats/abi/dof.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

using Random = std::minstd_rand;

class Image {
public:
    Image(uint8_t* data, size_t size, size_t max_size) : data_(data), size_(size), max_(max_size) {
        if (size < sizeof(header_))
            return;
        std::memcpy(&header_, data, sizeof(header_));
        bool whole = header_.section_offset <= size && header_.section_count < 4096 &&
                     header_.section_count * sizeof(dof_section) <= size - header_.section_offset;
        count_ = whole ? header_.section_count : 0;
    }

    uint32_t count() const { return count_; }
    size_t size() const { return size_; }

    dof_section section(uint32_t index) const {
        dof_section section;
        std::memcpy(&section, data_ + header_.section_offset + index * sizeof(section),
                    sizeof(section));
        if (section.offset > size_ || section.bytes > size_ - section.offset)
            section.offset = section.bytes = 0; // where it says there is nothing to point to
        return section;
    }
    uint8_t* content(const dof_section& section) { return data_ + section.offset; }

    /// Moves a section after everything else and makes it `bytes` long; false when there is no
    /// room.
    bool move_to_end(uint32_t index, uint64_t bytes) {
        dof_section section = this->section(index);
        size_t offset = (size_ + 7) & ~size_t{7};
        if (bytes > max_ || offset + bytes > max_)
            return false;
        std::memset(data_ + size_, 0, offset + bytes - size_);
        std::memcpy(data_ + offset, data_ + section.offset,
                    std::min<uint64_t>(bytes, section.bytes));
        section.offset = offset;
        section.bytes = bytes;
        std::memcpy(data_ + header_.section_offset + index * sizeof(section), &section,
                    sizeof(section));
        size_ = offset + bytes;
        header_.load_bytes = header_.file_bytes = size_;
        std::memcpy(data_, &header_, sizeof(header_));
        return true;
    }

private:
    uint8_t* data_;
    size_t size_, max_;
    dof_header header_{};
    uint32_t count_ = 0;
};

constexpr uint8_t kOps[] = {
#define OP(name, op, mnemonic, form) op,
    DBK_DIF_OPS(OP)
#undef OP
};

uint32_t small(Random& random, uint32_t limit) {
    return random() % 8 ? static_cast<uint32_t>(random() % (limit + 1))
                        : static_cast<uint32_t>(random());
}

/// An instruction that has a chance: registers mostly exist, labels mostly go forward.
uint32_t instruction(Random& random, uint32_t pc, uint32_t count) {
    uint32_t op = kOps[random() % sizeof(kOps)];
    if (op >= DIF_OP_BA && op <= DIF_OP_BLEU)
        return op << 24 | (pc + 1 + small(random, count > pc ? count - pc : 1)) % 0xffffff;
    uint32_t r1 = small(random, 7) & 0xff, r2 = small(random, 7) & 0xff,
             rd = small(random, 7) & 0xff;
    switch (op) {
    case DIF_OP_SETX:
    case DIF_OP_SETS:
        return op << 24 | (small(random, 5) & 0xffff) << 8 | rd;
    case DIF_OP_LDGS:
        return op << 24 | (DIF_VAR_CURTHREAD + small(random, 0x30)) % 0x10000 << 8 | rd;
    case DIF_OP_CALL:
        return op << 24 | (small(random, DIF_SUBR_MAX) & 0xffff) << 8 | rd;
    case DIF_OP_STGS:
    case DIF_OP_LDTS:
    case DIF_OP_STTS:
    case DIF_OP_LDLS:
    case DIF_OP_STLS:
    case DIF_OP_LDGAA:
    case DIF_OP_STGAA:
    case DIF_OP_LDTAA:
    case DIF_OP_STTAA:
        return op << 24 | ((DIF_VAR_OTHER_UBASE + small(random, 4)) & 0xffff) << 8 | rd;
    case DIF_OP_PUSHTR:
    case DIF_OP_PUSHTV:
        return op << 24 | (random() % 2) << 16 | r2 << 8 | rd;
    case DIF_OP_LDSB ... DIF_OP_LDX:
    case DIF_OP_NOT:
    case DIF_OP_MOV:
    case DIF_OP_ALLOCS:
        return op << 24 | r1 << 16 | rd;
    case DIF_OP_FLUSHTS:
    case DIF_OP_POPTS:
    case DIF_OP_NOP:
        return op << 24;
    default:
        return op << 24 | r1 << 16 | r2 << 8 | rd;
    }
}

void mutate_code(Image& image, uint32_t index, Random& random) {
    dof_section section = image.section(index);
    uint32_t count = static_cast<uint32_t>(section.bytes / 4);
    if (count == 0)
        return;
    auto word = [&](uint32_t at) {
        uint32_t value;
        std::memcpy(&value, image.content(section) + at * 4, 4);
        return value;
    };
    auto put = [&](uint32_t at, uint32_t value) {
        std::memcpy(image.content(section) + at * 4, &value, 4);
    };
    uint32_t at = random() % count, other = random() % count;
    switch (random() % 8) {
    case 0: // a field
        put(at, word(at) ^ (1u << (random() % 3) << 8 * (random() % 3)));
        break;
    case 1: // another operation on the same operands
        put(at, (word(at) & 0xffffff) | static_cast<uint32_t>(kOps[random() % sizeof(kOps)]) << 24);
        break;
    case 2:
        put(at, word(other));
        break;
    case 3: {
        uint32_t kept = word(at);
        put(at, word(other));
        put(other, kept);
        break;
    }
    case 4: // room for one to four more
    case 5: {
        uint32_t more = 1 + random() % 4;
        if (!image.move_to_end(index, section.bytes + more * 4))
            return;
        section = image.section(index);
        for (uint32_t i = count; i-- > at;)
            put(i + more, word(i));
        for (uint32_t i = at; i < at + more; i++)
            put(i, instruction(random, i, count + more));
        break;
    }
    default:
        put(at, instruction(random, at, count));
        break;
    }
}

/// A word of a table becomes one that is nearly right.
void mutate_table(Image& image, const dof_section& section, Random& random) {
    size_t width = section.type == DOF_SECT_INTTAB ? 8 : random() % 4 ? 4 : 1;
    if (section.bytes < width)
        return;
    uint8_t* at = image.content(section) + random() % (section.bytes / width) * width;
    static const uint64_t interesting[] = {0,    1,     2,      3,          7,          8,
                                           0x28, 0x100, 0x500,  0x501,      0x601,      0x701,
                                           255,  256,   0x5000, 0x7000,     0x7fffffff, ~0ull,
                                           4096, 65535, 65536,  0xffffffff, 1ull << 63, 0x709};
    uint64_t value = 0;
    std::memcpy(&value, at, width);
    switch (random() % 3) {
    case 0:
        value = interesting[random() % (sizeof(interesting) / sizeof(interesting[0]))];
        break;
    case 1:
        value += static_cast<uint64_t>(random() % 9) - 4;
        break;
    default:
        value ^= 1ull << random() % (8 * width);
        break;
    }
    std::memcpy(at, &value, width);
}

} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
    Random random(seed);
    if (random() % 32 == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    Image image(data, size, max_size);
    if (image.count() == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    for (uint32_t changes = 1 + random() % 3; changes > 0; changes--)
        for (int attempt = 0; attempt < 16; attempt++) {
            uint32_t index = random() % image.count();
            dof_section section = image.section(index);
            bool is_code = section.type == DOF_SECT_DIF;
            // Two of three changes go to instructions.
            if (section.bytes == 0 || (!is_code && random() % 4 != 0))
                continue;
            if (is_code)
                mutate_code(image, index, random);
            else
                mutate_table(image, section, random);
            break;
        }
    return image.size();
}

/// Puts the instructions of one image into another.
extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* data1, size_t size1,
                                            const uint8_t* data2, size_t size2, uint8_t* out,
                                            size_t max_out_size, unsigned int seed) {
    Random random(seed);
    size_t size = std::min(size1, max_out_size);
    std::memcpy(out, data1, size);
    std::vector<uint8_t> copy(data2, data2 + size2);
    Image to(out, size, max_out_size), from(copy.data(), copy.size(), copy.size());
    for (int attempt = 0; attempt < 64 && to.count() && from.count(); attempt++) {
        uint32_t a = random() % to.count(), b = random() % from.count();
        dof_section target = to.section(a), source = from.section(b);
        if (target.type != DOF_SECT_DIF || source.type != target.type || source.bytes == 0)
            continue;
        if (to.move_to_end(a, source.bytes))
            std::memcpy(to.content(to.section(a)), from.content(source), source.bytes);
        break;
    }
    return to.size();
}
