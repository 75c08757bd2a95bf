// SPDX-License-Identifier: Apache-2.0
//
// Memory that a simulated probe may ask for.
#include "engine/sim/sim_memory.hpp"

#include <algorithm>
#include <cstring>
#include <sys/uio.h>
#include <unistd.h>

// The linker's names for the ends of the program's image.
extern "C" const char __executable_start[];
extern "C" const char end[];

namespace daybreak::sim {

namespace {

// Copies from this program's image by way of the kernel, which refuses instead of crashing.
bool load_image(std::byte* to, uint64_t address, size_t bytes) {
    uint64_t first = reinterpret_cast<uintptr_t>(__executable_start);
    uint64_t after = reinterpret_cast<uintptr_t>(end);
    if (address < first || address >= after || bytes > after - address)
        return false;
    iovec local{to, bytes};
    iovec remote{reinterpret_cast<void*>(static_cast<uintptr_t>(address)), bytes};
    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

} // namespace

void SimMemory::map(uint64_t address, std::vector<std::byte> bytes) {
    Range range{nullptr, bytes.size(), std::move(bytes)};
    range.data = range.owned.data();
    last_ = nullptr;
    ranges_.insert_or_assign(address, std::move(range));
}

void SimMemory::map_string(uint64_t address, std::string_view text) {
    std::vector<std::byte> bytes(text.size() + 1);
    std::memcpy(bytes.data(), text.data(), text.size());
    map(address, std::move(bytes));
}

void SimMemory::add_own(const void* memory, size_t bytes) {
    last_ = nullptr;
    ranges_.insert_or_assign(reinterpret_cast<uintptr_t>(memory),
                             Range{static_cast<const std::byte*>(memory), bytes, {}});
}

void SimMemory::remove_own(const void* memory) {
    last_ = nullptr;
    ranges_.erase(reinterpret_cast<uintptr_t>(memory));
}

const std::byte* SimMemory::find(uint64_t address, size_t& left_ret) const {
    uint64_t offset = address - last_start_;
    if (!last_ || offset >= last_->bytes) {
        auto above = ranges_.upper_bound(address);
        if (above == ranges_.begin())
            return nullptr;
        const auto& [start, range] = *std::prev(above);
        offset = address - start;
        if (offset >= range.bytes)
            return nullptr;
        last_start_ = start;
        last_ = &range;
    }
    left_ret = last_->bytes - offset;
    return last_->data + offset;
}

bool SimMemory::load_piece(std::byte* to, uint64_t address, size_t bytes, size_t& done_ret) const {
    size_t left = 0;
    if (const std::byte* from = find(address, left)) {
        done_ret = std::min(bytes, left);
        std::memcpy(to, from, done_ret);
        return true;
    }
    done_ret = bytes;
    return image_allowed_ && load_image(to, address, bytes);
}

bool SimMemory::load(void* to, uint64_t address, size_t bytes) const {
    auto* out = static_cast<std::byte*>(to);
    while (bytes != 0) {
        size_t done = 0;
        if (!load_piece(out, address, bytes, done))
            return false;
        out += done;
        address += done;
        bytes -= done;
    }
    return true;
}

bool SimMemory::store(uint64_t address, const void* from, size_t bytes) {
    auto above = ranges_.upper_bound(address);
    if (above == ranges_.begin())
        return false;
    auto& [start, range] = *std::prev(above);
    uint64_t offset = address - start;
    if (offset >= range.owned.size() || bytes > range.owned.size() - offset)
        return false;
    std::memcpy(range.owned.data() + offset, from, bytes);
    return true;
}

int32_t SimMemory::load_string(char* to, uint64_t address, uint32_t bytes) const {
    for (uint32_t at = 0; at + 1 < bytes;) {
        size_t left = 0;
        const std::byte* from = find(address + at, left);
        if (!from && !load(to + at, address + at, left = 1))
            return -1;
        size_t most = std::min<size_t>(left, bytes - 1 - at);
        size_t length = ::strnlen(from ? reinterpret_cast<const char*>(from) : to + at, most);
        if (from)
            std::memcpy(to + at, from, length);
        at += static_cast<uint32_t>(length);
        if (length < most) {
            to[at] = '\0';
            return static_cast<int32_t>(at);
        }
    }
    to[bytes - 1] = '\0';
    return static_cast<int32_t>(bytes - 1);
}

} // namespace daybreak::sim
