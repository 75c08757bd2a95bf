// SPDX-License-Identifier: Apache-2.0
//
// Memory that a simulated probe may ask for: any address, and never a crash.
//
// An address space is a table of ranges.  A simulated range lies at an address of the test's
// choosing (0xffff888000100000) and exists nowhere else; an own range is real memory of this
// process at its real address, such as what the engine allocated.  What is in no range faults.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

namespace daybreak::sim {

class SimMemory {
public:
    /// Puts bytes at a simulated address; a range that starts there already is replaced.
    void map(uint64_t address, std::vector<std::byte> bytes);
    /// The same for text and the NUL after it.
    void map_string(uint64_t address, std::string_view text);
    void unmap(uint64_t address) {
        last_ = nullptr;
        ranges_.erase(address);
    }

    /// Makes real memory readable at its own address, until remove_own().
    void add_own(const void* memory, size_t bytes);
    void remove_own(const void* memory);

    /// Makes the constants of this program's image readable too, as a kernel's own are.
    void allow_image() { image_allowed_ = true; }

    /// Copies; false when any byte lies in no range.
    bool load(void* to, uint64_t address, size_t bytes) const;
    /// Copies into simulated ranges; false, and nothing is changed, when any byte lies in none.
    bool store(uint64_t address, const void* from, size_t bytes);
    /// Copies a string into `bytes` (at least 1), cut with a NUL in the last.  Returns its
    /// length, or -1 when it faults.
    int32_t load_string(char* to, uint64_t address, uint32_t bytes) const;

private:
    struct Range {
        const std::byte* data;
        size_t bytes;
        std::vector<std::byte> owned; // empty for own memory
    };
    // Returns what is readable at the address without a gap, and how much; nullptr for none.
    const std::byte* find(uint64_t address, size_t& left_ret) const;
    bool load_piece(std::byte* to, uint64_t address, size_t bytes, size_t& done_ret) const;

    std::map<uint64_t, Range> ranges_;
    mutable const Range* last_ = nullptr; // that was found, and where it begins
    mutable uint64_t last_start_ = 0;
    bool image_allowed_ = false;
};

} // namespace daybreak::sim
