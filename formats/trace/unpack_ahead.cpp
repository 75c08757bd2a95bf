// SPDX-License-Identifier: Apache-2.0
//
// Threads that unpack payloads.
#include "formats/trace/unpack_ahead.hpp"

#include "base/crc32c.hpp"

#include <new>
#include <system_error>
#include <utility>

namespace daybreak::formats {

Result<void> unpack_stored(PayloadUnpacker& unpacker, const StoredBlock& block, Bytes& payload) {
    if (base::crc32c(block.stored) != block.header.payload_crc32c)
        return base::errorf(ErrorCode::corrupt, "its checksum does not hold");
    return unpacker.unpack({block.header, block.offset_bytes, block.stored}, block.part, payload);
}

UnpackAhead::UnpackAhead(unsigned threads) {
    threads_.reserve(threads);
    try {
        while (threads_.size() < threads)
            threads_.emplace_back([this] { loop(); });
    } catch (const std::system_error&) {
        // Those that started do it; if none did, depth() is 0 and the reader unpacks.
    }
}

UnpackAhead::~UnpackAhead() {
    {
        std::lock_guard lock(mutex_);
        ending_ = true;
        changed_.notify_all();
    }
    for (std::thread& thread : threads_)
        thread.join();
}

void UnpackAhead::begin(uint32_t number, StoredBlock block) {
    auto begun = std::make_shared<Block>();
    begun->stored = std::move(block);
    std::lock_guard lock(mutex_);
    std::erase(queue_, std::exchange(blocks_[number], begun)); // of another part
    queue_.push_back(std::move(begun));
    changed_.notify_all();
}

bool UnpackAhead::has(uint32_t number, PayloadPart part) const {
    auto at = blocks_.find(number);
    return at != blocks_.end() && at->second->stored.part == part;
}

Result<Bytes> UnpackAhead::take(uint32_t number) {
    auto at = blocks_.find(number);
    DBK_ASSERT(at != blocks_.end());
    std::shared_ptr<Block> block = std::move(at->second);
    blocks_.erase(at);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return block->is_done; });
    if (block->thrown)
        std::rethrow_exception(block->thrown);
    DBK_TRY_VOID(std::move(block->result));
    return std::move(block->payload);
}

void UnpackAhead::pass(uint32_t number) {
    std::lock_guard lock(mutex_);
    std::erase_if(blocks_, [&](const auto& one) {
        bool is_passed = one.first < number || one.first - number > depth();
        if (is_passed)
            std::erase(queue_, one.second);
        return is_passed;
    });
}

void UnpackAhead::loop() {
    PayloadUnpacker unpacker;
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return ending_ || !queue_.empty(); });
        if (ending_)
            return;
        std::shared_ptr<Block> block = std::move(queue_.front());
        queue_.erase(queue_.begin());
        lock.unlock();
        Result<void> result;
        std::exception_ptr thrown;
        try {
            result = unpack_stored(unpacker, block->stored, block->payload);
        } catch (const std::bad_alloc&) {
            thrown = std::current_exception(); // take() throws it in the reader's thread
        }
        lock.lock();
        block->result = std::move(result);
        block->thrown = std::move(thrown);
        block->is_done = true;
        changed_.notify_all();
    }
}

} // namespace daybreak::formats
