// SPDX-License-Identifier: Apache-2.0
//
// UnpackAhead: threads that check and unpack the payloads of blocks which will be wanted next.
//
//     the reader: begin(8) begin(9) ... take(8) ... take(9)
//     threads:      8 ====---->           9 ====---->
//
// The reader reads the file; a thread sees only the bytes of its block.  So what is unpacked, and
// what is said of a block that does not unpack, does not depend on how many threads there are.
#pragma once

#include "formats/trace/block.hpp"

#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace daybreak::formats {

/// A block of a file, with its payload as it is stored.
struct StoredBlock {
    dbk_trace_block header{};
    uint64_t offset_bytes = 0;
    Bytes stored;
    PayloadPart part = PayloadPart::whole; ///< which is wanted
};

/// Checks and unpacks a payload.  Errors: corrupt, limit.
Result<void> unpack_stored(PayloadUnpacker& unpacker, const StoredBlock& block, Bytes& payload);

class UnpackAhead {
public:
    /// Blocks that are larger, packed or not, are left to the reader: what lies ready must not fill
    /// the memory.
    static constexpr size_t kBytesMax = 4u << 20;

    /// Starts as many threads as the system lets it, at most `threads`.
    explicit UnpackAhead(unsigned threads);
    ~UnpackAhead();
    UnpackAhead(const UnpackAhead&) = delete;
    UnpackAhead& operator=(const UnpackAhead&) = delete;

    /// How many blocks after the one that is wanted may be begun.
    uint32_t depth() const { return static_cast<uint32_t>(2 * threads_.size()); }
    void begin(uint32_t number, StoredBlock block);
    /// Whether this part of the block was begun.
    bool has(uint32_t number, PayloadPart part) const;
    /// Waits until the block, which was begun, is unpacked, and returns the part that was wanted.
    Result<Bytes> take(uint32_t number);
    /// Forgets the blocks that lie before this one, or more than depth() after it.
    void pass(uint32_t number);

private:
    struct Block {
        StoredBlock stored;
        Bytes payload;
        Result<void> result;
        std::exception_ptr thrown; ///< there was no memory
        bool is_done = false;
    };

    void loop();

    std::map<uint32_t, std::shared_ptr<Block>> blocks_; // of the reader
    std::mutex mutex_;                                  // is_done, and all below
    std::condition_variable changed_;
    std::vector<std::shared_ptr<Block>> queue_; // oldest first
    bool ending_ = false;
    std::vector<std::thread> threads_;
};

} // namespace daybreak::formats
