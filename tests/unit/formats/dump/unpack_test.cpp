// SPDX-License-Identifier: Apache-2.0
#include "formats/dump/unpack.hpp"

#include "tests/support/dump_writer.hpp"

#include <catch2/catch.hpp>
#include <random>

using namespace daybreak;
using namespace daybreak::formats;
using daybreak::base::Bytes;
using daybreak::base::ByteView;

namespace {

Bytes bytes_of(std::initializer_list<int> values) {
    Bytes bytes;
    for (int value : values)
        bytes.push_back(std::byte(value));
    return bytes;
}

std::string unpacked(PagePacking packing, const Bytes& packed, size_t room) {
    PageUnpacker unpacker;
    Bytes page(room);
    if (!unpacker.unpack(packing, packed, page).ok())
        return "refused";
    return {reinterpret_cast<const char*>(page.data()), page.size()};
}

} // namespace

// The streams are written by hand from the formats' descriptions.

TEST_CASE("snappy: literals, near and far copies, copies that overlap themselves",
          "[dump][unpack]") {
    // length 14; literal "abcd"; copy of 4 from 4 before; copy of 6 from 1 before
    Bytes packed = bytes_of({14, 3 << 2, 'a', 'b', 'c', 'd', 1 | (0 << 2), 4, 2 | (5 << 2), 1, 0});
    CHECK(unpacked(PagePacking::snappy, packed, 14) == "abcdabcddddddd");
    CHECK(unpacked(PagePacking::snappy, packed, 5) == "abcda"); // the beginning alone
    CHECK(unpacked(PagePacking::snappy, packed, 15) == "refused");
    CHECK(unpacked(PagePacking::snappy, bytes_of({8, 0, 'a', 1, 2}), 5) ==
          "refused"); // before the start
    CHECK(unpacked(PagePacking::snappy, bytes_of({8, 0, 'a', 1, 0}), 5) == "refused"); // distance 0
    Bytes longer = bytes_of({0x80, 1, 60 << 2, 99}); // a literal of 100
    longer.resize(4 + 100, std::byte{'x'});
    CHECK(unpacked(PagePacking::snappy, longer, 100) == std::string(100, 'x'));
    CHECK(unpacked(PagePacking::snappy, {}, 1) == "refused");
}

TEST_CASE("LZO: every kind of instruction", "[dump][unpack]") {
    // 17 + 4 literals "abcd"; 4 bytes from 4 before ((4 - 2) in 001LLLLL, distance - 1 in the upper
    // 14 bits), one literal after it: 'Z'; 2 bytes from 1 before (state 1); the end mark.
    Bytes packed =
        bytes_of({21, 'a', 'b', 'c', 'd', 0x22, (3 << 2) | 1, 0, 'Z', 0x00, 0, 0x11, 0, 0});
    CHECK(unpacked(PagePacking::lzo, packed, 11) == "abcdabcdZZZ");
    CHECK(unpacked(PagePacking::lzo, packed, 3) == "abc");
    CHECK(unpacked(PagePacking::lzo, packed, 12) == "refused"); // ends before
    // 3 bytes by 01LDDDSS (L 0, D 3 -> distance 4), then a run by 0000LLLL of 3 + 1.
    packed = bytes_of({21, 'a', 'b', 'c', 'd', 0x40 | (3 << 2), 0, 0x01, 'e', 'f', 'g', 'h'});
    CHECK(unpacked(PagePacking::lzo, packed, 11) == "abcdabcefgh");
    // 5 bytes by 1LLDDDSS
    packed = bytes_of({21, 'a', 'b', 'c', 'd', 0x80 | (3 << 2), 0});
    CHECK(unpacked(PagePacking::lzo, packed, 9) == "abcdabcda");
    // a long match: length 31 + 255 + 5 + 2, of one byte
    packed = bytes_of({21, 'a', 'b', 'c', 'd', 0x20, 0, 5, 0, 0});
    CHECK(unpacked(PagePacking::lzo, packed, 4 + 293) == "abcd" + std::string(293, 'd'));
    // out of the page
    CHECK(unpacked(PagePacking::lzo, bytes_of({18, 'a', 0x40 | (7 << 2), 200}), 9) == "refused");
}

TEST_CASE("LZO: a match of the farthest kind, and after a run", "[dump][unpack]") {
    // A first run of 3 + 15 + 255*n literals, then 0001HLLL: distance 16384 + 10.
    size_t run = 16384 + 10;
    Bytes packed = bytes_of({0});
    size_t rest = run - 18;
    while (rest > 255) {
        packed.push_back(std::byte{0});
        rest -= 255;
    }
    packed.push_back(std::byte(rest));
    for (size_t i = 0; i < run; i++)
        packed.push_back(std::byte('a' + i % 26));
    Bytes far = packed;
    for (int value : {0x10 | 3, 10 << 2, 0}) // 5 bytes
        far.push_back(std::byte(value));
    std::string text = unpacked(PagePacking::lzo, far, run + 5);
    CHECK(text.substr(run) == "abcde");
    Bytes after_run = packed; // state 4: 3 bytes, distance 2049 + ...
    for (int value : {0x00, 0})
        after_run.push_back(std::byte(value));
    text = unpacked(PagePacking::lzo, after_run, run + 3);
    CHECK(text.substr(run) == text.substr(run - 2049, 3));
}

TEST_CASE("zlib and zstd give the beginning and the whole", "[dump][unpack]") {
    Bytes page(4096);
    for (size_t i = 0; i < page.size(); i++)
        page[i] = std::byte(i * i / 100);
    std::string whole(reinterpret_cast<const char*>(page.data()), page.size());
    for (auto [packing, packed] : {std::pair(PagePacking::zlib, test::zlib_packed(page)),
                                   std::pair(PagePacking::zstd, test::zstd_packed(page))}) {
        CHECK(unpacked(packing, packed, 4096) == whole);
        CHECK(unpacked(packing, packed, 64) == whole.substr(0, 64));
        CHECK(unpacked(packing, packed, 4097) == "refused");
        Bytes half(packed.begin(), packed.begin() + static_cast<ptrdiff_t>(packed.size() / 2));
        CHECK(unpacked(packing, half, 4096) == "refused");
    }
    CHECK(unpacked(static_cast<PagePacking>(8), page, 64) == "refused");
}

TEST_CASE("no input makes an unpacker leave its room", "[dump][unpack]") {
    std::mt19937_64 random(20261120);
    PageUnpacker unpacker;
    for (int i = 0; i < 20000; i++) {
        Bytes packed(random() % 200), page(512);
        for (std::byte& byte : packed)
            byte = std::byte(random());
        for (PagePacking packing :
             {PagePacking::zlib, PagePacking::lzo, PagePacking::snappy, PagePacking::zstd})
            (void)unpacker.unpack(packing, packed, page).ok();
    }
}
