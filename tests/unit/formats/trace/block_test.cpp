// SPDX-License-Identifier: Apache-2.0
#include "formats/trace/block.hpp"

#include "base/crc32c.hpp"

#include <catch2/catch.hpp>
#include <cstring>

using namespace daybreak;
using namespace daybreak::formats;

namespace {

Bytes file_of(size_t blocks, size_t raw_bytes = 500) {
    Bytes file;
    for (size_t i = 0; i < blocks; i++) {
        Bytes raw(raw_bytes + i);
        for (size_t j = 0; j < raw.size(); j++)
            raw[j] = static_cast<std::byte>((i * 7 + j * j * 13) >> 3);
        Bytes block = make_block(DBK_TRACE_DATA, static_cast<uint32_t>(i), raw, 3);
        CHECK(block.size() % 8 == 0);
        file.insert(file.end(), block.begin(), block.end());
    }
    return file;
}

std::vector<uint32_t> scan(ByteView file, BlockScanner& scanner) {
    std::vector<uint32_t> numbers;
    BlockView block;
    while (scanner.next(block)) {
        REQUIRE(block.offset_bytes + 32 + block.stored.size() <= file.size());
        REQUIRE(unpack_block(block).ok());
        numbers.push_back(block.header.number);
    }
    return numbers;
}

/// Makes the header's checksum hold again.
void reseal(Bytes& block) {
    uint32_t crc = base::crc32c(ByteView(block).first(28));
    std::memcpy(block.data() + 28, &crc, 4);
}

} // namespace

TEST_CASE("blocks come back in order", "[trace][block]") {
    Bytes file = file_of(5);
    Findings findings;
    BlockScanner scanner(file, findings);
    CHECK(scan(file, scanner) == std::vector<uint32_t>{0, 1, 2, 3, 4});
    CHECK(findings.count() == 0);
}

TEST_CASE("a flipped bit anywhere costs exactly one block", "[trace][block]") {
    Bytes file = file_of(4, 60);
    for (size_t bit = 0; bit < file.size() * 8; bit++) {
        Bytes flipped = file;
        flipped[bit / 8] ^= std::byte{1} << (bit % 8);
        Findings findings;
        BlockScanner scanner(flipped, findings);
        size_t good = scan(flipped, scanner).size();
        // A bit of the padding costs nothing.
        REQUIRE(good >= 3);
        REQUIRE((good == 4 || findings.count() > 0));
        if (good == 3)
            REQUIRE(scanner.blocks_lost() + (scanner.bytes_cut() > 0) >= 1);
    }
}

TEST_CASE("bytes taken out or put in cost the block they lay in", "[trace][block]") {
    Bytes file = file_of(4);
    size_t middle = file.size() / 2;
    for (size_t count : {1, 3, 8, 13, 64}) {
        Bytes shorter = file, longer = file;
        auto at = static_cast<ptrdiff_t>(middle);
        shorter.erase(shorter.begin() + at, shorter.begin() + at + static_cast<ptrdiff_t>(count));
        longer.insert(longer.begin() + at, count, std::byte{0x44});
        for (const Bytes* damaged : {&shorter, &longer}) {
            Findings findings;
            BlockScanner scanner(*damaged, findings);
            CHECK(scan(*damaged, scanner).size() >= 3);
            CHECK(findings.count() > 0);
        }
    }
}

TEST_CASE("missing blocks are counted by their numbers", "[trace][block]") {
    Bytes file = make_block(DBK_TRACE_DATA, 0, base::as_bytes("a"), 3);
    Bytes late = make_block(DBK_TRACE_DATA, 5, base::as_bytes("b"), 3);
    file.insert(file.end(), late.begin(), late.end());
    Findings findings;
    BlockScanner scanner(file, findings);
    CHECK(scan(file, scanner) == std::vector<uint32_t>{0, 5});
    CHECK(scanner.blocks_lost() == 4);
}

TEST_CASE("a block that lies about its unpacked size is refused", "[trace][block]") {
    Bytes good = make_block(DBK_TRACE_DATA, 0, Bytes(1000, std::byte{1}), 3);
    for (uint32_t raw_bytes : {0u, 999u, 1001u, DBK_TRACE_RAW_BYTES_MAX + 1, UINT32_MAX}) {
        Bytes block = good;
        std::memcpy(block.data() + 16, &raw_bytes, 4);
        reseal(block);
        Findings findings;
        BlockScanner scanner(block, findings);
        BlockView view;
        REQUIRE(scanner.next(view));
        CHECK_FALSE(unpack_block(view).ok());
    }
}

TEST_CASE("a block that is too large is refused before any memory is taken", "[trace][block]") {
    // A frame of one segment that says its size in 4 bytes, and holds an empty last block.
    for (uint32_t raw_bytes : {DBK_TRACE_RAW_BYTES_MAX, DBK_TRACE_RAW_BYTES_MAX + 1, UINT32_MAX}) {
        Bytes frame(12);
        const uint8_t start[] = {0x28, 0xb5, 0x2f, 0xfd, 0xa0};
        std::memcpy(frame.data(), start, sizeof(start));
        std::memcpy(frame.data() + 5, &raw_bytes, sizeof(raw_bytes));
        frame[9] = std::byte{1};
        BlockView view;
        view.header.raw_bytes = raw_bytes;
        view.stored = frame;
        ErrorCode expected =
            raw_bytes > DBK_TRACE_RAW_BYTES_MAX ? ErrorCode::limit : ErrorCode::corrupt;
        CHECK(unpack_block(view).error().code() == expected);
    }
}

TEST_CASE("headers that claim each other's bytes do not cost quadratic time", "[trace][block]") {
    Bytes file(1 << 20);
    dbk_trace_block header = {};
    header.magic = DBK_TRACE_MAGIC;
    header.version = DBK_TRACE_VERSION;
    header.type = DBK_TRACE_DATA;
    for (size_t at = 0; at + 64 <= file.size(); at += 32) {
        header.number = static_cast<uint32_t>(at / 32);
        header.stored_bytes = static_cast<uint32_t>(file.size() - at - 40);
        header.header_crc32c = base::crc32c(std::as_bytes(std::span(&header, 1)).first(28));
        std::memcpy(file.data() + at, &header, sizeof(header));
    }
    Findings findings;
    BlockScanner scanner(file, findings);
    CHECK(scan(file, scanner).empty());
    CHECK(scanner.blocks_lost() < 100);
}

TEST_CASE("empty payloads and the largest work", "[trace][block]") {
    for (size_t bytes : {size_t{0}, size_t{1}, size_t{DBK_TRACE_RAW_BYTES_MAX}}) {
        Bytes block = make_block(DBK_TRACE_DATA, 0, Bytes(bytes), 1);
        Findings findings;
        BlockScanner scanner(block, findings);
        BlockView view;
        REQUIRE(scanner.next(view));
        CHECK(unpack_block(view).value().size() == bytes);
        CHECK_FALSE(scanner.next(view));
    }
}
